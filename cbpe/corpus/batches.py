"""Cuts texts into batches of some size, which are split and counted one by one, so that no cut changes a piece.

A batch ends where a text ends, or within a text where a piece ends for certain. The places depend on the texts and the
size alone: not on the chunks that a text comes in, nor on who counts the batches.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["BATCH_BYTES", "Batch", "batches"]

BATCH_BYTES = 1 << 19


class Batch(NamedTuple):
    """Texts, or stretches of texts: number i is data[ends[i - 1]:ends[i]], in UTF-8. The bytes after the last end, if
    there are any, are one character, with which the last text goes on."""

    data: memoryview
    ends: Any  # array("q"), or an array of int64

    @property
    def n_bytes(self) -> int:
        return int(self.ends[-1])


def batches(
    texts: Iterable[bytes | Iterable[bytes]],
    last_border: Callable[[memoryview], tuple[int, int]] | None,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[Batch]:
    """Batches of about batch_bytes; larger where a text has no border for longer.

    texts: each as its bytes, or as an iterable of chunks of them. last_border: the method of the Splitter that splits
    the batches; None if a text may not be cut.
    """
    cutter = Cutter(last_border, batch_bytes)
    for text in texts:
        if isinstance(text, bytes) and cutter.add_small(text):
            continue
        for chunk in (text,) if isinstance(text, bytes) else text:
            yield from cutter.add(chunk)
        cutter.end_text()
    yield from cutter.finish()


class Cutter:
    """Holds what has been read and is in no batch yet, and makes batches of it."""

    def __init__(self, last_border: Callable[[memoryview], tuple[int, int]] | None, batch_bytes: int) -> None:
        self.last_border = last_border
        self.batch_bytes = batch_bytes
        self.limit = batch_bytes  # when it holds so much, a batch is due
        self.chunks: list[bytes | memoryview] = []
        self.held = 0  # bytes of the chunks
        self.ends = array("q")  # in them, of the texts that are whole

    def add_small(self, text: bytes) -> bool:
        """Take a whole text, unless a batch is due then: the usual case of many texts."""
        held = self.held + len(text)
        if held >= self.limit:
            return False
        if text:
            self.chunks.append(text)
            self.held = held
            self.ends.append(held)
        return True

    def add(self, chunk: bytes) -> Iterator[Batch]:
        """Take more of a text."""
        view = memoryview(chunk)
        while self.held + len(view) >= self.limit:
            room = self.limit - self.held
            self.chunks.append(view[:room])
            self.held += room
            view = view[room:]
            yield from self._cut()
        self.chunks.append(view)
        self.held += len(view)

    def end_text(self) -> None:
        """End the text that was taken last."""
        if self.held > self._text_start():
            self.ends.append(self.held)

    def finish(self) -> Iterator[Batch]:
        """The last batch, when all texts have ended."""
        if self.ends:
            batch = Batch(memoryview(b"".join(self.chunks)), self.ends)
            self._hold(b"")
            yield batch

    def _cut(self) -> Iterator[Batch]:
        """Make a batch up to the last place where it may end; none if there is no such place."""
        start = self._text_start()
        border = seen_to = 0
        if self.last_border is not None:
            data = b"".join(self.chunks)
            self.chunks = [data]
            border, seen_to = self.last_border(memoryview(data)[start:])
        if border:
            self.ends.append(start + border)
            batch = Batch(memoryview(data)[: start + seen_to], self.ends)
            self._hold(data[start + border :])
            yield batch
        elif start:
            data = b"".join(self.chunks)
            batch = Batch(memoryview(data)[:start], self.ends)
            self._hold(data[start:])
            yield batch
        else:
            self.limit = 2 * self.held

    def _text_start(self) -> int:
        """Where the text that has not ended begins."""
        return self.ends[-1] if self.ends else 0

    def _hold(self, data: bytes) -> None:
        """Begin anew with these bytes of a text, or with none."""
        self.chunks = [data] if data else []
        self.held = len(data)
        self.ends = array("q")
        self.limit = max(self.batch_bytes, 2 * self.held)
