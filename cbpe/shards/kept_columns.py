"""The columns of the sources that shards of Parquet keep: one type for each, whatever file a row is from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cbpe.common.wording import shown
from cbpe.corpus.documents import without_view
from cbpe.corpus.files import TextFile
from cbpe.tasks.sources import SourceFile

__all__ = ["KeptColumn", "ids_as_texts", "kept_columns"]

LOOKED_INTO = 100  # sources, until one says the type of a column


@dataclass(frozen=True)
class KeptColumn:
    """A column, its type in all shards, and the source that has it so; type: None for texts."""

    name: str
    type: Any
    place: str

    def of(self, values: Any, path: object, pa: Any) -> Any:
        """The values of a batch of rows as a column of this type: JSON Lines' as texts, Parquet's as they are,
        dictionaries and views aside. ValueError for another type."""
        wanted = pa.string() if self.type is None else self.type
        column = pa.array(values, pa.string()) if isinstance(values, list) else whole_texts(values, self.name, path, pa)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        found = column.type
        if found == wanted:
            return column
        if pa.types.is_null(found):
            return pa.nulls(len(column), wanted)
        if (is_text(found, pa) and is_text(wanted, pa)) or without_view(found, pa) == wanted:
            return column.cast(wanted)
        raise ValueError(
            f"the column {shown(self.name)} of {path} is {found}, and that of {self.place} is {wanted}: shards keep a "
            "column of one type; write the sources so, or leave the column out"
        )


def kept_columns(sources: Iterable[SourceFile], names: tuple[str, ...], field: str | None) -> tuple[KeptColumn, ...]:
    """The columns of these names, each of the type that the first source with a value in it may have."""
    types: dict[str, KeptColumn] = {}
    for source in islice(sources, LOOKED_INTO):
        if len(types) == len(names):
            break
        for name, found in types_in(TextFile(source.place, field=field, errors="strict"), names).items():
            types.setdefault(name, KeptColumn(name, found, source.path))
    return tuple(types.get(name, KeptColumn(name, None, "the first sources")) for name in names)


def types_in(file: TextFile, names: tuple[str, ...]) -> dict[str, Any]:
    """The types of those columns that a file has; of a file that is no Parquet, None for all: texts."""
    if file.kind != "parquet":
        return dict.fromkeys(names)
    with file.parquet() as (opened, pa):
        schema = opened.schema_arrow
        found = {name: schema.field(name).type for name in names if schema.names.count(name) == 1}
        plain = {name: each.value_type if pa.types.is_dictionary(each) else each for name, each in found.items()}
        return {name: without_view(each, pa) for name, each in plain.items() if not pa.types.is_null(each)}


def whole_texts(column: Any, name: str, path: object, pa: Any) -> Any:
    """The same column of Parquet. ValueError for one of texts that are no UTF-8, which pyarrow reads as they are."""
    plain = column.dictionary if pa.types.is_dictionary(column.type) else column
    if is_text(plain.type, pa):
        try:
            plain.validate(full=True)
        except pa.ArrowInvalid as error:
            problem = f"the column {shown(name)} of {path} holds texts that are not UTF-8"
            raise ValueError(f"{problem}: write it anew, or leave it out") from error
    return column


def ids_as_texts(values: Any, n: int, path: object, pa: Any) -> list[str | None]:
    """The ids of documents as texts, None where a source has none. ValueError for bytes that are no UTF-8."""
    if values is None:
        return [None] * n
    if isinstance(values, list):
        return values
    found = whole_texts(values, "id", path, pa).to_pylist()
    try:
        return [None if value is None else id_as_text(value) for value in found]
    except UnicodeDecodeError as error:
        problem = f"the column 'id' of {path} holds bytes that are not UTF-8"
        raise ValueError(f"{problem}: write it as texts, or leave it out") from error


def id_as_text(value: object) -> str:
    """A value of Parquet as JSON Lines have it: True is true, and bytes are the text that they spell."""
    if isinstance(value, bytes):
        return value.decode()
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_text(found: Any, pa: Any) -> bool:
    return bool(pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found))
