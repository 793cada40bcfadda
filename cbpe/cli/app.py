"""The program `cbpe`: the table of commands, and how every error ends in one line and an exit code."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from functools import cache
from typing import Annotated, Any, ClassVar, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

import cbpe
from cbpe.cli.ending import INTERRUPTED, code_of_interrupt
from cbpe.cli.input.numbers import wrong_number
from cbpe.cli.input.settings import settings
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.output.completion import told_of_start_files
from cbpe.cli.output.interrupts import ADVICE
from cbpe.cli.output.printing import (
    StandardOutput,
    error_message,
    escape_what_is_missing,
    leave_closed_pipe,
    naming_standard_output,
    print_error,
    print_warning,
)
from cbpe.cli.registering import GroupedCommand, SuggestingGroup, new_app, options_meant
from cbpe.common.wording import shown

__all__ = ["COMMANDS", "app", "load_command", "main"]

FAILED, WRONG_USAGE = 1, 2
QUOTED_OPTIONS = re.compile(r"^Invalid value for '-[^:]*':")  # as Typer names them, and no message of ours does
DEBUG, NO_PROGRESS = "--debug", "--no-progress"

# Command -> its module in cbpe.cli, and the first sentence of its help. A module is imported by this name when its
# command is called, so that no call waits for the others.
COMMANDS = {
    "train": ("training.command", "Train a tokenizer on texts."),
    "encode": ("encoding", "Print the token ids of texts, one line a text."),
    "decode": ("encoding", "Write the exact bytes that token ids stand for."),
    "count": ("encoding", "Count the tokens of files."),
    "tokens": ("encoding", "Show texts cut into their tokens."),
    "truncate": ("cutting", "Write the beginning of a text that has at most N tokens."),
    "split": ("cutting", "Cut a text into chunks that have at most N tokens each."),
    "vocab": ("vocabulary", "List or search a vocabulary, or draw how one token is merged."),
    "analyze": ("vocabulary", "Say what of a vocabulary no text can give, without any text."),
    "stats": ("vocabulary", "Measure how well tokenizers fit texts."),
    "compare": ("measuring.commands", "Compare tokenizers on texts, by the measures that papers use."),
    "sweep": ("measuring.commands", "Measure the smaller vocabularies that a model holds."),
    "ui": ("serving", "Show in a browser how texts are cut into tokens."),
    "count-words": ("counting", "Count the words of a corpus into a file that train reads."),
    "tokenize": ("sharding", "Turn a corpus into token shards for training."),
    "shards": ("sharding", "Show what token shards hold."),
    "convert": ("converting", "Write a tokenizer to a file of another format."),
    "inspect": ("converting", "Say what a file of any format holds, or why it is refused."),
    "encodings": ("vocabulary", "List the named encodings."),
    "models": ("models.commands", "Keep tokenizers as versions under names: the model store."),
}


class Commands(SuggestingGroup):
    """All commands. Each is imported when it is called; help lists them without that.

    Every error ends in one line on stderr: exit code 1, or 2 where the command line itself is wrong.
    """

    called: ClassVar = {
        "train": ("learn", "fit"),
        "encode": ("tokenise", "ids"),
        "decode": ("detokenize", "detokenise", "untokenize"),
        "tokens": ("segment",),
        "truncate": ("trim", "head", "cut"),
        "split": ("chunk", "chunks"),
        "count": ("wc", "len", "length"),
        "vocab": ("vocabulary", "merges"),
        "compare": ("benchmark", "evaluate", "eval"),
        "ui": ("serve", "server", "web", "gui", "playground"),
        "tokenize": ("tokenise", "shard", "preprocess"),
        "convert": ("export", "save", "download"),
        "inspect": ("info", "show", "describe", "about"),
        "encodings": ("list", "ls"),
        "models": ("list", "ls", "model", "store", "registry", "versions"),
    }

    def __init__(self, *, commands: Any = None, **attributes: Any) -> None:
        listed: dict[str, Any] = {
            name: GroupedCommand(name, help=said, rich_markup_mode=None) for name, (_, said) in COMMANDS.items()
        }
        super().__init__(commands=listed, **attributes)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name else command, rest

    def main(self, args: Any = None, *others: Any, **options: Any) -> NoReturn:
        args = list(sys.argv[1:] if args is None else args)
        settings.debug, settings.bars = take_flag(DEBUG, args), not take_flag(NO_PROGRESS, args)
        if args in ([], ["models"]):  # who names no command wants to see them
            args.append("--help")
        settings.store = settings.keys = None
        settings.keys_are_used = False
        StandardOutput.failure = None
        try:
            with warnings.catch_warnings():
                warnings.showwarning = print_warning
                with told_of_start_files(args):
                    code = super().main(args, *others, **{**options, "standalone_mode": False})
                if settings.keys and not settings.keys_are_used and not code:
                    print_warning("--key was not used: no tokenizer was read, which it is for")
            if code == INTERRUPTED:  # which Typer knows for both signals
                code = code_of_interrupt()
        except (typer.Abort, KeyboardInterrupt):
            code = code_of_interrupt()
        except Exception as caught:
            error: Any = caught
            if not is_usage_error(error):
                if settings.debug:
                    raise
                print_error(error_message(error))
                sys.exit(FAILED)
            context = getattr(error, "ctx", None)
            hint = f" (see '{context.command_path} --help')" if context else ""
            print_error(usage_message(error) + hint)
            code = error.exit_code
        try:
            with naming_standard_output():
                sys.stdout.flush()
                if StandardOutput.failure is not None:
                    raise StandardOutput.failure
        except BrokenPipeError:
            code = leave_closed_pipe()
        except OSError as error:
            print_error(error_message(error))
            code = FAILED
        sys.exit(code)

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().make_context(*arguments, **options)
        except BrokenPipeError as error:  # of the help
            raise typer.Exit(leave_closed_pipe()) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise typer.Exit(leave_closed_pipe()) from error
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if settings.debug or is_usage_error(error):
                raise
            message = error_message(error)
            print_error(message)
            if hasattr(error, ADVICE):
                print_error(getattr(error, ADVICE))
            raise typer.Exit(WRONG_USAGE if names_option(error, message) else FAILED) from error


app = new_app(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})


def main() -> None:
    if sys.stdout is None:
        print_error("standard output is closed: send it to a file, or to /dev/null")
        sys.exit(1)
    escape_what_is_missing()
    app()


@cache  # of a program that calls several, as tests do: the options are read from annotations, which takes long
def load_command(name: str) -> Any:
    """The command of this name, with its options."""
    module = importlib.import_module(f"cbpe.cli.{COMMANDS[name][0]}")
    built = get_command(module.app)
    return built.commands[name] if isinstance(built, TyperGroup) and built.name != name else built


def take_flag(flag: str, args: list[str]) -> bool:
    """Take a flag such as --debug out of the arguments, wherever it stands before "--"; whether it was there."""
    end = args.index("--") if "--" in args else len(args)
    found = flag in args[:end]
    args[:end] = [argument for argument in args[:end] if argument != flag]
    return found


def is_usage_error(error: Any) -> bool:
    """Whether the command line was wrong. Typer raises Click's classes or, lately, its own; all have this method."""
    return hasattr(error, "format_message")


