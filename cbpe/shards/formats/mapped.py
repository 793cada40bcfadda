"""Reading shards back: the tokens of a file, mapped into memory, and cut where documents end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from cbpe.shards.formats.writing import Tokens

__all__ = ["DamagedError", "copied", "cut_at", "ends_of", "file_ending_in", "mapped"]

AT_ONCE = 1 << 20  # tokens that are looked through, or ends of documents


class DamagedError(ValueError):
    """A file that is not what its format says."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path} is damaged: {problem}")


def file_ending_in(files: Iterable[Path], ending: str) -> Path:
    """The file of a shard that has this ending. ValueError where the shard has none."""
    named = list(files)
    for path in named:
        if path.name.endswith(ending):
            return path
    raise ValueError(f"the shard of {', '.join(path.name for path in named) or 'no files'} has no file {ending}")


def mapped(path: Path, dtype: str, offset: int = 0) -> Tokens:
    """The little-endian numbers in a file, behind its first `offset` bytes, read as they are asked for."""
    kind = np.dtype(dtype).newbyteorder("<")
    n_bytes = path.stat().st_size - offset
    if n_bytes < 0 or n_bytes % kind.itemsize:
        raise DamagedError(
            path, f"{path.stat().st_size:,} bytes are no whole number of {dtype} behind {offset:,} bytes"
        )
    if not n_bytes:
        return np.zeros(0, kind)  # which the operating system maps not
    return np.memmap(path, kind, "r", offset).view(np.ndarray)


def copied(tokens: Tokens) -> Tokens:
    """The same, in memory of its own: what is mapped holds its file open as long as it is there."""
    made = tokens.copy()
    made.flags.writeable = False
    return made


def cut_at(tokens: Tokens, ends: Iterable[int], path: Path) -> Iterator[Tokens]:
    """The documents that end there, in tokens from the first one. path: the file that says so, for an error."""
    start = 0
    for end in ends:
        if not start <= end <= len(tokens):
            raise DamagedError(
                path, f"a document ends at token {end:,}, where {start:,} to {len(tokens):,} is possible"
            )
        yield copied(tokens[start:end])
        start = end
    if start < len(tokens):
        raise DamagedError(path, f"its documents have {start:,} tokens, and {len(tokens):,} are there")


def ends_of(lengths: npt.NDArray[np.integer[Any]], path: Path) -> Iterator[int]:
    """Where documents of these lengths end."""
    end = 0
    for first in range(0, len(lengths), AT_ONCE):
        for length in lengths[first : first + AT_ONCE].tolist():
            if length < 0:
                raise DamagedError(path, f"a document has {length:,} tokens")
            end += length
            yield end
