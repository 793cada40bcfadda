"""Options that put labels on a version in the model store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

__all__ = ["AliasOption", "NotesOption", "TagOption", "metrics_of", "pairs_of"]

AliasOption = Annotated[
    list[str] | None, typer.Option("--alias", metavar="ALIAS", help="A movable name that points here; repeatable.")
]
TagOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="KEY[=VALUE]", help="A tag, with or without a value; repeatable.")
]
NotesOption = Annotated[str | None, typer.Option(metavar="TEXT", help="Notes on this version.")]


def pairs_of(labels: Iterable[str] | None) -> dict[str, str]:
    """["language=en", "final"] -> {"language": "en", "final": ""}"""
    return {key: value for key, _, value in (label.partition("=") for label in labels or ())}


def metrics_of(labels: Iterable[str] | None) -> dict[str, float]:
    """["loss=0.25"] -> {"loss": 0.25}"""
    metrics = {}
    for label in labels or ():
        key, _, value = label.partition("=")
        try:
            metrics[key] = float(value)
        except ValueError as error:
            raise typer.BadParameter(f"{label!r} is no KEY=NUMBER", param_hint="metric") from error
    return metrics
