"""How messages name things: several of them on one line, and long texts by their beginnings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["listed", "shortened", "shown"]


def listed(items: Iterable[str], most: int) -> str:
    """The first of some items, and how many more there are.

    >>> listed(["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    named = list(items)
    more = f" and {len(named) - most:,} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more


def shortened(text: str, most: int) -> str:
    """A text in quotes; of one with more than `most` characters, the beginning.

    >>> shortened("abcdef", most=3)
    "'abc'.."
    """
    return repr(text) if len(text) <= most else f"{text[:most]!r}.."


def shown(value: object) -> str:
    """Any value as a message shows it: see there."""
    from cbpe._core.text import shown as messages  # which a program that makes no mistake never loads

    return messages.shown(value)