def names_option(error: Exception, message: str) -> bool:
    """Whether a command refused the value of an option, which its message begins with."""
    return isinstance(error, (ValueError, TypeError)) and message.startswith("--")


def usage_message(error: Any) -> str:
    """What was wrong with the command line: Typer's message, in other words for numbers, and with the value, where
    pydantic's words leave it out."""
    errors = getattr(error.__cause__, "errors", None)
    found = errors()[0] if errors else None
    problem = found and wrong_number(found)
    if problem:
        error.message = problem
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoSuchOption" and context:
        error.possibilities = options_meant(error.option_name, context.command.get_params(context))
    message: str = error.format_message().replace(": Value error, ", ": ")
    message = QUOTED_OPTIONS.sub(lambda found: found[0].replace("'", ""), message)
    if type(error).__name__ == "NoSuchOption" and context:
        of_all = {name for option in context.find_root().command.params for name in option.opts}
        if isinstance(context.command, TyperGroup):
            message += "; options of a command follow its name"
        elif error.option_name in of_all:
            message += "; it stands before the names of commands, behind cbpe"
    value = shown(found["input"]) if found and not problem else ""
    return message if value in message else f"{message}: {value}"


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"cbpe {cbpe.__version__}")
        raise typer.Exit


@app.callback()
def common(
    store: StoreOption = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PEM",
            help="Take tokenizers from published copies alone that this public ed25519 key has signed; repeatable: one "
            "of them.",
        ),
    ] = None,
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Show a traceback if the command fails; may stand before it or after it.")
    ] = False,
    no_progress: Annotated[
        bool, typer.Option(NO_PROGRESS, help="Draw no bars; may stand before the command or after it.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=print_version, is_eager=True)
    ] = False,
) -> None:
    """Byte-pair-encoding tokenizers: train them, encode and decode with them, keep them.

    FILE may be - for standard input, which is also read if you name no file. SOURCE may not: a run that was interrupted
    reads its sources again.

    A tokenizer (-t) is a file, a named encoding such as cl100k_base, or a version in the model store such as name,
    name@3, name@alias or sha256:ab12cd34.

    Exit codes: 0 all went well, 1 it failed, 2 the command line is wrong, 130 Ctrl-C ended it, 143 SIGTERM did,
    129 SIGHUP, 141 who read its output went away.

    \b
    Example:
      cbpe count -t cl100k_base book.txt
    """
    settings.store, settings.keys = store, key or None
