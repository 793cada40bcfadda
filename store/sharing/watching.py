"""Watching: to learn when an alias, or the newest version of a name, moves.

A sign says that something may have moved; then the store is asked, and what it says is compared with what was seen
last. So a sign too many costs one question, and after a lost connection nothing is missed. PostgreSQL gives a sign
itself (LISTEN). At an SQLite file the watch looks now and then: two calls of stat(), as long as nobody writes to it.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from types import TracebackType
from typing import Any, Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from cbpe.common.checks import is_float
from cbpe.common.public import public_of
from store.database.failures import answer_is_lost, explained
from store.database.opening import Database
from store.database.sqlite.files import State, state_of
from store.errors import Busy, CannotOpen, Failed, NotAStore, NotFound, StoreError
from store.records.audit import CHANNEL
from store.records.references import parse, shown
from store.records.versions import Version, fetch_one, find_row

__all__ = ["Watch"]

SECONDS_TO_ASK_ANYWAY = 30.0  # after which the store is asked without a sign
SECONDS_OF_LISTENING = 0.25  # after which a watch that listens looks whether it was closed
SECONDS_TO_SETTLE = 3.0  # within which a file system may give two changes the same time
MAY_PASS = (Busy, CannotOpen, Failed, NotAStore)  # as while a server starts again, or a file is replaced
_of_others: list[Connection] = []  # of the process that this one was forked from


@public_of("store")
class Watch:
    """Tells when the version that a reference means becomes another one. ModelStore.watch makes it.

    Iterate over it, which waits for each move and gives the version after it, or None where the reference means nothing
    any more; or call wait(), which has a timeout. One thread may wait at a time. Use it as a context manager, or close
    it, which any thread may do: waiting and iterating then end.

    While the store cannot be reached, or another file is just put in its place, a watch tries again until it can;
    `error` says why. Then it compares with what it saw last. Of several moves meanwhile it tells the last.
    """

    def __init__(self, database: Database, reference: str, since: Version | None, interval: float) -> None:
        checked_reference(reference)
        if not isinstance(since, (Version, type(None))):
            raise TypeError(f"since is a Version or None, not {type(since).__name__}")
        self.reference = reference
        self.version: Version | None = since
        self.error: StoreError | None = None
        self._database = database
        self._ended = threading.Event()
        self._using = threading.RLock()  # held while the sign is looked at, so that close waits for that
        self._sign: Sign = sign_of(database, checked_interval(interval), self._ended)
        self._is_due = True  # to ask the store
        self._asked = -math.inf
        if since is None:
            try:
                self.version = self._ask()
            except BaseException:
                self.close()
                raise

    def __repr__(self) -> str:
        return f"<Watch: {self.reference!r}, {self.version}>"

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the reference means another version than `version`, which then is that one, or None. Returns False
        if nothing moved within `timeout` seconds (None: no limit), or the watch was closed.

        Raises Closed if the store was closed, and Damaged. If the store cannot be asked when the time is over, raises
        why (Busy, CannotOpen, NotAStore, Failed). Waiting may go on after any of these but Closed.
        """
        deadline = math.inf if timeout is None else time.monotonic() + checked_timeout(timeout)
        has_looked = False
        while not self._ended.is_set():
            with self._using:
                if self._ended.is_set():
                    break
                if self._has_moved():
                    return True
                left = max(0.0, deadline - time.monotonic())
                if left == 0 and has_looked:
                    if self.error is not None:
                        raise self.error
                    return False
                self._is_due |= self._sign.seen(left)
                has_looked = True
        return False

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> Version | None:
        if not self.wait():
            raise StopIteration
        return self.version

    def close(self) -> None:
        """End it, and give back its connection. Who waits in another thread gets False within a second."""
        self._ended.set()
        with self._using:
            self._sign.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _has_moved(self) -> bool:
        self._database.check_open()
        if not self._is_due and time.monotonic() - self._asked < SECONDS_TO_ASK_ANYWAY:
            return False
        try:
            found = self._ask()
        except MAY_PASS as error:
            self.error, self._is_due = error, True
            self._ended.wait(SECONDS_OF_LISTENING)
            return False
        if meant(found) == meant(self.version):
            return False
        self.version = found
        return True

    def _ask(self) -> Version | None:
        """What the reference means now; what is written from now on gives another sign."""
        self._sign.renew()
        found: Version | None = self._database.read(version_of, self.reference)
        self.error, self._is_due, self._asked = None, False, time.monotonic()
        return found


def version_of(connection: Connection, reference: str) -> Version | None:
    try:
        return fetch_one(connection, find_row(connection, reference).id)
    except NotFound:
        return None


