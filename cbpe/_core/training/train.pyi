from array import array
from collections.abc import Iterable
from typing import final

from typing_extensions import Buffer

from cbpe._core.vocabulary.vocabulary import Vocabulary

TIE_BREAKS: tuple[str, str, str, str]

@final
class Trainer:
    """Learns merges from words that each occur a number of times."""

    stopped: str | None  # why nothing is left to merge; None as long as that is not known
    tokens_at_start: int
    tokens: int
    def __init__(
        self,
        data: Buffer,
        lengths: Buffer,
        counts: Buffer,
        *,
        tie_break: str = "first",
        min_count: int = 1,
        max_token_length: int = 0,
        initial: Vocabulary | None = None,
        alphabet: str | None = None,
        refused: Iterable[str] = (),
        scripts: Buffer | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def run(self, n_merges: int, seconds: float = 0.0) -> int: ...
    def next_count(self, n_merges: int) -> int: ...
    def results(self, start: int = 0) -> tuple[array[int], array[int], array[int], array[int]]: ...
    def merges(self) -> tuple[array[int], array[int]]: ...
