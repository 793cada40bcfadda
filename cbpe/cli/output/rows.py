"""Rows for programs: what the library and the store return, as JSON can hold it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

__all__ = ["json_value", "token_row", "token_text"]


def token_text(token: bytes) -> str | None:
    """The text of a token; None if its bytes are not UTF-8."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def token_row(token_id: int, token: bytes) -> dict[str, Any]:
    """(5303, b"hi") -> {"id": 5303, "text": "hi", "bytes": "6869"}"""
    return {"id": token_id, **json_value(token)}


def json_value(value: Any) -> Any:
    """A value as JSON can hold it: bytes become text and hexadecimal digits, times ISO 8601, records dicts, and a
    number that is none (a ratio to nothing) null."""
    if value is None or isinstance(value, (str, int)):  # nearly all, so first
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bytes):
        return {"text": token_text(value), "bytes": value.hex()}
    if isinstance(value, datetime):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_value(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_fields"):
        return {name: json_value(getattr(value, name)) for name in value._fields}
    if isinstance(value, Mapping):
        return {key: json_value(item) for key, item in value.items()}
    return [json_value(item) for item in value] if isinstance(value, (list, tuple)) else value
