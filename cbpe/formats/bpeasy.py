"""What bpeasy trains, taken over as an Encoding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cbpe.tokenizers.tiktoken import Encoding

__all__ = ["from_bpeasy"]


def from_bpeasy(
    vocab: dict[bytes, int], pattern: str, special_tokens: Iterable[str] = (), *, name: str = "bpeasy"
) -> Encoding:
    """The Encoding with the ids of a bpeasy vocabulary, dict[bytes, int], and the pattern that it was trained with.

    The special tokens have the ids behind the vocabulary, as in a BPEasyTokenizer. (There, they are tokens to be merged
    as well: ordinary text that spells one may become it.) ValueError or TypeError for what is no vocabulary by ranks.

    >>> from_bpeasy({b"a": 0, b"b": 1, b"ab": 2}, r"\\S+|\\s+", ["<end>"]).encode("ab<end>", allowed_special="all")
    [2, 3]
    """
    from cbpe.tokenizers.tiktoken import Encoding

    special_ids = {token: len(vocab) + i for i, token in enumerate(dict.fromkeys(special_tokens))}
    return Encoding(name, pat_str=pattern, mergeable_ranks=vocab, special_tokens=special_ids)
