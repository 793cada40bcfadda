"""The model store: tokenizers versioned in a database, queried, compared, and reloaded by name.

>>> from store import ModelStore
>>> with ModelStore() as models:
...     models.save(tok, "shakespeare")
...     tok = models.load("shakespeare@1")

Each public name is imported from its module when a program first uses it: SQLAlchemy takes longer to import than a
tokenizer to load (store/quick.py).
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store.asking import TokenPlace
    from store.changing import AliasMove
    from store.comparing import Diff, MergeDifference, MovedToken, TextComparison, VersionComparison
    from store.errors import (
        Ambiguous,
        BadSignature,
        Busy,
        CannotOpen,
        Closed,
        Damaged,
        Failed,
        NotAStore,
        NotFound,
        Outdated,
        ReadOnly,
        Refused,
        StoreError,
        Uncertain,
    )
    from store.model_store import ModelStore
    from store.moving import Imported
    from store.records.audit import Change
    from store.records.versions import Version
    from store.sharing.watching import Watch
    from store.verifying import Report

_HOMES = {
    "AliasMove": "store.changing",
    "Ambiguous": "store.errors",
    "BadSignature": "store.errors",
    "Busy": "store.errors",
    "CannotOpen": "store.errors",
    "Change": "store.records.audit",
    "Closed": "store.errors",
    "VersionComparison": "store.comparing",
    "Damaged": "store.errors",
    "Diff": "store.comparing",
    "Failed": "store.errors",
    "Imported": "store.moving",
    "MergeDifference": "store.comparing",
    "ModelStore": "store.model_store",
    "MovedToken": "store.comparing",
    "NotAStore": "store.errors",
    "NotFound": "store.errors",
    "Outdated": "store.errors",
    "ReadOnly": "store.errors",
    "Refused": "store.errors",
    "Report": "store.verifying",
    "StoreError": "store.errors",
    "TextComparison": "store.comparing",
    "TokenPlace": "store.asking",
    "Uncertain": "store.errors",
    "Version": "store.records.versions",
    "Watch": "store.sharing.watching",
}

__all__ = [
    "AliasMove",
    "Ambiguous",
    "BadSignature",
    "Busy",
    "CannotOpen",
    "Change",
    "Closed",
    "Damaged",
    "Diff",
    "Failed",
    "Imported",
    "MergeDifference",
    "ModelStore",
    "MovedToken",
    "NotAStore",
    "NotFound",
    "Outdated",
    "ReadOnly",
    "Refused",
    "Report",
    "StoreError",
    "TextComparison",
    "TokenPlace",
    "Uncertain",
    "Version",
    "VersionComparison",
    "Watch",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
