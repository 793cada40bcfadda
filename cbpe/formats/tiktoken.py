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
        fields = line.split()
        try:
            token, rank = base64.b64decode(fields[0], validate=True), int(fields[1])
        except (IndexError, ValueError, binascii.Error):
            raise ValueError(f"line {number} of the vocabulary is no token in base64 and its rank: {line[:80]!r}") from None
        if len(fields) != 2 or rank < 0 or not token:
            raise ValueError(f"line {number} of the vocabulary is no token in base64 and its rank: {line[:80]!r}")
        if token in ranks:
            raise ValueError(f"line {number} of the vocabulary gives the token {token!r} again")
        ranks[token] = rank
    return ranks


def dumps(ranks: dict[bytes, int]) -> bytes:
    """The content of a .tiktoken file with these ranks, by rising rank."""
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(ranks.items(), key=lambda item: item[1]))
    return b"".join(lines)
