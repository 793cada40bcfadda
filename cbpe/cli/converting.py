"""convert: a tokenizer from one file format to another."""

from __future__ import annotations

from typing import Annotated

import typer

import cbpe
from cbpe.cli.app import new_app
from cbpe.cli.input.inputs import JsonOption
from cbpe.cli.input.references import complete_reference, is_file, tokenizer_of
from cbpe.cli.input.settings import StoreOption
from cbpe.cli.output.printing import print_json, print_pairs
from cbpe.cli.training import pattern_of

app = new_app(add_completion=False)


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
    output: Annotated[str, typer.Argument(metavar="FILE", help="What to write, in the format that its ending says.")],
    pattern: Annotated[
        str | None,
        typer.Option(metavar="NAME|REGEX", help="The split pattern of a .tiktoken file, which does not hold it."),
    ] = None,
    special: Annotated[
        list[str] | None,
        typer.Option(metavar="TOKEN=ID", help="A special token of a .tiktoken file, which holds none; repeatable."),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write a tokenizer to a file of another format.

    .json is Hugging Face's tokenizer.json, .model is minbpe's, .tiktoken is tiktoken's ranks alone, and encoder.json or
    vocab.bpe, vocab.json or merges.txt are GPT-2's pairs of files. What a format cannot hold without changing a result
    is refused, and nothing is written.

    \b
    Example:
      cbpe convert book.model book.json
      cbpe convert cl100k_base cl100k_base.tiktoken
      cbpe convert cl100k_base.tiktoken cl100k.json --pattern cl100k --special "<|endoftext|>=100257"
    """
    from cbpe.tokenizers.saving import left_out

    if pattern is None and special is None:
        tok = tokenizer_of(reference)
    elif is_file(reference):
        given = None if pattern is None else pattern_of(pattern)
        tok = cbpe.load(reference, pattern=given, special_tokens=None if special is None else special_ids(special))
    else:
        raise typer.BadParameter("only for a .tiktoken file", param_hint=["--pattern", "--special"])
    cbpe.Tokenizer.save(tok, output)
    tokens, special_tokens = len(tok._vocabulary), len(tok.special_tokens)
    missing = left_out(tok, output)
    if as_json:
        print_json({"written": output, "tokens": tokens, "special_tokens": special_tokens, "left_out": missing})
    else:
        told: list[tuple[str, object]] = [("written", output), ("tokens", tokens), ("special tokens", special_tokens)]
        print_pairs(told + [("not in the file", part) for part in missing])


def special_ids(labels: list[str]) -> dict[str, int]:
    """["<|end|>=7"] -> {"<|end|>": 7}"""
    ids = {}
    for label in labels:
        token, _, token_id = label.rpartition("=")
        if not token or not token_id.isdecimal():
            raise typer.BadParameter(f"{label!r} is no TOKEN=ID", param_hint="--special")
        ids[token] = int(token_id)
    return ids
