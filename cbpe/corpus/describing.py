"""Says in words what a source of text is, for the record of a training; and, before it is read, what of its files is
easily overlooked."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from cbpe._core.text.shown import shown
from cbpe.common.warning import warn
from cbpe.common.wording import listed, number_of
from cbpe.corpus.files import TextFile
from cbpe.corpus.sources import is_open_file, name_of_open
from cbpe.corpus.storage import place_of
from cbpe.corpus.word_counts import WordCounts

__all__ = ["describe_source", "tell_of_plain_text"]

FILES_NAMED = 3  # of a source of many
FILES_OPENED = 8  # to look for special tokens in their beginnings
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


def tell_of_plain_text(source: object, special_tokens: Iterable[str] = (), field: str | None = None) -> None:
    """Without a field, a UserWarning for files that are tables or JSON by their names, which are read whole, and for
    one that begins with texts between special tokens, which are ordinary text there. Of other sources nothing."""
    if field is not None:
        return
    paths = [source] if isinstance(source, os.PathLike) else source if isinstance(source, (list, tuple)) else ()
    places = [place_of(path) for path in paths if isinstance(path, os.PathLike)]
    tables = [str(place) for place in places if any(suffix.lower() in OF_TABLES for suffix in place.suffixes[-2:])]
    if tables:
        is_read = "is read as plain text" if len(tables) == 1 else "are read as plain text"
        warn(
            f"{listed(tables, FILES_NAMED)} {is_read}, with all that stands around the texts: only of .jsonl and "
            ".parquet is a field read"
        )
    tokens = {token: token.encode("utf-8", "replace") for token in special_tokens}
    files = (place for place in places if tokens and isinstance(place, Path) and place.is_file())
    for place in islice(files, FILES_OPENED):
        start = beginning_of(place)
        held = next((token for token, text in tokens.items() if text in start), None)
        if held is not None:
            warn(
                f"{place} holds {shown(held)}, which is ordinary text there and no special token: where it stands "
                "between documents, write each of these to a line of .jsonl, and name its field"
            )


def beginning_of(place: Path) -> bytes:
    """The first bytes of a file of plain text, decompressed; none where it cannot be read, which reading it tells."""
    try:
        return next(iter(TextFile(place, field=None, errors="replace").chunks()), b"")
    except (OSError, ValueError):
        return b""
