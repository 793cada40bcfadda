"""How the difference between two tokenizers, and what they make of texts, is printed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from os.path import commonprefix
from typing import TYPE_CHECKING, TypeVar

from cbpe.cli.input.texts import warn_of_no_text
from cbpe.cli.output.folding import Words
from cbpe.cli.output.printing import (
    COPIED,
    print_json,
    print_lines,
    print_pairs,
    print_table,
    warn_of_measures,
)
from cbpe.common.wording import number_of
from cbpe.views.readable import MOST_CHARACTERS, beginning, readable, readable_bytes
from cbpe.views.settings import differing

if TYPE_CHECKING:
    from store import Diff, MovedToken, VersionComparison

__all__ = ["difference_pairs", "print_comparison"]

T = TypeVar("T")

SHOWN_OF_DIFFERENCE = 20  # characters of two long settings, behind those that are the same
COMPARED = ("tokens", "covered_bytes", "unknown_tokens", "added_as_text", "bytes_per_token")  # of either side, in JSON
MOST_SHOWN = 10  # tokens of each kind


def difference_pairs(found: Diff, a: str, b: str) -> Iterator[tuple[str, object]]:
    """What differs, and how; a and b are the names of the two."""
    from store.comparing import continuation

    if found.more_merges is not None:
        yield "merges", continuation(found, a, b)
    for name, tokens in ((a, found.only_a), (b, found.only_b)):
        if tokens:
            yield f"only in {name}", first_of(tokens, lambda item: f"{item[0]} {quoted(item[1])}")
    if found.moved:
        yield "other ids", first_of(found.moved, moved_token)
    if found.first_merge is not None and found.more_merges is None:
        rank, here, there = found.first_merge
        yield "first other merge", Words([f"rank {rank:,}:", *merge(here), f"in {a},", *merge(there), f"in {b}"])
    yield from special_pairs(found, a, b)
    for setting, ours, theirs in differing(found.settings):
        if setting in COPIED:  # whole and at the end of a line, to be copied: a pattern may hold any sign
            yield setting, f"{a}: {ours}"
            yield setting, f"{b}: {theirs}"
        else:
            most = max(MOST_CHARACTERS, len(commonprefix([ours, theirs])) + SHOWN_OF_DIFFERENCE)  # noqa: RUF071  # of texts
            yield setting, f"{beginning(ours, most)} in {a}, {beginning(theirs, most)} in {b}"


def special_pairs(found: Diff, a: str, b: str) -> Iterable[tuple[str, object]]:
    """What differs in special tokens."""
    for name, special in ((a, found.special_only_a), (b, found.special_only_b)):
        only = [f"{quoted_text(token)} with id {token_id}" for token, token_id in special.items()]
        yield from first_rows(f"special, only in {name}", only)
    moved = found.special_moved.items()
    ids = [f"{quoted_text(token)}: {id_a} in {a}, {id_b} in {b}" for token, (id_a, id_b) in moved]
    yield from first_rows("special, other ids", ids)


def first_rows(name: str, values: list[str]) -> Iterator[tuple[str, str]]:
    """A row for each of the first, and one that says how many more there are."""
    yield from ((name, value) for value in values[:MOST_SHOWN])
    if len(values) > MOST_SHOWN:
        yield name, f"and {len(values) - MOST_SHOWN:,} more"


def first_of(tokens: Collection[T], told: Callable[[T], str]) -> Words:
    """How many tokens there are, and the first of them."""
    shown = [*map(told, islice(tokens, MOST_SHOWN)), *(["..."] if len(tokens) > MOST_SHOWN else [])]
    return Words([f"{number_of(len(tokens), 'token')}:", *(f"{token}," for token in shown[:-1]), shown[-1]])


def moved_token(token: MovedToken) -> str:
    here, there = (", ".join(map(str, ids)) for ids in (token.ids_a, token.ids_b))
    return f"{quoted(token.token)} {here} -> {there}"


def merge(pair: tuple[bytes, bytes] | None) -> list[str]:
    return ["none"] if pair is None else [quoted(pair[0]), "+", quoted(pair[1])]


def quoted(token: bytes) -> str:
    return f'"{beginning(readable_bytes(token))}"'


def quoted_text(token: str) -> str:
    return f'"{beginning(readable(token))}"'


def print_comparison(
    found: VersionComparison,
    names: list[str],
    files: list[tuple[int, str]],
    changed: dict[str, int],
    as_json: bool,
    wide: bool,
) -> None:
    """The names of the two, and a row for each file and, of several, for all together; as JSON one for each text.

    files: of each text, the number and the name. changed: what JSON says of texts that were skipped, and of bytes
    that were replaced.
    """
    from store.comparing import all_together

    of_files = groupby(zip(files, found.texts, strict=True), key=itemgetter(0))
    rows = [(file, all_together(text for _, text in texts)) for (_, file), texts in of_files]
    for file, row in rows:
        warn_of_no_text(file, row.text_bytes)
    printed = [*rows, ("total", found.total)] if len(rows) > 1 else rows
    for file, row in rows:
        warn_of_measures(names[0], file, *row.sizes_a)
        warn_of_measures(names[1], file, *row.sizes_b)
    if as_json:
        keys = ("text_bytes", *(f"{of}_{side}" for of in COMPARED for side in "ab"))
        texts = [
            {"file": file, **{key: getattr(row, key) for key in keys}}
            for (_, file), row in [*zip(files, found.texts, strict=True), ((0, None), found.total)]
        ]
        print_json({"a": names[0], "b": names[1], "texts": texts[:-1], "total": texts[-1], **changed})
        return
    print_pairs(zip("ab", names, strict=True))
    print_lines([""])
    columns = ("file", "bytes", *(f"{what} {side}" for what in ("tokens", "bytes/token") for side in "ab"))
    cells = (
        (file, row.text_bytes, row.tokens_a, row.tokens_b, row.bytes_per_token_a, row.bytes_per_token_b)
        for file, row in printed
    )
    print_table(columns, cells, spare=("bytes",), wide=wide)
