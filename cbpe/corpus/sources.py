"""Reads sources of text: what train and count_words take.

A source gives texts, each of which is split on its own. A text comes as UTF-8: a short one as bytes, another as an
iterator of consecutive chunks, cut anywhere. So a file that is larger than the memory can be one text.
"""

from __future__ import annotations

import codecs
import functools
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, TypeAlias, TypeVar

from cbpe._core.text.shown import shown
from cbpe._core.text.utf8 import utf8
from cbpe.columns.texts import is_missing, missing, texts_in
from cbpe.common.checks import refuse_no_field
from cbpe.common.progress import ProgressCallback
from cbpe.common.warning import warn
from cbpe.common.wording import listed, number_of
from cbpe.corpus.files import CHUNK_BYTES, TextFile
from cbpe.corpus.json_lines import Nulls, texts_of_lines
from cbpe.corpus.stored_bytes import Repairs, valid_utf8
from cbpe.text.surrogates import ends_within_pair

__all__ = [
    "Reader",
    "Source",
    "begins_with_objects",
    "changes_counted",
    "halves_of",
    "places_in",
    "skipped_in_words",
    "tell_of_changes",
    "warn_of_names",
]

URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+")
FILE_NAME = re.compile(r"(?:~/|\.{1,2}/)\S+|\S+\.(?:txt|jsonl|parquet|words)(?:\.gz|\.xz|\.zst)?")
T = TypeVar("T")
E = TypeVar("E", KeyError, ValueError)

LONGEST_NAME = 1000  # characters of a text that may be the name of a file
FILES_NAMED = 3  # of those in which something was skipped or replaced

# Item: a source that is one text or file. Source: any source.
Item: TypeAlias = str | bytes | bytearray | memoryview | os.PathLike[str] | BinaryIO
Source: TypeAlias = Item | Iterable[Item]


