"""dolma's memory maps: NAME.npy, tokens without a header, in spite of the ending, and NAME.csv.gz, for each document a
line of start, end, id, source, location. Start and end count tokens; the id is the field or column "id" of the source,
or the location where there is none; the location is the line (from 1) or row (from 0) in the source.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from cbpe.shards.formats.mapped import DamagedError, cut_at, file_ending_in, mapped
from cbpe.shards.formats.writing import Format, Shard
from cbpe.tasks.outputs import Outputs

if TYPE_CHECKING:
    from cbpe.shards.formats.writing import Lengths, Tokens

__all__ = ["DOLMA"]

LEVEL = 6  # of compression
LONGEST_LINE = 1 << 20  # characters


class DolmaWriter:
    def __init__(self, outputs: Outputs, shard: Shard) -> None:
        self.bare = outputs.open(f"{shard.name}.npy")
        self.places = outputs.open(f"{shard.name}.csv.gz")
        # Without a time and a name, the same documents give the same bytes.
        packed = gzip.GzipFile("", "wb", LEVEL, fileobj=self.places, mtime=0)
        self.packed = io.TextIOWrapper(packed, encoding="utf-8", errors="surrogateescape", newline="")
        self.rows = csv.writer(self.packed)
        self.start = 0

    def write(self, tokens: Tokens) -> None:
        self.bare.write(tokens)

    def end(self, lengths: Lengths, rows: Any) -> None:
        if rows is None:  # as there is no document
            return
        start = self.start
        columns = (rows.column(name).to_pylist() for name in ("id", "source", "location"))
        for length, document, source, location in zip(lengths.tolist(), *columns, strict=True):
            self.rows.writerow((start, start + length, location if document is None else document, source, location))
            start += length
        self.start = start

    def close(self) -> None:
        self.packed.close()


def documents(files: Sequence[Path], dtype: str) -> Iterator[Tokens]:
    places = file_ending_in(files, ".csv.gz")
    return cut_at(mapped(file_ending_in(files, ".npy"), dtype), ends_in(places), places)


def lines_of(file: TextIO, places: Path) -> Iterator[str]:
    """The lines, none of which may be so long that it is none of ours: a packed file may hold anything."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise DamagedError(places, f"a line has {LONGEST_LINE:,} characters or more")
        yield line


def ends_in(places: Path) -> Iterator[int]:
    """The second number of each line."""
    try:
        with gzip.open(places, "rt", encoding="utf-8", errors="surrogateescape", newline="") as lines:
            for row in csv.reader(lines_of(lines, places)):
                yield int(row[1])
    except (EOFError, IndexError, ValueError, csv.Error, gzip.BadGzipFile, zlib.error) as error:
        if isinstance(error, DamagedError):
            raise
        raise DamagedError(places, str(error)) from error


DOLMA = Format(
    DolmaWriter, documents, small="uint16", large="uint32", small_below=2**16 + 1, eot="after", keeps="places"
)
