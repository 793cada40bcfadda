"""Training records as JSON: an object with the fields of cbpe.TrainingRecord. In a store, it begins with a `seal`: the
SHA-256 of the id of the version's row, a newline, and the object without the seal. So a record that was changed, and
that of another version, are not taken for what was saved. Records of earlier stores have none."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from array import array
from typing import Any

from cbpe.training.record import TrainingRecord

__all__ = ["ARRAYS", "record_from_fields", "record_from_json", "record_to_fields", "record_to_json"]

ARRAYS = ("counts", "tokens")
SEALED = '{"seal":"'  # what a sealed record begins with
DIGITS = 64  # of a seal
FIELDS = {field.name: field.type for field in dataclasses.fields(TrainingRecord)}
# Of fields that an earlier cbpe did not have. Where they say this, they are not written, so that the records of most
# trainings stay as they were.
DEFAULTS = {
    field.name: field.default
    for field in dataclasses.fields(TrainingRecord)
    if field.default is not dataclasses.MISSING
}
TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float, int),
    "str | None": (str, type(None)),
    "int | None": (int, type(None)),
    "dict[str, int]": (dict,),
    "dict[str, Any] | None": (dict, type(None)),
    "array[int]": (array,),
}


def record_to_json(record: TrainingRecord, version_id: int) -> str:
    """The record of a version as text. Raises ValueError for a number that JSON does not have."""
    fields = record_to_fields(record)
    for name, value in fields.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"the {name} of a training record is {value}, which no database keeps as JSON")
    for name in ARRAYS:
        fields[name] = fields[name].tolist()
    text = json.dumps(fields, separators=(",", ":"), sort_keys=True)
    return f'{SEALED}{seal_of(text, version_id)}",{text[1:]}'


def seal_of(text: str, version_id: int) -> str:
    return hashlib.sha256(f"{version_id}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def unsealed(text: str, version_id: int) -> str:
    """The text without its seal. Raises ValueError if it is not what was sealed for this version."""
    if not isinstance(text, str) or not text.startswith(SEALED):
        return text
    start = len(SEALED)
    seal, rest = text[start : start + DIGITS], "{" + text[start + DIGITS + len('",') :]
    if seal != seal_of(rest, version_id):
        raise ValueError("it does not have its seal: it was changed, or is another version's")
    return rest


def record_to_fields(record: TrainingRecord) -> dict[str, Any]:
    """The fields of a record; those in ARRAYS are array("q"), the others as JSON can hold them."""
    fields = {name: getattr(record, name) for name in FIELDS}
    count_special_tokens(fields, 1)
    return {name: value for name, value in fields.items() if name not in DEFAULTS or value != DEFAULTS[name]}


def count_special_tokens(fields: dict[str, Any], times: int) -> None:
    """Over characters, stores have always counted special tokens as well, in two of the fields: add them, or with -1
    take them away again."""
    if fields["characters"] is not None:
        for name in ("vocab_size", "start_tokens"):
            fields[name] += times * len(fields["special_tokens"])


def record_from_json(text: str, version_id: int) -> TrainingRecord:
    """The record of a version in a text. Raises ValueError for a text that holds none, or another than was saved."""
    text = unsealed(text, version_id)
    try:
        fields = json.loads(text)
        arrays = {name: array("q", fields[name]) for name in ARRAYS}
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"this is no training record: {error!r:.200}") from error
    return record_from_fields({**fields, **arrays})


def record_from_fields(fields: Any) -> TrainingRecord:
    """The record with these fields. Raises ValueError if they make none. Unknown fields are ignored, so that an older
    cbpe reads the records of a newer one."""
    try:
        fields = {**DEFAULTS, **fields}
        for name, kind in FIELDS.items():
            if not isinstance(fields[name], TYPES[str(kind)]) or isinstance(fields[name], bool):
                raise TypeError(f"{name} is {fields[name]!r:.80}")
        if len(fields["counts"]) != len(fields["tokens"]):
            raise ValueError(f"{len(fields['counts'])} counts and {len(fields['tokens'])} numbers of tokens")
        if not all(isinstance(token_id, int) for token_id in fields["special_tokens"].values()):
            raise TypeError("the id of a special token is no int")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this is no training record: {error!r:.200}") from error
    count_special_tokens(fields, -1)
    return TrainingRecord(**{name: fields[name] for name in FIELDS})
