"""What tasks read: texts whose pieces are counted, lines of a word and its count, and files of word counts."""

from __future__ import annotations

import re
from array import array
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO

from cbpe._core.splitting.split import Splitter
from cbpe.common.wording import shown
from cbpe.corpus.batches import Batch, batches
from cbpe.corpus.counting import border_of
from cbpe.corpus.files import CHUNK_BYTES, TextFile, has_word_counts
from cbpe.corpus.stored_bytes import decoded
from cbpe.corpus.word_counts import (
    DIGEST,
    FIXED,
    MOST,
    Header,
    header_of,
    start_checked,
)
from cbpe.counting.columns import column_batches
from cbpe.tasks.cutting import Span
from cbpe.text.splitting import pattern_in_words

if TYPE_CHECKING:
    from cbpe._core.calls.encoder import PythonSplitter

__all__ = ["Texts", "counted_lines", "kind_of", "words_of"]

Counted = tuple[bytes, "array[int]", "array[int]"]  # as PieceCounter.add_counts takes them

NUMBER = re.compile(rb"[0-9]{1,19}")
AT_ONCE = 1 << 14  # words that are read


def kind_of(span: Span, counts: bool) -> str:
    """What is read of a span: "words", "counts" or "texts"."""
    if has_word_counts(span.source.place):
        return "words"
    return "counts" if counts else "texts"


class Texts:
    """The texts of consecutive spans, and how far they have been read."""

    def __init__(self, spans: Iterable[Span], field: str | None, errors: str, missing: str) -> None:
        self.spans = spans
        self.field = field
        self.errors = errors
        self.missing = missing
        self.documents = 0
        self.skipped = 0  # rows and lines whose text is null
        self.halves = 0  # of surrogate pairs in JSON
        self.replaced = 0  # bytes that are not UTF-8, by the U+FFFD in their place
        self.done = 0  # bytes of the spans that have been read to their ends
        self.file: TextFile | None = None  # that is being read, if it is read whole

    def batches(self, splitter: Splitter | PythonSplitter) -> Iterator[Batch]:
        """The texts in batches, which may be split and counted apart."""
        files = self.opened()
        if self.errors == "strict" and isinstance(splitter, Splitter):
            for kind, some in groupby(files, lambda file: file.kind):
                batches_of = self.columns if kind == "parquet" else partial(self.cut, splitter)
                yield from batches_of(some)
        else:
            yield from self.cut(splitter, files)

    def cut(self, splitter: Splitter | PythonSplitter, files: Iterable[TextFile]) -> Iterator[Batch]:
        return batches(self.texts(files), border_of(splitter))

    def opened(self) -> Iterator[TextFile]:
        """The file of each span, which has to be read to its end before the next one is taken."""
        for span in self.spans:
            file = span.open(self.field, self.errors, self.missing)
            self.file = file if span.part is None else None
            self.limit = span.size
            yield file
            self.skipped += file.nulls.skipped
            self.replaced += file.repairs.total
            self.halves += file.repairs.halves
            span.source.refuse_changed()
            self.done, self.file = self.done + span.size, None

    def texts(self, files: Iterable[TextFile]) -> Iterator[bytes | Iterator[bytes]]:
        for file in files:
            for text in file.texts():
                self.documents += 1
                yield text

    def columns(self, files: Iterable[TextFile]) -> Iterator[Batch]:
        """The same of Parquet files, whose columns are counted as they lie in memory."""
        for file in files:
            for batch in column_batches(file):
                self.documents += len(batch.ends)
                yield batch

    @property
    def position(self) -> int:
        return self.done + (min(self.file.position, self.limit) if self.file else 0)


