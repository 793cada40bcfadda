"""Reads files of text a chunk at a time: plain, compressed, JSON Lines and Parquet.

The name of a file tells what it holds. `.jsonl`, `.jsonlines` and `.ndjson` are JSON Lines: on each line an object
with a text in one field; so is `.json`, where a field is asked for. `.parquet` has the texts in one column. `.words`
has word counts (corpus/word_counts.py), and no texts. Anything else is plain text, one text altogether. Plain text and
JSON Lines may be compressed, with `.gz`, `.xz` or `.zst` at the end of the name. A text keeps all that it has, line
ends and a byte order mark included.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from cbpe._core.arrow.exported import ArrowColumn
from cbpe._core.text.shown import shown
from cbpe.common.wording import NamedErrors
from cbpe.corpus.json_lines import (
    MOST_AT_ONCE,
    Nulls,
    NullTextError,
    columns_of_lines,
    names_in,
    texts_in,
    whole_lines,
)
from cbpe.corpus.storage import Url, place_of, size_of
from cbpe.corpus.stored_bytes import (
    DECOMPRESSORS,
    PACKERS,
    TOO_LARGE_A_WINDOW,
    Repairs,
    damage_in_words,
    decoded,
    valid_utf8,
    without_archive,
)

__all__ = ["CHUNK_BYTES", "TextFile", "has_field", "has_word_counts"]

CHUNK_BYTES = 1 << 18
LINES_BYTES = 1 << 19  # of the texts in lines that are read at once
PARQUET_ROWS = 1024  # at a time
TIMES_THE_FILE = 32  # that what is held at once may have, where that is more than MOST_AT_ONCE
WORDS = ".words"
# Endings of tables that are not read -> what reads them, and has to_parquet.
OTHER_TABLES = {
    ".csv": "pandas.read_csv",
    ".tsv": "pandas.read_table",
    ".arrow": "datasets.Dataset.from_file",
    ".feather": "pandas.read_feather",
    ".orc": "pandas.read_orc",
    ".xlsx": "pandas.read_excel",
}
KINDS = {".jsonl": "jsonl", ".jsonlines": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


class TextFile:
    """One file, or a span of one, and how far it has been read.

    missing: what becomes of rows and lines whose text is null, as Nulls takes it.

    span: (start, stop), for a part of a file: row groups of Parquet, or bytes of JSON Lines that are not compressed.
    Its lines are those that begin in these bytes, so that spans which follow one another have every line once.

    Raises OSError where there is no such file, or it cannot be read; ValueError where `field` is missing or of no use;
    ValueError also during reading, for what is not UTF-8 (unless errors is "replace"), not whole, or not of the form
    that the name says; ImportError where reading takes a library that is not installed.
    """

    def __init__(
        self,
        path: os.PathLike[str],
        *,
        field: str | None,
        errors: str,
        span: tuple[int, int] | None = None,
        missing: str | None = None,
    ) -> None:
        self.path = place_of(path)
        self.nulls = Nulls(missing)
        self.repairs = Repairs(errors)
        self.size = size_of(self.path)  # in bytes, as it is stored; None for a pipe
        self.position = 0  # how many of them have been read
        self.span = span
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        self.compression = suffixes.pop() if suffixes and suffixes[-1] in DECOMPRESSORS else ""
        self.kind = KINDS.get(suffixes[-1], "text") if suffixes else "text"
        self.is_json = field is not None and suffixes[-1:] == [".json"]  # JSON Lines, as many corpora are named
        if self.is_json:
            self.kind = "jsonl"
        if self.kind == "parquet" and self.compression:
            raise ValueError(f"{self.path}: a Parquet file is compressed in itself; decompress it")
        if has_word_counts(self.path):
            self.kind = "words"
        elif field is None and self.kind != "text":
            raise ValueError(f'{self.path} has its texts in a field: set field to its name, such as "text"')
        if self.kind == "text" and has_field(self.path):
            raise ValueError(f"{self.path} is compressed by {PACKERS[suffixes[-1]]}: decompress it first")
        if field is not None and self.kind == "text":
            of_table = OTHER_TABLES.get(suffixes[-1]) if suffixes else None
            way = (
                f"a table of another kind: write it as one of these, as {of_table}(path).to_parquet(new_path) does"
                if of_table is not None
                else "plain text by its name: rename it if it is one of these; name plain text on its own, "
                "without a field"
            )
            raise ValueError(
                f"the field {shown(field)} is of .jsonl, .json and .parquet files, and {self.path} is {way}"
            )
        self.field = field or ""

    def texts(self) -> Iterator[bytes | Iterator[bytes]]:
        """The texts, in UTF-8. An iterator of chunks has to be read to its end before the next text is taken."""
        if self.kind == "parquet":
            yield from self._column()
        elif self.kind == "jsonl":
            yield from self._lines()
        else:
            yield valid_utf8(self.chunks(), str(self.path), self.repairs)

    def opened(self) -> BinaryIO:
        """The file as it is stored, opened in binary."""
        return self.path.open() if isinstance(self.path, Url) else self.path.open("rb")

    def chunks(self) -> Iterator[bytes]:
        """The bytes of the file, decompressed."""
        if self.kind == "words":
            raise ValueError(
                f"{self.path} holds word counts by its name, and no texts: cbpe.train takes it, and count_corpus"
            )
        with self.opened() as stored:
            opened, damage = DECOMPRESSORS[self.compression](stored) if self.compression else (stored, ())
            while True:
                try:
                    with NamedErrors(self.path):
                        chunk = opened.read(CHUNK_BYTES)
                except damage as error:
                    if getattr(error, "errno", None):  # the system's, not the decompressor's
                        raise
                    problem = damage_in_words(error)
                    if problem == TOO_LARGE_A_WINDOW:
                        raise ValueError(f"{self.path} {problem}") from error
                    raise ValueError(
                        f"{self.path} is no whole and intact {self.compression} file: {problem}"
                    ) from error
                if self.size is not None:  # a pipe has no position
                    self.position = stored.tell()
                if not chunk:
                    break
                yield chunk
            if self.compression and self.size == 0:  # the library for gzip takes an empty file for a whole one
                raise ValueError(f"{self.path} is no whole and intact {self.compression} file: it is empty")

    def _lines(self) -> Iterator[bytes]:
        """The field of each line of JSON Lines, without lines of white space and a byte order mark."""
        for texts in self.line_columns(LINES_BYTES):
            yield from texts_in(texts)

    def line_columns(self, n_bytes: int) -> Iterator[ArrowColumn | str]:
        """The same, as columns_of_lines gives them."""
        return columns_of_lines(
            self._whole_lines(), self.field, str(self.path), self.place_of, n_bytes, self.nulls, self.repairs
        )

    def lines(self) -> Iterator[tuple[str, int, bytes]]:
        """The lines of the file, or of the span: what a message calls each, where it begins, and its bytes."""
        number = 0
        for offset, part in self._whole_lines():
            for line in part.removesuffix(b"\n").split(b"\n"):
                number += 1
                yield self.place_of(number, offset), offset, line
                offset += len(line) + 1

    def place_of(self, number: int, offset: int) -> str:
        """What messages call a line."""
        name = f"{self.path} (read as JSON Lines, one object a line)" if self.is_json else f"{self.path}"
        return f"{name}, line {number}" if self.span is None else f"{name}, the line at byte {offset}"

    def _whole_lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines of the file, or of the span, many at a time: where they begin, and their bytes."""
        start, stop = self.span or (0, sys.maxsize)
        offset = max(start - 1, 0)  # a line begins at start if the byte before it ends another
        for part in whole_lines(self._chunks_from(offset), self._most_at_once, str(self.path)):
            first = 0 if offset >= start else part.find(b"\n") + 1 or len(part)
            last = part.find(b"\n", stop - offset - 1) + 1 if stop - offset < len(part) else 0
            if offset + first >= stop:
                return
            yield offset + first, part[first : last or len(part)]
            offset += len(part)

    def _chunks_from(self, offset: int) -> Iterator[bytes]:
        """The bytes of the file from there on, decompressed if it is read from its beginning."""
        if offset == 0:
            yield from without_archive(self.chunks(), str(self.path))
            return
        with self.opened() as stored:
            stored.seek(offset)
            while True:
                with NamedErrors(self.path):
                    chunk = stored.read(CHUNK_BYTES)
                if not chunk:
                    return
                self.position = stored.tell()
                yield chunk

    def _column(self) -> Iterator[bytes]:
        """The rows of a column of a Parquet file."""
        # A text that many rows have is read once, as a dictionary keeps it.
        with self.parquet([self.field]) as (file, pa):
            for row, batch in self.rows(file, PARQUET_ROWS, [self.field]):
                for i, text in enumerate(bytes_of(batch.column(0), pa), row):
                    if text is None:
                        self.pass_over(1, i)
                    else:
                        yield decoded(text, self.name_of_row(i), self.repairs).encode()

    @contextmanager
    def parquet(self, dictionaries: Sequence[str] = ()) -> Iterator[tuple[Any, Any]]:
        """The Parquet file, opened and looked at, and pyarrow. dictionaries: columns that are read as such."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise ImportError(f'reading {self.path} takes pyarrow: pip install "cbpe[parquet]"') from error
        try:
            with self._stored() as stored, pq.ParquetFile(stored) as file:
                metadata = file.metadata
                self._check_column(file.schema_arrow, pa.types)
                self._check_row_groups(metadata)
            coded = [name for name in dictionaries if not is_delta(metadata, name)]
            options = {"pre_buffer": False, "buffer_size": CHUNK_BYTES, "read_dictionary": coded}
            with self._stored() as stored, pq.ParquetFile(stored, metadata=metadata, **options) as file:
                yield file, pa
        except pa.ArrowNotImplementedError as error:
            raise ValueError(f"pyarrow does not read a column of {self.path} that is asked for: {error}") from error
        except (pa.ArrowException, OSError) as error:
            if getattr(error, "errno", None) or isinstance(self.path, Url):
                raise
            raise ValueError(f"{self.path} is no whole and intact Parquet file: {error}") from error

    @contextmanager
    def _stored(self) -> Iterator[Any]:
        """What pyarrow takes for the file."""
        if isinstance(self.path, Url):
            with self.path.open() as opened:
                yield opened
        else:
            yield self.path

    def rows(self, file: Any, rows_at_once: int, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """The rows of a Parquet file, or of the span, in batches, each with the number of its first row."""
        metadata = file.metadata
        start, stop = self.span or (0, metadata.num_row_groups)
        row = sum(metadata.row_group(i).num_rows for i in range(start))
        for batch in file.iter_batches(rows_at_once, row_groups=range(start, stop), columns=list(columns)):
            yield row, batch
            row += batch.num_rows
            self.position = (self.size or 0) * row // metadata.num_rows
        if self.span is None:
            self.position = self.size or 0

    def name_of_row(self, row: int) -> str:
        return f"{self.path}, row {row} of the column {shown(self.field)}"

    def pass_over(self, n: int, row: int) -> None:
        """Skip rows that are null, of which this is the first. ValueError, unless that was asked for."""
        problem = f"{self.name_of_row(row)} (rows are counted from 0) holds no text, but null: "
        self.nulls.pass_over(NullTextError(f"{problem}leave such rows out"), n)

    @property
    def _most_at_once(self) -> int:
        return max(MOST_AT_ONCE, TIMES_THE_FILE * (self.size or 0))

    def _check_row_groups(self, metadata: Any) -> None:
        """ValueError for a row group in which the column takes too much memory."""
        for i in range(metadata.num_row_groups):
            group = metadata.row_group(i)
            columns = [group.column(k) for k in range(group.num_columns)]
            size = sum(one.total_uncompressed_size for one in columns if one.path_in_schema == self.field)
            if size > self._most_at_once:
                raise ValueError(
                    f"{self.path}: the column {shown(self.field)} of the row group {i} has {size:,} bytes, which is "
                    f"more than {self._most_at_once:,}: write smaller row groups"
                )

    def _check_column(self, schema: Any, types: Any) -> None:
        """ValueError where the column is missing or holds no texts."""
        if self.field not in schema.names:
            raise ValueError(f"{self.path} has no column {shown(self.field)}; it has {names_in(schema.names)}")
        if schema.names.count(self.field) > 1:
            raise ValueError(f"{self.path} has several columns {shown(self.field)}: rename all but one")
        held = schema.field(self.field).type
        plain = held.value_type if types.is_dictionary(held) else held
        # The type null is that of a column in which whatever wrote the file found nothing else.
        known = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
        if not any(is_one(plain) for is_one in known):
            raise ValueError(f"the column {shown(self.field)} of {self.path} holds no texts, but {held}")


def is_delta(metadata: Any, column: str) -> bool:
    """Whether texts of a column are kept by their difference from others, of which pyarrow makes no dictionary."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    chunks = (group.column(k) for group in groups for k in range(group.num_columns))
    return any(
        encoding.startswith("DELTA_") for one in chunks if one.path_in_schema == column for encoding in one.encodings
    )


def has_field(path: Path | Url) -> bool:
    """Whether a file has its texts in a field, by its name, however it is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and (suffixes[-1] in DECOMPRESSORS or suffixes[-1] in PACKERS):
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in KINDS


def has_word_counts(path: Path | Url) -> bool:
    """Whether a file holds word counts (WordCounts.save), by its name."""
    return [suffix.lower() for suffix in path.suffixes[-1:]] == [WORDS]


def bytes_of(column: Any, pa: Any) -> Iterator[bytes | None]:
    """The texts of an array of pyarrow's in UTF-8, None for null. Those of a dictionary are made once."""
    if not pa.types.is_dictionary(column.type):
        yield from column.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()
        return
    texts = column.dictionary.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()
    for index in column.indices.to_pylist():
        yield None if index is None else texts[index]
