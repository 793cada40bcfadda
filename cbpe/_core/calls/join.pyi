from collections.abc import Callable, Iterable
from typing import SupportsIndex, TypeAlias, TypeVar

T = TypeVar("T")
Ids: TypeAlias = Iterable[SupportsIndex]

def refuse_no_sequence(ids: object) -> None: ...
def each_of_batch(function: Callable[[Ids], T], sequences: Iterable[Ids]) -> list[T]: ...
