"""Batches of a column of Parquet, made of its memory as Arrow holds it, without an object for each text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cbpe.corpus.batches import BATCH_BYTES, Batch
from cbpe.corpus.documents import rows_at_once, without_nulls
from cbpe.corpus.files import TextFile
from cbpe.corpus.stored_bytes import decoded

__all__ = ["column_batches"]


def column_batches(file: TextFile) -> Iterator[Batch]:
    """The texts of a Parquet file, or of a span, in batches of about BATCH_BYTES, each of whole texts. Raises what
    reading the file raises; errors="strict" is taken for granted."""
    with file.parquet() as (opened, pa):
        for row, read in file.rows(opened, rows_at_once(opened.metadata, file.field), [file.field]):
            batch, rows = without_nulls(file, read, 0, row)
            yield from batches_of(checked(file, batch.column(0), rows, pa))


def checked(file: TextFile, column: Any, rows: Sequence[int], pa: Any) -> Any:
    """A column without nulls as one of large_string. ValueError for a row that is not UTF-8, which it names."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    column = column.cast(pa.large_string())
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        for i, data in zip(rows, column.view(pa.large_binary()).to_pylist(), strict=True):
            decoded(data, file.name_of_row(i), file.repairs)
        raise
    return column


def batches_of(column: Any) -> Iterator[Batch]:
    """A column of large_string in batches."""
    _, offsets, data = column.buffers()
    if not len(column):
        return
    ends = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    view = memoryview(b"" if data is None else data).cast("B")
    first = 0
    while first < len(ends) - 1:
        start = ends[first]
        stop = max(first + 1, int(np.searchsorted(ends, start + BATCH_BYTES, "right")) - 1)
        yield Batch(view[start : ends[stop]], ends[first + 1 : stop + 1] - start)
        first = stop
