"""truncate and split: texts cut to a number of tokens."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cbpe.analysis.left_out import may_leave_out
from cbpe.cli.input.options import (
    ErrorsOption,
    FieldOption,
    FilesArgument,
    FormatOption,
    JsonOption,
    MissingOption,
    SpecialOption,
    TemplateOption,
    TokenizerOption,
)
from cbpe.cli.input.references import refuse_no_template, tokenizer_of
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import field_of_texts, may_be_several, readers
from cbpe.cli.input.values import size_of, size_or_zero, special_choice
from cbpe.cli.output.columns import SPACE
from cbpe.cli.output.printing import console, print_rows, print_table, write_bytes
from cbpe.cli.registering import new_app
from cbpe.views.readable import readable

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from cbpe.corpus.sources import Reader
    from cbpe.text.special_tokens import SpecialChoice

app = new_app(add_completion=False)

LEAST_CELLS = 12  # of a terminal, for the text of a chunk
NUMBERS = ("max_tokens", "overlap")  # of options

MaxTokensOption = Annotated[
    int,
    typer.Option("-n", "--max-tokens", parser=size_of, metavar="N", help="The most tokens that there may be; or 8k."),
]


@app.command()
def truncate(
    tokenizer: TokenizerOption,
    max_tokens: MaxTokensOption,
    files: FilesArgument = None,
    side: Annotated[Literal["right", "left"], typer.Option(help="The side from which text is taken away.")] = "right",
    allowed_special: SpecialOption = None,
    template: TemplateOption = False,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write the beginning of a text that has at most N tokens.

    It is the longest one, and never ends within a character. Of a long text no more is read than it takes to tell.
    --json prints a JSON string for each text on a line of its own; without it there is one text. With --template the
    tokens that a tokenizer.json puts around a text are among those that there may be.

    \b
    Example:
      cbpe truncate -t cl100k_base -n 1000 book.txt > beginning.txt
      cat book.txt | cbpe truncate -t gpt2 -n 100 --side left
    """
    tok = tokenizer_of(tokenizer)
    refuse_no_template(tok, tokenizer, template)
    allowed = special_choice(tok, allowed_special)
    field = field_of_texts(form, field, files)
    refuse_several(files, field, as_json)
    enough = most_characters(tok, max_tokens) if side == "right" else None
    for reader, text in texts_of(readers(files, field, errors, missing), enough):
        try:
            kept = tok.truncate(text, max_tokens, allowed, (), add_special_tokens=template, side=side)
        except (KeyError, ValueError) as error:
            raise with_place(error, reader, may_be_several(files, field)) from None
        write_bytes(json.dumps(kept).encode() + b"\n" if as_json else kept.encode())


