"""What a format of shards is, and what its writers do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from cbpe.tasks.outputs import Output, Outputs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Tokens = npt.NDArray[np.integer[Any]]
    Lengths = npt.NDArray[np.int64]

__all__ = ["Format", "Shard", "Writer"]


@dataclass(frozen=True)
class Shard:
    """What is known of a shard before it is written."""

    name: str  # without an ending
    dtype: str  # of its tokens; files are little-endian
    tokenizer: str  # what it is called
    tokens: int | None = None  # how many there will be, where that is known


class Writer(Protocol):
    """Writes one shard: first the tokens of documents, one after the other, in parts of any size; then, as they end,
    the lengths of the documents, and what is kept of them (a RecordBatch of Arrow's with a row for each).

    bare: the file of the tokens and nothing else, whose SHA-256 is theirs; None where there is none.
    """

    @property
    def bare(self) -> Output | None: ...
    def __init__(self, outputs: Outputs, shard: Shard) -> None: ...
    def write(self, tokens: Tokens) -> None: ...
    def end(self, lengths: Lengths, rows: Any) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Format:
    """A format of shards, and the defaults of those who read it.

    documents: what a writer has written, read back: the tokens of each document of a shard that has these files, with
    tokens of this type; of a stream, all of them at once. small, large: the types of token ids; the small one is for
    vocabularies (the largest id and one) below `small_below`. eot: where the end-of-text token stands by default.
    stream: tokens alone, without where documents end, so that shards cut documents. keeps: what else of each document
    is kept.
    """

    writer: Callable[[Outputs, Shard], Writer]
    documents: Callable[[Sequence[Path], str], Iterator[Tokens]]
    small: str | None
    large: str
    small_below: int
    eot: Literal["before", "after"] | None
    stream: bool = False
    shard_tokens: int | None = None  # None: a shard for each task, or one for all of a stream
    most_tokens: int | None = None  # in a shard
    first_is_val: bool = False
    keeps: Literal["places", "columns"] | None = None

    def shard_name(self, number: int, alone: bool) -> str:
        """The name of the files of a shard for training; alone: there is no other."""
        if not self.stream:
            return f"part-{number:05d}"
        if self.first_is_val:
            return f"tokens_{'train' if number else 'val'}_{number:06d}"
        return "train" if alone else f"train_{number:06d}"

    def dtype_for(self, n_vocab: int) -> str:
        """The type that token ids have by default."""
        return self.small if self.small is not None and n_vocab < self.small_below else self.large
