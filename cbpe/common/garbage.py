"""Python's garbage collector, held back where a great many objects are made that are in no cycle."""

from __future__ import annotations

import gc
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["without_collecting"]


@contextmanager
def without_collecting() -> Iterator[None]:
    """Have the garbage collector wait, if it is on: it would look through all that a file holds again and again, while
    that is made. Objects that are in no cycle are freed as ever."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
