"""The texts that are measured: a file that the user names, its documents, and made-up hard pieces."""

import lzma
import random
import string


def read(path, megabytes=None):
    """The text of a UTF-8 file (.xz is unpacked), or its first megabytes, cut at a whole character."""
    opener = lzma.open if str(path).endswith(".xz") else open
    with opener(path, "rb") as file:
        if megabytes is None:
            return file.read().decode()
        return file.read(round(megabytes * 1e6)).decode(errors="ignore")


def documents(text, size=8000):
    """Cut a text behind newlines into documents of about size characters, as trainers are fed."""
    found, start = [], 0
    while start < len(text):
        newline = text.find("\n", start + size)
        end = len(text) if newline < 0 else newline + 1
        found.append(text[start:end])
        start = end
    return found


def unbroken_piece(kind, length):
    """One piece that no split pattern divides: "a", "letters" (random) or "spaces", length characters long."""
    if kind == "letters":
        return "".join(random.Random(length).choices(string.ascii_lowercase, k=length))
    return {"a": "a", "spaces": " "}[kind] * length
