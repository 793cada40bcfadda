"""The longest prefix of a text with added tokens, each of which is one token, while what stands between two is encoded
for itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from cbpe.text.added_tokens import Finder

__all__ = ["longest_prefix"]

END = -1  # in place of the id of a token


def longest_prefix(
    text: str,
    budget: int,
    finder: Finder,
    count: Callable[[str, bool], int],
    truncate: Callable[[str, bool, int], int],
    *,
    is_first: bool = True,
) -> str:
    """The longest prefix of a text that has at most `budget` tokens when it is encoded alone.

    finder: of the added tokens, none of which takes white space. count: how many tokens a stretch between them has;
    truncate: how many characters its longest prefix has that is within a budget. Both are told whether the stretch is
    the first of the text.
    """
    start, stretch = 0, ""
    for piece, token_id in chain(finder.cut(text), [("", END)]):
        if token_id is None:
            stretch = piece
            continue
        n = count(stretch, is_first) if stretch else 0
        if token_id == END:
            return text if n <= budget else text[: start + truncate(stretch, is_first, budget)]
        if n >= budget:
            # No prefix with this token is within the budget. One that ends in it has its text, not the token.
            rest = stretch + piece[:-1]
            return text[:start] + longest_prefix(rest, budget, finder, count, truncate, is_first=is_first)
        budget -= n + 1
        start += len(stretch) + len(piece)
        stretch, is_first = "", False
    return text
