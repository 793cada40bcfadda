"""What a change of a model store was, in a few plain words: its action aside, what the audit log has of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from cbpe.common.wording import listed, number_of, number_text

__all__ = ["change_in_words"]

SHOWN = 3  # of several tags, aliases and metrics


def change_in_words(details: Mapping[str, object], most: int = SHOWN) -> str:
    """The details of a change. most: how many tags, aliases and metrics are told.

    >>> change_in_words({"alias": "prod", "from": 1}), change_in_words({"to": "bard"})
    ('prod, before at 1', 'to bard')
    """
    told = [TOLD[key](details[key], most) for key in TOLD if key in details]
    told += [f"{key} {text(details[key])}" for key in details if key not in TOLD and key not in UNTOLD]
    return ", ".join(each for each in told if each)


def text(value: object) -> str:
    if isinstance(value, float):
        return number_text(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def several(one: str, more: str, items: Iterable[str], most: int) -> str:
    """ "tag", "tags", ["a", "b"] -> "tags a, b" """
    found = list(items)
    return f"{one if len(found) == 1 else more} {listed(found, most)}" if found else ""


def label(key: str, value: object) -> str:
    """A tag or a metric: "final", "" -> "final"; "loss", 3.5 -> "loss=3.5"; "loss", None -> "loss removed" """
    if value is None:
        return f"{key} removed"
    return key if value == "" else f"{key}={text(value)}"


def labels(value: object, most: int) -> list[str]:
    """Tags or metrics with their values, or without."""
    if isinstance(value, Mapping):
        first = [label(str(key), each) for key, each in islice(value.items(), most)]
        return first + [""] * (len(value) - len(first))
    return [text(each) for each in value] if isinstance(value, list) else [text(value)]


def notes(value: object) -> str:
    size = value.get("bytes") if isinstance(value, Mapping) else None
    if value is None:
        return "notes removed"
    return f"notes of {number_of(size, 'byte')}" if isinstance(size, int) else "notes"


# What the log keeps, in the order in which it is told.
TOLD: dict[str, Callable[[object, int], str]] = {
    "created": lambda value, _: "" if value else "was there already",
    "to": lambda value, _: f"to {text(value)}",
    "alias": lambda value, _: text(value),
    "from": lambda value, _: "" if value is None else f"before at {text(value)}",
    "parent": lambda value, _: "parent removed" if value is None else f"parent {text(value)}",
    "source": lambda value, _: f"from {text(value)}",
    "aliases": lambda value, most: several("alias", "aliases", labels(value, most), most),
    "tags": lambda value, most: several("tag", "tags", labels(value, most), most),
    "metrics": lambda value, most: several("metric", "metrics", labels(value, most), most),
    "notes": lambda value, _: notes(value),
    "training": lambda value, _: "record removed" if value is None else f"record of {text(value)}",
    "vocabularies": lambda value, _: f"{text(value)} vocabular{'y' if value == 1 else 'ies'} removed",
    "vocabulary": lambda value, _: f"vocabulary {text(value)}",
}
UNTOLD = ("digest", "saved_at")  # which `show` and --json have
