"""train: learn a tokenizer from texts."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from enum import Enum
from types import EllipsisType
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cbpe
from cbpe.cli.app import new_app
from cbpe.cli.input.inputs import ErrorsOption, FieldOption, FilesArgument, JsonOption, source_of
from cbpe.cli.input.labels import AliasOption, NotesOption, TagOption, pairs_of
from cbpe.cli.input.references import complete_reference, open_store, pinned, tokenizer_of, version_of
from cbpe.cli.input.settings import StoreOption
from cbpe.cli.output.printing import print_error, print_json, print_pairs
from cbpe.encodings.named import SPECS
from cbpe.text.patterns import BY_NAME

if TYPE_CHECKING:
    from cbpe import Tokenizer

app = new_app(add_completion=False)


class TieBreak(str, Enum):
    first = "first"
    largest = "largest"
    smallest = "smallest"


@app.command()
def train(
    vocab_size: Annotated[int, typer.Option(min=256, help="Tokens to end with: the 256 bytes and the merges.")],
    files: FilesArgument = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|REGEX",
            help=f"Split text by an expression, or a known one: {', '.join(BY_NAME)}. "
            "Left out, it is that of the initial tokenizer, or gpt4.",
        ),
    ] = None,
    no_split: Annotated[bool, typer.Option("--no-split", help="Do not split: merge across the whole text.")] = False,
    special: Annotated[
        list[str] | None, typer.Option(metavar="TOKEN", help="A special token; its id follows the merges; repeatable.")
    ] = None,
    tie_break: Annotated[
        TieBreak, typer.Option(help="Of equally frequent pairs: the first in the text, or the largest or smallest ids.")
    ] = TieBreak.first,
    min_count: Annotated[int, typer.Option(min=1, help="Merge no pair that is rarer than this.")] = 1,
    max_token_length: Annotated[int | None, typer.Option(min=2, help="Make no token of more bytes than this.")] = None,
    initial: Annotated[
        str | None,
        typer.Option(
            metavar="REF",
            help="Go on from this tokenizer: its merges are the first.",
            autocompletion=complete_reference,
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.model", help="Save what is learned here every minute; go on if it is there already."
        ),
    ] = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    workers: Annotated[int | None, typer.Option(min=1, help="Threads that read; all cores by default.")] = None,
    max_words: Annotated[
        int | None, typer.Option(min=1, help="Bound memory: of more distinct words drop the rarest.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Save to this file, in the format that its ending says (see convert). Without one of these endings it "
            "is a prefix: FILE.model, to load, and FILE.vocab, to read.",
        ),
    ] = None,
    save: Annotated[
        str | None, typer.Option(metavar="NAME", help="Save to the model store, as the next version of this name.")
    ] = None,
    alias: AliasOption = None,
    tag: TagOption = None,
    notes: NotesOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every merge.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Train a tokenizer on texts.

    A file may be compressed: .gz, .xz or .zst. A .jsonl or .parquet file holds many texts.

    \b
    Example:
      cbpe train book.txt --vocab-size 4096 --special "<|endoftext|>" --output book
      cbpe train book.txt --vocab-size 4096 --save book --alias prod --tag language=en
      cbpe train part1.jsonl.gz part2.jsonl.gz --field text --vocab-size 50000 --output web
    """
    from cbpe.tokenizers.saving import refuse_before_training, saved_files

    if verbose and as_json:
        raise typer.BadParameter("not together with --json", param_hint="--verbose")
    origin = None if initial is None else pinned(initial)
    known = None if origin is None else tokenizer_of(origin)
    split_by = split_pattern(pattern, no_split)
    if save is None and (alias or tag or notes):
        raise typer.BadParameter("only together with --save", param_hint=["--alias", "--tag", "--notes"])
    if output == "-":
        raise typer.BadParameter("name a file: a tokenizer is not written to a pipe", param_hint="--output")
    if output is not None:
        refuse_before_training(output, special or [], known, vocab_size)
    if output is None and save is None and checkpoint is None and sys.stderr.isatty():
        print_warning("nothing will be written: there is no --output FILE and no --save NAME")
    if save is not None:
        check_store(save, alias, tag, notes)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "training stopped")  # it is told below
        warnings.showwarning = print_warning
        tokenizer = cbpe.train(
            [source_of(file) for file in files or ["-"]],
            vocab_size,
            pattern=split_by,
            special_tokens=special or (),
            tie_break=tie_break.value,
            min_count=min_count,
            max_token_length=max_token_length,
            initial=known,
            checkpoint=checkpoint,
            workers=workers,
            max_words=max_words,
            field=field,
            errors=errors,
            verbose=verbose,
            progress=sys.stderr.isatty() and not verbose,
        )
    written = []
    if output is not None:
        tokenizer.save(output)
        written += saved_files(output)
    if save is not None:
        with open_store(make=True) as models:
            parent = None if origin is None else version_of(origin)
            version = models.save(tokenizer, save, aliases=alias or (), tags=pairs_of(tag), notes=notes, parent=parent)
        known_already = "" if version.created or as_json else ", which it was already"
        written.append(version.reference + known_already)
    if as_json:
        print_json(training_row(tokenizer, written))
    else:
        print_pairs(training_pairs(tokenizer, written))


