"""The normalizer of a tokenizer.json: what is done to the text before it is split."""

from __future__ import annotations

from cbpe.formats.hugging_face.values import as_list, fields, flag, flattened, kind_of, refuse, text_of
from cbpe.text.normalizing import CHARSMAP, FORMS, Normalizer, charsmap_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "MAX_TEXT",
    "checked_normalizer",
    "expression",
    "normalizer_of",
    "read_normalizer",
    "written_normalizer",
]

MAX_STEPS = 100
MAX_TEXT = 1000  # characters that a step puts into the text, or looks for
PLAIN = (*FORMS, "Lowercase", "StripAccents")  # steps that have nothing but a type
BERT_FLAGS = ("clean_text", "handle_chinese_chars", "lowercase")
NOT_SUPPORTED = f"of the normalizers, only {', '.join(PLAIN)}, BertNormalizer, Strip, Prepend and Replace are supported"
REPEATABLE = (*PLAIN, "Strip")  # steps that change nothing when they are done again at once


def read_normalizer(value: object) -> str | list[dict[str, Any]] | None:
    """The steps in the form in which processing has them: "NFC", or a list; None for none."""
    steps = flattened(value, "normalizer", "normalizers")
    for path, step in steps:
        if kind_of(step, path) == CHARSMAP:
            refuse(path, step, NOT_SUPPORTED)
    return canonical([checked_step(step, path) for path, step in steps])


def checked_normalizer(value: object) -> str | list[dict[str, Any]] | None:
    """The same for what processing has. ValueError for what is no normalizer."""
    if value == "NFC":
        return "NFC"
    steps = as_list(value, "normalizer")
    return canonical([checked_step(step, f"normalizer[{i}]") for i, step in enumerate(steps)])


def canonical(steps: list[dict[str, Any]]) -> str | list[dict[str, Any]] | None:
    """Steps that do the same, in one form."""
    if len(steps) > MAX_STEPS:
        raise ValueError(f"the normalizer has {len(steps):,} steps: at most {MAX_STEPS} are supported")
    needed: list[dict[str, Any]] = []
    for step in steps:
        is_repeated = needed and needed[-1] == step and step["type"] in REPEATABLE
        if not is_repeated and not does_nothing(step):
            needed.append(step)
    if needed == [{"type": "NFC"}]:
        return "NFC"
    return needed or None


def does_nothing(step: dict[str, Any]) -> bool:
    if step["type"] == "Replace":
        return bool(step["pattern"] == {"String": step["content"]})
    if step["type"] == "Strip":
        return not (step["strip_left"] or step["strip_right"])
    return bool(step.get("prepend") == "")


def checked_step(step: Any, path: str) -> dict[str, Any]:
    """One step with all that it needs. ValueError for one that cannot be done exactly."""
    kind = kind_of(step, path)
    if kind in PLAIN:
        fields(step, path, ("type",))
    elif kind == "BertNormalizer":
        fields(step, path, ("type",), (*BERT_FLAGS, "strip_accents"))
        strips = step.get("strip_accents")
        if strips is not None and not isinstance(strips, bool):
            refuse(f"{path}.strip_accents", strips, "true, false or null should be here")
        return {"type": kind, "strip_accents": strips, **{name: flag(step, path, name, True) for name in BERT_FLAGS}}
    elif kind == "Strip":
        fields(step, path, ("type", "strip_left", "strip_right"))
        flag(step, path, "strip_left", True)
        flag(step, path, "strip_right", True)
    elif kind == "Prepend":
        fields(step, path, ("type", "prepend"))
        text_of(step["prepend"], f"{path}.prepend", MAX_TEXT)
    elif kind == "Replace":
        fields(step, path, ("type", "pattern", "content"))
        expression(step["pattern"], f"{path}.pattern")
        text_of(step["content"], f"{path}.content", MAX_TEXT)
    elif kind == CHARSMAP:
        return checked_charsmap(step, path)
    else:
        refuse(path, step, NOT_SUPPORTED)
    return dict(step)


def checked_charsmap(step: Any, path: str) -> dict[str, Any]:
    """What the normalizer of a SentencePiece file does, which no tokenizer.json has."""
    fields(step, path, ("type", "charsmap", "whole", "removes_spaces"))
    flag(step, path, "removes_spaces", False)
    whole = as_list(step["whole"], f"{path}.whole")
    if not all(isinstance(text, str) and text for text in whole):
        refuse(f"{path}.whole", whole, "a list of texts should be here")
    charsmap_of(step)  # or it is refused
    return {**step, "whole": sorted(whole)}


def expression(value: Any, path: str) -> str:
    """The split pattern for the String or the Regex that a step looks for."""
    fields(value, path, (), ("Regex", "String"))
    if len(value) != 1:
        refuse(path, value, "a Regex or a String should be here")
    if "String" in value:
        text = text_of(value["String"], f"{path}.String", MAX_TEXT)
        if not text:
            refuse(f"{path}.String", text, "a text that is not empty should be here")
        return "".join(f"\\U{ord(character):08x}" for character in text)
    regex = value["Regex"]
    if not isinstance(regex, str):
        refuse(f"{path}.Regex", regex, "an expression should be here")
    from cbpe.formats.hugging_face.oniguruma import from_oniguruma  # many files have no expression

    try:
        return from_oniguruma(regex)
    except ValueError as error:
        raise ValueError(f"{path}.Regex is {regex[:80]!r}: {error}") from None


def normalizer_of(value: str | list[dict[str, Any]] | None) -> Normalizer:
    """What does the steps that processing has."""
    steps: list[dict[str, Any]] = [{"type": "NFC"}] if value == "NFC" else [*value] if isinstance(value, list) else []
    for i, step in enumerate(steps):
        if step["type"] == "Replace" and "Regex" in step["pattern"]:
            steps[i] = {**step, "pattern": {"Regex": expression(step["pattern"], f"normalizer[{i}].pattern")}}
    return Normalizer(steps)


def written_normalizer(value: str | list[dict[str, Any]] | None) -> dict[str, Any] | None:
    """The normalizer of a file, for what processing has."""
    if value is None:
        return None
    steps = [{"type": "NFC"}] if isinstance(value, str) else value
    if any(step["type"] == CHARSMAP for step in steps):
        raise ValueError(
            "Hugging Face's format has no normalizer that replaces as SentencePiece's does. Save it as .model"
        )
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "normalizers": steps}
