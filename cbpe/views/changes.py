"""What a change of a model store was, in a few plain words: its action aside, what the audit log has of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from cbpe.common.wording import listed

__all__ = ["change_in_words"]

SHOWN = 3  # of several tags, aliases and metrics


def change_in_words(details: Mapping[str, object]) -> str:
    """The details of a change.

    >>> change_in_words({"alias": "prod", "from": 1}), change_in_words({"to": "bard"})
    ('prod, before at 1', 'to bard')
    """
    told = [TOLD[key](details[key]) for key in TOLD if key in details]
    told += [f"{key} {text(details[key])}" for key in details if key not in TOLD and key not in UNTOLD]
    return ", ".join(each for each in told if each)


def text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def several(one: str, more: str, items: Iterable[str]) -> str:
    """ "tag", "tags", ["a", "b"] -> "tags a, b" """
    found = list(items)
    return f"{one if len(found) == 1 else more} {listed(found, SHOWN)}" if found else ""


def label(key: str, value: object) -> str:
    """A tag or a metric: "final", "" -> "final"; "loss", 3.5 -> "loss=3.5"; "loss", None -> "loss removed" """
    if value is None:
        return f"{key} removed"
    return key if value == "" else f"{key}={text(value)}"


def labels(value: object) -> list[str]:
    """Tags or metrics with their values, or without."""
    if isinstance(value, Mapping):
        first = [label(str(key), each) for key, each in islice(value.items(), SHOWN)]
        return first + [""] * (len(value) - len(first))
    return [text(each) for each in value] if isinstance(value, list) else [text(value)]


def notes(value: object) -> str:
    size = value.get("bytes") if isinstance(value, Mapping) else None
    return "notes removed" if value is None else f"notes of {size} bytes" if isinstance(size, int) else "notes"


# What the log keeps, in the order in which it is told.
TOLD: dict[str, Callable[[object], str]] = {
    "created": lambda value: "" if value else "was there already",
    "to": lambda value: f"to {text(value)}",
    "alias": text,
    "from": lambda value: "" if value is None else f"before at {text(value)}",
    "source": lambda value: f"from {text(value)}",
    "aliases": lambda value: several("alias", "aliases", labels(value)),
    "tags": lambda value: several("tag", "tags", labels(value)),
    "metrics": lambda value: several("metric", "metrics", labels(value)),
    "notes": notes,
    "parent": lambda value: "parent removed" if value is None else f"parent {text(value)}",
    "training": lambda value: "record removed" if value is None else f"record of {text(value)}",
    "vocabularies": lambda value: f"{text(value)} vocabular{'y' if value == 1 else 'ies'} removed",
    "vocabulary": lambda value: f"vocabulary {text(value)}",
}
UNTOLD = ("digest", "saved_at")  # which `show` and --json have
