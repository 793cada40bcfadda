"""In which direction a line of tokens runs. Each token is an element of its own to a browser, which lays elements out
in the direction of the line, whatever is in them: so runs of the other direction are marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

__all__ = ["Direction", "direction_of", "runs_in"]

Direction = Literal["ltr", "rtl"]
FROM_RIGHT = ("R", "AL")  # classes of Unicode's bidirectional algorithm


def direction_of(text: str) -> Direction | None:
    """The direction that most letters of a text have; None without letters.

    >>> direction_of("שלום"), direction_of("a b"), direction_of("12.")
    ('rtl', 'ltr', None)
    """
    letters = [unicodedata.bidirectional(each) in FROM_RIGHT for each in text if each.isalpha()]
    if not letters:
        return None
    return "rtl" if 2 * sum(letters) > len(letters) else "ltr"


def runs_in(texts: Sequence[str], line: Direction) -> Iterator[tuple[Direction | None, range]]:
    """The texts of a line, by their places, in runs: those that run in the other direction than the line, each from its
    first text with letters to its last one, with that direction, and all others one by one, with None. Digits run from
    left to right."""
    other: Direction = "ltr" if line == "rtl" else "rtl"
    directions = [direction_of(text) for text in texts]
    if line == "rtl":
        digits = (any(map(str.isdecimal, text)) for text in texts)
        directions = ["ltr" if each is None and has else each for each, has in zip(directions, digits, strict=True)]
    i = 0
    while i < len(texts):
        end = i + 1
        if directions[i] != other:
            yield None, range(i, end)
        else:
            for j in range(end, len(texts)):
                if directions[j] == line:
                    break
                if directions[j] == other:
                    end = j + 1
            yield other, range(i, end)
        i = end
