"""Megatron-LM's indexed dataset: NAME.bin with the tokens, and NAME.idx, all numbers little-endian:

    bytes     what
    9         the magic, "MMIDIDX" and two zeros
    8         the version, 1
    1         the type of the tokens: 4 int32, 8 uint16
    8         s, the number of sequences
    8         d, the number of documents and one
    4 s       the length of each sequence in tokens (int32)
    8 s       where each begins in NAME.bin, in bytes (int64)
    8 d       with which sequence each document begins, and s (int64)

Here every document is one sequence. Megatron takes uint16 for vocabularies of less than 65,500 tokens, else int32.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.shards.formats.mapped import DamagedError, cut_at, ends_of, file_ending_in, mapped
from cbpe.shards.formats.writing import Format, Shard
from cbpe.tasks.outputs import Outputs

if TYPE_CHECKING:
    import numpy.typing as npt

    from cbpe.shards.formats.writing import Lengths, Tokens

__all__ = ["MEGATRON"]

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
NUMBERS = "<QBQQ"  # the version, the type of the tokens, sequences, and documents and one
HEAD = len(MAGIC) + struct.calcsize(NUMBERS)
CODES = {"int32": 4, "uint16": 8}
LONGEST = 2**31 - 1  # a sequence
AT_ONCE = 1 << 18  # sequences


class MegatronWriter:
    """The lengths wait in a file of their own, as they stand before the rest of the index."""

    def __init__(self, outputs: Outputs, shard: Shard) -> None:
        self.code = CODES[shard.dtype]
        self.token_bytes = np.dtype(shard.dtype).itemsize
        self.bare = outputs.open(f"{shard.name}.bin")
        self.index = outputs.open(f"{shard.name}.idx")
        self.lengths = outputs.scratch_file(f"{shard.name}.lengths")
        self.n = 0

    def write(self, tokens: Tokens) -> None:
        self.bare.write(tokens)

    def end(self, lengths: Lengths, rows: Any) -> None:
        if len(lengths) and lengths.max() > LONGEST:
            raise ValueError(
                f"a document has {lengths.max():,} tokens, and a sequence of Megatron's at most {LONGEST:,}: cut it "
                "into several documents"
            )
        self.lengths.write(lengths.astype("<i4").tobytes())
        self.n += len(lengths)

    def close(self) -> None:
        self.index.write(MAGIC + struct.pack(NUMBERS, VERSION, self.code, self.n, self.n + 1))
        for lengths in self._again():
            self.index.write(lengths)
        start = 0
        for lengths in self._again():
            ends = start + np.cumsum(lengths, dtype=np.int64) * self.token_bytes
            self.index.write((ends - lengths.astype(np.int64) * self.token_bytes).astype("<i8"))
            start = int(ends[-1])
        for first in range(0, self.n + 1, AT_ONCE):
            self.index.write(np.arange(first, min(first + AT_ONCE, self.n + 1), dtype="<i8"))

    def _again(self) -> Iterator[npt.NDArray[np.int32]]:
        self.lengths.seek(0)
        while data := self.lengths.read(4 * AT_ONCE):
            yield np.frombuffer(data, "<i4")


def refuse_other_places(index: Path, lengths: Any, token_bytes: int) -> None:
    """DamagedError where sequences do not begin where those before them end, or are not one for each document."""
    numbers = np.memmap(index, "<i8", "r", HEAD + 4 * len(lengths), (2 * len(lengths) + 1,))
    starts, edges = numbers[: len(lengths)], numbers[len(lengths) :]
    end = 0
    for first in range(0, len(edges), AT_ONCE):
        some = lengths[first : first + AT_ONCE].astype(np.int64) * token_bytes
        ends = end + np.cumsum(some)
        if (starts[first : first + AT_ONCE] != ends - some).any():
            raise DamagedError(index, "a sequence does not begin where the one before it ends")
        if (edges[first : first + AT_ONCE] != np.arange(first, min(first + AT_ONCE, len(edges)))).any():
            raise DamagedError(index, "its documents are not one sequence each")
        end = int(ends[-1]) if len(ends) else end


def documents(files: Sequence[Path], dtype: str) -> Iterator[Tokens]:
    index = file_ending_in(files, ".idx")
    with open(index, "rb") as file:
        head = file.read(HEAD)
    if len(head) < HEAD or not head.startswith(MAGIC):
        raise DamagedError(index, "it does not begin as an index of Megatron's")
    version, code, n, n_edges = struct.unpack(NUMBERS, head[len(MAGIC) :])
    if (version, code, n_edges) != (VERSION, CODES[dtype], n + 1):
        said = f"version {version}, type {code}, {n:,} sequences and {n_edges:,} edges of documents"
        raise DamagedError(
            index, f"it says {said}, where version {VERSION}, type {CODES[dtype]} and one edge more is due"
        )
    if index.stat().st_size != HEAD + n * 12 + n_edges * 8:
        raise DamagedError(index, f"it has {index.stat().st_size:,} bytes, which are not those of {n:,} sequences")
    lengths = np.memmap(index, "<i4", "r", HEAD, (n,)) if n else np.zeros(0, "<i4")
    refuse_other_places(index, lengths, np.dtype(dtype).itemsize)
    return cut_at(mapped(file_ending_in(files, ".bin"), dtype), ends_of(lengths, index), index)


MEGATRON = Format(MegatronWriter, documents, small="uint16", large="int32", small_below=65_500, eot=None)
