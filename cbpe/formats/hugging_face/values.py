"""Values of a tokenizer.json, checked; messages name the part of the file."""

from __future__ import annotations

import json

from cbpe._core.text.shown import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["MAX_ID", "as_list", "fields", "flag", "flattened", "is_id", "kind_of", "kinds_in", "refuse", "text_of"]

MAX_ID = 2**32 - 2


def refuse(path: str, value: object, why: str) -> NoReturn:
    shown = json.dumps(value, ensure_ascii=False)
    raise ValueError(f"{path} is {shown if len(shown) <= 80 else shown[:80] + '...'}: {why}")


def fields(value: object, path: str, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object that has the required fields and no others than the optional ones."""
    if not isinstance(value, dict):
        refuse(path, value, "an object should be here")
    for name in required:
        if name not in value:
            raise ValueError(f"{path} has no {shown(name)}")
    for name in value:
        if name not in required and name not in optional:
            raise ValueError(f"{path} has a {shown(name)}, which is not known here")
    return value


def kind_of(value: object, path: str) -> str:
    """The type of a step of the pipeline, as it says."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        refuse(path, value, "an object with a type should be here")
    return kind


def flattened(value: object, path: str, name: str) -> list[tuple[str, Any]]:
    """The steps of a Sequence, or the one step, each with its path in the file. null has none."""
    if value is None:
        return []
    steps = [(path, value)]
    done: list[tuple[str, Any]] = []
    while steps:
        where, step = steps.pop()
        if kind_of(step, where) != "Sequence":
            done.append((where, step))
            continue
        inner = fields(step, where, ("type", name))[name]
        if not isinstance(inner, list):
            refuse(f"{where}.{name}", inner, "a list should be here")
        steps += reversed([(f"{where}.{name}[{i}]", one) for i, one in enumerate(inner)])
    return done


def kinds_in(value: object, path: str, name: str) -> list[str]:
    """The types of the same steps."""
    return [kind_of(step, where) for where, step in flattened(value, path, name)]


def flag(values: dict[str, Any], path: str, name: str, default: bool) -> bool:
    value = values.get(name, default)
    if not isinstance(value, bool):
        refuse(f"{path}.{name}", value, "true or false should be here")
    return value


def as_list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        refuse(path, value, "a list should be here")
    return value


def is_id(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_ID


def text_of(value: object, path: str, most: int) -> str:
    """A text of no more than so many characters, which UTF-8 can hold."""
    if not isinstance(value, str):
        refuse(path, value, "a text should be here")
    if len(value) > most or any("\ud800" <= character <= "\udfff" for character in value):
        refuse(path, value, f"a text of at most {most:,} characters, without lone surrogates, should be here")
    return value
