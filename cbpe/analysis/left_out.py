"""Whether a split pattern leaves text out, which is in no token then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cbpe._core.analysis.coverage import covers_all_text
from cbpe._core.splitting.split import Splitter

if TYPE_CHECKING:
    from cbpe._core.calls.encoder import PythonSplitter

__all__ = ["may_leave_out"]


def may_leave_out(splitter: Splitter | PythonSplitter) -> bool:
    """Whether a splitter may leave some of a text out, as far as is easily seen."""
    if not isinstance(splitter, Splitter):
        return True
    return splitter.pattern is not None and not covers_all_text(splitter.pattern, portable=False)
