"""The metadata of a GGUF file: names and values, which stand before the weights, and of which no more is read.

All numbers are little-endian. The magic GGUF, the version (uint32), the number of weights and of values (uint64). Then
each value: its name, a type (uint32), what it is. A text is its length (uint64) and its UTF-8; a list is the type of
its items, how many there are (uint64), and the items.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection
from typing import Any, BinaryIO

from cbpe.common.wording import not_utf8
from cbpe.formats import reading

__all__ = ["MAGIC", "read_metadata"]

MAGIC = b"GGUF"
VERSIONS = (2, 3)  # version 1 counts in uint32
# Type -> how struct reads it.
NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
TEXT, LIST = 8, 9
SMALLEST_VALUE = 13  # bytes: no name, a type, a number of a byte
MAX_VALUES = 65_536
MAX_TEXTS = 1 << 21  # in all lists together; the largest tokenizers that are published have a third of that
MAX_TEXT_BYTES = 1 << 24


class Metadata:
    """A file that is read from its start on. ValueError for what is not whole and valid."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file = file
        self.left = size
        self.budget = reading.MAX_FILE_BYTES
        self.texts = MAX_TEXTS

    def take(self, n: int, what: str) -> bytes:
        """The next n bytes, which are part of `what`."""
        self.expect(n, what)
        data = self.file.read(n)
        if len(data) < n:
            raise ValueError(f"the file is cut short: it ends within {what}")
        return data

    def expect(self, n: int, what: str) -> None:
        """Count n bytes as read, if the file has as many and the metadata may."""
        if n > self.left:
            raise ValueError(f"the file is cut short: {what} takes {n:,} bytes, and it has {self.left:,} more")
        if n > self.budget:
            raise ValueError(f"the metadata has more than {reading.MAX_FILE_BYTES:,} bytes: that is no tokenizer")
        self.left -= n
        self.budget -= n

    def number(self, form: str, what: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form), what))[0]

    def text(self, what: str) -> str:
        n = self.number("<Q", what)
        if n > MAX_TEXT_BYTES and n <= self.left:
            raise ValueError(f"{what} is a text of {n:,} bytes: up to {MAX_TEXT_BYTES:,} are supported")
        data = self.take(n, what)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{what} {not_utf8(error)}") from None

    def value(self, kind: int, name: str, wanted: bool) -> Any:
        """A value of a type; None for one that is not wanted."""
        if kind in NUMBERS:
            return self.number(NUMBERS[kind], name)
        if kind == TEXT:
            return self.text(name)
        if kind != LIST:
            raise ValueError(f"{name} is of the type {kind}, which is not known")
        item, n = self.number("<I", name), self.number("<Q", name)
        if item in NUMBERS:
            return self.numbers(NUMBERS[item], n, name, wanted)
        if item != TEXT:
            problem = "lists in lists are" if item == LIST else f"the type {item} is"
            raise ValueError(f"{name} is a list of the type {item}: {problem} not supported")
        if n * 8 > self.left or n > self.texts:
            fits = n * 8 <= self.left
            problem = f"up to {MAX_TEXTS:,} are supported" if fits else f"the file has {self.left:,} bytes more"
            raise ValueError(f"{name} is a list of {n:,} texts, and {problem}")
        self.texts -= n
        if wanted:
            return [self.text(name) for _ in range(n)]
        self.pass_texts(n, name)
        return None

    def numbers(self, form: str, n: int, name: str, wanted: bool) -> list[Any] | None:
        size = struct.calcsize(form)
        self.expect(n * size, name)
        if not wanted:
            self.file.seek(n * size, os.SEEK_CUR)
            return None
        data = self.file.read(n * size)
        return [value for (value,) in struct.iter_unpack(form, data)]

    def pass_texts(self, n: int, name: str) -> None:
        for _ in range(n):
            size = self.number("<Q", name)
            self.expect(size, name)
            self.file.seek(size, os.SEEK_CUR)


def read_metadata(path: str, wanted: Collection[str]) -> dict[str, Any]:
    """The values of these names. OSError where the file cannot be read, ValueError for what is not whole and valid, and
    for a size or a number that the file has no room for."""
    found: dict[str, Any] = {}
    names: set[str] = set()
    with open(path, "rb", buffering=1 << 16) as file:
        metadata = Metadata(file, os.fstat(file.fileno()).st_size)
        magic, version = metadata.take(4, "the header"), metadata.number("<I", "the header")
        if magic != MAGIC:
            raise ValueError(f"the magic is {magic!r}, not {MAGIC!r}")
        if version not in VERSIONS:
            problem = "it is big-endian" if version >> 24 in VERSIONS else "only 2 and 3 are known"
            raise ValueError(f"the version of GGUF is {version}: {problem}")
        metadata.number("<Q", "the header")  # of weights
        n = metadata.number("<Q", "the header")
        if n > MAX_VALUES or n * SMALLEST_VALUE > metadata.left:
            raise ValueError(f"the header announces {n:,} values, and the file has {metadata.left:,} bytes more")
        for i in range(n):
            name = metadata.text(f"the name of value {i}")
            if name in names:
                raise ValueError(f"{name[:80]!r} is there twice")
            names.add(name)
            kind = metadata.number("<I", name[:80])
            value = metadata.value(kind, name[:80] or "a value without a name", name in wanted)
            if name in wanted:
                found[name] = value
    return found
