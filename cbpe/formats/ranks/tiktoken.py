"""tiktoken's vocabulary files: a line for each token, its bytes in base64 and its rank."""

from __future__ import annotations

import base64
import binascii
import re
from itertools import pairwise

from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe._core.vocabulary.vocabulary import PACKED_HEADER_BYTES, Vocabulary
from cbpe.common.wording import token_shown
from cbpe.formats.checks import refuse_processing, refuse_shared_bytes, shown
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File

FIRST_LINE = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)? \d+\r?(\n|$)")


def recognises(file: File) -> bool:
    """Whether a file starts with a line of ranks."""
    return FIRST_LINE.match(file.start) is not None


def load(file: File) -> Parts:
    """The parts in a .tiktoken file, which holds no split pattern and no special tokens."""
    return Parts(vocabulary_from_ranks(loads(file.data)), None, {}, kind="Encoding")


def dump(parts: Parts) -> list[bytes]:
    """The content of a .tiktoken file. ValueError where ranks give other ids than the parts do."""
    refuse_processing("tiktoken's format", parts, besides=("template",))
    return [dumps(exported_ranks(parts.vocabulary))]


def loads(data: bytes) -> dict[bytes, int]:
    """The ranks in the content of a .tiktoken file. ValueError names the line that is wrong.

    >>> loads(b"IQ== 0\\nIg== 1\\n")
    {b'!': 0, b'"': 1}
    """
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line:
            continue
        token, rank = load_line(number, line)
        if token in ranks:
            raise ValueError(f"line {number} of the vocabulary gives the token {token_shown(token[:80])} again")
        ranks[token] = rank
    return ranks


def load_line(number: int, line: bytes) -> tuple[bytes, int]:
    """The token and the rank in a line: b"IQ== 0" -> (b"!", 0)"""
    fields = line.split()
    token, rank = fields if len(fields) == 2 else (b"", b"")
    try:
        decoded = base64.b64decode(token, validate=True)
    except binascii.Error:
        decoded = b""
    if not decoded or not rank.isdigit() or len(rank) > 10:
        raise ValueError(
            f"line {number} of the vocabulary is no token in base64 and its rank: {token_shown(line[:80])}"
        )
    return decoded, int(rank)


def dumps(ranks: dict[bytes, int]) -> bytes:
    """The content of a .tiktoken file with these ranks, by rising rank."""
    by_rank = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in by_rank)


def exported_ranks(vocabulary: Vocabulary) -> dict[bytes, int]:
    """The ranks that give what the vocabulary gives on every text.

    A vocabulary whose merges are of pairs, as trained, has such ranks only where joining by rank comes to the very same
    merges in the same order, and where the look-up of whole pieces finds nothing that merging does not make. ValueError
    names the tokens for which that is not so.
    """
    tokens = vocabulary.tokens()
    refuse_shared_bytes("tiktoken's format", tokens)
    ranks = {token: token_id for token_id, token in tokens.items()}
    by_rank = vocabulary_from_ranks(ranks)
    found_whole = [] if vocabulary.whole_pieces else sorted(by_rank.unmerged())
    if found_whole:
        raise ValueError(
            f"tiktoken would find {shown(tokens, found_whole)} as a whole piece, and merging never makes it: ranks "
            "cannot stand for this vocabulary"
        )
    if vocabulary.pack()[PACKED_HEADER_BYTES:] != by_rank.pack()[PACKED_HEADER_BYTES:]:
        raise ValueError(
            f"joining by rank would make {shown(tokens, differing(vocabulary, by_rank))} in another way or in another "
            "order than the merges do: ranks cannot stand for this vocabulary"
        )
    return ranks


def differing(vocabulary: Vocabulary, by_rank: Vocabulary) -> list[int]:
    """The ids of the tokens that the two merge from other parts; where there are none, of those whose ids are not in
    the order of the merges."""
    found = {token_id: pair for pair, token_id in vocabulary.merges().items()}
    expected = {token_id: pair for pair, token_id in by_rank.merges().items()}
    ids = sorted(token_id for token_id in found.keys() | expected if found.get(token_id) != expected.get(token_id))
    in_order = list(found)
    return ids or [after for before, after in pairwise(in_order) if after < before]
