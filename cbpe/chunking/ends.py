"""Where the last tokens of a text begin in it, by their bytes."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["end_of_text"]

CONTINUATION = bytes(range(0x80, 0xC0))  # which begin no character of UTF-8


def end_of_text(text: str, tokens: Sequence[bytes]) -> tuple[str, list[int]] | None:
    """The end of a text that holds its last tokens, and where in that each of them begins: in a character, where it
    begins within one. None where the text does not end with the bytes of the tokens.

    >>> end_of_text("a cup of t\u00e9", [b" of", b" t\\xc3", b"\\xa9"])
    ('p of t\u00e9', [1, 4, 6])
    """
    n_bytes = sum(map(len, tokens))
    end = text[max(0, len(text) - n_bytes) :]  # as a character has a byte at least
    encoded = end.encode()
    before = len(encoded) - n_bytes
    if before < 0 or encoded[before:] != b"".join(tokens):
        return None
    at = characters_in(encoded[:before])
    starts = []
    for token in tokens:
        starts.append(at - (token[:1] in CONTINUATION))
        at += characters_in(token)
    return end, starts


def characters_in(data: bytes) -> int:
    """How many characters of UTF-8 begin in some bytes."""
    return len(data.translate(None, CONTINUATION))
