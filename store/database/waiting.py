"""Waiting for others: for how long, and in which order. One limit holds for a transaction, however often it is
tried."""

from __future__ import annotations

import math
import random
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from cbpe.common.checks import is_float

__all__ = ["DEADLINE", "SECONDS", "NoTurn", "Turns", "begin_to_write", "checked_timeout", "milliseconds_left", "pause"]

SECONDS = 30.0  # that a transaction waits for others, unless the program says otherwise
MOST_SECONDS = 1e6  # that a database can wait
DEADLINE = "store_deadline"  # the execution option of transactions that write: by time.monotonic()
# Between two looks at SQLite's lock, at random, so that all who wait have the same chance, and those who began to wait
# earlier no smaller one. SQLite itself looks less and less often.
SHORTEST_LOOK, LONGEST_LOOK = 0.0005, 0.01


def checked_timeout(timeout: float) -> float:
    """A number of seconds to wait for others. Raises TypeError or ValueError for what is none."""
    if not is_float(timeout):
        raise TypeError(f"timeout is a number of seconds, not {type(timeout).__name__}")
    if not 0 <= timeout <= MOST_SECONDS or math.isnan(timeout):
        raise ValueError(f"timeout is 0 to {MOST_SECONDS:.0f} seconds, not {timeout}")
    return float(timeout)


def milliseconds_left(deadline: float) -> int:
    """At least 1, since 0 means no limit to a database."""
    return max(1, round((deadline - time.monotonic()) * 1000))


def pause() -> None:
    """Wait until others may be out of the way."""
    time.sleep(random.uniform(0.005, 0.05))


def begin_to_write(connection: sqlite3.Connection, deadline: float) -> None:
    """Begin a transaction that has the lock of an SQLite file. Raises sqlite3.OperationalError if
    others have it until the deadline."""
    (waits,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if "is locked" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(SHORTEST_LOOK, LONGEST_LOOK))
    finally:
        connection.execute(f"PRAGMA busy_timeout = {waits}")


class NoTurn(Exception):  # noqa: N818  (as the store's errors, it is named for what it says)
    """It was not this thread's turn in time."""


class Turns:
    """What one thread at a time has; the others get it in the order in which they came."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._has_it: threading.Lock | None = None  # which its thread is called by; as those who wait
        self._waiting: deque[threading.Lock] = deque()

    @contextmanager
    def turn(self, deadline: float) -> Iterator[None]:
        """Have it while the block runs. Raises NoTurn if it is not this thread's turn by the deadline."""
        called = threading.Lock()
        called.acquire()
        try:
            self._wait(called, deadline)
            yield
        finally:  # wherever Ctrl-C may have come
            self._leave(called)

    def _wait(self, called: threading.Lock, deadline: float) -> None:
        with self._guard:
            if self._has_it is None:
                self._has_it = called
                return
            self._waiting.append(called)
        if not called.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise NoTurn("other threads of this program write to it all the time")

    def _leave(self, called: threading.Lock) -> None:
        """Pass it on, or wait no longer for it."""
        with self._guard:
            if self._has_it is called:
                self._has_it = self._waiting.popleft() if self._waiting else None
                if self._has_it is not None:
                    self._has_it.release()
            elif called in self._waiting:
                self._waiting.remove(called)
