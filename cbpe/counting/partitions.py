"""Files of counted pieces, cut into partitions by a hash of the piece: what tasks leave for those who add up.

All numbers are int64. The file begins with where each partition ends, in pieces, and then in bytes of pieces. Then come
the partitions: the place of each piece in the task, their lengths, their counts, and their bytes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cbpe._core.counting.count import PieceCounter
from cbpe._core.counting.cutting import cut_by_hash, in_order
from cbpe.tasks.outputs import Output

if TYPE_CHECKING:
    from typing import BinaryIO

    import numpy.typing as npt
    from typing_extensions import Buffer

    Int64s = npt.NDArray[np.int64]

__all__ = ["NUMBERS", "Pieces", "ordered", "read_exactly", "read_partition", "write_partitions", "write_pieces"]

NUMBERS = 24  # bytes of the numbers of a piece: its place, its length and its count


class Pieces(NamedTuple):
    """Distinct pieces, each with its place in a task, or in the corpus."""

    places: Int64s
    lengths: Int64s
    counts: Int64s
    data: Buffer  # the bytes of all, one after the other

    def numbers(self, part: Any, data: Buffer) -> Pieces:
        """Some of the pieces, whose bytes these are."""
        return Pieces(self.places[part], self.lengths[part], self.counts[part], data)


def ordered(pieces: Pieces, order: Int64s) -> Pieces:
    """These of the pieces, in this order."""
    data = in_order(pieces.data, pieces.lengths, order)
    return pieces.numbers(order, data)


def write_pieces(output: Output, pieces: Pieces) -> None:
    output.write(pieces.places)
    output.write(pieces.lengths)
    output.write(pieces.counts)
    output.write(pieces.data)


def write_partitions(output: Output, counter: PieceCounter, n: int, first_place: int) -> None:
    """Write the pieces of a counter in n partitions. first_place: of its first piece in the task."""
    data = counter.data()
    lengths, counts = np.asarray(counter.lengths()), np.asarray(counter.counts())
    order, ends = map(np.asarray, cut_by_hash(data, lengths, n))
    pieces = ordered(Pieces(np.arange(first_place, first_place + len(order)), lengths, counts, data), order)
    byte_ends = np.concatenate([[0], np.cumsum(pieces.lengths)])[ends]
    output.write(ends)
    output.write(byte_ends)
    view = memoryview(pieces.data)
    start = byte_start = 0
    for end, byte_end in zip(ends.tolist(), byte_ends.tolist(), strict=True):
        write_pieces(output, pieces.numbers(slice(start, end), view[byte_start:byte_end]))
        start, byte_start = end, byte_end


def read_partition(path: Path, partition: int, n: int) -> Pieces:
    """One of the n partitions of a file. ValueError for a file that is not whole."""
    with open(path, "rb") as file:
        start, stop = span_of(file, partition, 0)
        byte_start, byte_stop = span_of(file, partition, n)
        move_to(file, 16 * n + NUMBERS * start + byte_start)
        size = stop - start
        numbers = np.frombuffer(read_exactly(file, NUMBERS * size), np.int64).reshape(3, size)
        places, lengths, counts = numbers
        data = read_exactly(file, byte_stop - byte_start)
        known = (places >= 0) & (lengths >= 0) & (lengths <= len(data)) & (counts > 0)
        if not known.all() or lengths.sum() != len(data):
            raise damaged(file)
        return Pieces(places, lengths, counts, data)


def span_of(file: BinaryIO, partition: int, base: int) -> tuple[int, int]:
    """Where a partition begins and ends, by the ends from number base on."""
    first = max(partition - 1, 0)
    move_to(file, 8 * (base + first))
    ends = np.frombuffer(read_exactly(file, 8 * (partition - first + 1)), np.int64).tolist()
    return (0, ends[0]) if partition == 0 else (ends[0], ends[1])


def move_to(file: BinaryIO, place: int) -> None:
    """Go on from a place. ValueError where the file has none such."""
    if not 0 <= place <= os.fstat(file.fileno()).st_size:
        raise damaged(file)
    file.seek(place)


def read_exactly(file: BinaryIO, n: int) -> bytes:
    """The next n bytes. ValueError where there are less."""
    left = os.fstat(file.fileno()).st_size - file.tell()
    if not 0 <= n <= left:
        raise damaged(file)
    return file.read(n)


def damaged(file: BinaryIO) -> ValueError:
    return ValueError(f"{file.name} is cut short or damaged: delete the folder it is in, and begin again")
