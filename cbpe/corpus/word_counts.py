"""WordCounts: the distinct pieces of a corpus and how often each occurs, all that training needs to know of it.

A file of word counts (`WordCounts.save`), all numbers little-endian:

    bytes         what
    8             the magic, 89 63 62 70 65 57 43 0a ("\\x89cbpeWC\\n")
    4             the version of the format, 1
    4             h, the size of the header
    h             the header, JSON in UTF-8: an object with
                      pattern              the split pattern, or null
                      unicode_version      that the pattern was matched by; null: the `regex` module's own
                      text_bytes           of all texts in UTF-8
                      dropped_words, dropped_occurrences    see WordCounts
                      words                n, the number of distinct pieces
                      word_bytes           b, the bytes of all distinct pieces
    8 n           the length of each piece in bytes, at least 1, in order of first appearance
    8 n           how often each occurs, from 1 to 2^63 - 1
    b             the bytes of the pieces, one after the other
    32            the SHA-256 of all that is before
"""

from __future__ import annotations

import heapq
import json
import operator
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cbpe._core.counting.count import PieceCounter
from cbpe._core.text.shown import shown
from cbpe.common.atomic_files import write_whole
from cbpe.common.checks import checked_int, is_int, refuse_no_path
from cbpe.common.little_endian import little_endian
from cbpe.common.public import public
from cbpe.common.wording import NamedErrors, number_of
from cbpe.corpus.stored_bytes import COUNTS_BEGIN
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.splitting import make_splitter, pattern_in_words, unicode_version

__all__ = ["WordCounts"]

VERSION = 1
FIXED = len(COUNTS_BEGIN) + 8  # bytes before the header
DIGEST = 32
MOST = 2**63 - 1
WORDS_SHOWN = 10  # in a notebook
MOST_IN_HEADER = 2**128  # of bytes of texts there may be more than occurrences


