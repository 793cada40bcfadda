"""vocab, stats, analyze and encodings: what is in a vocabulary, and how it fits texts."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import cbpe
from cbpe.cli.input.counts import each_file
from cbpe.cli.input.options import (
    CsvOption,
    ErrorsOption,
    FieldOption,
    FilesOrFoldersArgument,
    FormatOption,
    JsonOption,
    MissingOption,
    TokenizerOption,
    WideOption,
    refuse_two_forms,
)
from cbpe.cli.input.references import complete_reference, tokenizer_of
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.input.texts import (
    STANDARD_STREAM,
    field_of_texts,
    files_meant,
    is_stream,
    readers,
    tell_of_plain_text_in,
    warn_of_no_text,
)
from cbpe.cli.input.values import hex_bytes, refuse_named_twice, wrong_value_of
from cbpe.cli.output.printing import (
    end_with_failures,
    print_error,
    print_json,
    print_lines,
    print_pairs,
    print_rows,
    print_table,
    print_tree,
    warn_of_measures,
    write_text,
)
from cbpe.cli.output.rows import token_row
from cbpe.cli.registering import new_app
from cbpe.common.wording import listed, share_in_percent, shown
from cbpe.measures.rows import csv_of
from cbpe.text.spaces import told_of_marks
from cbpe.views.inspected import special_counted
from cbpe.views.readable import readable_bytes

if TYPE_CHECKING:
    from cbpe.analysis.lookup import MergeTree
    from cbpe.analysis.texts import TextStatistics, TextTally
    from cbpe.common.progress import ProgressCallback
    from cbpe.corpus.sources import Reader

app = new_app(add_completion=False)

NAMES_SHOWN = 4
ONCE = "can be read only once: name files, or one tokenizer"
ID = re.compile(r"\d{1,10}", re.ASCII)  # which is less than 2**32


@app.command()
def vocab(
    tokenizer: TokenizerOption,
    contains: Annotated[str | None, typer.Option(metavar="TEXT", help="Only tokens that hold this text.")] = None,
    digits: Annotated[
        str | None, typer.Option("--bytes", metavar="HEX", help="Only tokens that hold these bytes: e28099.")
    ] = None,
    pattern: Annotated[
        str | None, typer.Option(metavar="REGEX", help="Only tokens in which this expression is found.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Print at most this many.")] = None,
    tree: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN|ID",
            help="Draw how this token is merged instead: give its text or, if no token has that text, its id.",
        ),
    ] = None,
    tree_id: Annotated[
        int | None, typer.Option("--tree-id", metavar="ID", min=0, help="Draw how the token with this id is merged.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List or search a vocabulary, or draw how one token is merged.

    Each token has a line: its id, a tab, the token. They are sorted by id, and special tokens are among them. Bytes
    that are no whole character become \\xNN, and characters that do not print are escaped.

    \b
    Example:
      cbpe vocab -t cl100k_base --contains hello
      cbpe vocab -t gpt2 --pattern "^ ?[0-9]{4}$" --limit 5
      cbpe vocab -t cl100k_base --tree " tokenizer"
    """
    from cbpe.analysis.lookup import compiled, find_tokens, merge_tree

    if contains is not None and digits is not None:
        raise typer.BadParameter("not together with --contains", param_hint="--bytes")
    if tree is not None or tree_id is not None:
        drawing = "--tree-id" if tree is None else "--tree"
        given = {"--contains": contains, "--bytes": digits, "--pattern": pattern, "--limit": limit}
        given |= {"--tree-id": tree_id} if tree is not None else {}
        for option, value in given.items():
            if value is not None:
                raise typer.BadParameter(f"not together with {drawing}, which draws one token", param_hint=option)
    if pattern is not None:
        with wrong_value_of("--pattern"):
            compiled(pattern)
    tok = tokenizer_of(tokenizer)
    wanted_id = tree_id if tree is None else token_id_of(tok, tree)
    if wanted_id is not None:
        root = merge_tree(tok, wanted_id)
        if as_json:
            print_rows(tree_rows(root))
        else:
            print_tree(root)
        return
    # An argument may have bytes that are no UTF-8, as tokens have them.
    wanted = (None if contains is None else os.fsencode(contains)) if digits is None else hex_bytes(digits)
    most = None if limit is None else min(limit, sys.maxsize)
    found: Iterator[tuple[int, bytes]] = islice(find_tokens(tok, contains=wanted, pattern=pattern), most)
    first = [*islice(found, 1)]
    if not first and most != 0:
        print_error(f"no token is what was asked for{told_of_marks(contains or '')}")
    rows = chain(first, found)
    if as_json:
        print_rows(token_row(*item) for item in rows)
    else:
        print_lines(f"{token_id}\t{readable_bytes(token)}" for token_id, token in rows)


