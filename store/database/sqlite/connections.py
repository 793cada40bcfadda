"""Connections to SQLite: how each is set up, and that each is to the file that stands at the path now."""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import QueuePool

from store.database.sqlite.files import (
    State,
    check_file,
    file_is_used,
    file_was_closed,
    is_inherited,
    size_of_log,
    state_of,
)
from store.database.statements import new_engine
from store.database.waiting import DEADLINE, SECONDS, begin_to_write
from store.errors import Busy

__all__ = ["WRITES", "FileConnection", "empty_log", "is_replaced", "make_engine", "memory_engine"]

MILLISECONDS_FOR_LOG = 100  # that emptying the log waits for others; the next write tries again
SECONDS_OF_CLOCK = 0.02  # within which a file system may give two changes the same time
ATTEMPTS = 50  # to open a file while others put new ones in its place
PAGES = ("page_count", "page_size")
ANY = URL.create("sqlite")  # what is opened is for `creator` to say
WRITES = "store_writes"  # the execution option of transactions that write


_engines: weakref.WeakSet[Engine] = weakref.WeakSet()  # of files


def close_idle() -> None:
    """Before this process is forked: close the connections that nobody uses. A child would inherit what SQLite knows of
    their locks, and not the locks."""
    for engine in list(_engines):
        engine.dispose()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=close_idle)


class FileConnection(sqlite3.Connection):
    """A connection that knows which file it has opened."""

    path: str
    state: State  # of the file when it was opened, or when this connection last wrote to it
    mode: str  # "rw", "ro" or "immutable"
    timeout: float  # seconds that it waits for others
    is_new = True  # so that nothing was read yet
    _is_noted = False

    def note(self, path: str, state: State, mode: str, timeout: float) -> None:
        """Say what was opened."""
        self.path, self.state, self.mode, self.timeout = path, state, mode, timeout
        file_is_used(state)
        self._is_noted = True

    def close(self) -> None:
        end_transaction(self)
        super().close()
        if self._is_noted:
            self._is_noted = False
            file_was_closed(self.state)

    def is_of_file(self) -> bool:
        """Whether the path still has the file that was opened."""
        found = state_of(self.path)
        return found is not None and found.identity == self.state.identity

    def is_unchanged(self) -> bool:
        """Whether nobody has written to the file since."""
        return state_of(self.path) == self.state and not (self.mode == "immutable" and size_of_log(self.path))


