"""Cuts what is read into batches of some size, to be split and counted one by one, so that no cut changes a piece.

A batch ends where a text ends, or at a place within one where a piece ends for certain. Where that is depends on the
texts and the size alone: not on the parts that a text comes in, nor on who counts the batches.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

__all__ = ["BATCH_BYTES", "Batch", "batches"]

BATCH_BYTES = 1 << 19


class Batch(NamedTuple):
    """Texts, or parts of texts: number i is data[ends[i - 1]:ends[i]], in UTF-8. What is in data behind the last end
    shows how the last text goes on: one character."""

    data: memoryview
    ends: array[int]  # array("q")

    @property
    def n_bytes(self) -> int:
        return self.ends[-1]


def batches(
    texts: Iterable[bytes | Iterable[bytes]],
    last_border: Callable[[memoryview], tuple[int, int]] | None,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[Batch]:
    """Batches of about batch_bytes; larger where a text has no border for longer.

    texts: each as its bytes, or as an iterable of parts of them. last_border: Splitter.last_border of the splitter that
    the pieces are for; None if a text may not be cut.
    """
    cutter = Cutter(last_border, batch_bytes)
    for text in texts:
        if isinstance(text, bytes) and cutter.add_small(text):
            continue
        for part in (text,) if isinstance(text, bytes) else text:
            yield from cutter.add(part)
        cutter.end_text()
    yield from cutter.finish()


class Cutter:
    """What has been read and is in no batch yet."""

    def __init__(self, last_border: Callable[[memoryview], tuple[int, int]] | None, batch_bytes: int) -> None:
        self.last_border = last_border
        self.batch_bytes = batch_bytes
        self.limit = batch_bytes  # when this much is held, a batch is due
        self.parts: list[bytes | memoryview] = []
        self.held = 0  # bytes of parts
        self.ends = array("q")  # of the texts among them that are whole

    def add_small(self, text: bytes) -> bool:
        """Take a whole text, if that makes no batch: the usual case of many texts."""
        held = self.held + len(text)
        if held >= self.limit:
            return False
        if text:
            self.parts.append(text)
            self.held = held
            self.ends.append(held)
        return True

    def add(self, part: bytes) -> Iterator[Batch]:
        """Take more of a text."""
        view = memoryview(part)
        while self.held + len(view) >= self.limit:
            room = self.limit - self.held
            self.parts.append(view[:room])
            self.held += room
            view = view[room:]
            yield from self._cut()
        self.parts.append(view)
        self.held += len(view)

    def end_text(self) -> None:
        """What was taken last was the end of a text."""
        if self.held > self._text_start():
            self.ends.append(self.held)

    def finish(self) -> Iterator[Batch]:
        """What is left, when all texts have ended."""
        if self.ends:
            batch = Batch(memoryview(b"".join(self.parts)), self.ends)
            self._hold(b"")
            yield batch

    def _cut(self) -> Iterator[Batch]:
        """Make a batch of what is held, up to the last place where that may be; none if there is no such place."""
        start = self._text_start()
        border = behind = 0
        if self.last_border is not None:
            data = b"".join(self.parts)
            self.parts = [data]
            border, behind = self.last_border(memoryview(data)[start:])
        if border:
            self.ends.append(start + border)
            batch = Batch(memoryview(data)[: start + behind], self.ends)
            self._hold(data[start + border :])
            yield batch
        elif start:
            data = b"".join(self.parts)
            batch = Batch(memoryview(data)[:start], self.ends)
            self._hold(data[start:])
            yield batch
        else:
            self.limit = 2 * self.held

    def _text_start(self) -> int:
        """Where the text that has not ended begins."""
        return self.ends[-1] if self.ends else 0

    def _hold(self, data: bytes) -> None:
        """Begin anew with this part of a text, or none."""
        self.parts = [data] if data else []
        self.held = len(data)
        self.ends = array("q")
        self.limit = max(self.batch_bytes, 2 * self.held)
