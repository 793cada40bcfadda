"""Where one grapheme (a character as people see it) ends and the next begins: the borders of the `regex` module's \\X.

Most places in most texts are borders for certain by the two characters around them. Only elsewhere the expression runs,
from the nearest such place on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from cbpe._core.text.chunks import is_sure

__all__ = ["is_border", "last_borders", "next_border"]

NEAR = 64  # characters before a place that are looked at one by one


@cache
def grapheme() -> Any:
    import regex  # slow to import

    return regex.compile(r"\X")


def is_border(text: str, place: int, start: int) -> bool:
    """Whether a place in a text, behind `start`, which is a border, is one."""
    if place == len(text) or is_sure(text, place):
        return True
    return place in borders(text, sure_before(text, place, start), place)


def borders(text: str, start: int, end: int) -> Iterator[int]:
    """The borders behind `start`, which is one, up to `end`."""
    # Of short parts, one after another: at each flag the expression looks back at all flags before it.
    size = NEAR
    while start < end:
        part = text[start : start + size]
        begin = start
        for match in grapheme().finditer(part):
            at = begin + match.end()
            if at > end:
                return
            if match.end() == len(part) and at < len(text):  # what follows may belong to it
                break
            yield at
            start = at
        size = NEAR if start > begin else 2 * size


def sure_before(text: str, place: int, start: int) -> int:
    """A border before a place, as near as it is found; `start`, which is one, if none is."""
    nearest = max(start + 1, place - NEAR)
    return next((at for at in range(place - 1, nearest - 1, -1) if is_sure(text, at)), start)


def next_border(text: str, start: int) -> int:
    """The end of the grapheme that begins at a border."""
    return next(borders(text, start, len(text)))


def last_borders(text: str, start: int, limit: int) -> Iterator[int]:
    """The borders behind `start`, which is one, up to `limit`, the last one first."""
    while limit > start:
        is_known = limit == len(text) or is_sure(text, limit)
        if is_known:
            yield limit
        from_here = sure_before(text, limit, start)
        found = list(borders(text, from_here, limit - is_known))
        yield from reversed(found)
        limit = from_here
