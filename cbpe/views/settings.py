"""What differs between the settings of two tokenizers, for people: one setting after the other, by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cbpe.views.inspected import (
    ADDED_TOKENS,
    listed_texts,
    normalized_by,
    over_characters,
    over_words,
    shown_template,
    splitting,
)

__all__ = ["differing"]

OF_MODELS = {"characters": over_characters, "words": over_words}
ABSENT = object()  # in place of a setting that only the other has
WORDS = {None: "none", ABSENT: "not set", True: "yes", False: "no"}
# Settings that `inspect` has words for.
STEPS: dict[str, Callable[[Any], str]] = {
    "template": shown_template,
    "normalizer": normalized_by,
    "splits": lambda steps: ", then ".join(map(splitting, steps)),
    **dict.fromkeys(ADDED_TOKENS, listed_texts),
}


def differing(settings: Mapping[str, tuple[object, object]]) -> Iterator[tuple[str, str, str]]:
    """The name of each setting that differs, and both values; of one that is made of parts, the parts that do.

    >>> [*differing({"processing": ({"words": {"fuse_unk": True}}, {"words": {"fuse_unk": False}})})]
    [('words: fuse unk', 'yes', 'no')]
    """
    for name, (a, b) in settings.items():
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            yield from differing_parts("", a, b)
        else:
            yield name.replace("_", " "), in_words(a), in_words(b)


def differing_parts(prefix: str, a: Mapping[str, object], b: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    models = [] if prefix else differing_models(a, b)
    for key in dict.fromkeys([*a, *b]):
        one, other = a.get(key, ABSENT), b.get(key, ABSENT)
        if one == other:
            continue
        if models and key in OF_MODELS:
            if key == next(each for each in OF_MODELS if each in a or each in b):  # once for all
                yield from models
            yield from unsaid(key, one, other)
            continue
        name = prefix + key.replace("_", " ")
        if not prefix and key in STEPS:
            told = [STEPS[key](value) if value is not ABSENT else WORDS[ABSENT] for value in (one, other)]
            if told[0] != told[1]:
                yield ADDED_TOKENS.get(key, name), told[0], told[1]
                continue
        if all(isinstance(value, Mapping) or value is ABSENT for value in (one, other)) and (one or other):
            parts = [value if isinstance(value, Mapping) else {} for value in (one, other)]
            yield from differing_parts(f"{name}: ", *parts)
        else:
            yield name, in_words(one), in_words(other)


def differing_models(a: Mapping[str, object], b: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """What differs in what models over characters and words do, as `inspect` says it; nothing where that says nothing
    of it."""
    try:
        told = [model_in_words(each) for each in (a, b)]
    except (KeyError, TypeError):  # of settings that no file has
        return []
    names = dict.fromkeys([*told[0], *told[1]])
    found = ((name, *(each.get(name, WORDS[ABSENT]) for each in told)) for name in names)
    return [(name, one, other) for name, one, other in found if one != other]


def unsaid(key: str, one: object, other: object) -> Iterator[tuple[str, str, str]]:
    """The parts that differ between two models of a kind, and that its words say nothing of, by their names."""
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return
    said = model_in_words({key: one})
    for part in dict.fromkeys([*one, *other]):
        changed = {**one, part: other.get(part)}
        if one.get(part, ABSENT) != other.get(part, ABSENT) and model_in_words({key: changed}) == said:
            yield from differing_parts(f"{key}: ", {part: one.get(part, ABSENT)}, {part: other.get(part, ABSENT)})


def model_in_words(processing: Mapping[str, Any]) -> dict[str, str]:
    told = [pair for key, words in OF_MODELS.items() if key in processing for pair in words(processing[key])]
    found = {name or "decoding": said for name, said in told or [("merges join", "bytes")]}
    if "spaces" in found:  # of which one part alone may differ
        found["spaces"], _, found["spaces, decoded"] = found["spaces"].partition("; ")
    return found


def in_words(value: object) -> str:
    if value is None or value is ABSENT or isinstance(value, bool):
        return WORDS[value]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