def token_id_of(tok: cbpe.Tokenizer, text_or_id: str) -> int:
    """The id of the token with this text; if there is none, the id that the text is. A text that is both is said to
    be."""
    try:
        found = tok.encode_single_token(text_or_id)
    except KeyError:
        if ID.fullmatch(text_or_id):
            return int(text_or_id)
        raise
    if ID.fullmatch(text_or_id) and found != int(text_or_id) < tok.n_vocab:
        print_error(f"{text_or_id} is the text of the token {found}; --tree-id {text_or_id} draws the token of that id")
    return found


def tree_rows(root: MergeTree) -> Iterator[dict[str, Any]]:
    """Each token of a tree once, from the top, with the ids of the two that it is merged from."""
    seen = set()
    nodes = [root]
    for node in nodes:
        if node.id not in seen:
            seen.add(node.id)
            nodes.extend(node.parts)
            yield {**token_row(node.id, node.token), "parts": [part.id for part in node.parts]}


@app.command()
def stats(
    tokenizers: Annotated[
        list[str],
        typer.Option(
            "-t",
            "--tokenizer",
            metavar="REF",
            help="A file, a named encoding, or a version in the model store; several are compared.",
            autocompletion=complete_reference,
            show_default=False,
        ),
    ],
    files: FilesOrFoldersArgument = None,
    form: FormatOption = None,
    field: FieldOption = None,
    errors: ErrorsOption = "strict",
    missing: MissingOption = "error",
    wide: WideOption = False,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Measure how well tokenizers fit texts.

    Prints a row for each file, such as one for each language, and after several files one for all together: bytes per
    token, tokens per word (white space separates words), and the share of the vocabulary that came up. Special tokens
    are ordinary text here, and a template adds nothing. What the split pattern leaves out counts for no bytes per
    token. A file that cannot be read has no row, and the exit code is 1.

    \b
    Example:
      cbpe stats -t cl100k_base -t o200k_base book.txt
      cbpe stats -t gpt2 english.txt german.txt
    """
    refuse_named_twice(tokenizers)
    if len(tokenizers) > 1 and (not files or STANDARD_STREAM in files):
        raise typer.BadParameter(f"standard input {ONCE}", param_hint="-t")
    for file in files or () if len(tokenizers) > 1 else ():
        if is_stream(file):
            raise typer.BadParameter(f"{shown(file)} is a pipe or a device, which {ONCE}", param_hint="FILE")
    refuse_two_forms(as_csv, as_json)
    field = field_of_texts(form, field, files)
    files = files_meant(files, field, errors)
    tell_of_plain_text_in(files, field)
    rows: list[MeasuredFile] = []
    failures: list[Exception] = []
    for reference in tokenizers:
        named = readers(files, field, errors, missing, told=True)
        found_in, failed = file_statistics(tokenizer_of(reference), named)
        rows += [MeasuredFile(reference, *found) for found in found_in]
        if len(found_in) > 1:
            rows[-1] = rows[-1]._replace(is_total=True)
        failures += failed
    if rows or not failures:
        print_statistics(rows, as_csv, as_json, wide)
    end_with_failures(failures)


class MeasuredFile(NamedTuple):
    """What a tokenizer makes of a file."""

    tokenizer: str
    file: str
    found: TextStatistics
    skipped: dict[str, int]  # what JSON says of texts that were left out
    is_total: bool = False  # of all files, each of which has a row, too


def print_statistics(rows: list[MeasuredFile], as_csv: bool, as_json: bool, wide: bool) -> None:
    """A row for each tokenizer and file."""
    for row in rows:
        if row.is_total:
            continue  # what misleads about it was said of its files
        found = row.found
        warn_of_no_text(row.file, found.bytes)
        sizes = found.bytes, found.covered_bytes, found.tokens, found.unknown_tokens, found.added_as_text
        warn_of_measures(row.tokenizer, row.file, *sizes)
    if as_json:
        print_rows(map(statistics_row, rows))
        return
    if as_csv:
        write_text(csv_of([*map(statistics_row, rows)]))
        return
    spare = ("words", "vocabulary used", "bytes", "tokens/word")
    names = ("tokenizer", "file", "bytes", "words", "tokens", "bytes/token", "tokens/word", "vocabulary used")
    print_table(names, map(statistics_cells, rows), whole=("file",), spare=spare, wide=wide)


def file_statistics(
    tok: cbpe.Tokenizer, files: list[tuple[str, Reader]]
) -> tuple[list[tuple[str, TextStatistics, dict[str, int]]], list[Exception]]:
    """The statistics of each file and, of several, of all together, with the number of texts that were left out, where
    that was asked for; and the errors of those that fail."""

    def measured(file: str, reader: Reader, report: ProgressCallback | None) -> tuple[TextTally, dict[str, int]]:
        tally = tok.tally()
        tally.add(reader, report)
        return tally, reader.as_row()

    total = tok.tally()  # before the first file is read, as it imports what takes long
    tallies, failures = each_file(files, measured)
    found = [(file, tally.statistics(), skipped) for file, (tally, skipped) in tallies]
    if len(found) > 1:
        all_skipped: Counter[str] = Counter()
        for _, (tally, skipped) in tallies:
            total += tally
            all_skipped.update(skipped)
        found.append(("total", total.statistics(), dict(all_skipped)))
    return found, failures


def statistics_row(row: MeasuredFile) -> dict[str, Any]:
    ratios = {name: getattr(row.found, name) for name in ("bytes_per_token", "tokens_per_word", "vocabulary_used")}
    return {"tokenizer": row.tokenizer, "file": row.file, **asdict(row.found), **ratios, **row.skipped}


def statistics_cells(row: MeasuredFile) -> tuple[object, ...]:
    found = row.found
    ratios = found.bytes_per_token, found.tokens_per_word, share_in_percent(found.vocabulary_used)
    return row.tokenizer, row.file, found.bytes, found.words, found.tokens, *ratios


@app.command()
def analyze(
    tokenizer: TokenizerOption,
    limit: Annotated[int, typer.Option(min=0, help="Show at most this many tokens that no text gives.")] = 10,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Say what of a vocabulary no text can give, without any text.

    Prints how many tokens there are, how many are no UTF-8 alone, such as parts of characters, how many have the same
    bytes, and which no text gives and why. --json names all of them.

    \b
    Example:
      cbpe analyze -t cl100k_base
    """
    tok = tokenizer_of(tokenizer)
    found = tok.analyze()
    tokens = tok.vocab
    if as_json:
        unreachable = [{**token_row(each, tokens[each]), "reason": why} for each, why in found.unreachable.items()]
        print_json({**asdict(found), "unreachable": unreachable})
        return
    pairs: list[tuple[str, object]] = [
        ("tokens", found.vocab_size),
        ("special tokens", special_counted(len(tok.special_tokens), found.vocab_size, len(tok))),
        ("no UTF-8 alone", len(found.not_utf8)),
        ("of the same bytes", sum(map(len, found.duplicates))),
        ("no text gives", len(found.unreachable)),  # those below
    ]
    for each, why in islice(found.unreachable.items(), min(limit, sys.maxsize)):
        pairs.append((f"  {each}", f'"{readable_bytes(tokens[each])}": {why}'))
    if 0 < limit < len(found.unreachable):
        pairs.append(
            ("", f"and {len(found.unreachable) - limit:,} more that no text gives: --limit and --json show them")
        )
    print_pairs(pairs)


@app.command()
def encodings(wide: WideOption = False, as_json: JsonOption = False) -> None:
    """List the named encodings.

    \b
    Example:
      cbpe encodings
    """
    from cbpe.encodings.named import SPECS
    from cbpe.encodings.plugins import why_broken
    from cbpe.tokenizers.registry import model_names

    rows: list[dict[str, Any]] = []
    broken = why_broken()
    failures = [ValueError(broken)] if broken else []
    for name in SPECS if broken else cbpe.list_encoding_names():
        try:
            encoding = cbpe.get_encoding(name)
        except Exception as error:  # whatever a plug-in raises
            failures.append(ValueError(f"{name}: {error}"))
            continue
        special = encoding.special_tokens
        sizes = {"vocab_size": encoding.vocab_size, "n_vocab": encoding.n_vocab}
        rows.append({"name": name, **sizes, "special_tokens": special, "models": model_names(name)})
    if as_json:
        print_rows(rows)
        end_with_failures(failures)
        return
    cells = (
        (
            row["name"],
            row["vocab_size"],
            *(listed(row[key], len(row[key]) if wide else NAMES_SHOWN) for key in ("special_tokens", "models")),
        )
        for row in rows
    )
    print_table(("name", "tokens", "special tokens", "models"), cells, spare=("special tokens",), wide=wide)
    end_with_failures(failures)
