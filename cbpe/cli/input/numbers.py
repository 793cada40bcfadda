"""What is wrong with a value of an option that takes a number, in the words of the other options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cbpe.common.wording import shown

__all__ = ["wrong_number"]

# Kinds of pydantic's errors, by which Typer says what an option with a number refuses.
NO_NUMBER = {
    "int_parsing": "no whole number",
    "int_parsing_size": "too large",
    "float_parsing": "no number",
}
OUT_OF_RANGE = {"greater_than_equal": ("less than", "ge"), "less_than_equal": ("more than", "le")}


def wrong_number(error: Mapping[str, Any]) -> str | None:
    """An error of pydantic's: of "x" -> "'x' is no whole number", of "-1" -> "'-1' is less than 0"; None for others."""
    kind, value = error["type"], shown(error["input"])
    if kind in NO_NUMBER:
        return f"{value} is {NO_NUMBER[kind]}"
    if kind in OUT_OF_RANGE:
        compared, bound = OUT_OF_RANGE[kind]
        return f"{value} is {compared} {error['ctx'][bound]}"
    return None
