"""encode, decode, count and tokens: texts to tokens and back, as they come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cbpe
from cbpe.cli.app import new_app
from cbpe.cli.input.inputs import (
    ErrorsOption,
    FieldOption,
    FilesArgument,
    JsonOption,
    id_chunks,
    name_of,
    readers,
    reporting,
    strings,
)
from cbpe.cli.input.references import TokenizerOption, tokenizer_of
from cbpe.cli.input.settings import StoreOption
from cbpe.cli.output.printing import print_counts, print_rows, write_bytes

if TYPE_CHECKING:
    from cbpe.tokenizers.tokenizer import SpecialChoice

app = new_app(add_completion=False)

SpecialOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-special",
        metavar="TOKEN|all",
        help="A special token that counts as such in the texts, or all of them; repeatable. Others are ordinary text.",
    ),
]


@app.command()
def encode(
    tokenizer: TokenizerOption,
    files: FilesArgument = None,
    allowed_special: SpecialOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print the token ids of texts, one line a text.

    Texts are read as they come, in little memory. With a tokenizer that has no split pattern, or normalizes, a text is
    held whole. The template of a tokenizer.json is not put around.

    \b
    Example:
      cbpe encode -t cl100k_base book.txt > book.ids
      echo "hello<|endoftext|>" | cbpe encode -t gpt2 --allowed-special all --json
    """
    tok = tokenizer_of(tokenizer)
    allowed = special_choice(tok, allowed_special)
    separator, begin, end = (b", ", b"[", b"]\n") if as_json else (b" ", b"", b"\n")
    for chunks in strings(files, field, errors):
        before = begin
        for ids in cbpe.Tokenizer.encode_stream(tok, chunks, allowed, ()):
            if ids:
                write_bytes(before + separator.join(b"%d" % token for token in ids))
                before = separator
        write_bytes((begin if before is begin else b"") + end)


@app.command()
def decode(
    tokenizer: TokenizerOption,
    files: FilesArgument = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the text of each file as a JSON string.")] = False,
    store: StoreOption = None,
) -> None:
    """Write the exact bytes that token ids stand for.

    Ids are numbers between white space, or JSON lists, one on each line. They are decoded as they come.

    \b
    Example:
      cbpe encode -t gpt2 book.txt | cbpe decode -t gpt2
      echo "[15339, 1917]" | cbpe decode -t cl100k_base
    """
    from cbpe.cli.input.token_ids import read_ids

    tok = tokenizer_of(tokenizer)
    for file in files or ["-"]:
        lists = read_ids(id_chunks(file), name_of(file))
        for data in json_string(tok, lists) if as_json else map(tok.decode_bytes, lists):
            write_bytes(data)


def json_string(tok: cbpe.Tokenizer, lists: Iterator[list[int]]) -> Iterator[bytes]:
    """The text of ids as one JSON string on a line, in parts."""
    decoder = tok.stream_decoder()
    before = '"'
    for ids in lists:
        yield (before + json.dumps(decoder.extend(ids))[1:-1]).encode()
        before = ""
    yield (before + json.dumps(decoder.flush())[1:] + "\n").encode()


@app.command()
def count(
    tokenizer: TokenizerOption,
    files: FilesArgument = None,
    allowed_special: SpecialOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Count the tokens of files.

    A line for each file, as wc has it: the number, and the name if it was given; of several files, also the total.

    \b
    Example:
      cbpe count -t o200k_base book.txt
      cat book.txt | cbpe count -t cl100k_base
    """
    tok = tokenizer_of(tokenizer)
    allowed = special_choice(tok, allowed_special)
    counts = []
    for file, reader in readers(files, field, errors):
        with reporting() as report:
            texts = reader.strings(report)
            counts.append((file, sum(cbpe.Tokenizer.count_stream(tok, chunks, allowed, ()) for chunks in texts)))
    if as_json:
        print_rows({"file": file, "tokens": n} for file, n in counts)
    else:
        print_counts(counts, named=bool(files))


@app.command()
def tokens(
    tokenizer: TokenizerOption,
    files: FilesArgument = None,
    allowed_special: SpecialOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show texts cut into their tokens.

    On a terminal the tokens are coloured, with their ids below. Elsewhere, and where NO_COLOR is set, each is on a line
    of its own, behind its id. Bytes that are no whole character are \\xNN, what does not print is escaped.

    \b
    Example:
      cbpe tokens -t cl100k_base book.txt
      echo "naïve café" | cbpe tokens -t gpt2
    """
    tok = tokenizer_of(tokenizer)
    allowed = special_choice(tok, allowed_special)
    ids = (
        token
        for chunks in strings(files, field, errors)
        for part in cbpe.Tokenizer.encode_stream(tok, chunks, allowed, ())
        for token in part
    )
    if as_json:
        print_rows(token_row(token, tok.vocab[token]) for token in ids)
        return
    from cbpe.cli.output.gloss import print_gloss

    print_gloss((token, tok.vocab[token]) for token in ids)


def token_row(token_id: int, token: bytes) -> dict[str, Any]:
    """A token for programs: its text is None where it is no UTF-8."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"id": token_id, "text": text, "bytes": token.hex()}


def special_choice(tok: cbpe.Tokenizer, tokens: list[str] | None) -> SpecialChoice:
    """What --allowed-special names, as encode takes it. ValueError for what is no special token."""
    if not tokens:
        return "none"
    if "all" in tokens:
        return "all"
    special = tok.special_tokens
    for token in tokens:
        if token not in special:
            known = ", ".join(map(repr, list(special)[:10])) or "none"
            raise ValueError(f"{token!r} is no special token of this tokenizer, which has {known}")
    return set(tokens)
