"""References to published copies of model stores: told from paths here, and loaded by what a package registers for
them."""

from __future__ import annotations

import os
import re
from typing import Any

__all__ = ["INDEX", "is_published", "load_published"]

ENTRY_POINTS = "cbpe.published"  # the group; each is a function of a reference, allow_http and keys
URL = re.compile("https?://", re.IGNORECASE)
INDEX = "index.json"  # of a published copy


def is_published(reference: str) -> bool:
    """Whether a reference is a URL, or a name in a folder that has an index and no file of that name."""
    if URL.match(reference):
        return True
    folder, _, name = reference.rpartition("/")
    return bool(folder and name) and not os.path.exists(reference) and os.path.isfile(os.path.join(folder, INDEX))


def load_published(reference: str, allow_http: bool, keys: Any = None) -> Any:
    """The Tokenizer that a reference means. Raises ImportError if nothing is installed that loads it."""
    from importlib.metadata import entry_points  # few programs need it

    found = list(entry_points(group=ENTRY_POINTS))
    if not found:
        raise ImportError(
            f"nothing that is installed loads {reference!r:.200}: the package store does, which comes with cbpe. "
            "Install it again: pip install cbpe"
        )
    return found[0].load()(reference, allow_http=allow_http, keys=keys)
