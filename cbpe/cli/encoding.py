"""encode, decode, count and tokens: texts to tokens and back, as they come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from cbpe.cli.input.counts import LeftOut, file_counts
from cbpe.cli.input.options import (
    ErrorsOption,
    FieldOption,
    FilesArgument,
    FilesOrFoldersArgument,
    FormatOption,
    JsonOption,
    MissingOption,
    SpecialOption,
    TemplateOption,
    TokenizerOption,
)
from cbpe.cli.input.references import refuse_no_template, tokenizer_of
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import (
    field_of_texts,
    files_meant,
    files_of_ids,
    id_chunks,
    input_name,
    may_be_several,
    readers,
    tell_of_tables_in,
)
from cbpe.cli.input.values import special_choice
from cbpe.cli.output.printing import end_with_failures, print_counts, print_rows, write_bytes
from cbpe.cli.output.rows import token_row
from cbpe.cli.registering import new_app
from cbpe.common.warning import warn
from cbpe.common.wording import number_of

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from cbpe.corpus.sources import Reader

app = new_app(add_completion=False)

REPLACED = "\ufffd"
BYTES_KEPT = "surrogateescape"  # bytes that are no UTF-8 go through a str as they are


@app.command()
def encode(
    tokenizer: TokenizerOption,
    files: FilesArgument = None,
    allowed_special: SpecialOption = None,
    template: TemplateOption = False,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print the token ids of texts, one line a text.

    Texts are encoded as they come, in little memory. A tokenizer that has no split pattern, or that normalizes, holds
    each text whole. The ids are those of the text alone; --template adds what a tokenizer.json puts around a text, as
    its encode in Python does. decode turns them back into the text, unless the tokenizer normalizes, or drops a space
    at the beginning; what its split pattern leaves out, and characters without a token, are said. A text that --missing
    skip leaves out has no line.

    \b
    Example:
      cbpe encode -t cl100k_base book.txt > book.ids
      echo "hi<|endoftext|>" | cbpe encode -t gpt2 --allowed-special all --json
    """
    tok = tokenizer_of(tokenizer)
    refuse_no_template(tok, tokenizer, template)
    separator, begin, end = (b", ", b"[", b"]\n") if as_json else (b" ", b"", b"\n")
    named = readers(files, field_of_texts(form, field, files), errors, missing)
    for id_lists in encoded(tok, named, allowed_special, template):
        before = begin
        for ids in id_lists:
            if ids:
                write_bytes(before + separator.join(b"%d" % token for token in ids))
                before = separator
        write_bytes((begin if before is begin else b"") + end)


def encoded(
    tok: Tokenizer, named: list[tuple[str, Reader]], allowed_special: list[str] | None, template: bool
) -> Iterator[Iterator[list[int]]]:
    """The ids of each text of some files, in lists, as they come. template: whether the template's tokens are put
    around. Warnings at the end tell of what the split pattern leaves out, and of
    characters without a token."""
    allowed = special_choice(tok, allowed_special)
    left_out = LeftOut(tok, template, allowed)
    for _, reader in named:
        for chunks in reader.strings():
            seen = left_out.seen(chunks) if left_out else chunks
            id_lists = placed(reader, tok.encode_stream(seen, allowed, (), add_special_tokens=template))
            yield left_out.tokens_of(id_lists) if left_out else id_lists
    left_out.tell("the text")


def placed(reader: Reader, id_lists: Iterator[list[int]]) -> Iterator[list[int]]:
    """The ids of a text that a reader has given; an error about it has its place."""
    try:
        yield from id_lists
    except KeyError as error:
        raise reader.of_text(error) from None


