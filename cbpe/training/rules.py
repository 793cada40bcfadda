"""The rules by which a trainer chooses its merges: options, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cbpe._core.text.shown import shown
from cbpe.common.checks import checked_int

__all__ = ["BYTE_TIE_BREAKS", "Rules", "checked_rules"]

BYTE_TIE_BREAKS = ("first", "largest", "smallest")


class Rules(NamedTuple):
    """Which pairs may be merged, and which of several goes first: options of learn_merges, checked."""

    tie_break: str
    min_count: int
    max_token_length: int | None


def checked_rules(
    tie_break: str, min_count: int, max_token_length: int | None, tie_breaks: Sequence[str] = BYTE_TIE_BREAKS
) -> Rules:
    """The rules of these options. TypeError for a number of the wrong type, ValueError for what is out of range."""
    min_count = checked_int("min_count", min_count, 1)
    if max_token_length is not None:
        max_token_length = checked_int("max_token_length", max_token_length, 2)
    if tie_break not in tie_breaks:
        takes = f"over {'bytes' if tie_breaks == BYTE_TIE_BREAKS else 'characters'} it must be one of "
        raise ValueError(f"tie_break is {shown(tie_break)}; {takes}{', '.join(map(repr, tie_breaks))}")
    return Rules(tie_break, min_count, max_token_length)
