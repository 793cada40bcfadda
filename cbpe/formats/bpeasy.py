"""What bpeasy trains: the parts of an Encoding."""

from __future__ import annotations

from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.common.checks import refuse_unordered
from cbpe.formats.parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["take_over"]


def take_over(vocab: dict[bytes, int], pattern: str, special_tokens: Iterable[str], name: str) -> Parts:
    """The parts of the Encoding that has the ids of a bpeasy vocabulary; the ids of the special tokens follow it."""
    refuse_unordered("special_tokens", special_tokens)
    special_ids = {token: len(vocab) + i for i, token in enumerate(dict.fromkeys(special_tokens))}
    return Parts(vocabulary_from_ranks(vocab), pattern, special_ids, kind="Encoding", name=name)
