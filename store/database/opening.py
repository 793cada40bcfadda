"""Opening a store, and its transactions."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar, cast

from sqlalchemy import URL, Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from store.database.failures import (
    UNREADABLE,
    answer_is_lost,
    as_busy,
    as_damaged,
    explained,
    is_transient,
    is_worth_repeating,
    log_has_moved,
    not_opened,
    not_whole,
)
from store.database.locations import is_in_memory, shown_url, sqlite_path
from store.database.migrating import revision_of, upgrade
from store.database.older import AS_IT_IS, read_as_newest
from store.database.operations import OPERATION, AnswerLost, Operation, is_noted, was_committed
from store.database.postgresql import LOCK_OF_UPGRADES, postgresql_engine
from store.database.schema import REVISIONS, VERSION_TABLE, metadata
from store.database.sqlite.connections import (
    WRITES,
    FileConnection,
    empty_log,
    is_replaced,
    make_engine,
    memory_engine,
)
from store.database.sqlite.files import check_file
from store.database.sqlite.making import create_file
from store.database.waiting import DEADLINE, SECONDS, NoTurn, Turns, checked_timeout, pause
from store.errors import Busy, CannotOpen, Closed, Failed, Outdated, ReadOnly, StoreError, Uncertain

__all__ = ["Database"]

T = TypeVar("T")

SQLITE_NEEDED = (3, 37, 0)
SECONDS_TO_FIND_OUT = 30.0  # for which a database is asked again whether a change was made
SECONDS_OF_CHANGES = 10.0  # for which reading is repeated because somebody wrote to the file meanwhile
SECONDS_OF_REPLACING = 2.0  # for which it is repeated because the file is another one
_of_others: list[Engine] = []  # of the process that this one was forked from


class Changed(Busy):
    """The file was written to while it was read, where SQLite cannot keep the one from the other."""


class Replaced(Exception):  # noqa: N818  (as the store's errors, it is named for what it says)
    """The file is not the one that a transaction was about to write to."""


class Database:
    """A database with a store. Opening makes a store that is not there. One of an older schema is read as it is, and
    written to after migrate() alone."""

    def __init__(self, url: URL, read_only: bool, timeout: float = SECONDS) -> None:
        self.url = url
        self.read_only = read_only
        self.timeout = checked_timeout(timeout)
        self.path = sqlite_path(url)
        self.revision = REVISIONS[-1]  # of the schema that the store has
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

    def read(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """What work, which is given a connection and the arguments, finds in one transaction that reads. It is repeated
        if others were in the way."""
        deadline = time.monotonic() + SECONDS_OF_CHANGES
        while True:
            try:
                with self.reading() as connection:
                    return work(connection, *args, **options)
            except Changed:
                if time.monotonic() > deadline:
                    raise
            pause()

    def check_open(self) -> None:
        """Raise Closed if this was closed."""
        if self._closed:
            raise Closed(f"the store {self} was closed: open it again")

    def connect_alone(self) -> Connection:
        """A connection outside of the pool and of transactions, for the caller to close. Raises DBAPIError."""
        self._check_usable()
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()
        return connection

    @property
    def driver_errors(self) -> type[Exception]:
        """What the errors of the driver are."""
        errors: type[Exception] = self._engine.dialect.loaded_dbapi.Error
        return errors

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that reads. It sees the store as it is at one moment. Raises Busy if that is not possible."""
        self._check_usable()
        try:
            with self._engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                try:
                    self._look_at_revision(connection)
                    yield connection
                except Exception as error:
                    self._check_unchanged(driver, error)
                    raise
                self._check_unchanged(driver)
        except DBAPIError as error:
            if self.path is not None and self.read_only and log_has_moved(error):
                raise Changed(f"the store {self} was written to while it was read: {error.orig}") from error
            raise explained(self, error) from error
        except NoConnection as error:
            raise as_busy(self, error) from error
        except UNREADABLE as error:
            raise as_damaged(self, error) from error

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do work on a store of the newest schema, as _write does."""

        def checked(connection: Connection) -> T:
            self._check_revision(connection)
            return work(connection)

        return self._write(checked)

    def _write(self, work: Callable[[Connection], T]) -> T:
        """Do work in one transaction, which takes effect as a whole or not at all. It is repeated if others were in the
        way, until the timeout is over. If the answer to its COMMIT is lost, the audit log tells by a token whether it
        was done; if not, it is done now. Raises Uncertain if the database cannot be asked."""
        self._check_may_write()
        token = secrets.token_hex(16)
        try:
            return self._repeated(work, token)
        except AnswerLost as lost:
            return self._found_out(work, token, lost)

    def was_done(self, token: str) -> bool:
        """Whether the change with this token is in the audit log. If it is just being committed, this waits for it."""
        self._check_usable()
        if not re.fullmatch("[0-9a-f]{32}", token):
            return False  # no change has it
        if self.read_only:
            return self.read(is_noted, token)
        try:
            with self._writer.connect() as connection:
                transaction = connection.begin()
                found = was_committed(connection, token)
                transaction.rollback()
                return found
        except DBAPIError as error:
            raise explained(self, error) from error

    def _found_out(self, work: Callable[[Connection], T], token: str, lost: AnswerLost) -> T:
        """The result of a transaction whose answer was lost: what it was, if it was committed. If not, it is done
        again. Its token is in the audit log once at most, so it is not done twice, even if the first try is only now
        on its way."""
        deadline = time.monotonic() + SECONDS_TO_FIND_OUT
        while time.monotonic() < deadline:
            try:
                if self.was_done(token):
                    return cast(T, lost.result)
                if self.url.get_backend_name() == "sqlite":  # nothing was in between, and the file is as before
                    raise explained(self, lost.error) from lost.error
                return self._transaction(work, token, deadline)
            except AnswerLost as again:
                lost = again
            except DBAPIError as error:
                if not may_pass(error):
                    raise explained(self, error) from error
            except StoreError as error:
                cause = error.__cause__
                if not isinstance(cause, DBAPIError) and self.was_done(token):
                    return cast(T, lost.result)  # the first try was committed meanwhile, and was in the way
                if not isinstance(cause, DBAPIError) or not may_pass(cause) or cause is lost.error:
                    raise
            except NoConnection:
                pass  # others have them all
            pause()
        raise Uncertain(
            f"the connection to the store {self} was lost while a change was committed, and it may have been done: ask "
            f"was_done({token!r}) before you do it again ({str(lost.error.orig).strip()})",
            token,
        ) from lost.error

    def _repeated(self, work: Callable[[Connection], T], token: str) -> T:
        start = time.monotonic()
        deadline = start + self.timeout
        while True:
            try:
                return self._transaction(work, token, deadline)
            except DBAPIError as error:
                if not is_worth_repeating(error) or time.monotonic() > deadline:
                    raise explained(self, error) from error
            except Replaced as error:
                if time.monotonic() - start > SECONDS_OF_REPLACING:
                    raise Failed(
                        f"the store {self} was overwritten by another program while it was open, and nothing is written"
                        " to it: close all programs that have it open, and see that the file is whole"
                    ) from error
                self._engine.dispose()
            except (NoConnection, NoTurn) as error:
                raise as_busy(self, error) from error
            except UNREADABLE as error:
                raise as_damaged(self, error) from error
            pause()

    def compact(self) -> None:
        """Give what is unused back to the disk."""
        self._check_usable()
        try:
            if self.url.get_backend_name() == "postgresql":
                with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.exec_driver_sql("VACUUM")
                return
            with self._engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                driver.execute("VACUUM")  # past SQLAlchemy, since it is done outside of transactions
                empty_log(connection)
        except NoConnection as error:
            raise as_busy(self, error) from error
        except (DBAPIError, sqlite3.Error) as error:
            reason = getattr(error, "orig", error)
            raise Failed(f"the store {self} could not be made smaller, but nothing in it is lost: {reason}") from error

    def __str__(self) -> str:
        return self.path or shown_url(self.url)

    # ---- Opening

    def _make_sure_of_a_file(self) -> None:
        if self.url.get_backend_name() == "postgresql":
            return
        if sqlite3.sqlite_version_info < SQLITE_NEEDED:
            raise CannotOpen(
                f"a store in a file takes SQLite {'.'.join(map(str, SQLITE_NEEDED))} or newer, with STRICT tables; "
                f"this Python has {sqlite3.sqlite_version}: use a newer Python or system, or a store in PostgreSQL"
            )
        if self.path is None:
            if self.read_only:
                raise CannotOpen("a store in memory is new and empty: there is nothing to be read")
            return
        if not is_there(self.path):
            if self.read_only:
                raise CannotOpen(f"there is no store at {self.path}: there is nothing to be read")
            create_file(self.path)
        check_file(self.path, writable=not self.read_only)

    def _connect(self) -> None:
        if self.url.get_backend_name() == "postgresql":
            self._engine = postgresql_engine(self.url, self.read_only, self.timeout)
        elif self.path is None:
            self._engine = memory_engine(self.timeout)
        else:
            self._engine = make_engine(self.path, self.read_only, self.timeout)
        read_as_newest(self._engine, lambda: self.revision)
        self._turns = Turns()
        self._writer = self._engine.execution_options(**writing_options(self.url))
        self._process = os.getpid()

    def _prepare(self) -> None:
        deadline = time.monotonic() + SECONDS_OF_CHANGES
        while True:
            try:
                with self._engine.connect() as connection:
                    if is_made(connection):
                        self.revision = revision_of(connection)
                        return
                break
            except DBAPIError as error:
                may_change = self.path is not None and self.read_only and log_has_moved(error)
                if not may_change or time.monotonic() > deadline:
                    raise not_opened(self, error, self.path) from error
            except NoConnection as error:
                raise as_busy(self, error) from error
            except UNREADABLE as error:
                raise not_whole(self, str(error), self.path) from error
            pause()
        if self.read_only:
            raise CannotOpen(f"there is no store in {self} yet: there is nothing to be read")
        self.revision = self._write(self._make_in)

    def _make_in(self, connection: Connection) -> str:
        """Make a store in a database, unless another process has made one by now. Returns the schema's revision."""
        lock_schema(connection)
        if not is_made(connection):
            check_place(connection, self)
            upgrade(connection)
        return revision_of(connection)

    # ---- The revision of the schema

    def migrate(self, first: Callable[[], None] = lambda: None) -> None:
        """Bring the store to the newest schema. When nobody can write to it any more, and before it is changed, `first`
        is called; not if another process has migrated the store by then."""
        is_first = True

        def work(connection: Connection) -> str:
            nonlocal is_first
            lock_schema(connection)
            if revision_of(connection) != REVISIONS[-1]:
                if is_first:
                    first()
                is_first = False
                upgrade(connection)
            return REVISIONS[-1]

        self.revision = self._write(work)

    def overwrite(self, source: sqlite3.Connection) -> None:
        """Replace all that is in an SQLite store by another database, in one transaction."""
        deadline = time.monotonic() + self.timeout

        def check(status: int, remaining: int, total: int) -> None:
            if time.monotonic() > deadline:
                raise as_busy(self, "the database is locked")

        self._check_may_write()
        try:
            with self._turns.turn(deadline), self._engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                source.backup(driver, progress=check, sleep=0.01)
                empty_log(connection)
                self.revision = revision_of(connection)
        except (NoConnection, NoTurn) as error:
            raise as_busy(self, error) from error
        except (DBAPIError, sqlite3.Error) as error:
            reason = getattr(error, "orig", error)
            raise Failed(f"the store {self} could not be replaced, and is as before: {reason}") from error

    def _look_at_revision(self, connection: Connection) -> None:
        """Before reading: if the schema was an older one, whether it is so still."""
        if self.revision != REVISIONS[-1]:
            self.revision = revision_of(connection)

    def _check_revision(self, connection: Connection) -> None:
        """Before writing: raise Outdated or NotAStore unless the schema is the one that this cbpe writes."""
        if connection.dialect.name == "postgresql":  # nobody migrates it until the transaction ends
            connection.execute(text("SELECT pg_advisory_xact_lock_shared(:key)"), {"key": LOCK_OF_UPGRADES})
        self.revision = revision_of(connection)
        if self.revision != REVISIONS[-1]:
            raise Outdated(
                f"the store {self} has revision {self.revision} of the schema, and this cbpe writes revision "
                f"{REVISIONS[-1]}: it can be read as it is, and changed after `cbpe models migrate`, which makes a "
                "backup; older releases cannot read it then (docs/store.md says which)"
            )

    # ---- Transactions

    def _transaction(self, work: Callable[[Connection], T], token: str, deadline: float) -> T:
        # SQLite lets one writer at a time in, and does not say whose turn it is.
        in_turn = self._turns.turn(deadline) if self.url.get_backend_name() == "sqlite" else nullcontext()
        options: dict[str, Any] = {DEADLINE: deadline, OPERATION: Operation(token), AS_IT_IS: True}
        with in_turn, self._writer.connect() as connection:
            transaction = connection.execution_options(**options).begin()
            if is_replaced(connection):
                raise Replaced
            result = work(connection)
            try:
                transaction.commit()
            except DBAPIError as error:
                if answer_is_lost(error):
                    raise AnswerLost(error, result) from error
                raise
            empty_log(connection)
            driver: Any = connection.connection.driver_connection
            if isinstance(driver, FileConnection) and not driver.is_of_file():
                raise Failed(
                    f"another file took the place of the store {self} while this was written, and does not have it"
                )
            return result

    def check_writable(self) -> None:
        """Raise what write would raise for this store, whatever is written."""
        self._check_may_write()
        self.read(self._check_revision)

    def _check_may_write(self) -> None:
        self._check_usable()
        if self.read_only:
            raise ReadOnly(f"the store {self} was opened for reading alone: nothing in it can be changed")

    def _check_usable(self) -> None:
        self.check_open()
        if self._process != os.getpid() and not is_in_memory(self.url):
            # The connections from before the fork belong to the other process. Closing them here would end its
            # sessions.
            _of_others.append(self._engine)
            self._connect()

    def _check_unchanged(self, driver: Any, error: Exception | None = None) -> None:
        """Raise Changed if what was just read may be of two moments."""
        if isinstance(driver, FileConnection) and driver.mode == "immutable" and not driver.is_unchanged():
            raise Changed(f"the store {self} was written to while it was read: try again") from error


