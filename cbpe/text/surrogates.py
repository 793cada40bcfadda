"""Halves of surrogate pairs: a str may hold them, UTF-8 may not."""

from __future__ import annotations

from cbpe._core.text.utf8 import holds_surrogates, utf8

__all__ = ["ends_within_pair", "without_surrogates"]


def ends_within_pair(text: str) -> bool:
    """Whether the last character is the first half of a pair, so that what follows may make it whole."""
    return "\ud800" <= text[-1:] <= "\udbff"


def without_surrogates(text: str) -> str:
    """A text as it is encoded: two halves in a row are the character that they stand for, a lone half is U+FFFD."""
    return utf8(text).decode() if holds_surrogates(text) else text
