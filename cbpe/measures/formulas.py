"""The formulas that take counts of tokens: Rényi efficiency, Gini, intersection over self."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Applied", "MergeOrder", "gini", "ratio", "renyi_efficiency", "renyi_entropy"]


MANY = 20  # times so many tokens as there are merges: then it takes less time to go through all
LARGE = 1e15  # an order of the Rényi entropy from which on it is that of the order infinity, as far as floats tell


def ratio(part: float, whole: float) -> float:
    """nan where there is nothing to divide by."""
    return part / whole if whole else float("nan")


def renyi_entropy(counts: npt.NDArray[np.int64], alpha: float) -> float:
    """Rényi entropy in bits of what occurs so often; Shannon's for an alpha of 1, nan where nothing occurs."""
    import numpy as np

    seen = counts[counts > 0]
    if not len(seen):
        return float("nan")
    shares = seen / seen.sum()
    if alpha == 1:
        return max(0.0, float(-(shares * np.log2(shares)).sum()))  # of a single token, -0.0 otherwise
    if alpha > LARGE:
        return max(0.0, float(-np.log2(shares.max())))
    if abs(alpha - 1) < 0.5:
        # The logarithm of a sum of powers that is nearly 1 has lost its digits; this is that of its difference from 1.
        powers = float((shares * np.expm1((alpha - 1) * np.log(shares))).sum())
        return max(0.0, math.log1p(powers) / (1 - alpha) / math.log(2))
    # Shares are taken relative to the largest, as powers of small ones vanish.
    largest = float(shares.max())
    powers = float(((shares / largest) ** alpha).sum())
    return max(0.0, (math.log2(powers) + alpha * math.log2(largest)) / (1 - alpha))


def renyi_efficiency(counts: npt.NDArray[np.int64], alpha: float, n: int) -> float:
    """The entropy over the most that n tokens can have, at most 1; nan for a single one, which can have none."""
    entropy = renyi_entropy(counts, alpha)
    return min(entropy / math.log2(n), 1.0) if n > 1 and not math.isnan(entropy) else float("nan")


def gini(costs: Sequence[float]) -> float:
    """The Gini coefficient: half the mean difference of two costs, over the mean. 0 where all are the same.

    >>> gini([1, 1, 1]), gini([0, 0, 3])
    (0.0, 0.6666666666666666)
    """
    total, n = sum(costs), len(costs)
    if not total:
        return float("nan")
    weighted = sum((2 * i - n + 1) * cost for i, cost in enumerate(sorted(costs)))
    return weighted / (n * total)


class Applied(NamedTuple):
    """A merge that was applied."""

    left: int
    right: int
    made: int
    times: int
    of_left: float  # the share that it took of the occurrences of its left token that earlier merges had left
    of_right: float


class MergeOrder:
    """The merges of a tokenizer in their order, and which of them makes a token.

    merges: (left, right, made), each of which makes another token.
    """

    def __init__(self, merges: list[tuple[int, int, int]]) -> None:
        self._merges = merges
        self._makes = {made: i for i, (_, _, made) in enumerate(merges)}

    def applied(self, counts: dict[int, int]) -> list[Applied]:
        """The merges that were applied, in their order, with the shares of their tokens that they took (intersection
        over self), two at a time of a token merged with itself. counts: how often tokens came up in the end; one that
        is missing did not."""
        occurrences = {token: n for token, n in counts.items() if n}
        found = []
        # Backwards: what a token was before a merge is what the end and later merges have of it, and what this one
        # took.
        for i in self._backwards(occurrences):
            left, right, made = self._merges[i]
            n = occurrences[made]
            occurrences[left] = occurrences.get(left, 0) + n
            occurrences[right] = occurrences.get(right, 0) + n
            taken = 2 * n if left == right else n
            found.append(Applied(left, right, made, n, taken / occurrences[left], taken / occurrences[right]))
        return found[::-1]

    def _backwards(self, occurrences: dict[int, int]) -> Iterator[int]:
        """Which merges were applied, the last one first. occurrences: of tokens, to which whoever asks adds those of
        the parts of each merge before the next one is asked for."""
        if len(occurrences) * MANY > len(self._merges):
            yield from (i for i in range(len(self._merges) - 1, -1, -1) if self._merges[i][2] in occurrences)
            return
        # Few of the merges make a small text, so these alone are gone through.
        ahead = [-self._makes[made] for made in occurrences if made in self._makes]
        heapify(ahead)
        while ahead:
            i = -heappop(ahead)
            new = [part for part in {*self._merges[i][:2]} if part not in occurrences]
            yield i
            for part in new:
                if self._makes.get(part, i) < i:
                    heappush(ahead, -self._makes[part])