@public
class WordCounts:
    """Distinct pieces ("words") of texts with 64-bit counts, in order of first appearance.

    `cbpe.count_words` makes them of texts, and `cbpe.train` takes them in place of the texts. `a + b` and `a += b` add
    the counts of one corpus to those of another, as if the texts of b had followed those of a. Iteration gives (piece,
    count), bytes and int.

    counts: a mapping of pieces (bytes) to counts, or an iterable of such pairs; the counts of a piece that comes more
    than once add up. pattern: the pattern that split the texts. Raises TypeError and ValueError for other pieces and
    counts (at least 1), OverflowError for more than 2^63 - 1 occurrences.

    >>> counts = WordCounts({b"to": 2, b"be": 1}) + WordCounts({b"be": 1, b"or": 1})
    >>> list(counts), len(counts), counts.total, counts.most_common(1)
    ([(b'to', 2), (b'be', 2), (b'or', 1)], 3, 5, [(b'to', 2)])
    """

    __hash__ = None  # type: ignore[assignment]  # they change
    _files: tuple[os.PathLike[str], ...] = ()  # of counts, of which they are the sum, where training has loaded them

    def __init__(
        self,
        counts: Mapping[bytes, int] | Iterable[tuple[bytes, int]] = (),
        *,
        pattern: str | None = GPT4_SPLIT_PATTERN,
    ) -> None:
        counter = PieceCounter()
        lengths, numbers, data = array("q"), array("q"), bytearray()
        for pair in pairs_in(counts):
            piece, count = pair_checked(pair)
            lengths.append(len(piece))
            numbers.append(count)
            data += piece
        counter.add_counts(data, lengths, numbers)
        text_bytes = sum(length * count for length, count in zip(lengths, numbers, strict=True))
        self._fill(counter, pattern, unicode_version(make_splitter(pattern)), text_bytes, 0, 0)

    def _fill(
        self,
        counter: PieceCounter,
        pattern: str | None,
        unicode_version: str | None,
        text_bytes: int,
        dropped_words: int,
        dropped_occurrences: int,
    ) -> None:
        self._counter = counter
        self.pattern = pattern
        self.unicode_version = unicode_version  # None: the `regex` module's own
        self.text_bytes = text_bytes  # of all texts in UTF-8, what is in no piece included
        # What was dropped to bound memory: how many pieces (a piece counts as often as it was dropped), and how often
        # they had occurred.
        self.dropped_words = dropped_words
        self.dropped_occurrences = dropped_occurrences

    @classmethod
    def _of(cls, *fields: Any) -> WordCounts:
        """The counts with these arguments of _fill. The counter belongs to them from now on."""
        counts = cls.__new__(cls)
        counts._fill(*fields)
        return counts

    def __len__(self) -> int:
        """The number of distinct pieces."""
        return len(self._counter)

    @property
    def total(self) -> int:
        """How many pieces there are, repetitions included and dropped ones left out."""
        return self._counter.total

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        data, start = self.data(), 0
        for length, count in zip(self.lengths(), self.counts(), strict=True):
            yield data[start : start + length], count
            start += length

    def __contains__(self, piece: object) -> bool:
        """TypeError: a look through all pieces would be slow, and `dict(counts)` answers at once."""
        raise TypeError("WordCounts are no mapping: ask dict(counts), as in b'low' in dict(counts)")

    def data(self) -> bytes:
        """The bytes of all distinct pieces, one after the other."""
        return self._counter.data()

    def lengths(self) -> array[int]:
        """The length of each distinct piece in bytes, as array("q")."""
        return self._counter.lengths()

    def counts(self) -> array[int]:
        """How often each distinct piece occurs, as array("q")."""
        return self._counter.counts()

    def most_common(self, n: int | None = None) -> list[tuple[bytes, int]]:
        """The n most frequent pieces (None: all) with their counts. Equally frequent pieces come in the order of their
        first appearance.

        >>> WordCounts({b"a": 1, b"b": 3, b"c": 1}).most_common(2)
        [(b'b', 3), (b'a', 1)]
        """
        n = len(self) if n is None else checked_int("n", n, 0)
        return heapq.nlargest(n, self, key=lambda pair: pair[1])

    def __repr__(self) -> str:
        dropped = f", {self.dropped_occurrences:,} dropped" if self.dropped_occurrences else ""
        return f"<WordCounts: {number_of(len(self), 'word')} with {number_of(self.total, 'occurrence')}{dropped}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the sums, and the most frequent words."""
        from cbpe.views.html import LeftToRight, block, pairs, table
        from cbpe.views.readable import readable_bytes

        about = (
            ("words", len(self)),
            ("occurrences", self.total),
            ("bytes of text", self.text_bytes),
            *((("dropped occurrences", self.dropped_occurrences),) if self.dropped_occurrences else ()),
            ("split pattern", "none" if self.pattern is None else self.pattern),
        )
        shown = ((readable_bytes(piece), n) for piece, n in self.most_common(WORDS_SHOWN))
        rows = [(LeftToRight(word if word.strip() == word else f'"{word}"'), n) for word, n in shown]
        return block(pairs("Word counts", about), table(("word", "occurrences"), rows, caption="Most frequent"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        return (
            self._about() == other._about()
            and self.counts() == other.counts()
            and self.lengths() == other.lengths()
            and self.data() == other.data()
        )

    # ---- Adding up

    def update(self, other: WordCounts) -> None:
        """Add the counts of another corpus, as if its texts had followed those of this one.

        Raises ValueError where the texts were not split alike, OverflowError for more than 2^63 - 1 occurrences; then
        nothing is added.
        """
        if not isinstance(other, WordCounts):
            raise TypeError(f"only WordCounts can be added to WordCounts, not {type(other).__name__}")
        if self.pattern != other.pattern:
            patterns = f"{pattern_in_words(self.pattern)}, the other by {pattern_in_words(other.pattern)}"
            raise ValueError(f"these counts do not add up: one text was split by {patterns}: count both by one pattern")
        if self.unicode_version != other.unicode_version:
            versions = f"{self.unicode_version}, the other by {other.unicode_version}"
            raise ValueError(f"these counts do not add up: one text was split by Unicode {versions}: count both again")
        counter = self._counter.copy()  # so that an interrupt leaves nothing half added
        counter.merge(other._counter)
        self._counter = counter
        self.text_bytes += other.text_bytes
        self.dropped_words += other.dropped_words
        self.dropped_occurrences += other.dropped_occurrences

    def __add__(self, other: WordCounts) -> WordCounts:
        if not isinstance(other, WordCounts):
            return NotImplemented
        result = self._of(self._counter, *self._about())  # update replaces the counter of the result
        result.update(other)
        return result

    def __radd__(self, other: int) -> WordCounts:
        """What sum() begins with, which is 0."""
        if type(other) is not int or other != 0:
            return NotImplemented
        return self._of(self._counter, *self._about())

    def __iadd__(self, other: WordCounts) -> WordCounts:
        if not isinstance(other, WordCounts):
            return NotImplemented
        self.update(other)
        return self

    # ---- Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that `load` reads; the beginning of this module describes it. It is put in place when it is
        whole; a file that is there is replaced, whatever it holds. Training knows it by the ending .words."""
        refuse_no_path("path", path)
        write_whole(path, self._parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordCounts:
        """The counts in a file. Raises OSError where it cannot be read, ValueError where it is no whole and intact file
        of word counts."""
        refuse_no_path("path", path)
        try:
            with NamedErrors(path):
                data = Path(path).read_bytes()
            return cls._from_bytes(memoryview(data))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return type(self)._from_bytes, (b"".join(self._parts()),)

    def _about(self) -> tuple[str | None, str | None, int, int, int]:
        """The arguments of _fill, the counter aside."""
        return self.pattern, self.unicode_version, self.text_bytes, self.dropped_words, self.dropped_occurrences

    def _parts(self) -> Iterator[bytes | array[int]]:
        """The parts of a file."""
        from hashlib import sha256  # it takes more memory than all of this package, and counting does not need it

        digest = sha256()
        data = self.data()
        start = start_of_file(Header(*self._about(), len(self), len(data)))
        for part in (start, little_endian(self.lengths()), little_endian(self.counts()), data):
            digest.update(part)
            yield part
        yield digest.digest()

    @classmethod
    def _from_bytes(cls, file: bytes | memoryview) -> WordCounts:
        from hashlib import sha256

        view = memoryview(file)
        start_checked(view, len(view))
        if len(view) < FIXED + DIGEST or sha256(view[:-DIGEST]).digest() != view[-DIGEST:]:
            raise ValueError("this file of word counts is cut short or damaged: its checksum is another one")
        at = FIXED + int.from_bytes(view[FIXED - 4 : FIXED], "little")
        try:
            header = header_of(bytes(view[FIXED:at]))
            n = header.words
            if at + 16 * n + header.word_bytes + DIGEST != len(view):
                raise ValueError(f"{n} words of {header.word_bytes} bytes do not fit the size of the file")
            counter = PieceCounter()
            lengths, counts = (little_endian(array("q", bytes(view[i : i + 8 * n]))) for i in (at, at + 8 * n))
            counter.add_counts(view[at + 16 * n : -DIGEST], lengths, counts)
            if len(counter) != n:
                raise ValueError("some words are there more than once")
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"this file of word counts was not written as it should be: {error}") from error
        return cls._of(counter, *header[:5])


class Header(NamedTuple):
    """What the header of a file of word counts says."""

    pattern: str | None
    unicode_version: str | None
    text_bytes: int
    dropped_words: int
    dropped_occurrences: int
    words: int
    word_bytes: int


def start_of_file(header: Header) -> bytes:
    """A file of word counts up to the lengths."""
    data = json.dumps(header._asdict()).encode()
    return COUNTS_BEGIN + VERSION.to_bytes(4, "little") + len(data).to_bytes(4, "little") + data


def start_checked(view: memoryview, size: int) -> None:
    """ValueError for the first FIXED bytes of what is no file of word counts, or one of another version; size: of all
    of the file."""
    if view[: len(COUNTS_BEGIN)] != COUNTS_BEGIN[: len(view)] or not len(view):
        raise ValueError("this is no file of word counts")
    version = int.from_bytes(view[len(COUNTS_BEGIN) : len(COUNTS_BEGIN) + 4], "little")
    if size >= FIXED and version != VERSION:
        raise ValueError(f"this file of word counts is of version {version}; only {VERSION} is known here")


def header_of(data: bytes) -> Header:
    """The header in these bytes. TypeError or ValueError for one that is none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("its header is no JSON") from None
    missing = [name for name in Header._fields if not isinstance(found, dict) or name not in found]
    if missing:
        raise ValueError(f"its header does not say {shown(missing[0])}")
    header = Header(**{name: found[name] for name in Header._fields})
    for text in header[:2]:
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{shown(text)} is no text")
    for number in header[2:]:
        checked_int("a number", number, 0, most=MOST_IN_HEADER)
    return header


def pairs_in(counts: Any) -> Iterable[Any]:
    """What counts gives, which should be pairs. TypeError for what gives nothing, or cannot give pairs."""
    if isinstance(counts, Mapping):
        return counts.items()
    if isinstance(counts, (str, bytes)) or not isinstance(counts, Iterable):
        problem = f"counts are a mapping of pieces (bytes) to how often each occurs, not {type(counts).__name__}"
        raise TypeError(f"{problem}: cbpe.count_words counts those of texts")
    return counts


def pair_checked(pair: Any) -> tuple[bytes, int]:
    """A piece and its count. TypeError and ValueError for what is neither."""
    if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise TypeError(
            f"counts are pairs of a piece (bytes) and how often it occurs, and one is {shown(pair)}: "
            "cbpe.count_words counts the pieces of texts"
        )
    piece, count = pair
    piece = piece_checked(piece)
    return piece, count_checked(piece, count)


def piece_checked(piece: Any) -> bytes:
    if not isinstance(piece, bytes):
        raise TypeError(f"a piece must be bytes, not {type(piece).__name__}: {shown(piece)}")
    if not bytes.__len__(piece):
        raise ValueError("a piece has at least one byte; one of them is b''")
    return bytes.__getitem__(piece, slice(None))  # an exact one of a subclass


def count_checked(piece: bytes, count: Any) -> int:
    """The count as an int; any integer type will do."""
    if not is_int(count):
        raise TypeError(f"the count of {shown(piece)} must be an int, not {type(count).__name__}")
    number = operator.index(count)
    if not 1 <= number <= MOST:
        raise ValueError(f"the count of {shown(piece)} is {shown(count)}; it must be from 1 to 2^63 - 1")
    return number
