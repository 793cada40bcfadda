"""The model store: tokenizers versioned in a database, queried, compared, and reloaded by name.

>>> from store import ModelStore
>>> with ModelStore() as models:
...     models.save(tok, "shakespeare")
...     tok = models.load("shakespeare@1")
"""

from store.asking import TokenPlace
from store.changing import AliasMove
from store.comparing import Comparison, Diff, MergeDifference, MovedToken, TextComparison
from store.errors import (
    Ambiguous,
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
from store.records.audit import Change
from store.records.versions import Version
from store.verifying import Report

__all__ = [
    "AliasMove",
    "Ambiguous",
    "Busy",
    "CannotOpen",
    "Change",
    "Closed",
    "Comparison",
    "Damaged",
    "Diff",
    "Failed",
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
]

# Programs import these from here, so pickles, tracebacks and the documentation name `store` and no module inside it.
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
