"""Finds the added tokens of a tokenizer.json in a text, in the two steps in which Hugging Face finds them."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

__all__ = ["FLAGS", "Finders", "cut"]

# Lists of added tokens in a tokenizer's processing: those that are looked for in normalized text, and those that are
# not called special. They say how added tokens are found; ordinary text is not changed by them.
FLAGS = ("normalized", "ordinary")


class Finders:
    """Finds added tokens in two steps. Of several at one place it takes the longest."""

    def __init__(self, ids: Mapping[str, int], normalized: Collection[str]) -> None:
        first = [token for token in ids if token not in normalized]
        second = [token for token in ids if token in normalized]
        self.ids = ids
        self.as_it_is = finder(first)
        self.normalized = finder(second)
        self.both = finder(ids)
        # Whether it makes a difference that some are found first: one of them may begin inside of another.
        self.in_two_steps = any(self.as_it_is.search(token) or ends_in_beginning(token, first) for token in second)


def ends_in_beginning(token: str, others: list[str]) -> bool:
    """Whether a token ends with the beginning of one of others: "a<s" with ["<s>"]."""
    ordered = sorted(others)
    for start in range(1, len(token)):
        end = token[start:]
        at = bisect_left(ordered, end)
        if at < len(ordered) and ordered[at].startswith(end):
            return True
    return False


def finder(tokens: Iterable[str]) -> re.Pattern[str]:
    """An expression that finds the first of some texts, and the longest of several at one place. Without texts it finds
    nothing."""
    longest_first = sorted(tokens, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or "(?!)")


def cut(text: str, found_by: re.Pattern[str], ids: Mapping[str, int]) -> Iterator[tuple[str, int | None]]:
    """The tokens in a text, with their ids, and the stretches between them that are not empty, with None."""
    start = 0
    for match in found_by.finditer(text):
        if match.start() > start:
            yield text[start : match.start()], None
        yield match[0], ids[match[0]]
        start = match.end()
    if start < len(text):
        yield text[start:], None