def is_made(connection: Connection) -> bool:
    """Whether there is a store in a database."""
    return inspect(connection).has_table(VERSION_TABLE)


def lock_schema(connection: Connection) -> None:
    """Keep others from writing, and from making or migrating the store, until the transaction ends. In SQLite every
    transaction that writes does."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_OF_UPGRADES})


def may_pass(error: DBAPIError) -> bool:
    """Whether a database that gave this error may answer a little later."""
    return is_transient(error) or answer_is_lost(error)


def check_place(connection: Connection, store: object) -> None:
    """Before a store is made: raise CannotOpen if another program has tables where its own would be."""
    there = sorted(set(inspect(connection).get_table_names()) & set(metadata.tables))
    if there:
        raise CannotOpen(
            f"no store can be made in {store}: there is a table {there[0]} of another program. Give the store a schema "
            "of its own, by ?schema=cbpe at the end of the URL"
        )


def writing_options(url: URL) -> dict[str, Any]:
    """The options of transactions that write. In PostgreSQL they lock the rows that they depend on, and then see what
    is there once they have the lock, while transactions that read see one moment."""
    return {"isolation_level": "READ COMMITTED"} if url.get_backend_name() == "postgresql" else {WRITES: True}


def is_there(path: str) -> bool:
    """Whether there is something with this path. CannotOpen where nobody may look."""
    try:
        os.lstat(path)
    except PermissionError as error:
        raise CannotOpen(f"{path}: {error.strerror}: nobody may look there who is not let into its folder") from error
    except OSError:
        return False
    return True
