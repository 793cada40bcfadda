"""The marker of what people import from cbpe: it says to be of cbpe, and of no room inside."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

__all__ = ["public"]


def public(thing: T) -> T:
    """A class or a function that cbpe.__getattr__ finds by its name. Pickles, tracebacks and the documentation then
    name it cbpe.X, wherever it is defined."""
    thing.__module__ = "cbpe"
    return thing
