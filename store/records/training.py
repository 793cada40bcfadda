"""Training records as JSON: an object with the fields of cbpe.TrainingRecord."""

from __future__ import annotations

import dataclasses
import json
import math
from array import array
from typing import Any

from cbpe.training.record import TrainingRecord

__all__ = ["ARRAYS", "record_from_fields", "record_from_json", "record_to_fields", "record_to_json"]

ARRAYS = ("counts", "tokens")
FIELDS = {field.name: field.type for field in dataclasses.fields(TrainingRecord)}
# Of fields that records over characters have. Where they say this, they are not written: so other records stay as they
# are, and those of an earlier cbpe lack them.
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


def record_to_json(record: TrainingRecord) -> str:
    """The record as text. Raises ValueError for a number that JSON does not have."""
    fields = record_to_fields(record)
    for name, value in fields.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"the {name} of a training record is {value}, which no database keeps as JSON")
    for name in ARRAYS:
        fields[name] = fields[name].tolist()
    return json.dumps(fields, separators=(",", ":"), sort_keys=True)


def record_to_fields(record: TrainingRecord) -> dict[str, Any]:
    """The fields of a record; those in ARRAYS are array("q"), the others as JSON can hold them."""
    fields = {name: getattr(record, name) for name in FIELDS}
    return {name: value for name, value in fields.items() if name not in DEFAULTS or value != DEFAULTS[name]}


def record_from_json(text: str) -> TrainingRecord:
    """The record in a text. Raises ValueError for a text that holds none."""
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
    return TrainingRecord(**{name: fields[name] for name in FIELDS})
