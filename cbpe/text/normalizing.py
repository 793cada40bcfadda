"""Normalizes text by the steps of a tokenizer.json, as Hugging Face's `tokenizers` does.

Its normalization forms go by Unicode 9.0, its lower case by 17.0. What the versions since have added to Python's own
functions is left aside or put right here, so that the results do not depend on the version of Python.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from base64 import b64decode
from functools import cache, partial

from cbpe._core.splitting.split import Splitter
from cbpe._core.text import changes
from cbpe._core.text.charsmap import Charsmap
from cbpe.text.normalization.bert import bert_steps
from cbpe.text.surrogates import without_surrogates
from cbpe.text.unicode_versions import LATER_LOWERCASE, LATER_THAN_9, MARKS_IN_9_ALONE, WHITE_SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, Literal

    Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

__all__ = ["ABSENT_AFTERWARDS", "CHARSMAP", "FORMS", "Normalizer", "charsmap_of"]

CHARSMAP = "SentencePiece"  # the step that a file of SentencePiece's asks for
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
ASCII = re.compile("[\0-\x7f]")
LAST_UPPERCASE = 0x1E921
HEAD = 4096  # characters
CHUNK = 2048  # characters that are normalized at a time, or a few more
# Characters that were seen to change, and what each becomes alone.
COMMON: dict[Form, dict[str, str]] = {form: {} for form in FORMS}
MAX_COMMON = 48  # as each is looked for in every chunk

# What these leave as it is, they leave as it is in every part of it, too.
PARTWISE = frozenset({*FORMS, "Lowercase", "StripAccents", "BertNormalizer"})
# A character that these change is in no text that they have made.
ABSENT_AFTERWARDS = frozenset({*FORMS, "Lowercase", "StripAccents"})
SINGLE_SPACES = ({"Regex": r"\s+"}, " ")  # of a Replace


class Normalizer:
    """Steps that a text goes through one after another, each as a tokenizer.json has it. The patterns of a Replace are
    cbpe's. The steps are taken to be valid.

    >>> Normalizer([{"type": "NFKC"}, {"type": "Lowercase"}]).normalized("\\ufb01NE")
    'fine'
    """

    def __init__(self, steps: Iterable[Mapping[str, Any]]) -> None:
        self.steps = [(step["type"], step_function(step)) for step in steps]
        replaced = (step for step in steps if step["type"] == "Replace")
        self.is_partwise = all(name in PARTWISE or name == "Replace" for name, _ in self.steps) and all(
            "String" in step["pattern"] or makes_single_spaces(step) for step in replaced
        )

    def normalized(self, text: str) -> str:
        """The text after all steps."""
        for _, function in self.steps:
            text = function(text)
        return text

    def leaves_all_parts(self, text: str) -> bool:
        """Whether it is certain that no step changes the text or any part of it."""
        if len(text) > HEAD and not self.leaves_all_parts(text[:HEAD]):
            return False  # without a look at all of it
        return self.is_partwise and all(
            # To look at a text takes less time than to make it anew.
            is_normalized(name, text) if name in FORMS else function(text) == text
            for name, function in self.steps
        )


def step_function(step: Mapping[str, Any]) -> Callable[[str], str]:
    """What a step makes of a text."""
    name = step["type"]
    if name in FORMS:
        return partial(in_form, name)
    if name == "Lowercase":
        return lowercase
    if name == "StripAccents":
        return partial(without_accents, Accents())
    if name == "Strip":
        return partial(strip, left=step["strip_left"], right=step["strip_right"])
    if name == "Prepend":
        return partial(prepend, step["prepend"])
    if name == "BertNormalizer":
        return partial(in_turn, bert_steps(step, partial(in_form, "NFD"), lowercase))
    if name == "SentencePiece":
        return charsmap_of(step).normalized
    assert name == "Replace", name
    if makes_single_spaces(step):
        return changes.with_single_spaces
    if "String" in step["pattern"]:
        return partial(replace_text, step["pattern"]["String"], step["content"])
    return partial(replace_matches, Splitter(step["pattern"]["Regex"]), step["content"])


# ---- The forms of normalization


@cache
def later_than_9() -> re.Pattern[str]:
    return re.compile(f"([{LATER_THAN_9}]+)")


def is_normalized(form: Form, text: str) -> bool:
    """Whether it is certain that a form by Unicode 9.0 leaves a text as it is: what a later version does not change, an
    earlier one does not."""
    return text.isascii() or unicodedata.is_normalized(form, text)


def in_form(form: Form, text: str) -> str:
    """A text in a form by Unicode 9.0."""
    if is_normalized(form, text):
        return text
    return "".join([chunk_in_form(form, chunk) for chunk in chunks(text)])


def chunks(text: str) -> Iterator[str]:
    """A text in parts, each of which can be normalized alone: a character of ASCII is never joined to one before it."""
    start = 0
    while start < len(text):
        found = ASCII.search(text, start + CHUNK)
        end = found.start() if found is not None else len(text)
        yield text[start:end]
        start = end


def chunk_in_form(form: Form, text: str) -> str:
    """As in_form. Nearly always it is enough to replace single characters, which takes less time than all that a form
    may ask for: what that gives is the form of the text, if it is in that form itself."""
    if is_normalized(form, text):
        return text
    common = COMMON[form]
    for character, alone in list(common.items()):
        if character in text:
            text = text.replace(character, alone)
    if is_normalized(form, text):
        return text
    characters = set(text)
    if not later_characters().isdisjoint(characters):
        parts = later_than_9().split(text)
        # At odd places are characters that 9.0 does not know.
        parts[::2] = [unicodedata.normalize(form, part) for part in parts[::2]]
        return "".join(parts)
    for character in characters:
        alone = unicodedata.normalize(form, character)
        if alone != character and len(common) < MAX_COMMON:
            common[character] = alone
    return unicodedata.normalize(form, text)


@cache
def later_characters() -> frozenset[str]:
    """The characters of later_than_9."""
    ranges = re.findall(r"\\[uU]([0-9a-f]+)(?:-\\[uU]([0-9a-f]+))?", LATER_THAN_9)
    return frozenset(chr(i) for first, last in ranges for i in range(int(first, 16), int(last or first, 16) + 1))


class Accents(dict[int, "int | None"]):
    """A table for str.translate that leaves out the marks of Unicode 9.0. Filled as characters come up."""

    def __missing__(self, code_point: int) -> int | None:
        character = chr(code_point)
        is_mark = unicodedata.category(character)[0] == "M" and later_than_9().match(character) is None
        self[code_point] = None if is_mark or character in MARKS_IN_9_ALONE else code_point
        return self[code_point]


def without_accents(table: Accents, text: str) -> str:
    return text if text.isascii() else text.translate(table)


# ---- Lower case


@cache
def lowercase_table() -> bytes:
    """The lower case of each character by Unicode 17.0, which Python may not know: uint32 for each up to the last that
    has one, 0 where that is several characters."""
    # A sigma may be another one at the end of a word, and U+0130 becomes two characters.
    characters = "".join(map(chr, range(LAST_UPPERCASE + 1))).replace("\u03a3", "\u03c3").replace("\u0130", "\0")
    table = array("I", characters.lower().encode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass"))
    for first, last, step, lower in LATER_LOWERCASE:
        for character in range(first, last + 1, step):
            table[character] = lower + character - first
    return table.tobytes()


def lowercase(text: str) -> str:
    """Every character in lower case by Unicode 17.0, whatever stands beside it: a sigma at the end of a word, too."""
    if text.isascii():
        return text.lower()
    lower = changes.lowercase(text, lowercase_table())
    if lower is not None:
        return lower
    # Only U+0130 becomes two characters.
    return "i\u0307".join([changes.lowercase(part, lowercase_table()) or "" for part in text.split("\u0130")])


# ---- Other steps


def charsmap_of(step: Mapping[str, Any]) -> Charsmap:
    """The map of a SentencePiece file. ValueError for what is none."""
    try:
        data = b64decode(step["charsmap"], validate=True)
    except (TypeError, ValueError):
        raise ValueError("a map of characters is damaged: it is no base64") from None
    return Charsmap(data, step["whole"], step["removes_spaces"])


def strip(text: str, *, left: bool, right: bool) -> str:
    text = text.lstrip(WHITE_SPACE) if left else text
    return text.rstrip(WHITE_SPACE) if right else text


def prepend(before: str, text: str) -> str:
    return before + text if text else text


def in_turn(functions: Iterable[Callable[[str], str]], text: str) -> str:
    for function in functions:
        text = function(text)
    return text


def makes_single_spaces(step: Mapping[str, Any]) -> bool:
    return (step["pattern"], step["content"]) == SINGLE_SPACES


def replace_text(old: str, new: str, text: str) -> str:
    return text.replace(old, new)


def replace_matches(splitter: Splitter, new: str, text: str) -> str:
    """A text with all matches of a pattern replaced."""
    data = without_surrogates(text).encode()
    parts: list[bytes] = []
    end = 0
    for start, next_end in splitter.spans(data):
        parts += [data[end:start], new.encode()]
        end = next_end
    return b"".join([*parts, data[end:]]).decode()