class Reader:
    """Reads the texts of a source, and knows how far it is.

    source: a str, which is a text, never the name of a file; bytes-like, a text in UTF-8; an os.PathLike, a file (see
    corpus/files.py for the kinds); a file that is open for reading in binary, such as sys.stdin.buffer, a text in UTF-8
    from here to its end, or with a field JSON Lines; or an iterable of these, such as a column of pandas, polars or
    Arrow. field: the field of .jsonl and the column of .parquet files that holds the texts. errors: "strict" refuses
    what is not UTF-8, "replace" puts U+FFFD in its place, as bytes.decode does, and a UserWarning says in how many
    places when all is read; neither takes for a text a tar archive, or a compressed file whose name does not say so.
    missing: "skip" leaves out rows and lines whose text is null, and of an iterable what a column has for a missing
    value, and a UserWarning says how many; "error" refuses them, as None does for who cannot choose.

    A UserWarning tells if a str, or the first of several, is the name of a file that exists. Raises TypeError for
    another source, as a table or a dict, which give names; ValueError for another value of errors and for a field that
    no file asks for.
    """

    def __init__(
        self, source: Any, *, field: str | None = None, errors: str = "strict", missing: str | None = None
    ) -> None:
        if errors not in ("strict", "replace"):
            raise ValueError(f"errors is {shown(errors)}; it must be 'strict' or 'replace'")
        refuse_no_field(field)
        self.field = field
        self.nulls, self.repairs = Nulls(missing), Repairs(errors)  # of the items that have been read to their ends
        self._in_files = Changes()  # those of them that are files
        self._done = 0  # bytes of the items that have been read to their ends
        self._file: TextFile | None = None  # that is being read
        self._given: tuple[Any, int] = (None, 0)  # the item of the last text, and its number there
        source = texts_in(source, counts_are_taken=True)
        if isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike)) or is_open_file(source):
            source = [source]
        elif not isinstance(source, Iterable):
            raise TypeError(
                f"a source of text is a str, bytes, a path (pathlib.Path), or an iterable of these, "
                f"not {type(source).__name__}"
            )
        self.items: Iterable[Any] = source
        if isinstance(source, (list, tuple)):
            warn_of_names(source)
            for item in source:
                if not isinstance(item, (str, bytes)) and isinstance(item, os.PathLike):
                    self._open(item)  # raises for a missing file before the others are read

    @property
    def name(self) -> str:
        """What a bar calls the source: the name of its file, or how many files it has; empty for texts."""
        return os.path.basename(self.place)

    @property
    def place(self) -> str:
        """The same, with the whole path of the file."""
        paths = self.paths
        if len(paths) != 1 or (isinstance(self.items, (list, tuple)) and len(self.items) > 1):
            return number_of(len(paths), "file") if paths else ""
        return paths[0]

    @property
    def paths(self) -> list[str]:
        """The files of the source, where it is a list."""
        items = self.items if isinstance(self.items, (list, tuple)) else ()
        return [
            os.fsdecode(item) for item in items if not isinstance(item, (str, bytes)) and isinstance(item, os.PathLike)
        ]

    @functools.cached_property
    def total_bytes(self) -> int | None:
        """The size of the source as it is stored; None where nobody knows it before the source has been read."""
        if not isinstance(self.items, (list, tuple)):
            return None
        sizes = [self._size_of(item) for item in self.items]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    def _size_of(self, item: Any) -> int | None:
        if isinstance(item, str):
            return len(item) if item.isascii() else None
        if is_missing(item):
            return 0
        if isinstance(item, os.PathLike):
            return self._open(item).size
        return memoryview(item).nbytes if isinstance(item, (bytes, bytearray, memoryview)) else None

    @property
    def done_bytes(self) -> int:
        """How many of `total_bytes` have been read."""
        return self._done + (self._file.position if self._file else 0)

    def texts(self) -> Iterator[bytes | Iterator[bytes]]:
        """The texts. A text that is an iterator has to be read to its end before the next one is taken."""
        for i, item in enumerate(self.items):
            if isinstance(item, str) and self.field is None:  # the usual case of many
                self._given = (None, i)
                if len(item) > CHUNK_BYTES:
                    yield self._counted(map(utf8, slices(str.__str__(item))))
                else:
                    encoded = utf8(str.__str__(item))
                    self._done += len(encoded)
                    yield encoded
            elif is_missing(item):
                self.nulls.pass_over(TypeError(no_text(item, i)))
            elif isinstance(item, os.PathLike):
                self._file = self._open(item)
                yield from self._numbered(item, self._file.texts())
                self.nulls.skipped += self._file.nulls.skipped
                self.repairs.replaced += self._file.repairs.replaced
                self.repairs.halves += self._file.repairs.halves
                self._in_files.add(self._file)
                self._done, self._file = self.done_bytes, None
            elif self.field is not None and is_open_file(item):
                name = name_of_open(item, "the text")
                texts = texts_of_lines(self._counted(read_chunks(item)), self.field, name, self.nulls, self.repairs)
                yield from self._numbered(item, texts)
            elif self.field is not None:
                raise ValueError(f"the field {shown(self.field)} is of .jsonl and .parquet files, not of a text")
            elif isinstance(item, (bytes, bytearray, memoryview)):
                self._given = (None, i)
                view = memoryview(item)
                view = (view if view.c_contiguous else memoryview(view.tobytes())).cast("B")
                chunks = (view[at : at + CHUNK_BYTES] for at in range(0, len(view), CHUNK_BYTES))
                yield self._counted(valid_utf8(chunks, self._text_number(i), self.repairs))
            elif is_open_file(item):
                name = name_of_open(item, "the text")
                self._given = (item, -1)
                yield self._counted(valid_utf8(told_of_objects(read_chunks(item), name), name, self.repairs))
            else:
                raise TypeError(no_text(item, i))
        skipped = {"skipped": self.nulls.skipped}
        tell_of_changes(skipped, self._in_files.places(skipped))
        self.tell_of_repairs()

    def tell_of_repairs(self) -> None:
        """The UserWarning about bytes that were replaced, which comes when all is read: also for who stops before."""
        both = [self.repairs, *([self._file.repairs] if self._file else [])]
        counts = {"replaced": sum(each.total for each in both), "halves": sum(each.halves for each in both)}
        in_files = self._in_files.copy()
        if self._file:
            in_files.add(self._file)
        tell_of_changes(counts, in_files.places(counts))

    def as_row(self) -> dict[str, int]:
        """What a row of results says of null texts and of bytes that are not UTF-8: nothing, unless it was asked to
        skip or to replace them."""
        return self.nulls.as_row() | self.repairs.as_row()

    def _numbered(self, item: Any, texts: Iterable[T]) -> Iterator[T]:
        """The same texts, which are all in one item."""
        for number, text in enumerate(texts):
            self._given = (item, number)
            yield text

    def of_text(self, error: E) -> E:
        """The error about a text, as about a byte without a token, with the place of the text that was given last."""
        item, number = self._given
        if isinstance(item, os.PathLike):
            from cbpe.corpus.documents import place_of

            place = place_of(self._open(item), number)
        elif item is not None:
            place = name_of_open(item, "the text") + (f", text {number + 1:,}" if number >= 0 else "")
        elif isinstance(self.items, (list, tuple)) and len(self.items) == 1:
            return error
        else:
            place = self._text_number(number)
        return type(error)(f"{place}: {error.args[0]}")

    def _text_number(self, number: int) -> str:
        """What a message calls a text that is in no file."""
        if isinstance(self.items, (list, tuple)) and len(self.items) == 1:
            return "the text"
        return f"text number {number:,} of the source (counted from 0)"

    def strings(self, report: ProgressCallback | None = None) -> Iterator[Iterator[str]]:
        """The texts as strings, each in chunks that end between two characters. Each has to be read to its end before
        the next one is taken. report: a progress callback (common/progress.py), which hears how far reading is."""
        for text in self.texts():
            yield self._told(map(bytes.decode, [text] if isinstance(text, bytes) else text), report)
        if report:
            report("reading", self.done_bytes, self.done_bytes)

    def _told(self, chunks: Iterable[str], report: ProgressCallback | None) -> Iterator[str]:
        for chunk in chunks:
            if report:
                report("reading", self.done_bytes, self.total_bytes)
            yield chunk

    def _open(self, path: os.PathLike[str]) -> TextFile:
        return TextFile(path, field=self.field, errors=self.repairs.errors, missing=self.nulls.missing)

    def _counted(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._done += len(chunk)
            yield chunk


def warn_of_names(texts: Sequence[object]) -> None:
    """A UserWarning for a text that is the name of a file: whoever passes one hardly means its name. And for one that
    is all there is, and is the name of a folder or a URL, or looks like the name of a file."""
    for text in texts[:1]:
        if not isinstance(text, str) or str.__len__(text) > LONGEST_NAME:
            continue
        if os.path.isfile(text):
            warn(
                f"{shown(text)} is read as a text, and there is a file of this name: to read the file, pass "
                f"pathlib.Path({shown(text)})"
            )
        elif len(texts) == 1 and os.path.isdir(text):
            warn(
                f"{shown(text)} is read as a text, and there is a folder of this name: pass a list of its files, as "
                f"sorted(pathlib.Path({shown(text)}).iterdir()); cbpe.count_corpus reads folders"
            )
        elif len(texts) == 1 and URL.fullmatch(text):
            warn(
                f"{shown(text)} is read as a text, and looks like a URL: cbpe.count_corpus reads URLs, and train takes "
                "what it writes"
            )
        elif len(texts) == 1 and FILE_NAME.fullmatch(text):
            warn(f"{shown(text)} is read as a text, and looks like the name of a file: a file is a pathlib.Path")


def changes_counted(errors: str, missing: str) -> list[str]:
    """What manifests count of what was asked to be changed in reading: "skipped" texts, and "replaced" bytes."""
    return ["skipped"] * (missing == "skip") + ["replaced"] * (errors == "replace")


def halves_of(records: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """What a manifest says of halves of surrogate pairs in JSON, by the records of its tasks: nothing where none is."""
    n = sum(record.get("halves", 0) for record in records)
    return {"halves": n} if n else {}


class Changes:
    """In which files how many texts were skipped, and how much was replaced."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, int]] = {"skipped": {}, "replaced": {}, "halves": {}}

    def add(self, file: TextFile) -> None:
        """What was found in a file up to here."""
        counts = {"skipped": file.nulls.skipped, "replaced": file.repairs.total, "halves": file.repairs.halves}
        for name, n in without_halves(counts).items():
            if n:
                of_files, path = self.found[name], os.fsdecode(file.path)
                of_files[path] = of_files.get(path, 0) + n

    def copy(self) -> Changes:
        made = Changes()
        made.found = {name: dict(of_files) for name, of_files in self.found.items()}
        return made

    def places(self, counts: Mapping[str, int]) -> dict[str, str]:
        """For each of these counts the files that it is of, if it is of files alone."""
        return {
            name: listed(self.found[name], FILES_NAMED)
            for name, n in without_halves(counts).items()
            if n and sum(self.found[name].values()) == n
        }


def without_halves(counts: Mapping[str, Any]) -> dict[str, Any]:
    """The same counts, where those that are replaced are bytes alone: halves of surrogate pairs count as both."""
    return {**counts, "replaced": max(0, counts.get("replaced", 0) - counts.get("halves", 0))}


def places_in(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """For "skipped", "replaced" and "halves" the files that they are of, by the records of tasks, if each task with any
    reads one file."""
    places = {}
    found = [(without_halves(record), {span["path"] for span in record["source"]}) for record in records]
    for name in ("skipped", "replaced", "halves"):
        tasks = [paths for counts, paths in found if counts.get(name)]
        if all(len(paths) == 1 for paths in tasks):
            places[name] = listed(dict.fromkeys(path for paths in tasks for path in paths), FILES_NAMED)
    return places


def tell_of_changes(counts: Mapping[str, Any], places: Mapping[str, str] | None = None) -> None:
    """A UserWarning for skipped texts, one for replaced bytes, and one for halves of surrogate pairs, which count as
    replaced too. places: for each of these, in which file or files."""
    places = places or {}
    counts = without_halves(counts)
    for name, in_words in (
        ("skipped", skipped_in_words),
        ("replaced", replaced_in_words),
        ("halves", halves_in_words),
    ):
        if counts.get(name, 0) > 0:
            warn(in_words(counts[name], places.get(name, "")))


def skipped_in_words(n: int, where: str = "") -> str:
    """What is said of rows and lines that were left out: how many, and in which file or files."""
    return f"left out {number_of(n, 'text')} that {'is' if n == 1 else 'are'} null{where and f', in {where}'}"


def replaced_in_words(n: int, where: str = "") -> str:
    """What is said of bytes that are not UTF-8 and were replaced: how often, and in which file or files."""
    return f"put U+FFFD in {number_of(n, 'place')} for bytes that are not UTF-8{where and f', in {where}'}"


def halves_in_words(n: int, where: str = "") -> str:
    """What is said of halves of surrogate pairs in JSON: how many, and in which file or files."""
    of = "for half of a surrogate pair" if n == 1 else "for halves of surrogate pairs"
    return f"put U+FFFD in {number_of(n, 'place')} {of}{where and f', in {where}'}"


def no_text(item: object, i: int) -> str:
    """What is said of an item that is none."""
    problem = f"text number {i} of the source (counted from 0) must be a str, bytes or a path"
    way = ": pass the texts of the rows, as [row['text'] for row in rows]" if isinstance(item, Mapping) else ""
    return f"{problem}, not {type(item).__name__}{missing(item) or way}"


def is_open_file(item: object) -> bool:
    """Whether an item is a file opened in binary. (A file opened as text is an iterable of its lines.)"""
    return isinstance(item, io.IOBase) and not isinstance(item, io.TextIOBase)


def name_of_open(file: object, nameless: str) -> str:
    """What an open file is called in words for people; nameless: one without a name."""
    name = getattr(file, "name", nameless)
    name = os.fsdecode(name) if isinstance(name, (str, bytes)) else nameless  # or the number of a pipe
    return "standard input" if name == "<stdin>" else name


def read_chunks(file: BinaryIO) -> Iterator[bytes]:
    """What is left of an open file, in chunks. A pipe gives what it holds, without waiting for a whole chunk."""
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    while chunk := read(CHUNK_BYTES):
        yield chunk


def told_of_objects(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The same chunks, of an open file that is read as one text, with a UserWarning if it looks like JSON Lines."""
    for i, chunk in enumerate(chunks):
        if i == 0 and begins_with_objects(chunk):
            warn(
                f"{name} is read as one text, and each of its first lines is a JSON object: set field to the name of "
                "their texts, to read these"
            )
        yield chunk


def begins_with_objects(data: bytes) -> bool:
    """Whether the first bytes of a text look like JSON Lines with texts: the first line is an object that has a str,
    and the next one begins as an object does."""
    first, _, rest = data.removeprefix(codecs.BOM_UTF8).partition(b"\n")
    if not first.startswith(b"{") or not rest.lstrip().startswith(b"{"):
        return False
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and any(isinstance(value, str) for value in found.values())


def slices(text: str) -> Iterator[str]:
    """A text in slices, none of which ends within a pair of surrogates."""
    start = 0
    while start < len(text):
        end = start + CHUNK_BYTES
        end += ends_within_pair(text[end - 1 : end])
        yield text[start:end]
        start = end
