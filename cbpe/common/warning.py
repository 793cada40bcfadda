"""Warnings that name the line of the program that called cbpe, and no line within it."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

__all__ = ["warn"]

OURS = ("cbpe", "store")


def warn(message: str) -> None:
    """A UserWarning at the first line on the stack that is outside of our packages."""
    frame: FrameType | None = sys._getframe(1)
    level = 2  # of that frame, as warnings.warn counts from here
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