@app.command()
def decode(
    tokenizer: TokenizerOption,
    files: FilesArgument = None,
    skip_special_tokens: Annotated[
        bool, typer.Option("--skip-special-tokens", help="Leave special tokens out of the text.")
    ] = False,
    lines: Annotated[
        bool, typer.Option("--lines", help="With --json, decode each line by itself, and print a string for each.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the text of each file as a JSON string, with U+FFFD for bytes that are no UTF-8."
        ),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Write the exact bytes that token ids stand for.

    Ids are numbers between white space, or JSON lists, one on each line. They are decoded as they come. All ids of a
    file are one text, on however many lines, unless --lines is given: a tokenizer that puts a space before texts has it
    dropped from the first.

    \b
    Example:
      cbpe encode -t gpt2 book.txt | cbpe decode -t gpt2
      echo "[15339, 1917]" | cbpe decode -t cl100k_base
      printf "31373\\n995\\n" | cbpe decode -t gpt2 --lines --json
    """
    from cbpe.cli.input.token_ids import lines_of_ids, read_ids

    if lines and not as_json:
        raise typer.BadParameter("only together with --json, which tells the texts apart", param_hint="--lines")
    tok = tokenizer_of(tokenizer)
    for file in files_of_ids(files):
        name = input_name(file)
        if not as_json:
            for text in decoded(tok, read_ids(id_chunks(file), name), BYTES_KEPT, name, skip_special_tokens):
                write_bytes(text.encode("utf-8", BYTES_KEPT))
            continue
        counting = CountingDecoder(tok, skip_special_tokens)
        if lines:
            for number, ids in lines_of_ids(id_chunks(file), name):
                texts = counting.texts(iter([ids]), f"line {number:,} of {name}")
                write_bytes(json.dumps("".join(texts)).encode() + b"\n")
        else:
            before = b'"'
            for text in counting.texts(read_ids(id_chunks(file), name), name):
                write_bytes(before + json.dumps(text)[1:-1].encode())
                before = b""
            write_bytes(b'"\n')
        counting.tell(name)


class CountingDecoder:
    """Decodes to text, with U+FFFD for bytes that are no UTF-8, and counts in how many places that is put. It decodes
    twice, as the text itself may have U+FFFD."""

    def __init__(self, tok: Tokenizer, skip_special_tokens: bool) -> None:
        self.tok = tok
        self.skip_special_tokens = skip_special_tokens
        self.n_places = 0

    def texts(self, id_lists: Iterator[list[int]], name: str) -> Iterator[str]:
        """The text of ids, in parts, as `decoded` gives it."""
        exact = self.tok.stream_decoder(BYTES_KEPT, skip_special_tokens=self.skip_special_tokens)

        def seen() -> Iterator[list[int]]:
            for ids in id_lists:
                yield ids  # those that are unknown are refused before this goes on
                self.n_places -= exact.extend(ids).count(REPLACED)  # of the text itself

        for text in decoded(self.tok, seen(), "replace", name, self.skip_special_tokens):
            self.n_places += text.count(REPLACED)
            yield text
        self.n_places -= exact.flush().count(REPLACED)

    def tell(self, name: str) -> None:
        """A warning, if there are such places."""
        if self.n_places:
            places = f"{number_of(self.n_places, 'place')} for bytes that are no UTF-8"
            warn(f"put U+FFFD in {places}, in the text of {name}: without --json they are written as they are")


def decoded(
    tok: Tokenizer, id_lists: Iterator[list[int]], errors: str, name: str, skip_special_tokens: bool
) -> Iterator[str]:
    """The text of ids, all together, in parts. errors, skip_special_tokens: as for Tokenizer.decode. name: what a
    message calls where they come from."""
    decoder = tok.stream_decoder(errors, skip_special_tokens=skip_special_tokens)
    done = 0
    for ids in id_lists:
        try:
            yield decoder.extend(ids)
        except KeyError as error:
            number = done + next(i for i, token_id in enumerate(ids, 1) if not is_known(tok, token_id))
            raise KeyError(f"{error.args[0]}: it is number {number:,} in {name}") from error
        done += len(ids)
    yield decoder.flush()


def is_known(tok: Tokenizer, token_id: int) -> bool:
    """Whether a token has this id."""
    try:
        tok.decode_single_token_bytes(token_id)
    except KeyError:
        return False
    return True


@app.command()
def count(
    tokenizer: TokenizerOption,
    files: FilesOrFoldersArgument = None,
    allowed_special: SpecialOption = None,
    template: TemplateOption = False,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Count the tokens of files.

    Prints a line for each file, as wc does: the number, and the name of the file if you gave one. After several files
    comes the total. A file that is no text has no line, and the exit code is 1 then. Of a tokenizer.json with a
    template only --template counts what it puts around each text; stats and compare leave it out.

    \b
    Example:
      cbpe count -t o200k_base book.txt
      cat book.txt | cbpe count -t cl100k_base
    """
    tok = tokenizer_of(tokenizer)
    refuse_no_template(tok, tokenizer, template)
    allowed = special_choice(tok, allowed_special)
    field = field_of_texts(form, field, files)
    files = files_meant(files, field, errors)
    tell_of_tables_in(files, field)
    named = readers(files, field, errors, missing)
    counts, failures = file_counts(tok, named, allowed, template=template)
    if as_json and (counts or not failures):
        skipped = {file: reader.as_row() for file, reader in named}
        print_rows({"file": file, "tokens": n, **skipped[file]} for file, n in counts)
    elif counts:
        print_counts(counts, named=bool(files))
    end_with_failures(failures)


@app.command()
def tokens(
    tokenizer: TokenizerOption,
    files: FilesArgument = None,
    allowed_special: SpecialOption = None,
    template: TemplateOption = False,
    steps: Annotated[
        bool, typer.Option("--steps", help="Show each piece of a text before merging and after each merge.")
    ] = False,
    color: Annotated[
        bool, typer.Option("--color", help="Colour the tokens where output is no terminal, too, as for less -R.")
    ] = False,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show texts cut into their tokens.

    On a terminal, or with --color, the tokens are coloured, with their ids below. Elsewhere, and where NO_COLOR is set,
    each token has a line: its id, a tab, the token. Bytes that are no whole character become \\xNN, and characters that
    do not print are escaped. An empty line stands between two texts, and --json prints a list for each, where there may
    be several on a line of its own. The tokens of a template are left out, unless you ask for them. With --steps the
    tokens of a word come once for each merge that makes them, from its bytes on, with --- between two words and ===
    between two texts; --json has a list for each word and each step.

    \b
    Example:
      cbpe tokens -t cl100k_base book.txt
      echo "naïve café" | cbpe tokens -t gpt2
      printf "lower" | cbpe tokens -t gpt2 --steps
    """
    tok = tokenizer_of(tokenizer)
    refuse_no_template(tok, tokenizer, template)
    field = field_of_texts(form, field, files)
    named = readers(files, field, errors, missing)
    if color and as_json:
        raise typer.BadParameter("JSON has no colours: leave it out, or --json", param_hint="--color")
    if steps:
        refuse_beside_steps(allowed_special, template)
        print_steps(tok, named, as_json, in_one_line=may_be_several(files, field), coloured=color)
        return
    texts = encoded(tok, named, allowed_special, template)
    found = (((token, tok.vocab[token]) for ids in id_lists for token in ids) for id_lists in texts)
    if as_json:
        for text in found:
            print_rows((token_row(*item) for item in text), in_one_line=may_be_several(files, field))
        return
    from cbpe.cli.output.gloss import print_gloss  # slow to import

    print_gloss(found, color)


def refuse_beside_steps(allowed_special: list[str] | None, template: bool) -> None:
    """BadParameter for what merging has no part in."""
    for option, is_given in (("--allowed-special", allowed_special), ("--template", template)):
        if is_given:
            raise typer.BadParameter(
                "--steps shows merging, which makes no such tokens: leave it out", param_hint=option
            )


def print_steps(
    tok: Tokenizer, named: list[tuple[str, Reader]], as_json: bool, in_one_line: bool, coloured: bool
) -> None:
    """The steps of merging of the texts of some files: of a text in JSON a list of pieces."""
    from cbpe.cli.output.gloss import print_parts

    texts = stepped(tok, named)
    if as_json:
        for pieces in texts:
            rows = (
                [[token_row(token_id, tok.vocab[token_id]) for token_id in ids] for ids in piece] for piece in pieces
            )
            print_rows(rows, in_one_line=in_one_line)
        return
    parts = bordered(texts)
    glossed = ((border, [(token_id, tok.vocab[token_id]) for token_id in ids]) for border, ids in parts)
    print_parts(glossed, coloured)


def bordered(texts: Iterable[list[list[list[int]]]]) -> Iterator[tuple[str | None, list[int]]]:
    """Each step with the line that stands before it: empty between two steps, and others between pieces and texts."""
    border = None
    for pieces in texts:
        for piece in pieces:
            for ids in piece:
                yield border, ids
                border = ""
            border = "---"
        border = None if border is None else "==="


def stepped(tok: Tokenizer, named: list[tuple[str, Reader]]) -> Iterator[list[list[list[int]]]]:
    """The ids of each piece of each text, before merging and after each merge. Warnings at the end tell of what the
    split pattern leaves out, and of characters without a token."""
    left_out = LeftOut(tok)
    for _, reader in named:
        for chunks in reader.strings():
            text = "".join(left_out.seen(chunks) if left_out else chunks)
            try:
                pieces = tok._merge_steps(text)
            except KeyError as error:
                raise reader.of_text(error) from None
            except ValueError as error:
                raise reader.of_text(error) from None
            if left_out:
                left_out.add([token_id for piece in pieces for token_id in piece[-1]])
            yield pieces
    left_out.tell("the text")
