"""Warnings that name the line of the program that called cbpe, and no line within it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

__all__ = ["warn", "warnings_naming"]

OURS = ("cbpe", "store", "contextlib")  # which calls our contexts
named: ContextVar[str] = ContextVar("named", default="")


@contextmanager
def warnings_naming(path: str) -> Iterator[None]:
    """A context in which warnings name a file first, as errors about it do."""
    before = named.set(f"{path}: ")
    try:
        yield
    finally:
        named.reset(before)


def warn(message: str) -> None:
    """A UserWarning at the first line on the stack that is outside of our packages."""
    frame: FrameType | None = sys._getframe(1)
    level = 2  # of that frame, as warnings.warn counts from here
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(named.get() + message, stacklevel=level)
