"""Where one grapheme (a character as people see it) ends and the next begins: the borders of the `regex` module's \\X.

Most places in most texts are borders for certain by the two characters around them. Only elsewhere the expression runs,
from the nearest such place on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

__all__ = ["is_border", "last_borders", "next_border"]

# Characters between any two of which is a border, as each is of Unicode's Grapheme_Cluster_Break=Other, a control
# character or a whole syllable: letters of many scripts, without their marks, and punctuation.
SIMPLE = re.compile(
    "[\t -~\u00c0-\u02af\u0391-\u03c9\u0400-\u0481\u048a-\u052f\u05d0-\u05ea\u0621-\u064a\u0904-\u0939\u0e01-\u0e30"
    "\u10d0-\u10ff\u1e00-\u1eff\u2010-\u2027\u3001\u3002\u300a-\u3011\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff"
    "\uac00-\ud7a3\uff01-\uff5e]{2}"
)
NEAR = 64  # characters before a place that are looked at one by one


@cache
def grapheme() -> Any:
    import regex  # slow to import

    return regex.compile(r"\X")


def is_sure(text: str, place: int) -> bool:
    """Whether there is a border for certain, by the characters around."""
    if SIMPLE.match(text, place - 1, place + 1):
        return True
    return text[place - 1] == "\n" or (text[place] in "\r\n" and text[place - 1] != "\r")


def is_border(text: str, place: int, start: int) -> bool:
    """Whether a place in a text, behind `start`, which is a border, is one."""
    if place == len(text) or is_sure(text, place):
        return True
    return place in borders(text, sure_before(text, place, start), place)


def borders(text: str, start: int, end: int) -> Iterator[int]:
    """The borders behind `start`, which is one, up to `end`."""
    for match in grapheme().finditer(text, start):
        if match.end() > end:
            return
        yield match.end()


def sure_before(text: str, place: int, start: int) -> int:
    """A border before a place, as near as it is found; `start`, which is one, if none is."""
    nearest = max(start + 1, place - NEAR)
    return next((at for at in range(place - 1, nearest - 1, -1) if is_sure(text, at)), start)


def next_border(text: str, start: int) -> int:
    """The end of the grapheme that begins at a border."""
    found: int = grapheme().match(text, start).end()
    return found


def last_borders(text: str, start: int, limit: int) -> Iterator[int]:
    """The borders behind `start`, which is one, up to `limit`, the last one first."""
    while limit > start:
        if limit == len(text) or is_sure(text, limit):
            yield limit
        from_here = sure_before(text, limit, start)
        found = list(borders(text, from_here, limit - 1))
        yield from reversed(found)
        limit = from_here
