"""A function from batch to batch, for programs that work on tables and send such functions to other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from cbpe.common.wording import listed, shown

if TYPE_CHECKING:
    from typing import Protocol

    class Encodes(Protocol):
        """A tokenizer."""

        @property
        def encode_arrow(self) -> Callable[..., Any]: ...


__all__ = ["ArrowFunction"]


def refuse_options(tokenizer: Encodes, options: dict[str, Any]) -> None:
    """What encode_arrow would raise for these options: here, and not where the function is sent to."""
    from cbpe._core.arrow.json_lines import FieldOfLines

    try:
        tokenizer.encode_arrow(FieldOfLines("").take(), **options)
    except TypeError as error:
        raise TypeError(str(error).replace("encode_arrow()", "arrow_udf()")) from None


class ArrowFunction:
    """Encodes a column of each batch that it is called with: see Tokenizer.arrow_udf."""

    def __init__(self, tokenizer: Encodes, text: str, out: str, options: dict[str, Any]) -> None:
        for name, value in (("text", text), ("out", out)):
            if not isinstance(value, str):
                raise TypeError(f"{name} is the name of a column, not {type(value).__name__}: {shown(value)}")
        if text == out:
            raise ValueError(f"text and out are both {shown(text)}: the ids need a column of their own")
        # It is called again and again, and what can be gone through once would be empty then.
        options = {name: [*value] if isinstance(value, Iterator) else value for name, value in options.items()}
        refuse_options(tokenizer, options)
        self.tokenizer = tokenizer
        self.text = text
        self.out = out
        self.options = options

    def __repr__(self) -> str:
        return f"<ArrowFunction: {self.text!r} to {self.out!r} by {self.tokenizer!r}>"

    def __call__(self, batch: Any) -> Any:
        """A table, as one with the column of ids more; a column, as one of ids; an iterator of such, as another."""
        if isinstance(batch, Iterator):
            return map(self, batch)
        library = type(batch).__module__.partition(".")[0]
        if library == "pyarrow":
            return self._of_pyarrow(batch)
        if library == "polars":
            return self._of_polars(batch)
        raise TypeError(
            f"a {library}.{type(batch).__name__} is no batch of Arrow's or polars': ask for such ones, as "
            'batch_format="pyarrow" in Ray Data, mapInArrow in Spark, with_format("arrow") in datasets, type="arrow" '
            "in DuckDB"
        )

    def _of_pyarrow(self, batch: Any) -> Any:
        import pyarrow

        if not isinstance(batch, (pyarrow.Table, pyarrow.RecordBatch)):
            return pyarrow.array(self.tokenizer.encode_arrow(batch, **self.options))
        self._refuse_other_columns(batch.column_names)
        ids = pyarrow.array(self.tokenizer.encode_arrow(batch.column(self.text), **self.options))
        return batch.append_column(self.out, ids)

    def _of_polars(self, batch: Any) -> Any:
        import polars

        if isinstance(batch, polars.Series):
            return polars.Series(self.tokenizer.encode_arrow(batch, **self.options)).alias(batch.name)
        if not isinstance(batch, polars.DataFrame):
            raise TypeError(f"a polars.{type(batch).__name__} has no rows yet: pass it to map_batches of its own")
        self._refuse_other_columns(batch.columns)
        ids = self.tokenizer.encode_arrow(batch[self.text], **self.options)
        return batch.with_columns(polars.Series(ids).alias(self.out))

    def _refuse_other_columns(self, names: list[str]) -> None:
        if self.text not in names:
            raise ValueError(f"the batch has no column {shown(self.text)}; it has {listed(names, most=10)}")
        if self.out in names:
            raise ValueError(f"the batch has a column {shown(self.out)} already: pass another name as out")
