"""The last step: pieces from all partitions, in the order of their first places, become a file of word counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.corpus.word_counts import Header, start_of_file
from cbpe.counting.partitions import Pieces, ordered, read_exactly
from cbpe.tasks.outputs import COPIED_AT_ONCE, Output, Outputs

if TYPE_CHECKING:
    Tell = Callable[[int, int, int], None]

__all__ = ["write_words"]

HELD = 1 << 19  # pieces of all partitions that are in memory at once
LEAST = 1 << 8  # of one


def write_words(
    outputs: Outputs, name: str, header: Header, folder: Path, records: Sequence[Mapping[str, Any]], tell: Tell
) -> dict[str, Any]:
    """Write a file of word counts. folder, records: the merged partitions. Returns what is known of the file."""
    at_once = max(LEAST, HELD // len(records))
    partitions = [Partition(folder / file["name"], record, at_once) for record in records for file in record["files"]]
    output = outputs.open(name)
    output.write(start_of_file(header))
    with closing(scratch(outputs, "counts")) as counts, closing(scratch(outputs, "data")) as data:
        for pieces in in_places(partitions):
            output.write(pieces.lengths)
            counts.write(pieces.counts)
            data.write(pieces.data)
            tell(0, 0, memoryview(pieces.data).nbytes)
    for part in (counts, data):
        copy(part.path, output)
    output.write(output.digest)
    return output.described()


def scratch(outputs: Outputs, name: str) -> Output:
    return Output(name, outputs.scratch(name))


def copy(path: Path, output: Output) -> None:
    with open(path, "rb") as file:
        while chunk := file.read(COPIED_AT_ONCE):
            output.write(chunk)


NONE = Pieces(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), b"")


class Partition:
    """A merged partition, read bit by bit. held: those of its pieces that are in memory, the next ones."""

    def __init__(self, path: Path, record: Mapping[str, Any], at_once: int) -> None:
        self.path = path
        self.n: int = record["words"]
        self.at_once = at_once
        self.read = 0  # pieces
        self.data_at = 24 * self.n
        self.held = NONE

    @property
    def is_read(self) -> bool:
        return self.read == self.n

    def fill(self) -> None:
        """Hold as many pieces as may be held."""
        more = min(self.at_once - len(self.held.places), self.n - self.read)
        if not more:
            return
        with open(self.path, "rb") as file:
            numbers = []
            for column in range(3):
                file.seek(8 * (column * self.n + self.read))
                numbers.append(np.frombuffer(read_exactly(file, 8 * more), np.int64))
            file.seek(self.data_at)
            data = read_exactly(file, int(numbers[1].sum()))
        self.data_at += len(data)
        self.read += more
        self.held = together([self.held, Pieces(numbers[0], numbers[1], numbers[2], data)])

    def take(self, last: int) -> Pieces:
        """The pieces that are held up to this place, which are held no longer."""
        n = int(np.searchsorted(self.held.places, last, "right"))
        n_bytes = int(self.held.lengths[:n].sum())
        taken, self.held = parts_of(self.held, n, n_bytes)
        return taken


def parts_of(pieces: Pieces, n: int, n_bytes: int) -> tuple[Pieces, Pieces]:
    """The first n pieces, of so many bytes, and the others."""
    data = memoryview(pieces.data)
    return pieces.numbers(slice(n), data[:n_bytes]), pieces.numbers(slice(n, None), data[n_bytes:])


def together(parts: Sequence[Pieces]) -> Pieces:
    """The pieces of all parts, one part after the other."""
    places, lengths, counts, data = zip(*parts, strict=True)
    return Pieces(np.concatenate(places), np.concatenate(lengths), np.concatenate(counts), b"".join(data))


def in_places(partitions: Sequence[Partition]) -> Iterator[Pieces]:
    """The pieces of all partitions in the order of their places, some at a time."""
    while True:
        for partition in partitions:
            partition.fill()
        open_ones = [partition for partition in partitions if len(partition.held.places)]
        if not open_ones:
            return
        # No piece that is still to be read stands before the last one that is held of its partition.
        last = min(
            int(partition.held.places[-1]) if not partition.is_read else np.iinfo(np.int64).max
            for partition in open_ones
        )
        found = together([partition.take(last) for partition in open_ones])
        yield ordered(found, np.argsort(found.places))
