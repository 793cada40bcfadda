"""Options are declared once: a class that differs from Tokenizer in defaults has copies of its methods."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["with_defaults"]


def with_defaults(function: F, owner: str, defaults: dict[str, Any], doc: str | None = None) -> F:
    """A copy of a method, which takes no longer to call, with other default values of some of its arguments.

    owner: the class that gets the copy. doc: the docstring, where that of the method does not fit. The method may not
    use super(), which would stay that of its own class.
    """
    function_type: Any = type(function)
    code = function.__code__
    values = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    found = tuple(defaults.get(name, value) for name, value in zip(names, values, strict=True))
    copy: Any = function_type(code, function.__globals__, function.__name__, found, function.__closure__)
    keywords = function.__kwdefaults__ or {}
    copy.__kwdefaults__ = {name: defaults.get(name, value) for name, value in keywords.items()}
    copy.__annotations__ = dict(function.__annotations__)
    copy.__qualname__ = f"{owner}.{function.__name__}"
    copy.__doc__ = function.__doc__ if doc is None else doc
    made: F = copy
    return made