@app.command()
def split(
    tokenizer: TokenizerOption,
    max_tokens: MaxTokensOption,
    files: FilesArgument = None,
    overlap: Annotated[
        int,
        typer.Option(
            parser=size_or_zero, metavar="N", help="How many tokens a chunk may share with the one before it."
        ),
    ] = 0,
    allowed_special: SpecialOption = None,
    template: TemplateOption = False,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Cut a text into chunks that have at most N tokens each.

    A chunk ends with a paragraph, else with a sentence or a line, else before a word. Start and end are in characters.
    On a terminal only the beginning of each chunk is shown. --json prints them whole, and a list for each text on a
    line of its own, where there may be several; without it there is one text.

    \b
    Example:
      cbpe split -t cl100k_base -n 512 book.txt
      cbpe split -t cl100k_base -n 512 --overlap 64 --field text a.jsonl.gz --json
    """
    tok = tokenizer_of(tokenizer)
    refuse_no_template(tok, tokenizer, template)
    allowed = special_choice(tok, allowed_special)
    field = field_of_texts(form, field, files)
    refuse_several(files, field, as_json)
    for reader, text in texts_of(readers(files, field, errors, missing), None):
        try:
            rows = chunks_of(tok, text, max_tokens, overlap, allowed, template)
        except (KeyError, ValueError) as error:
            raise with_place(error, reader, may_be_several(files, field)) from None
        if as_json:
            print_rows(rows, in_one_line=may_be_several(files, field))
            continue
        print_chunks(rows)


def with_place(error: KeyError | ValueError, reader: Reader, several: bool) -> KeyError | ValueError:
    """The error about a text with its place: one about a byte always, others where there may be several texts. An error
    about a number, with which its message begins, as it is."""
    if isinstance(error, KeyError):
        return reader.of_text(error)
    return reader.of_text(error) if several and not str(error).startswith(NUMBERS) else error


def print_chunks(rows: list[dict[str, int | str]]) -> None:
    """A line for each chunk, with as much of its text as a terminal has room for."""
    numbers = ("start", "end", "tokens")
    texts = [str(row["text"]) for row in rows]
    if sys.stdout.isatty():
        taken = (max(len(name), *(len(f"{row[name]:,}") for row in rows)) + SPACE for name in numbers if rows)
        room = max(LEAST_CELLS, console().width - sum(taken))
        texts = [beginning_in(room, text) for text in texts]
    else:
        texts = [*map(readable, texts)]
    cells = [[*(row[name] for name in numbers), text] for row, text in zip(rows, texts, strict=True)]
    print_table((*numbers, "text"), cells, whole=numbers)


def beginning_in(room: int, text: str) -> str:
    """A text with its escapes, or the beginning of one that is too long for so many cells of a terminal. It ends within
    no escape."""
    from rich.cells import cell_len

    dots, shown, kept = "...", "", ""
    for character in text:
        shown += readable(character)
        cells = cell_len(shown)
        if cells <= room - len(dots):
            kept = shown
        if cells > room:
            return f"{kept.rstrip()}{dots}"
    return shown


def refuse_several(files: list[str] | None, field: str | None, as_json: bool) -> None:
    """BadParameter where there may be several texts, whose borders nothing would tell."""
    if may_be_several(files, field) and not as_json:
        raise typer.BadParameter("several texts: give --json, which tells them apart, or one text", param_hint="FILE")


def texts_of(named: list[tuple[str, Reader]], enough: int | None) -> Iterator[tuple[Reader, str]]:
    """Each text with its reader. Of one that is a whole file no more is read, where it is known how many characters are
    enough."""
    for _, reader in named:
        for chunks in reader.strings():
            parts: list[str] = []
            n_characters = 0
            is_enough = False
            for chunk in chunks:
                parts.append(chunk)
                n_characters += len(chunk)
                is_enough = reader.field is None and enough is not None and n_characters > enough
                if is_enough:
                    break
            yield reader, "".join(parts)
            if is_enough:
                reader.tell_of_repairs()
                break  # the file is one text, and is not read to its end


def most_characters(tok: Tokenizer, max_tokens: int) -> int | None:
    """How many characters a text of so many tokens has at most. None where a token may stand for any number."""
    if may_leave_out(tok._splitter) or tok._covered_lengths() is None:
        return None
    special = max(map(len, tok.special_tokens), default=0)
    return max_tokens * max(int(tok._lengths_of_tokens().max()), special)


def chunks_of(
    tok: Tokenizer, text: str, max_tokens: int, overlap: int, allowed: SpecialChoice, template: bool
) -> list[dict[str, int | str]]:
    """The chunks of a text, each with its tokens when it is encoded alone."""
    options = {"add_special_tokens": template}
    spans = tok.split(text, max_tokens, overlap, allowed, (), **options)
    chunks = [text[start:end] for start, end in spans]
    counts = [tok.count(chunk, allowed, (), **options) for chunk in chunks]
    return [
        {"start": start, "end": end, "tokens": n, "text": chunk}
        for (start, end), n, chunk in zip(spans, counts, chunks, strict=True)
    ]
