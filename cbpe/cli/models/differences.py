"""How the difference between two tokenizers is told to people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from os.path import commonprefix
from typing import TYPE_CHECKING, TypeVar

from cbpe.cli.output.folding import Words
from cbpe.cli.output.printing import COPIED
from cbpe.common.wording import number_of
from cbpe.views.readable import MOST_CHARACTERS, beginning, readable, readable_bytes
from cbpe.views.settings import differing

if TYPE_CHECKING:
    from store import Diff, MovedToken

__all__ = ["difference_pairs"]

T = TypeVar("T")

SHOWN_OF_DIFFERENCE = 20  # characters of two long settings, behind those that are the same
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
