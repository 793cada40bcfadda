"""Text and bytes as people and terminals can take them: on one line, with nothing that a terminal would act upon."""

from __future__ import annotations

__all__ = ["printable", "readable", "readable_bytes"]

SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """A text in which whatever does not print is escaped: "a\\tb\\x1b" -> r"a\\tb\\u001b"

    What does not print is what str.isprintable says: control and format characters, lone surrogates, white space other
    than the space, and code points that are not assigned.
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else escaped(character) for character in text)


def readable(text: str) -> str:
    """As printable, with backslashes doubled: different texts stay different."""
    return printable(text.replace("\\", "\\\\"))


def readable_bytes(token: bytes) -> str:
    """Bytes as readable text; those that are no UTF-8, such as parts of a character, are \\\\xNN: b"caf\\xc3" ->
    r"caf\\xc3" """
    text = token.decode("utf-8", "surrogateescape")  # U+DC80 + n for a byte 0x80 + n
    if text.isprintable():
        return readable(text)
    return "".join(
        f"\\x{ord(character) - 0xDC00:02x}" if "\udc80" <= character <= "\udcff" else readable(character)
        for character in text
    )


def escaped(character: str) -> str:
    """ "\\n" -> r"\\n", "\\x1b" -> r"\\u001b" """
    code_point = ord(character)
    return SHORT.get(character) or (f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}")
