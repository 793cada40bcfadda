"""convert and inspect: a tokenizer from one file format to another, and what a file holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Annotated

import typer

import cbpe
from cbpe.cli.input.model_store import open_store
from cbpe.cli.input.options import JsonOption, SmallerOption
from cbpe.cli.input.references import (
    complete_reference,
    files_of,
    is_encoding,
    is_file,
    moved_tokens,
    smaller_of,
    tokenizer_of,
)
from cbpe.cli.input.settings import settings
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.values import complete_pattern, pattern_of, special_of, wrong_value_of
from cbpe.cli.output.left_out import pairs_left_out
from cbpe.cli.output.naming import of_options
from cbpe.cli.output.printing import print_json, print_pairs
from cbpe.cli.output.replacing import refuse_replacing_by_tokenizer
from cbpe.cli.registering import new_app
from cbpe.views.inspected import as_shown, moved_shown

app = new_app(add_completion=False)


PatternOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|REGEX",
        help="The split pattern, for a file that holds none: .tiktoken, gpt2_tokenizer.bin. '' if nothing splits its "
        "texts.",
        autocompletion=complete_pattern,
    ),
]


@app.command()
def convert(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="REF",
            help="A file, a named encoding, or a version in the model store.",
            autocompletion=complete_reference,
        ),
    ],
    output: Annotated[str, typer.Argument(metavar="FILE", help="The file to write, in the format of its ending.")],
    pattern: PatternOption = None,
    special: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN[=ID]",
            help="A special token to add, with its id; without, the next id after all others. For a file without "
            "a split pattern, in place of those in it. Repeatable, all with ids or none.",
        ),
    ] = None,
    vocab_size: SmallerOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write a tokenizer to a file of another format.

    .json is Hugging Face's tokenizer.json, .model is minbpe's, or over characters SentencePiece's, .tiktoken is
    tiktoken's ranks alone, gpt2_tokenizer.bin is llm.c's, tekken.json is Mistral's, and encoder.json or vocab.bpe,
    vocab.json or merges.txt are GPT-2's pairs of files. Where a format cannot hold what gives the same results, convert
    refuses and writes nothing.

    --special adds special tokens to those there are; all text without them keeps its ids.

    \b
    Example:
      cbpe convert book.model book.json
      cbpe convert cl100k_base cl100k_base.tiktoken
      cbpe convert book.model small.model --vocab-size 260
      cbpe convert book.model tools.json --special "<|tool|>"
      cbpe convert ranks.tiktoken out.json --pattern gpt4 --special "<|end|>"
    """
    from cbpe.formats.files import format_of_name
    from cbpe.tokenizers.saving import left_out, save, saved_files

    refuse_unknown_format(output)
    whole = tokenizer_with(reference, pattern, special)
    tok = smaller_of(whole, reference, vocab_size)
    over = isinstance(tok, cbpe.SentencePieceTokenizer)
    refuse_replacing_by_tokenizer(saved_files(output, over), files_of(reference), "FILE")
    save(tok, output)
    tokens, special_tokens = len(tok.token_byte_values()), len(tok.special_tokens)
    missing = left_out(tok, output)
    known = format_of_name(output, over)
    title = "" if known is None else known.title
    given = {token: tok.special_tokens[token] for token in special_of(special)}
    moved = {token: ids for token, ids in moved_tokens(whole, tok).items() if token not in given}
    if as_json:
        row = {
            "written": saved_files(output, over),
            "format": title,
            "vocab_size": tokens,
            "n_special_tokens": special_tokens,
            "left_out": missing,
        }
        print_json({**row, **({"given": given} if given else {}), **({"special_moved": moved} if moved else {})})
    else:
        told: list[tuple[str, object]] = [
            ("written", ", ".join(saved_files(output, over))),
            ("format", title),
            ("tokens", tokens),
            ("special tokens", special_tokens),
        ]
        told += special_pairs(given, moved)
        print_pairs([*told, *pairs_left_out(missing)])


def special_pairs(given: dict[str, int], moved: dict[str, tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """The special tokens that were given, and those that have other ids than before."""
    for token, token_id in given.items():
        yield "", f"{as_shown(token)} ({token_id})"
    for token, (before, now) in moved.items():
        yield "other ids", moved_shown(token, before, now)


def refuse_unknown_format(output: str) -> None:
    """BadParameter for the name of a file that says no format."""
    from cbpe.formats.files import ends_otherwise, format_of_name, refuse_name

    with wrong_value_of("FILE"):
        refuse_name(output)
        if format_of_name(output) is None:
            raise ValueError(ends_otherwise(output))


def tokenizer_with(reference: str, pattern: str | None, special: list[str] | None) -> cbpe.Tokenizer:
    """The tokenizer that a reference means, with more special tokens; with the pattern and the special tokens that a
    file without a split pattern is given."""
    if pattern is None and special is None:
        return tokenizer_of(reference)
    from cbpe.tokenizers.kinds import with_more_special_tokens
    from cbpe.tokenizers.loading import lacks_pattern

    if settings.keys is not None and pattern is not None:
        problem = "it is for a file, and --key takes tokenizers of published copies alone"
        raise typer.BadParameter(problem, param_hint="--pattern")
    if settings.keys is not None or not (is_file(reference) and lacks_pattern(reference)):
        tok = tokenizer_of(reference)  # which tells first that there is none
        if pattern is not None:
            raise typer.BadParameter("only for a file without a split pattern", param_hint="--pattern")
        return with_more_special_tokens(tok, special_of(special))
    return cbpe.load(
        reference,
        pattern=pattern_of(pattern) if pattern else pattern,
        special_tokens=None if special is None else special_of(special),
    )


@app.command()
def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of any format, or a folder with one.")],
    as_json: JsonOption = False,
) -> None:
    """Say what a file of any format holds, or why it is refused.

    Prints the format and its parts, as the file says; the class, the sizes, the split pattern, the special tokens, and
    what is done before splitting and after merging. Of a file that is refused, it prints what can be told, and why,
    with exit code 1.

    \b
    Example:
      cbpe inspect book.model
    """
    try:
        found = cbpe.inspect(file)
    except FileNotFoundError as error:
        raise elsewhere(file, error) from error
    if found.refused is not None:
        found = dataclasses.replace(found, refused=of_options(found.refused))
    if as_json:
        print_json(found)
    else:
        print_pairs(found.pairs())
    if found.refused is not None:
        raise typer.Exit(1)


def elsewhere(reference: str, missing: FileNotFoundError) -> Exception:
    """The error about a file that is not there, with what shows a tokenizer of that name."""
    problem = f"there is no file {reference}"
    if is_encoding(reference):
        return FileNotFoundError(f"{problem}; cbpe analyze -t {reference} tells of the named encoding")
    try:
        with open_store(read_only=True) as models:
            version = models.version(reference)
    except (LookupError, OSError, ValueError):  # no store, no such version, no name of one
        return missing
    return FileNotFoundError(f"{problem}; cbpe models show {version.reference} tells of the version in the store")
