"""new_app: where the modules of commands register their commands."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["GroupedCommand", "new_app"]


def new_app(**options: Any) -> typer.Typer:
    """A Typer app; all look and fail alike."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, **options)


class GroupedCommand(TyperCommand):
    """A command of many options: help shows them in groups, by their rich_help_panel, those without one first."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)
