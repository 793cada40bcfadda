"""new_app: where the modules of commands register their commands."""

from __future__ import annotations

from typing import Any

import typer

__all__ = ["new_app"]


def new_app(**options: Any) -> typer.Typer:
    """A Typer app; all look and fail alike."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, **options)