def counted_lines(span: Span, file: TextFile) -> Iterator[Counted]:
    """The words of the file of a span, which has on each line a word, a tab and a count. ValueError names the line that
    has not."""
    lengths, counts, data = array("q"), array("q"), bytearray()
    for place, offset, line in file.lines():
        line = (line.removeprefix(BOM_UTF8) if offset == 0 else line).removesuffix(b"\r")
        if not line:
            continue
        word, tab, number = line.rpartition(b"\t")
        if not tab or not NUMBER.fullmatch(number) or not 1 <= int(number) <= MOST:
            read = shown(line.decode("utf-8", "backslashreplace"))
            raise ValueError(f"{place}, must be a word, a tab and a count from 1 to 2^63 - 1, and is {read}")
        if not word:
            raise ValueError(f"{place}, has no word before the count")
        word = decoded(word, str(file.path), file.repairs, offset).encode()
        lengths.append(len(word))
        counts.append(int(number))
        data += word
        if len(lengths) == AT_ONCE:
            yield bytes(data), lengths, counts
            lengths, counts, data = array("q"), array("q"), bytearray()
    yield bytes(data), lengths, counts
    span.source.refuse_changed()


# ---- Files of word counts


def words_of(
    span: Span, pattern: str | None, unicode_version: str | None, heard: Callable[[Header], None]
) -> Iterator[Counted]:
    """The words in a file that WordCounts.save writes. heard: is told the header, before the first of them. ValueError
    for another file, and for one that is not whole, or whose texts were split in another way."""
    with span.open(None, "strict").opened() as opened:
        try:
            header, at = header_checked(opened, span.size)
            refuse_others(header, pattern, unicode_version)
            heard(header)
            yield from words_in(opened, header, at)
        except ValueError as error:
            raise ValueError(f"{span.source.path}: {error}") from error
    span.source.refuse_changed()


def words_in(opened: BinaryIO, header: Header, at: int) -> Iterator[Counted]:
    """The words of an open file, whose lengths begin there."""
    n, start, left = header.words, at + 16 * header.words, header.word_bytes
    for first in range(0, n, AT_ONCE):
        size = 8 * min(AT_ONCE, n - first)
        lengths, counts = (array("q", part_of(opened, begin + 8 * first, size)) for begin in (at, at + 8 * n))
        n_bytes = sum(lengths)
        if min(lengths) < 1 or n_bytes > left:
            raise ValueError("this file of word counts was not written as it should be: its lengths do not add up")
        yield part_of(opened, start, n_bytes), lengths, counts
        start += n_bytes
        left -= n_bytes


def refuse_others(header: Header, pattern: str | None, unicode_version: str | None) -> None:
    """ValueError for counts of texts that were split in another way."""
    if header.pattern != pattern:
        patterns = f"{pattern_in_words(header.pattern)}, and the pattern here is {pattern_in_words(pattern)}"
        raise ValueError(f"its texts were split by {patterns}: set pattern to what it was, or count its texts again")
    if header.unicode_version != unicode_version:
        versions = f"{header.unicode_version}, and others here by {unicode_version}"
        raise ValueError(f"its texts were split by Unicode {versions}: count its texts again")


def header_checked(opened: BinaryIO, size: int) -> tuple[Header, int]:
    """The header of a file of word counts of this size, whose checksum is right, and where the lengths begin."""
    start = memoryview(part_of(opened, 0, min(size, FIXED)))
    start_checked(start, size)
    n_bytes = int.from_bytes(start[FIXED - 4 :], "little")
    if size < FIXED + n_bytes + DIGEST or checksum(opened, size - DIGEST) != part_of(opened, size - DIGEST, DIGEST):
        raise ValueError("this file of word counts is cut short or damaged: its checksum is another one")
    at = FIXED + n_bytes
    try:
        header = header_of(part_of(opened, FIXED, n_bytes))
    except (TypeError, ValueError) as error:
        raise ValueError(f"this file of word counts was not written as it should be: {error}") from error
    if at + 16 * header.words + header.word_bytes + DIGEST != size:
        raise ValueError(f"{header.words} words of {header.word_bytes} bytes do not fit the size of the file")
    return header, at


def checksum(opened: BinaryIO, n: int) -> bytes:
    """The SHA-256 of the first n bytes."""
    digest = sha256()
    opened.seek(0)
    while n:
        chunk = opened.read(min(n, CHUNK_BYTES))
        if not chunk:
            break
        digest.update(chunk)
        n -= len(chunk)
    return digest.digest()


def part_of(opened: BinaryIO, start: int, n: int) -> bytes:
    opened.seek(start)
    data = opened.read(n)
    if len(data) < n:
        raise ValueError("this file of word counts is cut short")
    return data
