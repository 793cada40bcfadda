"""The option that names the model store, which stands before a command or after it."""

from __future__ import annotations

from typing import Annotated

import typer

from cbpe.cli.input.settings import settings
from cbpe.common.wording import shown

__all__ = ["StoreOption"]


def use_store(store: str | None) -> str | None:
    """Let the option count after the command as it does before it. BadParameter where both are given, and differ."""
    if store is not None:
        if settings.store not in (None, store):
            raise typer.BadParameter(f"{shown(settings.store)} and {shown(store)} are two stores: name one")
        settings.store = store
    return store


StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        callback=use_store,
        help="The model store; by default that of CBPE_STORE, or cbpe/models.db in your data folder "
        "(~/.local/share on Linux).",
    ),
]