def end_transaction(connection: sqlite3.Connection) -> None:
    """Before a connection is closed: give up its locks. SQLite itself keeps them for as long as somebody has a cursor
    that was not read to its end, as the traceback of a Ctrl-C does."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.rollback()


class MemoryConnection(sqlite3.Connection):
    """A connection to a database in memory, which would be gone with it. SQLAlchemy closes a connection that was
    interrupted by Ctrl-C: the next one gets what is in it."""

    def close(self) -> None:
        end_transaction(self)

    def end(self) -> None:
        super().close()


def make_engine(path: str, read_only: bool = False, timeout: float = SECONDS) -> Engine:
    """Connections to an existing file. With read_only no connection changes anything. timeout: seconds that each waits
    for others."""

    def connect() -> FileConnection:
        connection = opened(path, read_only, timeout)
        try:
            prepare(connection, not read_only)
        except BaseException:
            connection.close()
            raise
        return connection

    engine = new_engine(ANY, creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=-1)
    _engines.add(engine)

    @event.listens_for(engine, "checkout")
    def look_again(connection: Any, record: object, proxy: object) -> None:
        """Open the file anew if it was replaced or written to: a connection may remember what it has read. (SQLite
        itself notices what other connections of SQLite write, but no copy over the file, and nothing where it is
        immutable.)"""
        if connection.is_new:
            connection.is_new = False
        elif not connection.is_unchanged():
            raise DisconnectionError(f"{path} has changed")

    return with_transactions(engine, timeout)


def opened(path: str, read_only: bool, timeout: float) -> FileConnection:
    """A connection to the file at the path, and not to one that has just been replaced. Raises CannotOpen or NotAStore
    if no store is there (any more)."""
    for _ in range(ATTEMPTS):
        check_file(path, writable=not read_only)
        before = state_of(path)
        mode = reading_mode(path) if read_only else "rw"
        if before is None or (mode == "immutable" and not has_settled(before)):
            continue
        if is_inherited(before):
            raise Busy(
                f"this process was forked while another thread used the store {path}, which SQLite does not survive: "
                "fork while nobody uses it, or start the process in another way (multiprocessing's spawn)"
            )
        query = "mode=ro&immutable=1" if mode == "immutable" else f"mode={mode}"
        uri = f"file:{quote(os.fsencode(path))}?{query}"
        connection = sqlite3.connect(uri, uri=True, timeout=timeout, check_same_thread=False, factory=FileConnection)
        connection.note(path, before, mode, timeout)
        if connection.is_of_file():
            return connection
        connection.close()
    raise Busy(f"the store {path} is replaced or written to again and again")


def reading_mode(path: str) -> str:
    """How to open a file that is only read. "rw" if possible, since only a connection that may write removes the log
    and its index in the end. Otherwise "ro", or "immutable" if SQLite cannot put the index beside the file and there is
    no log to read. What counts is the folder of the file itself, where SQLite has the log, and not that of a link."""
    real = os.path.realpath(path)
    beside = os.access(os.path.dirname(real), os.W_OK)
    if beside and os.access(real, os.W_OK):
        return "rw"
    return "ro" if beside or size_of_log(real) else "immutable"


def has_settled(state: State) -> bool:
    """Whether a later change would give the file another time. If not, wait a little."""
    age = time.time_ns() - state.modified
    if 0 <= age < SECONDS_OF_CLOCK * 1e9:
        time.sleep(SECONDS_OF_CLOCK)
        return False
    return True


def is_replaced(connection: Connection) -> bool:
    """Whether the file that a transaction writes to is not the one at the path any more, or was overwritten by another
    program, so that SQLite does not know its size."""
    driver: Any = connection.connection.driver_connection
    if not isinstance(driver, FileConnection):
        return False
    if not driver.is_of_file():
        return True
    n_pages, page_bytes = (connection.exec_driver_sql(f"PRAGMA {what}").scalar_one() for what in PAGES)
    found = state_of(driver.path)
    return size_of_log(driver.path) == 0 and found is not None and found.size != n_pages * page_bytes


def empty_log(connection: Connection) -> None:
    """After a transaction: bring what was written from the log into the file, and empty the log, so that the file alone
    is the whole store. What was written is safe before that, so no failure counts: readers may be in the way, or the
    disk may be full. The next write, or closing the store, does it then."""
    driver: Any = connection.connection.driver_connection
    if not isinstance(driver, FileConnection):
        return
    with suppress(sqlite3.Error):
        driver.execute(f"PRAGMA busy_timeout = {MILLISECONDS_FOR_LOG}")
        try:
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            driver.execute(f"PRAGMA busy_timeout = {round(driver.timeout * 1000)}")
    found = state_of(driver.path)
    if found is not None and found.identity == driver.state.identity:
        driver.state = found


def memory_engine(timeout: float = SECONDS) -> Engine:
    """One connection to a database in memory, which threads take turns with, until the engine is disposed of."""
    kept: list[MemoryConnection] = []

    def connect() -> MemoryConnection:
        connection = sqlite3.connect(":memory:", check_same_thread=False, factory=MemoryConnection)
        if kept:
            kept[-1].backup(connection)
            kept.pop().end()
        kept.append(connection)
        prepare(connection, True)
        return connection

    engine = new_engine(ANY, creator=connect, poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=timeout)

    @event.listens_for(engine, "engine_disposed")
    def end(engine: Engine) -> None:
        while kept:
            kept.pop().end()

    return with_transactions(engine, timeout)


def prepare(connection: sqlite3.Connection, writable: bool) -> None:
    connection.isolation_level = None  # so that SQLAlchemy's BEGIN below is the only one
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")  # a file from elsewhere calls no functions of this program
    if writable:
        connection.execute("PRAGMA synchronous = FULL")  # what was committed survives a power cut
        connection.execute("PRAGMA fullfsync = ON")  # on macOS too, where a plain fsync leaves it in the disk's cache
        connection.execute("PRAGMA checkpoint_fullfsync = ON")
    else:
        connection.execute("PRAGMA query_only = ON")


def with_transactions(engine: Engine, timeout: float) -> Engine:
    """Let SQLAlchemy begin the transactions, as its documentation of SQLite recommends. A transaction that writes takes
    the lock at once: one that has read first may be refused the lock later."""

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if WRITES not in options:
            connection.exec_driver_sql("BEGIN")
            return
        driver: Any = connection.connection.driver_connection
        try:
            begin_to_write(driver, options.get(DEADLINE, time.monotonic() + timeout))
        except sqlite3.Error as error:
            raise DBAPIError.instance("BEGIN IMMEDIATE", None, error, sqlite3.Error) from error

    return engine
