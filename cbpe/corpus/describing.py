"""Says in words what a source of text is, for the record of a training; and, before it is read, what of its files is
easily overlooked."""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from cbpe._core.text.shown import shown
from cbpe.common.warning import warn
from cbpe.common.wording import listed, number_of
from cbpe.corpus.files import TextFile
from cbpe.corpus.sources import begins_with_objects, is_open_file, name_of_open
from cbpe.corpus.storage import Url, place_of
from cbpe.corpus.stored_bytes import DECOMPRESSORS
from cbpe.corpus.word_counts import WordCounts

__all__ = ["describe_source", "tell_of_plain_text", "watched"]

FILES_NAMED = 3  # of a source of many
LOOKED_INTO = 8  # files, and texts of a list, for special tokens
MOST_SEARCHED = 1 << 26  # bytes of all of them, once for each special token
AS_TEXTS = "pass these as a list of texts"
AS_LINES = "write each of these to a line of .jsonl, and name its field"
BYTES = (bytes, bytearray, memoryview)
OF_TABLES = {".csv", ".tsv", ".json"}  # endings of files that hold texts among other things


def describe_source(source: object) -> str:
    """A source in some words: "a text of 12 characters", "corpus.txt", "3 texts"."""
    if isinstance(source, str):
        return f"a text of {number_of(len(source), 'character')}"
    if isinstance(source, os.PathLike):
        return os.fsdecode(source)
    if is_open_file(source):
        return name_of_open(source, "an open file")
    if isinstance(source, (bytes, bytearray, memoryview)):
        return f"a text of {number_of(memoryview(source).nbytes, 'byte')}"
    if isinstance(source, (list, tuple)) and any(map(is_file, source)):
        more = f", and {len(source) - FILES_NAMED:,} more" if len(source) > FILES_NAMED else ""
        return ", ".join(map(describe_source, source[:FILES_NAMED])) + more
    if isinstance(source, (list, tuple)):
        return number_of(len(source), "text")
    if isinstance(source, WordCounts):
        return describe_source(source._files) if source._files else repr(source)
    return f"texts of a {type(source).__name__}"


def is_file(source: object) -> bool:
    return isinstance(source, os.PathLike) or is_open_file(source)


def tell_of_objects(places: Iterable[Path | Url]) -> None:
    """A UserWarning for each file of plain text that looks like JSON Lines."""
    for place in places:
        with closing(chunks_of(place)) as chunks:
            if begins_with_objects(next(chunks, b"")):
                suffixes = [suffix.lower() for suffix in place.suffixes if suffix.lower() not in DECOMPRESSORS]
                way = "set field, to read the texts in it"
                if suffixes[-1:] != [".json"]:
                    way = "rename it to end in .jsonl, to read a field of each"
                warn(f"{place} is read as one text, and each of its first lines is a JSON object: {way}")


def tell_of_plain_text(source: object, special_tokens: Iterable[str] = (), field: str | None = None) -> None:
    """Without a field, a UserWarning for files that are tables or JSON by their names, which are read whole, and for
    a file or a str with special tokens in its first megabytes, which are ordinary text there, and for plain text
    that looks like JSON Lines. Of other sources nothing."""
    if field is not None:
        return
    items = source if isinstance(source, (list, tuple)) else [source]
    places = [place_of(item) for item in items if isinstance(item, os.PathLike)]
    tables = [str(place) for place in places if any(suffix.lower() in OF_TABLES for suffix in place.suffixes[-2:])]
    if tables:
        is_read = "is read as plain text" if len(tables) == 1 else "are read as plain text"
        warn(
            f"{listed(tables, FILES_NAMED)} {is_read}, with all that stands around the texts: where a field is "
            "named, it is read, of .parquet and of JSON Lines (.jsonl, .json) alone"
        )
    files = [*islice((place for place in places if isinstance(place, Path) and place.is_file()), LOOKED_INTO)]
    urls = islice((place for place in places if isinstance(place, Url)), LOOKED_INTO)
    looked_into: list[Path | Url] = [*files, *urls]
    tell_of_objects(place for place in looked_into if str(place) not in tables)
    tokens = {token: token.encode("utf-8", "replace") for token in special_tokens}
    if not tokens:
        return
    texts = [text for text in items[:LOOKED_INTO] if isinstance(text, (str, *BYTES))]
    most = MOST_SEARCHED // len(tokens) // max(1, len(texts) + len(files))  # of each
    starts: list[tuple[str, str, Generator[bytes, None, None]]]
    starts = [("a text", AS_TEXTS, start_of(text, most)) for text in texts]
    starts += ((str(place), AS_LINES, chunks_of(place)) for place in files)
    for name, way, chunks in starts:
        with closing(chunks):  # left to the collector, it would swallow a Ctrl-C that comes as it is closed
            held = first_found(chunks, tokens, most)
        if held is not None:
            warn_of_token(name, held, way)


