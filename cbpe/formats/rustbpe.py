"""What rustbpe trains: the parts of an Encoding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.formats.checks import shown
from cbpe.formats.parts import Parts

__all__ = ["RustBPE", "take_over"]


class RustBPE(Protocol):
    """What a rustbpe.Tokenizer shows of itself."""

    def get_mergeable_ranks(self) -> Iterable[tuple[bytes, int]]: ...
    def get_pattern(self) -> str: ...


def take_over(tokenizer: RustBPE, special_tokens: Mapping[str, int], name: str) -> Parts:
    """The parts of the Encoding that has the ids of a rustbpe.Tokenizer. ValueError where ranks do not stand for what
    it merges."""
    if not hasattr(tokenizer, "get_mergeable_ranks"):
        raise TypeError(f"tokenizer must be a rustbpe.Tokenizer, not {type(tokenizer).__name__}")
    ranks: dict[bytes, int] = {}
    for token, rank in tokenizer.get_mergeable_ranks():
        if ranks.setdefault(bytes(token), rank) != rank:
            first = ranks[bytes(token)]
            raise ValueError(f"rustbpe gives the ranks {first} and {rank} to the same bytes, {bytes(token)[:80]!r}")
    vocabulary = vocabulary_from_ranks(ranks)
    unmerged = vocabulary.unmerged()
    if unmerged:
        raise ValueError(f"rustbpe never merges {shown(unmerged, unmerged)}, which an Encoding would find as a piece")
    return Parts(vocabulary, tokenizer.get_pattern(), special_tokens, kind="Encoding", name=name)
