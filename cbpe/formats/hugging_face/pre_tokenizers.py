"""The pre-tokenizer of a tokenizer.json: how text is split into pieces."""

from __future__ import annotations

import re

from cbpe._core.analysis.coverage import covers_all_text
from cbpe._core.analysis.one_pattern import one_pattern
from cbpe._core.splitting.split import PatternNotSupported, Splitter
from cbpe.common.wording import shown
from cbpe.formats.gpt2 import PATTERNS
from cbpe.formats.hugging_face.normalizers import expression
from cbpe.formats.hugging_face.values import as_list, fields, flag, flattened, kind_of, refuse
from cbpe.text.chains import BEHAVIORS, Step
from cbpe.text.patterns import GPT2_SPLIT_PATTERN
from cbpe.text.unicode_versions import NUMERIC, PUNCTUATION, WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Steps = list[tuple[str, Any]]

__all__ = [
    "byte_level",
    "checked_splits",
    "one_pattern_for",
    "read_byte_level",
    "read_plain_pre_tokenizer",
    "read_pre_tokenizer",
    "refuse_joined_digits",
    "steps_of",
    "takes_digits_apart",
    "written_plain_pre_tokenizer",
    "written_pre_tokenizer",
]

# CLIP's files have a Split with this pattern, which begins with special tokens, and then GPT-2's pattern. That takes
# nothing apart but these texts, whose middle is letters.
CLIP_PATTERN = re.compile(
    r"((?:<\\\|\w+\\\|>\|)*)" + re.escape(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
)
CLIP_WORDS = r"'(?:[sdmt]|ll|ve|re)|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"
DIGITS = re.compile(r"(?:\[0-9\])+")
MAX_STEPS = 50
KNOWN = "Split, Digits, Punctuation, Whitespace, WhitespaceSplit and BertPreTokenizer"


def read_pre_tokenizer(value: object) -> tuple[str | None, dict[str, Any]]:
    """The split pattern, and what processing has besides: whether a space is put before each piece ("prefix_space"),
    and the steps that split before the pattern does ("splits")."""
    steps, (path, last), behind = around_byte_level(value)
    prefix_space, use_regex = read_byte_level(last, path)
    pattern = GPT2_SPLIT_PATTERN if use_regex else None
    splits = [checked_split(step, where) for where, step in steps]
    parts = [checked_split(step, where) for where, step in behind if is_of_digits(step, where, prefix_space)]
    if parts:
        splits += [*([written_split(pattern)] if pattern is not None else []), *parts]
        pattern = None
    processing: dict[str, Any] = {"prefix_space": True} if prefix_space else {}
    if len(splits) > MAX_STEPS:
        raise ValueError(f"the pre-tokenizer has {len(splits):,} steps: at most {MAX_STEPS} are supported")
    found = None if prefix_space or not splits else composed(steps_of(splits), pattern)
    if found is not None:
        return found, processing
    if splits:
        processing["splits"] = splits
    return pattern, processing


def around_byte_level(value: object) -> tuple[Steps, tuple[str, Any], Steps]:
    """The steps before ByteLevel, that one, and those behind it. ValueError without it."""
    steps = flattened(value, "pre_tokenizer", "pretokenizers")
    at = next((i for i, (where, step) in enumerate(steps) if kind_of(step, where) == "ByteLevel"), None)
    if at is None:
        refuse("pre_tokenizer", value, "only byte-level BPE is supported, with ByteLevel behind other steps")
    return steps[:at], steps[at], steps[at + 1 :]


def is_of_digits(step: Any, path: str, prefix_space: bool) -> bool:
    """Whether a step behind ByteLevel splits at digits of ASCII, which are the same before it. ValueError for one that
    does something else there, where each character is a byte; but for Digits, of which takes_digits_apart tells.

    Falcon's files have both kinds.
    """
    kind = kind_of(step, path)
    checked = checked_split(step, path) if kind in ("Split", "Digits") else {}
    is_split = kind == "Split" and (checked["behavior"], checked["invert"]) == ("Isolated", False)
    splits_digits = is_split and DIGITS.fullmatch(checked["pattern"].get("Regex", "")) is not None
    keeps_digits = kind == "Digits" and not checked["individual_digits"]
    if prefix_space or not (splits_digits or keeps_digits):
        refuse(path, step, "behind ByteLevel, only Digits that stay together and a Split of [0-9] are supported")
    return splits_digits


def takes_digits_apart(value: object) -> bool:
    """Whether digits and other bytes are taken apart behind ByteLevel, where characters stand for bytes, and some that
    are no digits in a text are shown as such: 0xB2, which ends a letter of Cyrillic, as a superscript two. That changes
    nothing if no merge joins the two."""
    return any(kind_of(step, where) == "Digits" for where, step in around_byte_level(value)[2])


def refuse_joined_digits(merges: Iterable[tuple[str, str]]) -> None:
    """ValueError for a merge of characters that stand for bytes, some of them digits and others not."""
    for number, (left, right) in enumerate(merges):
        if len(set(map(str.isnumeric, left + right))) > 1:
            reason = "joins digits and other bytes, which the Digits behind ByteLevel take apart"
            raise ValueError(f"model.merges[{number}] is {shown(f'{left} {right}')}: it {reason}")


def read_plain_pre_tokenizer(value: object) -> tuple[str | None, dict[str, Any]]:
    """The same for a pre-tokenizer without ByteLevel."""
    splits = [checked_split(step, where) for where, step in flattened(value, "pre_tokenizer", "pretokenizers")]
    if len(splits) > MAX_STEPS:
        raise ValueError(f"the pre-tokenizer has {len(splits):,} steps: at most {MAX_STEPS} are supported")
    found = composed(steps_of(splits), None) if splits else None
    return (found, {}) if found is not None or not splits else (None, {"splits": splits})


def composed(steps: list[Step], pattern: str | None) -> str | None:
    """One pattern that splits as these steps and this pattern do, if one is found."""
    if len(steps) == 1 and pattern is None and is_one_pattern(steps[0]):
        return str(steps[0].pattern)
    if any(step.behavior not in ("Isolated", "Contiguous") for step in steps):
        return None
    try:
        found = one_pattern([(step.pattern, step.behavior == "Contiguous") for step in steps], pattern)
        Splitter(found)
    except PatternNotSupported:  # each is, but not all at once
        return None
    return found


def one_pattern_for(steps: list[Step], pattern: str | None) -> tuple[str, tuple[str, ...]] | None:
    """A pattern that splits as CLIP's step and GPT-2's pattern after it do, but for texts that hold one of some others;
    None for other steps."""
    if len(steps) != 1 or pattern != GPT2_SPLIT_PATTERN or steps[0][1:] != ("Removed", True):
        return None
    found = CLIP_PATTERN.fullmatch(steps[0].pattern)
    if found is None:
        return None
    return CLIP_WORDS, tuple(f"<|{name}|>" for name in re.findall(r"\w+", found[1]))


def is_one_pattern(step: Step) -> bool:
    """Whether the pieces of a step are the matches of its pattern."""
    if step.behavior == "Isolated":
        return covers_all_text(step.pattern)
    return bool(step.behavior == "Removed" and step.invert)


def read_byte_level(value: Any, path: str) -> tuple[bool, bool]:
    """Whether a space is put before a text, and whether it is split by GPT-2's pattern."""
    fields(value, path, ("type",), ("add_prefix_space", "trim_offsets", "use_regex"))
    flag(value, path, "trim_offsets", True)
    return flag(value, path, "add_prefix_space", True), flag(value, path, "use_regex", True)


def checked_split(step: Any, path: str) -> dict[str, Any]:
    """One step with all that it needs. ValueError for one that cannot be done exactly."""
    kind = kind_of(step, path)
    checked: dict[str, Any] = {"type": kind}
    if kind == "Split":
        fields(step, path, ("type", "pattern", "behavior"), ("invert",))
        checked |= {"pattern": step["pattern"], "behavior": step["behavior"]}
        checked["invert"] = flag(step, path, "invert", False)
    elif kind == "Digits":
        fields(step, path, ("type",), ("individual_digits",))
        checked["individual_digits"] = flag(step, path, "individual_digits", False)
    elif kind == "Punctuation":
        fields(step, path, ("type",), ("behavior",))
        checked["behavior"] = step.get("behavior", "Isolated")
    elif kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer"):
        fields(step, path, ("type",))
    else:
        refuse(path, step, f"before ByteLevel, only {KNOWN} are supported")
    if checked.get("behavior", "Isolated") not in BEHAVIORS:
        refuse(f"{path}.behavior", checked["behavior"], f"one of {', '.join(BEHAVIORS)} should be here")
    step_of(checked, path)  # or it is refused
    return checked


def checked_splits(value: object) -> list[dict[str, Any]]:
    """The steps that processing has. ValueError for what are none."""
    steps = as_list(value, "splits")
    if len(steps) > MAX_STEPS:
        raise ValueError(f"splits has {len(steps):,} steps: at most {MAX_STEPS} are supported")
    return [checked_split(step, f"splits[{i}]") for i, step in enumerate(steps)]


def steps_of(splits: list[dict[str, Any]]) -> list[Step]:
    """How the steps that processing has split."""
    return [step_of(step, f"splits[{i}]") for i, step in enumerate(splits)]


def step_of(step: dict[str, Any], path: str) -> Step:
    kind = step["type"]
    if kind == "Split":
        return Step(expression(step["pattern"], f"{path}.pattern"), step["behavior"], step["invert"])
    if kind == "Digits":
        return Step(f"[{NUMERIC}]", "Isolated" if step["individual_digits"] else "Contiguous")
    if kind == "Punctuation":
        return Step(f"[{PUNCTUATION}]", step["behavior"])
    if kind == "Whitespace":
        return Step(rf"[{WORD}]+|[^{WORD}\s]+", "Removed", invert=True)
    if kind == "BertPreTokenizer":
        return Step(rf"[{PUNCTUATION}]|[^{PUNCTUATION}\s]+", "Removed", invert=True)
    return Step(r"\S+", "Removed", invert=True)


# ---- Writing


def byte_level(*, use_regex: bool = True, prefix_space: bool = False, trims: bool = True) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": trims, "use_regex": use_regex}


def written_split(pattern: str) -> dict[str, Any]:
    """The step that splits by a pattern."""
    from cbpe.formats.hugging_face.oniguruma import to_oniguruma  # reading takes none of it

    written = to_oniguruma(pattern)  # or it is refused
    covers = covers_all_text(pattern)
    behavior = "Isolated" if covers else "Removed"
    return {"type": "Split", "pattern": {"Regex": written}, "behavior": behavior, "invert": not covers}


def written_plain_pre_tokenizer(pattern: str | None, splits: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    """The pre-tokenizer of a file without ByteLevel."""
    steps = [*(splits or []), *([] if pattern is None else [written_split(pattern)])]
    return {"type": "Sequence", "pretokenizers": steps} if steps else None


def written_pre_tokenizer(
    pattern: str | None, prefix_space: bool, splits: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """The pre-tokenizer of a file. ValueError where the pattern may mean something else there."""
    steps = list(splits or [])
    is_known = pattern is None or pattern in PATTERNS
    if pattern is not None and not is_known:
        if prefix_space:
            raise ValueError(
                "Hugging Face's format puts a space before a text only where GPT-2's pattern splits it, or none does"
            )
        steps.append(written_split(pattern))
    last = byte_level(use_regex=pattern is not None and is_known, prefix_space=prefix_space)
    return {"type": "Sequence", "pretokenizers": [*steps, last]} if steps else last
