"""Files of word counts as sources of training."""

from __future__ import annotations

import os
from typing import Any

from cbpe.common.wording import NamedErrors, listed
from cbpe.corpus.files import TextFile, has_word_counts
from cbpe.corpus.storage import place_of
from cbpe.corpus.word_counts import WordCounts

__all__ = ["name_of_counts", "with_counts_loaded"]

NAMES = 3  # of files, in a message


def with_counts_loaded(source: Any) -> Any:
    """The same source; WordCounts for a file of word counts (its name ends in .words), and the sum for several of them.

    Raises OSError and ValueError as WordCounts.load, and ValueError for such files together with texts.
    """
    items = source if isinstance(source, (list, tuple)) else [source]
    files = [item for item in items if is_file_of_counts(item)]
    if not files:
        return source
    if len(files) < len(items):
        raise ValueError(
            f"{os.fspath(files[0])} holds word counts, and other sources hold texts: count these by count-words as well"
        )
    counts = load(files[0])
    for file in files[1:]:
        more = load(file)
        try:
            counts += more
        except ValueError as error:
            raise ValueError(f"{os.fspath(file)}: {error}") from error
    counts._files = tuple(files)
    return counts


def name_of_counts(source: Any) -> str:
    """How a message begins that says what was done to the counts that a source is: a file by its name."""
    items = source._files if isinstance(source, WordCounts) else source
    items = items if isinstance(items, (list, tuple)) else [items]
    files = [os.fspath(item) for item in items if is_file_of_counts(item)]
    return f"the words in {listed(files, NAMES)} were" if files else "these WordCounts were"


def is_file_of_counts(item: Any) -> bool:
    return not isinstance(item, (str, bytes)) and isinstance(item, os.PathLike) and has_word_counts(place_of(item))


def load(path: os.PathLike[str]) -> WordCounts:
    """As WordCounts.load, which takes no URLs."""
    file = TextFile(path, field=None, errors="strict")
    with file.opened() as opened, NamedErrors(path):
        data = opened.read()
    try:
        return WordCounts._from_bytes(data)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error
