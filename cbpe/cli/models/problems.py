"""How what verify finds is told to people: of many problems of one kind the first, and how many more there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["problem_lines"]

OF_A_KIND = 3  # problems that are shown
MOST_SHOWN = 40  # problems of all kinds
NUMBER = r"\d+(?:,\d+)*"
NUMBERS = re.compile(rf"{NUMBER}(?:, {NUMBER})*(?:, \.\.\.)?(?: rows? (?:is|are))?")  # one, or a list of them


def problem_lines(problems: Sequence[str]) -> Iterator[str]:
    """A line for each of the first problems of each kind, and one that counts the others."""
    kinds: dict[str, list[str]] = {}
    for problem in problems:
        kinds.setdefault(kind_of(problem), []).append(problem)
    shown, unmentioned = 0, len(problems)
    for alike in kinds.values():
        first = alike[: min(OF_A_KIND, MOST_SHOWN - shown)]
        if not first:
            break
        yield from first
        shown, unmentioned = shown + len(first), unmentioned - len(alike)
        if len(alike) > len(first):
            yield f"... and {len(alike) - len(first):,} more of this kind (--json has all)"
    if unmentioned:
        yield f"... and {unmentioned:,} more of other kinds (--json has all)"


def kind_of(problem: str) -> str:
    """What a problem says, whichever version, vocabulary or row it is about.

    >>> kind_of("vocabulary 1, tokens: 3 rows are missing: 5, 6, 9")
    '# missing: #'
    """
    return NUMBERS.sub("#", problem.split(": ", 1)[-1])