def meant(version: Version | None) -> tuple[object, ...] | None:
    """What makes it the same version: not its labels. The digest tells versions of two stores apart, if one took the
    place of the other."""
    return None if version is None else (version.name, version.number, version.digest, version.kind)


def checked_reference(reference: str) -> None:
    if isinstance(reference, Version):
        raise TypeError("a watch takes a name or name@alias, a str: a Version always is the same")
    parsed = parse(reference)
    if parsed.digest is not None or parsed.number is not None:
        raise ValueError(f"{shown(reference)} never means another version: a watch takes a name, or name@alias")


def checked_interval(interval: float) -> float:
    if not is_float(interval):
        raise TypeError(f"interval is a number of seconds, not {type(interval).__name__}")
    if not 0.01 <= interval <= 3600:
        raise ValueError(f"interval is 0.01 to 3600 seconds, not {interval}")
    return float(interval)


def checked_timeout(timeout: float) -> float:
    if not is_float(timeout):
        raise TypeError(f"timeout is a number of seconds or None, not {type(timeout).__name__}")
    if not timeout >= 0:
        raise ValueError(f"timeout is 0 or more seconds, not {timeout}")
    return float(timeout)


# ---- Signs


class Sign(Protocol):
    """What says that something may have moved in a store."""

    def renew(self) -> None:
        """Count everything that is committed after this call."""

    def seen(self, seconds: float) -> bool:
        """Whether something may have moved since; waits some time for it, at most so long."""

    def close(self) -> None:
        """Give back what it has."""


def sign_of(database: Database, interval: float, ended: threading.Event) -> Sign:
    if database.url.get_backend_name() == "postgresql":
        return Listening(database, interval, ended)
    return Looking(database.path, interval, ended)


class Looking:
    """Looks at an SQLite file and its log. In memory there is nothing to look at: each look is a sign."""

    def __init__(self, path: str | None, interval: float, ended: threading.Event) -> None:
        self._path = path
        self._interval = interval
        self._ended = ended
        self._states: tuple[State | None, ...] | None = None  # none: the next look is a sign

    def renew(self) -> None:
        states = self._look()
        now = time.time_ns()
        changes = [state.modified for state in states if state is not None]
        # A change from now on may have the same time as one a moment ago.
        has_settled = bool(changes) and now - max(changes) > SECONDS_TO_SETTLE * 1e9
        self._states = states if has_settled else None

    def seen(self, seconds: float) -> bool:
        self._ended.wait(min(seconds, self._interval))
        return self._states is None or self._look() != self._states

    def close(self) -> None:
        pass

    def _look(self) -> tuple[State | None, ...]:
        if self._path is None:
            return ()
        return state_of(self._path), state_of(f"{os.path.realpath(self._path)}-wal")


class Listening:
    """Listens to a PostgreSQL server, on a connection of its own. Where the driver or the server cannot (as a standby
    cannot), there is a sign in each interval."""

    def __init__(self, database: Database, interval: float, ended: threading.Event) -> None:
        self._database = database
        self._interval = interval
        self._ended = ended
        self._connection: Connection | None = None
        self._can_listen = True
        self._process = os.getpid()

    def renew(self) -> None:
        if self._process != os.getpid():  # the connection from before the fork belongs to the other process
            if self._connection is not None:
                _of_others.append(self._connection)
            self._connection, self._process = None, os.getpid()
        if self._connection is None and self._can_listen:
            self._connection = self._connect()

    def _connect(self) -> Connection | None:
        try:
            connection = self._database.connect_alone()
        except DBAPIError as error:
            raise explained(self._database, error) from error
        driver: Any = connection.connection.dbapi_connection  # (a detached one has no driver_connection)
        try:
            if not callable(getattr(driver, "notifies", None)):
                self._can_listen = False
            else:
                connection.exec_driver_sql(f"LISTEN {CHANNEL}")
                return connection
        except DBAPIError as error:
            if answer_is_lost(error):
                connection.close()
                raise explained(self._database, error) from error
            self._can_listen = False
        connection.close()
        return None

    def seen(self, seconds: float) -> bool:
        if self._connection is None or self._process != os.getpid():
            self._ended.wait(min(seconds, self._interval))
            return True
        driver: Any = self._connection.connection.dbapi_connection
        timeout = max(0.01, min(seconds, SECONDS_OF_LISTENING))
        try:
            return any(True for _ in driver.notifies(timeout=timeout, stop_after=1))
        except Exception as error:
            if not isinstance(error, self._database.driver_errors):
                raise
            self.close()
            return True  # so that the store is asked, and a new connection made before

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._process == os.getpid():
            with contextlib.suppress(SQLAlchemyError):
                connection.close()
