"""The steps around BPE over characters: what a tokenizer.json says of spaces, in its normalizer, its pre-tokenizer and
its decoder.

SentencePiece's models show a space as the mark "▁". A file says so in one of two ways: by the normalizers Prepend and
Replace, or by the pre-tokenizer Metaspace.
"""

from __future__ import annotations

from cbpe.formats.hugging_face.values import fields, flag, flattened, kind_of, refuse
from cbpe.text.spaces import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Steps = list[tuple[str, Any]]

__all__ = [
    "read_characters_decoder",
    "read_characters_normalizer",
    "read_characters_pre_tokenizer",
    "refuse_lost_beginnings",
]


def read_characters_normalizer(value: object) -> tuple[Steps, str | None]:
    """The steps that come before the marks, and where a space is put before: "each" stretch, "never", or None where
    spaces stay what they are."""
    steps = flattened(value, "normalizer", "normalizers")
    spaces: str | None = None
    prepends = False
    while steps and kind_of(steps[-1][1], steps[-1][0]) in ("Prepend", "Replace"):
        path, step = steps[-1]
        if step["type"] == "Prepend" and not prepends:
            if fields(step, path, ("type", "prepend"))["prepend"] != MARK:
                break
            prepends = True
        elif spaces is None and is_replace(step, path, " ", MARK):
            spaces = "never"
        else:
            break
        steps.pop()
    if prepends and spaces is None:
        refuse("normalizer", value, f"it puts {MARK!r} before a text, but leaves the spaces in it")
    return steps, "each" if prepends else spaces


def is_replace(step: Any, path: str, what: str, content: str) -> bool:
    fields(step, path, ("type", "pattern", "content"))
    return bool(step["pattern"] == {"String": what} and step["content"] == content)


def read_characters_pre_tokenizer(value: object, spaces: str | None) -> tuple[str | None, bool]:
    """Where a space is put before, given what the normalizer says, and whether each mark begins a piece."""
    steps = flattened(value, "pre_tokenizer", "pretokenizers")
    split = False
    for path, step in steps:
        kind = kind_of(step, path)
        if kind == "Metaspace" and spaces is None:
            spaces, split = read_metaspace(step, path)
        elif not (kind == "Split" and spaces is not None and splits_at_spaces(step, path)):
            refuse(path, step, "over characters, only Metaspace is supported, and a Split that finds nothing")
    return spaces, split


def refuse_lost_beginnings(spaces: str | None, steps: Iterable[tuple[str, Any]]) -> None:
    """ValueError where a space is put before the first stretch alone, and a normalizer may remove what a text begins
    with. `tokenizers` then takes no stretch for the first, as none begins where the text does."""
    for path, step in steps:
        if spaces == "first" and may_lose_beginning(step):
            refuse(path, step, "with the prepend_scheme first, no step may remove what a text begins with")


def may_lose_beginning(step: Any) -> bool:
    kind = step["type"]
    if kind == "Strip":
        return bool(step.get("strip_left", True))
    if kind == "BertNormalizer":
        return bool(step.get("clean_text", True) or step.get("strip_accents") is not False)
    if kind == "Replace":
        # Of several characters, the last is the one that is replaced.
        pattern = step.get("pattern")
        what = pattern.get("String") if isinstance(pattern, dict) else None
        return not (isinstance(what, str) and len(what) == 1 and step.get("content"))
    return bool(kind == "StripAccents")


def read_metaspace(step: Any, path: str) -> tuple[str, bool]:
    fields(step, path, ("type", "replacement"), ("prepend_scheme", "add_prefix_space", "str_rep", "split"))
    if step["replacement"] != MARK:
        refuse(f"{path}.replacement", step["replacement"], f"only {MARK!r} is supported")
    adds = flag(step, path, "add_prefix_space", True)
    scheme = step.get("prepend_scheme", "always" if adds else "never")
    if scheme not in ("always", "first", "never") or (not adds and scheme != "never"):
        refuse(f"{path}.prepend_scheme", scheme, "always, first or never should be here, as add_prefix_space says")
    return scheme, flag(step, path, "split", True)


def splits_at_spaces(step: Any, path: str) -> bool:
    """Whether a Split is at spaces, of which there is none behind a normalizer that makes marks of them."""
    fields(step, path, ("type", "pattern", "behavior"), ("invert",))
    return step["pattern"] == {"String": " "} and not flag(step, path, "invert", False)


def read_characters_decoder(value: object, byte_fallback: bool, may_fall_back: bool = True) -> str | None:
    """What decode drops of the spaces at the beginning. may_fall_back: whether there are tokens of bytes; without them
    ByteFallback does nothing."""
    steps = flattened(value, "decoder", "decoders")
    kinds = [kind_of(step, path) for path, step in steps]
    if kinds[:3] == ["Replace", "ByteFallback", "Fuse"] and not may_fall_back:
        byte_fallback = True
    if kinds == ["Metaspace"] and not byte_fallback:
        scheme, _ = read_metaspace(steps[0][1], steps[0][0])
        return None if scheme == "never" else "spaces"
    known = ["Replace", *(["ByteFallback"] if byte_fallback else []), "Fuse"]
    strips = kinds == [*known, "Strip"]
    if not (kinds == known or strips) or not is_replace(steps[0][1], steps[0][0], MARK, " "):
        refuse("decoder", value, f"only a Sequence of {', '.join(known)}, and perhaps Strip, is supported here")
    for path, step in steps[1 : len(known)]:
        fields(step, path, ("type",))
    if strips:
        path, step = steps[-1]
        fields(step, path, ("type", "content", "start", "stop"))
        if (step["content"], step["start"], step["stop"]) != (" ", 1, 0):
            refuse(path, step, "only one space at the start is supported")
    return "one" if strips else None
