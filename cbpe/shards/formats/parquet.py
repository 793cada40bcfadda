"""Parquet with a column input_ids of lists of int32, a row for each document, and the other columns that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.shards.formats.mapped import DamagedError, file_ending_in
from cbpe.shards.formats.writing import Format, Shard
from cbpe.tasks.outputs import Output, Outputs

if TYPE_CHECKING:
    from cbpe.shards.formats.writing import Lengths, Tokens

__all__ = ["PARQUET"]

COLUMN = "input_ids"
ROWS = 1 << 10  # that are read at once
GROUP_TOKENS = 1 << 20  # in a row group, or those of one document


class ParquetWriter:
    def __init__(self, outputs: Outputs, shard: Shard) -> None:
        self.output = outputs.open(f"{shard.name}.parquet")
        self.bare: Output | None = None
        self.file: Any = None
        self.tokens: list[Tokens] = []
        self.lengths: list[Lengths] = []
        self.rows: list[Any] = []
        self.n_tokens = 0

    def write(self, tokens: Tokens) -> None:
        self.tokens.append(tokens)
        self.n_tokens += len(tokens)

    def end(self, lengths: Lengths, rows: Any) -> None:
        self.lengths.append(lengths)
        if rows is not None:
            self.rows.append(rows)
        if self.n_tokens >= GROUP_TOKENS:
            self._write_group()

    def close(self) -> None:
        if self.lengths or self.file is None:
            self._write_group()
        self.file.close()

    def _write_group(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        lengths = np.concatenate([np.zeros(1, np.int64), *self.lengths])
        ends = np.cumsum(lengths)
        if ends[-1] > np.iinfo(np.int32).max:
            raise ValueError(f"{ends[-1]:,} tokens of one document are too many for a list of Parquet's: cut it")
        values = np.concatenate([np.zeros(0, np.int32), *self.tokens])
        ids = pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), pa.array(values, pa.int32()))
        table = pa.Table.from_batches(self.rows) if self.rows else pa.table({})
        table = pa.table({COLUMN: ids, **{name: table.column(name) for name in table.column_names}})
        if self.file is None:
            others: Any = [name for name in table.column_names if name != COLUMN]  # ids gain nothing by a dictionary
            options = {"compression": "zstd", "use_dictionary": others or False}
            self.file = pq.ParquetWriter(self.output, table.schema, **options)
        self.file.write_table(table, row_group_size=max(1, len(ids)))
        self.tokens, self.lengths, self.rows, self.n_tokens = [], [], [], 0


def documents(files: Sequence[Path], dtype: str) -> Iterator[Tokens]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError("reading shards of format 'parquet' takes pyarrow: pip install \"cbpe[parquet]\"") from error

    path = file_ending_in(files, ".parquet")
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            found = file.schema_arrow.field(COLUMN).type if names.count(COLUMN) == 1 else None
            if found != pa.list_(pa.int32()):
                raise DamagedError(path, f"its column {COLUMN} is {found or 'missing'}, and no list of {dtype}")
            for batch in file.iter_batches(ROWS, columns=[COLUMN]):
                column = batch.column(0)
                if column.null_count or column.flatten().null_count:
                    raise DamagedError(path, f"there are nulls in its column {COLUMN}")
                for ids in column:
                    yield ids.values.to_numpy()
    except DamagedError:
        raise
    except (pa.ArrowException, AttributeError, IndexError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the file, not of what is in it
            raise
        raise DamagedError(path, str(error).strip()) from error


PARQUET = Format(ParquetWriter, documents, small=None, large="int32", small_below=0, eot=None, keeps="columns")
