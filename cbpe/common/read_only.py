"""ReadOnlyDict: a table that an object hands out to all who ask for it."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than loading some vocabularies
if TYPE_CHECKING:
    from typing import Any, NoReturn, TypeVar

    K = TypeVar("K")
    V = TypeVar("V")

__all__ = ["ReadOnlyDict"]


def refuse(self: object, *arguments: object, **items: object) -> NoReturn:
    raise TypeError(
        "this dict belongs to the tokenizer, which learns of no change in it: change a copy, dict(it). (To change "
        "special tokens, pass the copy to register_special_tokens.)"
    )


class ReadOnlyDict(dict):  # type: ignore[type-arg]  # dict[K, V] is no base class before it is subscripted
    """A dict that cannot be changed. What is made of it, as by copy, | or pickling, is a dict that can."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def __deepcopy__(self, memo: object) -> dict[Any, Any]:
        return dict(self)
