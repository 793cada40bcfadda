"""Says in words what a source of text is, for the record of a training."""

from __future__ import annotations

import os

from cbpe.common.wording import number_of
from cbpe.corpus.sources import is_open_file, name_of_open
from cbpe.corpus.word_counts import WordCounts

__all__ = ["describe_source"]

FILES_NAMED = 3  # of a source of many


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
