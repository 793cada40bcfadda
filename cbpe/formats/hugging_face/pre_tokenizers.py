"""The pre-tokenizer of a tokenizer.json: how text is split into pieces."""

from __future__ import annotations

from typing import Any

from cbpe._core.analysis.coverage import covers_all_text
from cbpe.formats.hugging_face.oniguruma import from_oniguruma
from cbpe.formats.hugging_face.values import fields, flag, flattened, kind_of, refuse
from cbpe.text.patterns import GPT2_SPLIT_PATTERN

__all__ = ["read_byte_level", "read_pre_tokenizer"]


def read_pre_tokenizer(value: object) -> tuple[str | None, bool]:
    """The split pattern, and whether a space is put before a text."""
    steps = flattened(value, "pre_tokenizer", "pretokenizers")
    if not steps or kind_of(steps[-1][1], steps[-1][0]) != "ByteLevel":
        refuse("pre_tokenizer", value, "only byte-level BPE is supported, where ByteLevel comes last")
    path, last = steps.pop()
    prefix_space, use_regex = read_byte_level(last, path)
    if not steps:
        return GPT2_SPLIT_PATTERN if use_regex else None, prefix_space
    for where, step in steps:
        if kind_of(step, where) != "Split" or len(steps) > 1:
            refuse(where, step, "before ByteLevel, only a single Split is supported")
    if use_regex or prefix_space:
        name = "use_regex" if use_regex else "add_prefix_space"
        refuse(f"{path}.{name}", True, "after a Split, only false is supported")
    return read_split(steps[0][1], steps[0][0]), False


def read_byte_level(value: Any, path: str) -> tuple[bool, bool]:
    """Whether a space is put before a text, and whether it is split by GPT-2's pattern. (Offsets are not looked at.)"""
    fields(value, path, ("type",), ("add_prefix_space", "trim_offsets", "use_regex"))
    flag(value, path, "trim_offsets", True)
    return flag(value, path, "add_prefix_space", True), flag(value, path, "use_regex", True)


def read_split(value: Any, path: str) -> str:
    """The pattern of a Split whose pieces are its matches."""
    fields(value, path, ("type", "pattern", "behavior"), ("invert",))
    how = (value["behavior"], flag(value, path, "invert", False))
    expression = fields(value["pattern"], f"{path}.pattern", (), ("Regex", "String"))
    regex = expression.get("Regex")
    if len(expression) != 1 or not isinstance(regex, str):
        refuse(f"{path}.pattern", expression, "only a Regex is supported")
    try:
        pattern = from_oniguruma(regex)
    except ValueError as error:
        raise ValueError(f"{path}.pattern.Regex is {regex[:80]!r}: {error}") from None
    if how != ("Removed", True) and (how[0] != "Isolated" or not covers_all_text(pattern)):
        why = "only Removed with invert, and Isolated with a pattern that leaves no text between its matches"
        refuse(path, {**value, "pattern": "..."}, f"{why}, are supported")
    return pattern
