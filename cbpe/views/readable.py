"""Text and bytes for people to read in a terminal: on one line, with nothing that the terminal would act upon."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["BLANK", "CIRCLE", "MOST_CHARACTERS", "beginning", "on_circle", "printable", "readable", "readable_bytes"]

MOST_CHARACTERS = 60  # of one label or token, in a table
# Letters of Korean and Khmer that are blank, and selectors of variants behind nothing that they could be of.
SELECTORS = "\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
BLANK = re.compile(rf"[\u115f\u1160\u17b4\u17b5\u3164\uffa0]|(?<!\S)[{SELECTORS}]+")
CIRCLE = "\u25cc"  # dotted: what a mark that is to be seen alone stands on
NO_UTF8 = re.compile("([\udc80-\udcff])")
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """Escape the characters that do not print: "a\\tb\\x1b" -> r"a\\tb\\u001b"

    str.isprintable says which: control and format characters, lone surrogates, white space other than the space, and
    code points that are not assigned. So it is for letters that are blank, and for marks that only change the character
    before them where there is none.
    """
    if text.isprintable() and not BLANK.search(text):
        return text
    text = BLANK.sub(lambda found: "".join(map(escaped, found[0])), text)
    return "".join(character if character.isprintable() else escaped(character) for character in text)


def readable(text: str) -> str:
    """Escape as printable does, and double backslashes, so that different texts stay different."""
    return printable(text.replace("\\", "\\\\"))


def readable_bytes(token: bytes) -> str:
    r"""Bytes as readable text. Bytes that are not UTF-8, such as parts of a character, become \xNN: b"caf\xc3" ->
    r"caf\xc3". A mark at the beginning stands on a dotted circle; such a circle of the token's own is escaped."""
    text = token.decode("utf-8", "surrogateescape")  # U+DC80 + n for a byte 0x80 + n
    if text.isprintable():
        shown = readable(text)
    else:
        shown = "".join(
            f"\\x{ord(part) - 0xDC00:02x}" if "\udc80" <= part <= "\udcff" else readable(part)
            for part in NO_UTF8.split(text)
        )
    if shown[:1] == CIRCLE and on_circle(shown[1:]) != shown[1:]:
        return escaped(CIRCLE) + shown[1:]
    return on_circle(shown)


def on_circle(text: str) -> str:
    """The text, with a dotted circle before it if it begins with a mark, which would stand on what is before it."""
    return CIRCLE + text if text and unicodedata.category(text[0]).startswith("M") else text


def beginning(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text, or the first characters of one that is too long for a table."""
    return text if len(text) <= most else f"{text[:most]}..."


def escaped(character: str) -> str:
    """ "\\n" -> r"\\n", "\\x1b" -> r"\\u001b" """
    code_point = ord(character)
    return SHORT.get(character) or (f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}")
