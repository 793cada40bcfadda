"""Decoding a column of ids by tokenizers whose texts are more than their tokens joined: a row at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cbpe._core.arrow.lists import id_column
from cbpe._core.calls.columns import strings_column

if TYPE_CHECKING:
    from typing import Protocol

    from cbpe._core.arrow.exported import ArrowColumn
    from cbpe._core.arrow.lists import IdColumn

    class Decodes(Protocol):
        """A tokenizer."""

        def decode(self, tokens: list[int], errors: str = "replace", *, skip_special_tokens: bool = False) -> str: ...


__all__ = ["decoded_column"]


def decoded_column(tokenizer: Decodes, column: Any, errors: str, skip_special_tokens: bool) -> ArrowColumn:
    """The text of each list of ids. Raises what `decode` raises, and names the row in a KeyError."""
    ids = id_column(column)
    return strings_column(decoded(tokenizer, ids, errors, skip_special_tokens), len(ids), errors)


def decoded(tokenizer: Decodes, ids: IdColumn, errors: str, skip_special_tokens: bool) -> Iterator[str | None]:
    for row, tokens in enumerate(ids.rows()):
        if tokens is None:
            yield None
            continue
        try:
            text = tokenizer.decode(tokens, errors, skip_special_tokens=skip_special_tokens)
        except KeyError as error:
            raise type(error)(f"row {row} of the column: {error.args[0]}") from None
        except UnicodeDecodeError as error:
            error.reason += f" (row {row} of the column)"
            raise
        yield text
