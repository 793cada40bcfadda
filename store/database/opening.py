"""Opening a store, and its transactions."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, inspect, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoResultFound, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from store.database.locations import is_in_memory, shown_url, sqlite_path
from store.database.migrating import is_current, upgrade
from store.database.schema import VERSION_TABLE
from store.database.sqlite_files import WRITES, check_file, create_file, make_engine, memory_engine, reading_mode
from store.errors import Busy, CannotOpen, Closed, Damaged, Failed, NotAStore, Outdated, ReadOnly, StoreError

__all__ = ["UNREADABLE", "Database"]

T = TypeVar("T")

SECONDS_OF_RETRIES = 60.0  # for which a transaction is repeated that others are in the way of
# Reading raises these for a missing row, and for bytes that are no text, also those in SQLite's own message.
UNREADABLE = (NoResultFound, UnicodeDecodeError)
LOCK_OF_UPGRADES = int.from_bytes(b"cbpe", "big")  # PostgreSQL's advisory lock on making and migrating a store
_of_others: list[Engine] = []  # of the process that this one was forked from


class Database:
    """A database with a store of the newest schema. Opening makes a store that is not there, and migrates an older
    one."""

    def __init__(self, url: URL, read_only: bool) -> None:
        self.url = url
        self.read_only = read_only
        self.path = sqlite_path(url)
        self._closed = False
        self._make_sure_of_a_file()
        self._connect()
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give back all connections, and make no other."""
        self._closed = True
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that reads. It sees the store as it is at one moment."""
        self._check_usable()
        try:
            with self._engine.connect() as connection:
                yield connection
        except DBAPIError as error:
            raise self._explained(error) from error
        except NoConnection as error:
            raise self._busy(error) from error
        except UNREADABLE as error:
            raise self._damaged(error) from error

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do work in one transaction, which takes effect as a whole or not at all. It is repeated if others were in the
        way."""
        self._check_usable()
        if self.read_only:
            raise ReadOnly(f"the store {self} was opened for reading alone: nothing in it can be changed")
        deadline = time.monotonic() + SECONDS_OF_RETRIES
        while True:
            try:
                with self._writer.begin() as connection:
                    return work(connection)
            except DBAPIError as error:
                if not is_transient(error) or time.monotonic() > deadline:
                    raise self._explained(error) from error
            except NoConnection as error:
                raise self._busy(error) from error
            except UNREADABLE as error:
                raise self._damaged(error) from error
            time.sleep(random.uniform(0.005, 0.05))

    def compact(self) -> None:
        """Give what is unused back to the disk."""
        self._check_usable()
        if self.url.get_backend_name() == "postgresql":
            try:
                with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.exec_driver_sql("VACUUM")
            except DBAPIError as error:
                raise self._explained(error) from error
            return
        driver = self._engine.raw_connection()  # VACUUM is done outside of transactions
        try:
            driver.cursor().execute("VACUUM")
            driver.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise Failed(f"the store {self} could not be compacted, and is as before: {error}") from error
        finally:
            driver.close()

    def __str__(self) -> str:
        return self.path or shown_url(self.url)

    # ---- Opening

    def _make_sure_of_a_file(self) -> None:
        if self.url.get_backend_name() == "postgresql":
            return
        if self.path is None:
            if self.read_only:
                raise CannotOpen("a store in memory is new and empty: there is nothing to be read")
            return
        if not os.path.lexists(self.path):
            if self.read_only:
                raise CannotOpen(f"there is no store at {self.path}, and none is made in order to read it")
            create_file(self.path)
        check_file(self.path, writable=not self.read_only)

    def _connect(self) -> None:
        if self.url.get_backend_name() == "postgresql":
            self._engine = postgresql_engine(self.url, self.read_only)
        elif self.path is None:
            self._engine = memory_engine()
        else:
            mode = reading_mode(self.path) if self.read_only else "rw"
            self._engine = make_engine(self.path, mode, self.read_only)
        self._writer = self._engine.execution_options(**writing_options(self.url))
        self._process = os.getpid()

    def _prepare(self) -> None:
        try:
            with self._engine.connect() as connection:
                is_made = inspect(connection).has_table(VERSION_TABLE)
                if is_made and is_current(connection):
                    return
        except DBAPIError as error:
            raise self._not_opened(error) from error
        except UNREADABLE as error:
            raise NotAStore(f"{self} is no whole store: {error}") from error
        if self.read_only and is_made:
            raise Outdated(f"the store {self} is of an older schema: open it once for writing, which migrates it")
        if self.read_only:
            raise CannotOpen(f"there is no store in {self} yet, and none is made in order to read it")
        self.write(self._bring_up_to_date)

    def _bring_up_to_date(self, connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_OF_UPGRADES})
        # Another process may have made or migrated the store by now.
        if not inspect(connection).has_table(VERSION_TABLE) or not is_current(connection):
            upgrade(connection)

    # ---- Errors

    def _check_usable(self) -> None:
        if self._closed:
            raise Closed(f"the store {self} was closed: open it again")
        if self._process != os.getpid() and not is_in_memory(self.url):
            # The connections from before the fork belong to the other process. Closing them here would end its
            # sessions.
            _of_others.append(self._engine)
            self._connect()

    def _not_opened(self, error: DBAPIError) -> StoreError:
        reason = str(error.orig).strip()
        if isinstance(error, OperationalError) and not is_transient(error):
            return CannotOpen(f"the store {self} cannot be opened: {reason}")
        if is_transient(error):
            return Busy(f"the store {self} cannot be opened: {reason}")
        return NotAStore(f"{self} is no whole store: {reason}")

    def _explained(self, error: DBAPIError) -> StoreError:
        reason = str(error.orig).strip()
        if is_transient(error):
            return self._busy(reason)
        if any(problem in reason for problem in ("malformed", "not a database", "Could not decode")):
            return self._damaged(reason)
        return Failed(f"the store {self} could not do it, and is as before: {reason}")

    def _busy(self, reason: object) -> Busy:
        return Busy(f"the store {self} is kept busy by others: {reason}")

    def _damaged(self, reason: object) -> Damaged:
        return Damaged(f"the store {self} is damaged: {reason}")


def postgresql_engine(url: URL, read_only: bool) -> Engine:
    options = {"postgresql_readonly": True} if read_only else {}
    try:
        return create_engine(url, pool_pre_ping=True, isolation_level="REPEATABLE READ", execution_options=options)
    except (ImportError, ArgumentError) as error:
        raise CannotOpen(f"a store in PostgreSQL takes a driver, pip install 'cbpe[postgresql]': {error}") from error


def writing_options(url: URL) -> dict[str, Any]:
    """The options of transactions that write. In PostgreSQL they lock the rows that they depend on, and then see what
    is there once they have the lock, while transactions that read see one moment."""
    return {"isolation_level": "READ COMMITTED"} if url.get_backend_name() == "postgresql" else {WRITES: True}


def is_transient(error: DBAPIError) -> bool:
    """Whether the same transaction may succeed when it is repeated."""
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        # Serialization, deadlock, lock; both made the same; one removed what the other refers to.
        return state in ("40001", "40P01", "55P03", "23505", "23503")
    reason = str(error.orig)
    return any(f"database {what}" in reason for what in ("is locked", "table is locked", "schema is locked"))
