"""The texts of the measurements: files of the user's, their documents, and made-up pieces that no pattern divides."""

import lzma
import random
import string
from pathlib import Path

CORPORA = {
    "english": "English prose",
    "code": "source code",
    "chinese": "Chinese prose",
    "multilingual": "prose in many languages and scripts",
}
SUFFIXES = (".txt", ".txt.xz")
DOCUMENT_SIZE = 8000  # characters
IDEOGRAPHS = [chr(code) for code in range(0x4E00, 0x9FA6)]  # of Unicode's first CJK block
PIECES = {"a": '"a"', "ab": '"ab"', "letters": "random letters", "cjk": "random CJK", "spaces": "spaces"}


def find_all(folder, names):
    """The files of corpora in a folder, by their names: english.txt or english.txt.xz, and so on.

    FileNotFoundError says what is missing, and what it should hold.
    """
    found = {}
    for name, path in ((name, Path(folder, name + suffix)) for name in CORPORA for suffix in SUFFIXES):
        if name in names and path.is_file():
            found.setdefault(name, path)
    missing = [
        f"{name}.txt or {name}.txt.xz ({holds})" for name, holds in CORPORA.items() if name in names - found.keys()
    ]
    if missing:
        raise FileNotFoundError(f"{folder} has no {', no '.join(missing)}")
    return found


def read(path, megabytes=None):
    """The text of a UTF-8 file (.xz is unpacked), or its first megabytes, cut at a whole character."""
    opener = lzma.open if str(path).endswith(".xz") else open
    with opener(path, "rb") as file:
        if megabytes is None:
            return file.read().decode()
        return file.read(round(megabytes * 1e6)).decode(errors="ignore")


def documents(text, size=DOCUMENT_SIZE):
    """Cut a text after newlines into documents of about size characters, which trainers take."""
    found, start = [], 0
    while start < len(text):
        newline = text.find("\n", start + size)
        end = len(text) if newline < 0 else newline + 1
        found.append(text[start:end])
        start = end
    return found


def unbroken_pieces(kind, size, number):
    """Some pieces that no split pattern divides, each a byte (CJK: a character) shorter than the one before.

    The first has size bytes in UTF-8 (CJK: at most 2 fewer). They differ, so that no cache knows one of them again.
    """
    if kind == "letters":
        # 26 letters do not divide 256 values evenly: some are a little more frequent, as letters are.
        letters = bytes(ord(string.ascii_lowercase[byte % 26]) for byte in range(256))
        longest = random.Random(size).randbytes(size).translate(letters).decode()
    elif kind == "cjk":
        longest = "".join(random.Random(size).choices(IDEOGRAPHS, k=size // 3))
    else:
        unit = {"a": "a", "ab": "ab", "spaces": " "}[kind]
        longest = (unit * (size // len(unit) + 1))[:size]
    return [longest[i:] for i in range(number)]
