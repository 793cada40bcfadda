"""In which direction a line of tokens runs. Each token is an element of its own to a browser, which lays elements out
in the direction of the line, whatever is in them: so runs of the other direction are marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

__all__ = ["Direction", "direction_of", "places_in", "turned"]

Direction = Literal["ltr", "rtl"]
FROM_RIGHT = ("R", "AL")  # classes of Unicode's bidirectional algorithm, as those that follow
LETTER, MARK = "L", "NSM"
STRONG = ("Mc", "Nd", "Nl")  # categories of what has a direction and is no letter, as digits of India
NUMBERS = EUROPEAN, ARABIC = "EN", "AN"
LETTERS = (LETTER, *FROM_RIGHT)
WITHIN_NUMBERS = {"CS": (EUROPEAN, ARABIC), "ES": (EUROPEAN,)}  # a separator -> the numbers that it stands in
MOST_OPENED = 63  # brackets that are looked at, one within another
BRACKETS = {"(": ")", "[": "]", "{": "}"}
BESIDE_NUMBERS = "ET"  # as "%" is


def direction_of(text: str) -> Direction | None:
    """The direction that most letters of a text have; None without letters.

    >>> direction_of("שלום"), direction_of("a b"), direction_of("12.")
    ('rtl', 'ltr', None)
    """
    letters = [unicodedata.bidirectional(each) in FROM_RIGHT for each in text if each.isalpha()]
    if not letters:
        return None
    return "rtl" if 2 * sum(letters) > len(letters) else "ltr"


def levels_in(texts: Sequence[str], line: Direction) -> list[int]:
    """How deep each of the texts of a line is within others, by the rules of Unicode's bidirectional algorithm (UAX #9,
    W1 to I2) with texts in the place of characters: even levels run from left to right, odd ones from right to left,
    and that of the line is 0 or 1.

    >>> levels_in(["In ", "שנת", " ", "20", "26", " ", "a"], "ltr"), levels_in(["שנת", " a", " ", "b"], "rtl")
    ([0, 1, 1, 2, 2, 0, 0], [1, 2, 2, 2])
    """
    base = 1 if line == "rtl" else 0
    outside = FROM_RIGHT[0] if base else LETTER
    kinds = [FROM_RIGHT[0] if kind in FROM_RIGHT else kind for kind in with_numbers(texts, outside)]
    set_brackets(kinds, texts, outside)
    # What stands between two texts of one direction has that one; numbers are as what is around them.
    before, after = sides(kinds, outside), sides(kinds[::-1], outside)[::-1]
    levels = []
    for kind, one, other in zip(kinds, before, after, strict=True):
        if kind is None:
            kind = one if one == other else outside
        levels.append(1 if kind == FROM_RIGHT[0] else 2 * base if kind == LETTER else 2)
    return levels


def set_brackets(kinds: list[str | None], texts: Sequence[str], outside: str) -> None:
    """Make both brackets of a pair that has letters or numbers within run as the line does, where one of these does,
    or else as what is before the pair (N0)."""
    opened: list[tuple[str, int]] = []
    pairs = []
    for i, (kind, text) in enumerate(zip(kinds, texts, strict=True)):
        bracket = text.strip() if kind is None else ""
        if bracket in BRACKETS and len(opened) < MOST_OPENED:
            opened.append((BRACKETS[bracket], i))
        elif bracket and bracket in [closing for closing, _ in opened]:
            while opened:
                closing, first = opened.pop()
                if closing == bracket:
                    pairs.append((first, i))
                    break
    for first, last in sorted(pairs):
        within = {side_of(kind) for kind in kinds[first + 1 : last] if kind}
        if within:
            before = next((side_of(kind) for kind in reversed(kinds[:first]) if kind), outside)
            kinds[first] = kinds[last] = outside if outside in within else before


def side_of(kind: str) -> str:
    """Where what is around letters, or a number, runs from: "L" or "R"."""
    return LETTER if kind == LETTER else FROM_RIGHT[0]


def sides(kinds: Sequence[str | None], outside: str) -> list[str]:
    """On which side, "L" or "R", each of some texts follows."""
    found, last = [], outside
    for kind in kinds:
        found.append(last)
        if kind is not None:
            last = side_of(kind)
    return found


def with_numbers(texts: Sequence[str], outside: str) -> list[str | None]:
    """What each of some texts is: letters, by the class of most of them, a number, or None. outside: what is before the
    line. Numbers that follow letters from the left are as these are."""
    kinds = [class_of(text) for text in texts]
    letters = ""
    for i, (kind, text) in enumerate(zip(kinds, texts, strict=True)):
        if set(map(unicodedata.bidirectional, text)) == {MARK}:  # W1: a mark is as what it stands on
            kinds[i] = kinds[i - 1] if i else outside
        elif kind in LETTERS:
            letters = kind
        elif kind == EUROPEAN and letters == FROM_RIGHT[1]:  # W2: after Arabic letters numbers are as Arabic ones
            kinds[i] = ARABIC
    for i, text in enumerate(texts[1:-1], 1):  # W4: 1,5
        numbers = WITHIN_NUMBERS.get(unicodedata.bidirectional(text), ()) if len(text) == 1 else ()
        if kinds[i - 1] == kinds[i + 1] and kinds[i - 1] in numbers:
            kinds[i] = kinds[i - 1]
    for places, step in ((range(len(texts)), -1), (range(len(texts) - 1, -1, -1), 1)):  # W5: 5 %
        for i in places:
            if is_beside(texts[i]) and 0 <= i + step < len(texts) and kinds[i + step] == EUROPEAN:
                kinds[i] = EUROPEAN
    letters = outside
    for i, kind in enumerate(kinds):  # W7: after letters from the left
        if kind in LETTERS:
            letters = kind
        elif kind == EUROPEAN and letters == LETTER:
            kinds[i] = LETTER
    return kinds


def is_beside(text: str) -> bool:
    return set(map(unicodedata.bidirectional, text)) == {BESIDE_NUMBERS}


def class_of(text: str) -> str | None:
    """The class of most letters, or without any of the first digit or the like; None without these."""
    direction = direction_of(text)
    if direction is not None:
        among = (LETTER,) if direction == "ltr" else FROM_RIGHT
        return next((each for each in map(unicodedata.bidirectional, text) if each in among), None)
    for character in text:
        found = unicodedata.bidirectional(character)
        if found in NUMBERS or (found in LETTERS and unicodedata.category(character) in STRONG):
            return found
    return None


def places_in(texts: Sequence[str], line: Direction) -> list[tuple[int, int]]:
    """The levels of each of the texts of a line: of the blanks that it begins with, where they are less deep than it,
    and of itself. What these part is no one run.

    >>> places_in(["שנת", " 1", " 23", "4"], "rtl")
    [(1, 1), (1, 2), (1, 2), (2, 2)]
    """
    parts: list[str] = []
    own = []  # of each text, where it is among the parts, behind its blanks
    for text in texts:
        rest = text.lstrip()
        blanks = text[: len(text) - len(rest)] if rest else ""
        parts += [blanks, rest] if blanks else [text]
        own.append(len(parts) - 1)
    levels = levels_in(parts, line)
    starts = [0, *(i + 1 for i in own)]
    return [(min(levels[start : i + 1]), levels[i]) for start, i in zip(starts, own, strict=False)]


def turned(places: Sequence[tuple[int, int]], line: Direction) -> Iterator[tuple[list[Direction], int]]:
    """Which runs begin before each text of a line, from without, and how many end before it; and once more after the
    last, with as many as are open. places: as places_in has them.

    >>> list(turned([(0, 0), (1, 1), (2, 2), (1, 2), (1, 1)], "ltr"))
    [([], 0), (['rtl'], 0), (['ltr'], 0), (['ltr'], 1), ([], 1), ([], 1)]
    """
    base = 1 if line == "rtl" else 0
    now = base
    for blanks, level in (*places, (base, base)):
        least = min(now, blanks)
        yield ["rtl" if each % 2 else "ltr" for each in range(least + 1, level + 1)], now - least
        now = level