def start_of(text: str | bytes | bytearray | memoryview, most: int) -> Generator[bytes, None, None]:
    """The beginning of a text, in UTF-8, made when it is asked for."""
    if isinstance(text, str):
        yield str.__str__(text)[:most].encode("utf-8", "replace")
    else:
        view = memoryview(text)
        yield (view.cast("B")[:most] if view.c_contiguous else memoryview(view.tobytes())[:most]).tobytes()


def warn_of_token(name: str, token: str, way: str) -> None:
    warn(
        f"{name} holds {shown(token)}, which is ordinary text there and no special token: where it stands between "
        f"documents, {way}"
    )


def watched(source: Any, special_tokens: Iterable[str], field: str | None) -> Any:
    """The same source, in which files that are open, such as a pipe, are looked through for special tokens as they are
    read: a UserWarning tells of the first one in their first megabytes."""
    tokens = {token: token.encode("utf-8", "replace") for token in special_tokens}
    if field is not None or not tokens:
        return source
    if is_open_file(source):
        return WatchedFile(source, tokens)
    if isinstance(source, (list, tuple)) and any(map(is_open_file, source)):
        return [WatchedFile(item, tokens) if is_open_file(item) else item for item in source]
    return source


class WatchedFile(io.RawIOBase):
    """Reads a file that is open, which stays open, and tells of the first special token in its first megabytes."""

    def __init__(self, file: BinaryIO, tokens: Mapping[str, bytes]) -> None:
        name = getattr(file, "name", None)
        if isinstance(name, (str, bytes)):
            self.name = name
        self._read = getattr(file, "read1", file.read)
        self._tokens = tokens
        self._left = MOST_SEARCHED // len(tokens)  # bytes to look through
        self._end = b""  # of what was looked through, as a token may begin in it

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = bytes(self._read(size) or b"")  # None, where a file that does not wait has nothing
        if self._left > 0:
            seen = self._end + data
            found = first_found([seen], self._tokens, self._left)
            self._left = 0 if found else self._left - len(data)
            self._end = seen[-max(map(len, self._tokens.values())) :]
            if found:
                warn_of_token(name_of_open(self, "an open file"), found, AS_LINES)
        return data


def first_found(chunks: Iterable[bytes], tokens: Mapping[str, bytes], most: int) -> str | None:
    """A token whose bytes are in the first `most` bytes, or a few more, of a text; None where there is none."""
    overlap = max(map(len, tokens.values())) - 1
    data = b""
    for chunk in chunks:
        data = data[max(0, len(data) - overlap) :] + chunk
        for token, text in tokens.items():
            if text in data:
                return token
        most -= len(chunk)
        if most <= 0:
            return None
    return None


def chunks_of(place: Path | Url) -> Generator[bytes, None, None]:
    """The bytes of a file of plain text, decompressed, up to where they cannot be read, which reading it tells."""
    with suppress(OSError, ValueError):
        yield from TextFile(place, field=None, errors="replace").chunks()
