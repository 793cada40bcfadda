"""new_app: where the modules of commands register their commands; and what is suggested in place of names that there
are not."""

from __future__ import annotations

import os
import re
from itertools import takewhile
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from cbpe.cli.output.printing import naming_standard_output

__all__ = ["GroupedCommand", "SuggestingGroup", "new_app", "options_meant"]


LONGEST_SENTENCE = 1000
REQUIRED = re.compile(r"^\{([^{}|]+)\}(\.\.\.)?$")
# What stands for a value of these types in the help.
METAVARS = {
    "<int>": "N",
    "<int range>": "N",
    "<float>": "X",
    "<float range>": "X",
    "<list[str]>": "",
    "<str>": "",
    "<datetime>": "TIME",
}

# Options, and other words for them.
OPTIONS_CALLED = {
    "--tokenizer": ("model", "encoding", "name", "from"),
    "--output": ("file", "path", "to", "dest"),
    "--max-tokens": ("limit", "n", "length", "budget", "context"),
    "--order-by": ("sort", "sort-by"),
    "--field": ("column", "key", "text"),
    "--vocab-size": ("merges", "n", "vocab"),
    "--wide": ("full", "all", "verbose"),
    "--allowed-special": ("special", "specials"),
}


def new_app(**options: Any) -> typer.Typer:
    """A Typer app; all look and fail alike."""
    return App(rich_markup_mode=None, pretty_exceptions_enable=False, **options)


class App(typer.Typer):
    """A Typer app whose commands show their options in groups."""

    def command(self, name: str | None = None, *, cls: type[TyperCommand] | None = None, **options: Any) -> Any:
        return super().command(name, cls=GroupedCommand if cls is None else cls, **options)


class PrintsHelp:
    """Of a command: where its help cannot be printed, the error says where to. In the list of all commands its first
    sentence is folded in a narrow terminal, not cut."""

    def get_short_help_str(self, limit: int = 0) -> str:
        return str(super().get_short_help_str(max(limit, LONGEST_SENTENCE)))  # type: ignore[misc]

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with naming_standard_output():
            return super().make_context(*arguments, **options)  # type: ignore[misc]


class GroupedCommand(PrintsHelp, TyperCommand):
    """A command whose help shows options in groups: those that it names itself, or by their rich_help_panel; those
    without one first."""

    groups: ClassVar[dict[str, tuple[str, ...]]] = {}  # title -> names of parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given twice and has one value, of which the parser would take the last in silence;
        and say how a tokenizer is named that seems to be given as an argument."""
        if not ctx.resilient_parsing:
            values, rest, given = self.make_parser(ctx).parse_args(list(args))
            refuse_unnamed(ctx, values, rest, given)
            refuse_twice_given(ctx, given, args)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What follows the name of the command: REF for what Typer's later releases write {REF}."""
        return [REQUIRED.sub(r"\1\2", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        of_parameter = {name: title for title, names in self.groups.items() for name in names}
        groups: dict[str, list[tuple[str, str]]] = {
            "Arguments": [],
            "Options": [],
            **{name: [] for name in self.groups},
        }
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                group = of_parameter.get(parameter.name) or getattr(parameter, "rich_help_panel", None) or usual
                groups.setdefault(group, []).append((for_people(record[0]), record[1]))
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


class SuggestingGroup(PrintsHelp, TyperGroup):
    """Commands of which one is suggested to who calls it by a word of other programs."""

    called: ClassVar[dict[str, tuple[str, ...]]] = {}  # command -> other words for it

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            refuse_twice_given(ctx, self.make_parser(ctx).parse_args(list(args))[-1], args)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        word = args[0].lower().replace("_", "-") if args else ""
        meant = [repr(name) for name, words in self.called.items() if word in words]
        if meant and args[0] not in self.commands:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {', '.join(meant)}?")
        return super().resolve_command(ctx, args)


def refuse_unnamed(ctx: Any, values: dict[str, Any], rest: list[str], given: list[Any]) -> None:
    """BadParameter for a command that needs -t, where the first argument seems to be the tokenizer: the command takes
    no argument, or this one is no file and names an encoding."""
    from cbpe.encodings.references import is_encoding

    parameters = ctx.command.get_params(ctx)
    needed = [each for each in parameters if "-t" in each.opts and each.required]
    if not needed or needed[0] in given or any(each.is_eager for each in given):
        return
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    named = [*(text for each in arguments for text in texts_of(values.get(each.name))), *rest]
    if named and (not arguments or (is_encoding(named[0]) and not os.path.exists(named[0]))):
        tokenizers = named[:1]
        if needed[0].multiple:
            tokenizers += takewhile(lambda name: is_encoding(name) and not os.path.exists(name), named[1:])
        options = [part for name in tokenizers for part in ("-t", name)]
        way = " ".join([ctx.command_path, *options, *named[len(tokenizers) :]])
        raise typer.BadParameter(f"the tokenizer is named by an option: {way}", ctx, param_hint="-t")


def refuse_twice_given(ctx: Any, given: list[Any], args: list[str]) -> None:
    """BadParameter for an option with one value that is given more than once, and for one that is switched on and off.
    given: each parameter as often as it is."""
    for parameter in given:
        if parameter.param_type_name != "option" or parameter.multiple or given.count(parameter) < 2:
            continue
        if parameter.is_flag:
            ways = parameter.opts, parameter.secondary_opts
            on, off = (next((each for each in args if each in names), None) for names in ways)
            if on and off:
                raise typer.BadParameter(f"{off} says the opposite: give one of them", ctx, param_hint=on)
            continue
        if "-t" in parameter.opts:
            raise typer.BadParameter("this command takes one tokenizer: give one", ctx, param_hint="-t")
        way = "it is given twice, and has one value: give it once"
        raise typer.BadParameter(way, ctx, param_hint=max(parameter.opts, key=len))


def options_meant(given: str, parameters: list[Any]) -> list[str]:
    """The options of a command that somebody may have meant by another name: those that have it as a part, or else one
    that is much like it, or by which others call it."""
    from difflib import get_close_matches  # which a program that makes no mistake never loads

    options = [
        name for each in parameters if each.param_type_name == "option" for name in each.opts if name[:2] == "--"
    ]
    word = given.lstrip("-").replace("_", "-").lower()
    parts = [name for name in options if len(word) > 2 and (name[2:].startswith(word) or f"-{word}" in name[2:])]
    return (
        parts
        or get_close_matches(f"--{word}", options, n=1, cutoff=0.8)
        or [name for name in options if word in OPTIONS_CALLED.get(name, ())]
    )


def texts_of(value: Any) -> list[str]:
    """The value of an argument: none, one text or several."""
    return [value] if isinstance(value, str) else [text for text in value or () if isinstance(text, str)]


def for_people(option: str) -> str:
    """How an option is written: "--workers <int range>" -> "--workers N" """
    for of_program, of_people in METAVARS.items():
        option = option.replace(of_program, of_people)
    return option.rstrip()
