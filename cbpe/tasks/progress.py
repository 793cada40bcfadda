"""How far a run is: documents, tokens, bytes and the time that is left, told now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from cbpe.common.progress import SECONDS_BETWEEN_REPORTS

__all__ = ["Progress", "ProgressListener", "Tally"]


class Progress(NamedTuple):
    """How far a run is. Bytes are those of the sources as they are stored; what was done before is in all numbers but
    the rates'."""

    stage: str
    documents: int
    tokens: int
    bytes: int
    total_bytes: int
    tasks: int
    total_tasks: int
    seconds: float  # since this process began with the stage
    new_bytes: int  # that this process has read

    @property
    def bytes_per_second(self) -> float:
        return self.new_bytes / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """None where nobody can tell yet."""
        rate = self.bytes_per_second
        return max(0, self.total_bytes - self.bytes) / rate if rate else None


ProgressListener = Callable[[Progress], object]


class Tally:
    """Adds up what several threads tell, and passes it on some ten times a second."""

    def __init__(self, listener: ProgressListener | None, total_bytes: int, total_tasks: int, stage: str) -> None:
        self.stage = stage
        self.listener = listener
        self.total_bytes, self.total_tasks = total_bytes, total_tasks
        self.documents = self.tokens = self.bytes = self.tasks = 0
        self._before = 0  # bytes that were read before this process
        self._began = time.monotonic()
        self._due = 0.0
        self._lock = threading.Lock()

    def add_done(self, documents: int, tokens: int, n_bytes: int) -> None:
        """A task that was done before."""
        self.documents += documents
        self.tokens += tokens
        self.bytes += n_bytes
        self._before += n_bytes
        self.tasks += 1

    def add(self, documents: int, tokens: int, n_bytes: int) -> None:
        with self._lock:
            self.documents += documents
            self.tokens += tokens
            self.bytes += n_bytes
            self._tell()

    def task_done(self) -> None:
        with self._lock:
            self.tasks += 1
            self._tell(now=True)

    def _tell(self, now: bool = False) -> None:
        if self.listener is None:
            return
        moment = time.monotonic()
        if now or moment >= self._due:
            self._due = moment + SECONDS_BETWEEN_REPORTS
            self.listener(self.progress(moment))

    def progress(self, moment: float | None = None) -> Progress:
        seconds = (time.monotonic() if moment is None else moment) - self._began
        new = self.bytes - self._before
        return Progress(
            self.stage, self.documents, self.tokens, self.bytes, self.total_bytes, self.tasks, self.total_tasks,
            seconds, new,
        )  # fmt: skip
