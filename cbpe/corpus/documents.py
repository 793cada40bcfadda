"""The documents of a file in batches, with what else is known of each: what becomes tokens. Those of Parquet stay in
the memory in which Arrow has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from cbpe._core.arrow.exported import ArrowColumn
from cbpe._core.arrow.texts import text_column
from cbpe.common.wording import shown
from cbpe.corpus.files import TextFile
from cbpe.corpus.json_lines import NullTextError, decoded_line, names_in, row_of
from cbpe.corpus.stored_bytes import decoded, valid_utf8
from cbpe.text.surrogates import without_surrogates

__all__ = [
    "BATCH_CHARACTERS",
    "DocumentBatch",
    "LongDocument",
    "TextsOfColumn",
    "TextsOfLines",
    "documents",
    "place_of",
    "rows_at_once",
    "without_nulls",
    "without_view",
]

BATCH_CHARACTERS = 1 << 22
MOST_ROWS = 1 << 14  # of Parquet, in a batch


@dataclass
class TextsOfColumn:
    """The texts of a column of Arrow's without nulls. Whether they are UTF-8 is not known yet."""

    file: TextFile
    column: Any
    rows: Sequence[int]  # the number of each in the file
    pa: Any

    def __len__(self) -> int:
        return len(self.column)

    def as_strings(self) -> list[str]:
        """The texts, repaired as the file is. ValueError for one that is not UTF-8, which it names."""
        return self._strings

    @cached_property  # so that what is repaired counts once
    def _strings(self) -> list[str]:
        return strings(self.file, self.column, self.rows, self.pa)


@dataclass
class TextsOfLines:
    """The texts of lines, as a column."""

    column: ArrowColumn

    def __len__(self) -> int:
        return len(self.column)

    def as_strings(self) -> list[str]:
        return text_column(self.column).as_strings()


@dataclass
class DocumentBatch:
    """Several whole documents. columns: of each name that was asked for, a list, or a column of Arrow's."""

    texts: list[str] | TextsOfColumn | TextsOfLines
    locations: Sequence[int]  # the row, counted from 0, or the line, counted from 1; of lines without columns, none
    columns: dict[str, Any] = field(default_factory=dict)


@dataclass
class LongDocument:
    """A document that comes in chunks, which have to be read to their end before the next one is taken."""

    chunks: Iterator[str]


def documents(
    file: TextFile, columns: Sequence[str] = (), optional: bool = False
) -> Iterator[DocumentBatch | LongDocument]:
    """The documents of a file or span. columns: other columns or fields to keep; ValueError where a file has no such,
    or they are left out there if they are optional. Raises what TextFile raises."""
    if file.kind == "parquet":
        yield from of_parquet(file, columns, optional)
    elif file.kind == "jsonl":
        yield from of_lines(file, columns, optional)
    elif file.size is not None and file.size <= BATCH_CHARACTERS and not file.compression:
        data = b"".join(valid_utf8([b"".join(file.chunks())], str(file.path), file.repairs))
        yield DocumentBatch([data.decode()], [0])
    else:
        yield LongDocument(map(bytes.decode, valid_utf8(together(file.chunks()), str(file.path), file.repairs)))


def place_of(file: TextFile, number: int) -> str:
    """What messages call the document of this number, from 0, of a file or span."""
    if file.kind == "jsonl":
        filled = (place for place, offset, line in file.lines() if object_of(file, line, place, offset) is not None)
        return next(islice(filled, number, None))
    if file.kind != "parquet":
        return str(file.path)
    with file.parquet() as (opened, _):
        if file.nulls.missing == "skip":
            found = file.rows(opened, rows_at_once(opened.metadata, file.field), [file.field])
            kept = (row for first, batch in found for row in without_nulls(file, batch, 0, first)[1])
            return file.name_of_row(next(islice(kept, number, None)))
        groups = range(0 if file.span is None else file.span[0])
        return file.name_of_row(sum(opened.metadata.row_group(i).num_rows for i in groups) + number)


