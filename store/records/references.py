"""References: "name", "name@3", "name@alias", "sha256:prefix". And what may be a name, an alias, a tag."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from cbpe._core.splitting.split import category
from cbpe.common.wording import of_another_library, shortened
from cbpe.encodings.references import FILE_ENDINGS, shadowed
from store.records.limits import MAX_NAME, MAX_NUMBER

__all__ = [
    "LATEST",
    "UNSTORABLE",
    "Reference",
    "checked_alias",
    "checked_label",
    "checked_name",
    "checked_new_alias",
    "checked_new_name",
    "checked_text",
    "parse",
    "refuse_surrogates",
]

DIGEST_PREFIX = "sha256:"
LATEST = "latest"  # in place of an alias: the newest version
# Characters that show nothing, besides those of the category Cf: fillers, variation selectors, a blank of Braille.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # what is no text to PostgreSQL, or in UTF-8


class Reference(NamedTuple):
    """What is referred to: a name (its newest version), with a number or an alias; or the first digits of a digest."""

    name: str = ""
    number: int | None = None
    alias: str | None = None
    digest: str | None = None


def parse(reference: str) -> Reference:
    """The parts of a reference. Raises ValueError for a text that is no reference."""
    if not isinstance(reference, str):
        raise TypeError(f"a version is referred to by a str or a Version, not {of_another_library(reference)}")
    if reference.startswith(DIGEST_PREFIX):
        digest = reference.removeprefix(DIGEST_PREFIX).lower()
        if not re.fullmatch("[0-9a-f]{8,64}", digest):
            raise ValueError(f"{shown(reference)}: after sha256: come 8 to 64 hexadecimal digits")
        return Reference(digest=digest)
    name, at, which = reference.partition("@")
    if not name or (at and not which):
        raise ValueError(
            f"{shown(reference)} refers to no version: a reference is a name, as book, or a name with a number or an "
            "alias, as book@3 and book@prod"
        )
    checked_name(name)
    if not at:
        return Reference(name)
    if re.fullmatch("[0-9]+", which):
        number = int(which) if len(which) <= 10 else MAX_NUMBER + 1
        if number > MAX_NUMBER:
            raise ValueError(f"{shown(reference)}: no version has so large a number")
        return Reference(name, number=number)
    return Reference(name, alias=checked_alias(which))


def checked_name(name: str) -> str:
    """The text, if it may be a name: 1 to 255 characters without "@" or control characters, and no "sha256:" in
    front."""
    checked_label("a name", name)
    if "@" in name or name.startswith(DIGEST_PREFIX):
        alone = name.partition("@")[0]
        instead = f": give {shown(alone)}" if alone and not name.startswith(DIGEST_PREFIX) else ""
        raise ValueError(
            f"{shown(name)} is no name: names have no '@', and do not begin with {DIGEST_PREFIX!r}{instead}"
        )
    return name


def checked_alias(alias: str) -> str:
    """The text, if it may be an alias: what may be a label, without "@", and no number."""
    checked_label("an alias", alias)
    if "@" in alias or re.fullmatch(r"\d+", alias):
        raise ValueError(
            f"{shown(alias)} is no alias: aliases have no '@', and are no numbers, which are those of versions"
        )
    return alias


def checked_new_name(name: str) -> str:
    """The text, if a name may be given from now on: two names that look the same would be taken for one, and what is
    taken for something else would not be found. (Stores of earlier cbpe may have others, which go on as they are.)"""
    readable("a name", checked_name(name))
    meaning = shadowed(name)
    if meaning is not None:
        raise ValueError(
            f"{shown(name)} is no name for a version: cbpe.load and the command line take it for {meaning}. Take "
            f"another, such as {shown(way_out(name))}"
        )
    return name


def way_out(name: str) -> str:
    """A name like this one that is taken for nothing else: "a/b.model" -> "a-b-model", "gpt2" -> "my-gpt2"."""
    other = re.sub(r"[/\\]+", "-", name)
    ends: list[str] = []
    while ending := next((one for one in FILE_ENDINGS if other.lower().endswith(one)), ""):
        other = other[: -len(ending)]
        ends.insert(0, ending[1:])
    other = "-".join([other, *ends])
    other = other.strip("-. ")
    return f"my-{other or 'tokenizer'}" if other == name or not other or shadowed(other) else other


def checked_new_alias(alias: str) -> str:
    """The text, if an alias may be called that from now on. (Stores of cbpe 0.1.0 may have an alias called latest.)"""
    if checked_alias(alias) == LATEST:
        raise ValueError(f"{LATEST!r} is no alias: name@{LATEST} is the newest version")
    return readable("an alias", alias)


def readable(what: str, text: str) -> str:
    """The text, if it is in Unicode's normal form C and shows all of its characters. Raises ValueError if not."""
    for character in text:
        if INVISIBLE.match(character) or category(ord(character)) == "Cf" or is_odd_space(character):
            raise ValueError(f"{what} has no invisible characters: {shown(text)} has U+{ord(character):04X}")
    if not unicodedata.is_normalized("NFC", text):
        composed = unicodedata.normalize("NFC", text)
        given = f"{shown(composed)} as {composed!a:.300}, not as {text!a:.300}"
        raise ValueError(f"{what} is in Unicode's normal form C: {given}")
    return text


def is_odd_space(character: str) -> bool:
    return character != " " and category(ord(character)) == "Zs"


def checked_label(what: str, text: str) -> str:
    """The text, if it is short and on one line. Raises TypeError or ValueError if not."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}")
    if not 1 <= len(text) <= MAX_NAME:
        raise ValueError(f"{what} has 1 to {MAX_NAME} characters, and {shown(text)} has {len(text)}")
    refuse_surrogates(what, text)
    if text != text.strip() or any(category(ord(character)) in ("Cc", "Zl", "Zp") for character in text):
        raise ValueError(f"{what} has no control characters, and no blanks at its ends: {shown(text)}")
    return text


def refuse_surrogates(what: str, text: str) -> None:
    """ValueError for a text with a lone surrogate, which no database holds."""
    if any(category(ord(character)) == "Cs" for character in text):
        raise ValueError(f"{what} has no lone surrogate, which a byte that is no UTF-8 becomes: {shown(text)}")


def checked_text(what: str, text: str, most: int) -> str:
    """The text, if a database can hold it. Raises TypeError or ValueError if not."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}")
    if UNSTORABLE.search(text):
        raise ValueError(f"{what} cannot hold a NUL or a lone surrogate: {shown(text)}")
    if len(text.encode("utf-8")) > most:
        raise ValueError(f"{what} has at most {most} bytes in UTF-8, and this one {len(text.encode('utf-8'))}")
    return text


def shown(text: str) -> str:
    """A text as a message quotes it."""
    return shortened(text, 100)
