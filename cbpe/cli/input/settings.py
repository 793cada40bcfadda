"""Settings that hold for a whole call of the program."""

from dataclasses import dataclass
from typing import Annotated

import typer

__all__ = ["Settings", "StoreOption", "settings"]


@dataclass
class Settings:
    """Set before a command runs."""

    debug: bool = False  # show tracebacks
    store: str | None = None  # a path or URL; None: CBPE_STORE, or a file in the user's data folder


settings = Settings()


def use_store(store: str | None) -> str | None:
    """Let the option count after the command as it does before it."""
    if store is not None:
        settings.store = store
    return store


StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        callback=use_store,
        help="The model store; by default that of CBPE_STORE, or a file in your data folder.",
    ),
]