def together(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in chunks of about BATCH_CHARACTERS."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= BATCH_CHARACTERS:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


# ---- Parquet


def of_parquet(file: TextFile, columns: Sequence[str], optional: bool) -> Iterator[DocumentBatch]:
    with file.parquet() as (opened, pa):
        names = opened.schema_arrow.names
        missing = [name for name in columns if name not in names]
        if missing and not optional:
            raise ValueError(f"{file.path} has no column {shown(missing[0])}; it has {names_in(names)}")
        kept = [name for name in columns if name in names]
        twice = next((name for name in kept if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{file.path} has {names.count(twice)} columns {shown(twice)}: give each its own name")
        asked = list(dict.fromkeys([file.field, *kept]))
        at = asked.index(file.field)
        for row, read in file.rows(opened, rows_at_once(opened.metadata, file.field), asked):
            batch, rows = without_nulls(file, read, at, row)
            texts = TextsOfColumn(file, batch.column(at), rows, pa)
            others = {name: batch.column(asked.index(name)) for name in kept}
            yield DocumentBatch(texts, rows, others)


def rows_at_once(metadata: Any, name: str) -> int:
    """How many rows have about BATCH_CHARACTERS, by what the file says of the largest row group."""
    most = 1.0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        for k in range(group.num_columns):
            column = group.column(k)
            if column.path_in_schema == name and group.num_rows:
                most = max(most, column.total_uncompressed_size / group.num_rows)
    return max(1, min(MOST_ROWS, int(BATCH_CHARACTERS / most)))


def without_nulls(file: TextFile, batch: Any, at: int, row: int) -> tuple[Any, Sequence[int]]:
    """The rows of a batch, of which this is the first, that have a text in the column there, and their numbers. Others
    are skipped, or a ValueError that names the first."""
    column, rows = batch.column(at), range(row, row + batch.num_rows)
    if not column.null_count:
        return batch, rows
    valid = column.is_valid()
    there = valid.to_pylist()
    file.pass_over(column.null_count, rows[there.index(False)])
    return kept_rows(batch, valid), [number for number, is_there in zip(rows, there, strict=True) if is_there]


def kept_rows(batch: Any, valid: Any) -> Any:
    """The rows of a batch that are to stay. Arrow filters no views: they become columns of a type that it filters, and
    views again. Others are not cast to what they are: Arrow ends the program at a slice of some structs."""
    import pyarrow as pa

    def kept(column: Any) -> Any:
        plain = without_view(column.type, pa)
        return column.filter(valid) if plain == column.type else column.cast(plain).filter(valid).cast(column.type)

    return pa.RecordBatch.from_arrays([kept(column) for column in batch], schema=batch.schema)


def without_view(found: Any, pa: Any) -> Any:
    """The type in place of one of views, which Arrow neither filters nor puts in another order."""
    return {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(found, found)


def strings(file: TextFile, column: Any, rows: Sequence[int], pa: Any) -> list[str]:
    """The texts of a column without nulls. ValueError for a row that is not UTF-8, which it names."""
    if file.repairs.errors == "strict":
        try:
            texts: list[str] = column.to_pylist()
            return texts
        except UnicodeDecodeError:
            pass  # the rows tell which one it is
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    raw = column.cast(pa.large_string()).view(pa.large_binary()).to_pylist()
    return [decoded(data, file.name_of_row(i), file.repairs) for i, data in zip(rows, raw, strict=True)]


# ---- JSON Lines


def of_lines(file: TextFile, columns: Sequence[str], optional: bool) -> Iterator[DocumentBatch]:
    """As many documents as have about BATCH_CHARACTERS, and so on."""
    if columns:
        yield from of_objects(file, columns, optional)
        return
    for texts in file.line_columns(BATCH_CHARACTERS):
        if isinstance(texts, str):
            yield DocumentBatch([texts], ())
        elif len(texts):
            yield DocumentBatch(TextsOfLines(texts), ())


def of_objects(file: TextFile, columns: Sequence[str], optional: bool) -> Iterator[DocumentBatch]:
    """The same with other fields, for which an object is made of each line."""
    texts, numbers, others = new_lists(columns)
    size = 0
    for number, (place, offset, line) in enumerate(file.lines(), 1):
        row = object_of(file, line, place, offset)
        if row is None:
            continue
        texts.append(row[file.field])
        numbers.append(number)
        for name in columns:
            if name not in row and not optional:
                raise ValueError(f"{place}, has no field {shown(name)}; it has {names_in(row)}")
            others[name].append(as_text(row.get(name)))
        size += len(texts[-1])
        if size >= BATCH_CHARACTERS:
            yield DocumentBatch(texts, numbers, others)
            texts, numbers, others = new_lists(columns)
            size = 0
    if texts:
        yield DocumentBatch(texts, numbers, others)


def new_lists(columns: Sequence[str]) -> tuple[list[str], list[int], dict[str, list[str | None]]]:
    """What a batch of lines is made of."""
    return [], [], {name: [] for name in columns}


def object_of(file: TextFile, line: bytes, place: str, offset: int) -> dict[str, Any] | None:
    """The object on a line, with whole numbers as they are; None for a line of white space, and for one whose
    text is null where such are skipped."""
    try:
        found = decoded_line(line, file.field, str(file.path), file.repairs, place, offset)
    except NullTextError as error:
        file.nulls.pass_over(error)
        return None
    return None if found is None else row_of(found[0], place, file.field, int)


def as_text(value: Any) -> str | None:
    """A value of a field as a column of texts has it: a text as it is, null as null, others as JSON. Half of a
    surrogate pair is U+FFFD, as in the texts."""
    if value is None:
        return None
    return without_surrogates(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
