"""References to model stores and to published copies of them, which are loaded by what a package registers for them."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["EXPORTED", "INDEX", "is_published", "load_published", "load_stored", "of_store"]

PUBLISHED = "cbpe.published"  # the group of entry points; each is a function of a reference, allow_http and keys
STORED = "cbpe.stored"  # the same for the user's own store: functions of a reference
STORE = "store"
SCHEMES = ("http://", "https://")
INDEX = "index.json"  # of a published copy
EXPORTED = b"\x89cbpeSM\n"  # what the file of a version begins with that was exported from a store


def is_published(reference: str) -> bool:
    """Whether a reference is a URL, or a name in a folder that has an index and no file of that name."""
    if reference[:8].lower().startswith(SCHEMES):
        return True
    folder, _, name = reference.rpartition("/")
    return bool(folder and name) and not os.path.exists(reference) and os.path.isfile(os.path.join(folder, INDEX))


def load_published(reference: str, allow_http: bool, keys: Any = None) -> Any:
    """The Tokenizer that a reference to a published copy means. Raises ImportError if nothing is installed that loads
    it."""
    return loader(PUBLISHED, reference)(reference, allow_http=allow_http, keys=keys)


def load_stored(reference: str) -> Any:
    """The Tokenizer that a reference to a version in the user's model store means. Raises ImportError as load_published
    does."""
    return loader(STORED, reference)(reference)


def loader(group: str, reference: str) -> Any:
    from importlib.metadata import entry_points  # few programs need it

    found = list(entry_points(group=group))
    if not found:
        raise ImportError(
            f"nothing that is installed loads {reference!r:.200}: the package store does, which comes with cbpe. "
            "Install it again: pip install cbpe"
        )
    try:
        return found[0].load()
    except ImportError as error:
        message = of_store(error)
        if message is None:
            raise
        raise ImportError(message) from error


def of_store(error: ImportError) -> str | None:
    """What to say of an error while the package store, or a part of it, was imported; None for any other."""
    if (error.name or "").partition(".")[0] != STORE or "ModelStore" in getattr(sys.modules.get(STORE), "__all__", ()):
        return None
    other = getattr(sys.modules.get(STORE), "__file__", None)
    way = f", as {other} has its name: rename that, or start Python in another folder" if other else ""
    return f"the package {STORE}, which comes with cbpe, cannot be imported ({error}){way}"
