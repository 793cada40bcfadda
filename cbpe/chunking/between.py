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
) -> str:
    """The longest prefix of a text that has at most `budget` tokens when it is encoded alone.

    finder: of the added tokens, none of which takes white space. count: how many tokens a stretch between them has;
    truncate: how many characters its longest prefix has that is within a budget. Both are told whether the stretch is
    the first of the text.
    """
    is_first, start, stretch, region = True, 0, "", text
    counted: tuple[int, int, int] = (0, 0, 0)  # the last stretch that was counted, from where to where, and its tokens
    while True:
        for piece, token_id in chain(finder.cut(region), [("", END)]):
            if token_id is None:
                stretch += piece
                continue
            if counted[:2] != (start, start + len(stretch)):
                counted = start, start + len(stretch), count(stretch, is_first) if stretch else 0
            n = counted[2]
            if token_id == END:
                return text[: start + (len(stretch) if n <= budget else truncate(stretch, is_first, budget))]
            if n >= budget:
                # No prefix with this token is within the budget. One that ends in it has its text, not the token. No
                # other token begins before: it would have been found there.
                region = piece[:-1]
                break
            budget -= n + 1
            start += len(stretch) + len(piece)
            is_first, stretch = False, ""
