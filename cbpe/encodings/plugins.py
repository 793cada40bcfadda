"""Encodings that other packages add, found as tiktoken finds them: in the modules of the namespace package
`tiktoken_ext`, each of which has ENCODING_CONSTRUCTORS, a dict of names and functions that return the arguments of
Encoding.
"""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable, Mapping
from typing import Any

from cbpe.common.wording import shown
from cbpe.encodings.named import SPECS

__all__ = ["LOCK", "constructors", "why_broken"]

Constructor = Callable[[], Mapping[str, Any]]

NAMESPACE = "tiktoken_ext"
TIKTOKENS_OWN = f"{NAMESPACE}.openai_public"  # the named encodings, from the network; here they are built in

LOCK = threading.RLock()  # held while plug-ins are imported and encodings made of them; these may ask for others
_found: dict[str, Constructor] | None = None
_tried = NAMESPACE  # the plug-in that was imported last


def constructors() -> dict[str, Constructor]:
    """The functions that make the plug-ins' encodings, by name. They are looked for once.

    Raises ValueError for a plug-in without ENCODING_CONSTRUCTORS, or with a name that is taken, and whatever importing
    one raises; the next call then looks again.
    """
    global _found
    with LOCK:
        if _found is None:
            _found = find_constructors()
        return _found


def why_broken() -> str | None:
    """Why the plug-ins cannot be read, with the name of the one that is broken; None if they can."""
    with LOCK:
        try:
            constructors()
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            return str(error) if _tried in str(error) else f"the plug-in {_tried} cannot be imported ({said})"
    return None


def find_constructors() -> dict[str, Constructor]:
    """Import the plug-ins and collect what they have."""
    global _tried
    found: dict[str, Constructor] = {}
    for module_name in module_names():
        _tried = module_name
        module = importlib.import_module(module_name)
        if not hasattr(module, "ENCODING_CONSTRUCTORS"):
            raise ValueError(
                f"the plug-in {module_name} has no ENCODING_CONSTRUCTORS, a dict of names and functions: add one, or "
                f"move the module out of {NAMESPACE}"
            )
        for name, constructor in module.ENCODING_CONSTRUCTORS.items():
            if name in SPECS or name in found:
                whose = "one that is built in" if name in SPECS else "one of another plug-in"
                raise ValueError(f"the plug-in {module_name} has an encoding {shown(name)}, as {whose} is called")
            found[name] = constructor
    return found


def module_names() -> list[str]:
    """The plug-ins that are installed."""
    try:
        namespace = importlib.import_module(NAMESPACE)
    except ModuleNotFoundError as error:
        if error.name != NAMESPACE:
            raise
        return []
    names = [module.name for module in pkgutil.iter_modules(namespace.__path__, f"{NAMESPACE}.")]
    return [name for name in names if name != TIKTOKENS_OWN]