def split_pattern(name_or_expression: str | None, no_split: bool) -> str | EllipsisType | None:
    """The pattern that was asked for: "gpt2" -> GPT2_SPLIT_PATTERN, an expression -> itself, not to split -> None,
    nothing -> what cbpe.train takes."""
    if no_split:
        if name_or_expression is not None:
            raise typer.BadParameter("not together with --no-split", param_hint="--pattern")
        return None
    return ... if name_or_expression is None else pattern_of(name_or_expression)


def pattern_of(name_or_expression: str) -> str:
    """ "gpt2" -> GPT2_SPLIT_PATTERN; "cl100k_base" -> that encoding's; an expression -> itself."""
    if name_or_expression in BY_NAME:
        return BY_NAME[name_or_expression]
    if name_or_expression in SPECS:
        return SPECS[name_or_expression].pattern
    if name_or_expression.replace("-", "").replace("_", "").isalnum():
        known = ", ".join(BY_NAME)
        raise typer.BadParameter(
            f"{name_or_expression!r} is no expression that could split a text, and the known names are {known}",
            param_hint="--pattern",
        )
    return name_or_expression


def check_store(name: str, aliases: list[str] | None, tags: list[str] | None, notes: str | None) -> None:
    """Before there is something to lose: an error for what could not be saved to the store in the end."""
    from store.records.labels import checked_labels
    from store.records.references import checked_name

    checked_name(name)
    checked_labels(pairs_of(tags), aliases or (), notes, None)
    open_store(make=True).close()


def print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_error(str(message))


def training_row(tokenizer: Tokenizer, written: list[str]) -> dict[str, Any]:
    """How a training went, for programs."""
    record = tokenizer.training
    assert record is not None
    merges = len(record.counts)
    return {
        "text_bytes": record.text_bytes,
        "vocab_size": 256 + merges,
        "merges": merges,
        "special_tokens": tokenizer.special_tokens,
        "dropped_words": record.dropped_words,
        "dropped_occurrences": record.dropped_occurrences,
        "stopped": record.stopped,
        "tokens_at_start": record.tokens_at_start,
        "tokens": record.tokens[-1] if merges else record.tokens_at_start,
        "bytes_per_token": record.compression(),
        "seconds": record.seconds,
        "written": written,
    }


def training_pairs(tokenizer: Tokenizer, written: list[str]) -> Iterator[tuple[str, str]]:
    """How a training went, for people."""
    row = training_row(tokenizer, written)
    yield "text", f"{row['text_bytes']:,} bytes"
    yield "vocabulary", f"{row['vocab_size']:,} tokens: 256 bytes and {row['merges']:,} merges"
    for token, token_id in row["special_tokens"].items():
        yield "special token", f"{token} with id {token_id:,}"
    if row["dropped_words"]:
        yield (
            "left out",
            f"{row['dropped_words']:,} rare words, which occurred {row['dropped_occurrences']:,} times",
        )
    if row["stopped"]:
        yield "ended early", row["stopped"]
    yield "tokens", f"{row['tokens_at_start']:,} before, {row['tokens']:,} now"
    yield "compression", f"{row['bytes_per_token']:.2f} bytes a token"
    yield "time", f"{row['seconds']:.2f} s"
    yield "written", " and ".join(written) or "nothing (no --output FILE, no --save NAME)"
