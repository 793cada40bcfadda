"""The vocabulary that training in minbpe's way gives: the 256 bytes, and merge i makes token 256 + i."""

from __future__ import annotations

from array import array

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.checks import N_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["trained_vocabulary"]

MAX_TOKEN_BYTES = 1 << 28  # which a Vocabulary may have


def trained_vocabulary(merges: Iterable[tuple[int, int]] = (), max_bytes: int = MAX_TOKEN_BYTES) -> Vocabulary:
    """The 256 bytes, each its own id, and the merges of these pairs of ids (left, right), in their order.

    Raises ValueError for a pair of a token that is not there yet, and for tokens of more than max_bytes together.
    """
    left, right = array("I"), array("I")
    for first, second in merges:
        left.append(first)
        right.append(second)
    return Vocabulary(left, right, array("I", range(N_BYTES + len(left))), max_bytes=max_bytes)
