"""Texts in tables: what a collection gives when it is iterated is not always its texts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["is_missing", "is_table", "missing", "only_column", "texts_in"]

ROWS_AT_ONCE = 1000  # that an Arrow column turns into Python's objects


def texts_in(texts: Any, *, counts_are_taken: bool = False) -> Any:
    """A collection of texts, or a column of Arrow's as an iterable of its values; anything else stays as it is.
    counts_are_taken: whether WordCounts may be given in place of texts.

    TypeError for what would give names or rows in place of texts: a table (of pandas, polars, Arrow, or Hugging Face's
    datasets) and a dict; and for a set, whose order is another one each time.
    """
    kind = type(texts)
    if isinstance(texts, (str, list, tuple)):
        return texts
    from collections.abc import Iterable, Mapping  # here alone: a program that only encodes may do without

    from cbpe.common.checks import refuse_set

    if isinstance(texts, Mapping):
        way = "its texts, as list(texts.values())"
        if counts_are_taken and texts and all(isinstance(value, int) for value in texts.values()):
            way = "cbpe.WordCounts of its words in UTF-8, if these are counts of words"
        if any(is_table(type(value)) for value in texts.values()):
            way = "a column of one of its tables, as tables['train']['text']"
        raise TypeError(f"a {kind.__name__} gives its keys: pass {way}")
    refuse_set("the texts", texts)
    if is_table(kind):
        gives_rows = not hasattr(kind, "columns") and not hasattr(kind, "__getitem__")
        way = "(row['text'] for row in table)" if gives_rows else "table['text']"
        if hasattr(kind, "collect_schema") and not hasattr(kind, "iter_rows"):  # polars' LazyFrame
            way = "table.collect()['text']"
        raise TypeError(f"a {kind.__name__} is a table: pass one column, as {way}")
    if callable(getattr(kind, "to_pylist", None)) and isinstance(texts, Iterable):
        return values(texts)
    return texts


def only_column(table: Any) -> Any:
    """The only column of a pandas DataFrame, whose index would come with it; anything else stays as it is. TypeError
    for several columns."""
    kind = type(table)
    if kind.__module__.partition(".")[0] != "pandas" or not is_table(kind):
        return table
    n = len(table.columns)
    if n != 1:
        raise TypeError(f"a table of {n} columns was given: pass one column, as table['text']")
    return table.iloc[:, 0]


def is_table(kind: type) -> bool:
    """Whether it is that of a table: of pandas, polars or Arrow, or of Hugging Face's datasets."""
    return hasattr(kind, "columns") or hasattr(kind, "column_names")


def is_missing(text: object) -> bool:
    """Whether this is what a column has for a missing value: None, or NaN, NA and NaT of pandas."""
    from numbers import Real  # as numpy's float32 is

    is_nan = isinstance(text, Real) and text != text
    return text is None or is_nan or type(text).__name__ in ("NAType", "NaTType")


def missing(text: object) -> str:
    """The end of a message about what is no text, where it is what a column has for a missing value."""
    if is_missing(text):
        ways = "column.dropna() of pandas, drop_nulls() of polars or drop_null() of pyarrow"
        return f": a value is missing there; leave it out, as {ways}"
    return ""


def values(column: Any) -> Iterator[Any]:
    """The values in a column of Arrow's: iterated, it gives objects of its own."""
    for start in range(0, len(column), ROWS_AT_ONCE):
        yield from column[start : start + ROWS_AT_ONCE].to_pylist()
