"""How public classes and their methods are declared: once, and as names of cbpe, of no room inside."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])
    T = TypeVar("T")

__all__ = ["public", "public_of", "with_defaults"]


def public(thing: T) -> T:
    """A class or a function that cbpe.__getattr__ finds by its name. Pickles, tracebacks and the documentation then
    name it cbpe.X, wherever it is defined."""
    thing.__module__ = "cbpe"
    return thing


def public_of(package: str) -> Callable[[T], T]:
    """The same for another package, which finds it by its name."""

    def public(thing: T) -> T:
        thing.__module__ = package
        return thing

    return public


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
