from collections.abc import Iterable, Sequence

from typing_extensions import Buffer

from cbpe._core.arrow.exported import ArrowColumn
from cbpe._core.arrow.texts import TextColumn

def flat_column(
    texts: TextColumn, tokens: Buffer, offsets: Buffer, around: tuple[Sequence[int], Sequence[int]], dtype: str
) -> ArrowColumn: ...
def numbers_column(texts: TextColumn, numbers: Iterable[int]) -> ArrowColumn: ...
def strings_column(strings: Iterable[str | None], n: int, errors: str) -> ArrowColumn: ...
