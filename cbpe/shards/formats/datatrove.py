"""datatrove's tokenized files: NAME.ds, a stream of uint16 or uint32; NAME.ds.index, where each document ends, counted
in tokens from the beginning, as uint64; NAME.ds.metadata, three lines: the tokenizer and the bytes of a token, the
number of tokens, and the same number for people. All is little-endian.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.shards.formats.mapped import AT_ONCE, cut_at, file_ending_in, mapped
from cbpe.shards.formats.writing import Format, Shard
from cbpe.tasks.outputs import Outputs

if TYPE_CHECKING:
    from cbpe.shards.formats.writing import Lengths, Tokens

__all__ = ["DATATROVE"]

PREFIXES = ("", "k", "M", "G", "T", "P", "E")


class DatatroveWriter:
    def __init__(self, outputs: Outputs, shard: Shard) -> None:
        self.about = f"{shard.tokenizer}|{np.dtype(shard.dtype).itemsize}"
        self.bare = outputs.open(f"{shard.name}.ds")
        self.index = outputs.open(f"{shard.name}.ds.index")
        self.metadata = outputs.open(f"{shard.name}.ds.metadata")
        self.n_tokens = 0

    def write(self, tokens: Tokens) -> None:
        self.bare.write(tokens)

    def end(self, lengths: Lengths, rows: Any) -> None:
        ends = self.n_tokens + np.cumsum(lengths, dtype=np.int64)
        self.index.write(ends.astype("<u8"))
        if len(ends):
            self.n_tokens = int(ends[-1])

    def close(self) -> None:
        self.metadata.write("\n".join([self.about, str(self.n_tokens), in_units(self.n_tokens)]).encode())


def in_units(n: int) -> str:
    """A number of tokens in three digits, as datatrove has it: 1234567 -> "1.23 MT" """
    exponent = math.floor(math.log10(n)) if n else 0
    digits = max(0, 2 - exponent % 3)
    if round(n / 10 ** (exponent // 3 * 3), digits) >= 10 ** (exponent % 3 + 1):
        exponent += 1
        digits = max(0, 2 - exponent % 3)
    return f"{n / 10 ** (exponent // 3 * 3):.{digits}f} {PREFIXES[exponent // 3]}T"


def documents(files: Sequence[Path], dtype: str) -> Iterator[Tokens]:
    index = file_ending_in(files, ".ds.index")
    ends = mapped(index, "uint64")
    in_parts = (int(end) for first in range(0, len(ends), AT_ONCE) for end in ends[first : first + AT_ONCE].tolist())
    return cut_at(mapped(file_ending_in(files, ".ds"), dtype), in_parts, index)


DATATROVE = Format(DatatroveWriter, documents, small="uint16", large="uint32", small_below=2**16 + 1, eot="after")
