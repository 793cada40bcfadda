"""What rustbpe trains, taken over as an Encoding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from cbpe.formats.checks import shown

if TYPE_CHECKING:
    from cbpe.tokenizers.tiktoken import Encoding

__all__ = ["RustBPE", "from_rustbpe"]


class RustBPE(Protocol):
    """What a rustbpe.Tokenizer shows of itself."""

    def get_mergeable_ranks(self) -> Iterable[tuple[bytes, int]]: ...
    def get_pattern(self) -> str: ...


def from_rustbpe(
    tokenizer: RustBPE, special_tokens: Mapping[str, int] | None = None, *, name: str = "rustbpe"
) -> Encoding:
    """The Encoding with the ids of a rustbpe.Tokenizer, and special tokens, which rustbpe has none of.

    ValueError where ranks do not stand for what it merges: two tokens have the same bytes, or one is never merged.
    """
    from cbpe.tokenizers.tiktoken import Encoding

    ranks: dict[bytes, int] = {}
    for token, rank in tokenizer.get_mergeable_ranks():
        if ranks.setdefault(bytes(token), rank) != rank:
            first = ranks[bytes(token)]
            raise ValueError(f"rustbpe gives the ranks {first} and {rank} to the same bytes, {bytes(token)[:80]!r}")
    encoding = Encoding(
        name, pat_str=tokenizer.get_pattern(), mergeable_ranks=ranks, special_tokens=dict(special_tokens or {})
    )
    unmerged = encoding._vocabulary.unmerged()
    if unmerged:
        raise ValueError(f"rustbpe never merges {shown(unmerged, unmerged)}, which an Encoding would find as a piece")
    return encoding
