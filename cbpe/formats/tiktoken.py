"""tiktoken's vocabulary files: a line for each token, its bytes in base64 and its rank."""

from __future__ import annotations

import base64
import binascii


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
            raise ValueError(f"line {number} of the vocabulary gives the token {token!r} again")
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
        raise ValueError(f"line {number} of the vocabulary is no token in base64 and its rank: {line[:80]!r}")
    return decoded, int(rank)


def dumps(ranks: dict[bytes, int]) -> bytes:
    """The content of a .tiktoken file with these ranks, by rising rank."""
    by_rank = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in by_rank)
