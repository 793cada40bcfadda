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
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    @contextmanager
    def turn(self, deadline: float) -> Iterator[None]:
        """Have it while the block runs. Raises NoTurn if it is not this thread's turn by the deadline."""
        self._acquire(deadline)
        try:
            yield
        finally:
            self._release()

    def _acquire(self, deadline: float) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        try:
            in_time = called.acquire(timeout=max(0.0, deadline - time.monotonic()))
        except BaseException:  # Ctrl-C
            self._leave(called)
            raise
        if not in_time:
            self._leave(called)
            raise NoTurn("other threads of this program write to it all the time")

    def _leave(self, called: threading.Lock) -> None:
        """Wait no longer; and if it is this thread's turn just now, pass it on."""
        with self._guard:
            if called in self._waiting:
                self._waiting.remove(called)
                return
        self._release()

    def _release(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
