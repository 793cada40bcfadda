"""Connections to PostgreSQL: how each is set up, and that the server has not ended it."""

from __future__ import annotations

import select
import time
from typing import Any

from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import ArgumentError, DisconnectionError

from store.database.locations import own_schema
from store.database.statements import new_engine
from store.database.waiting import DEADLINE, milliseconds_left
from store.errors import CannotOpen

__all__ = ["LOCK_OF_UPGRADES", "postgresql_engine"]

LOCK_OF_UPGRADES = int.from_bytes(b"cbpe", "big")  # the advisory lock on making and migrating a store
SECONDS_UNSEEN = 10.0  # after which a connection that nobody used is tried: what lies between may have dropped it
SEEN = "store_seen"  # when it was last used, by time.monotonic()


def postgresql_engine(url: URL, read_only: bool, timeout: float) -> Engine:
    """Connections to a server. With read_only no transaction changes anything. timeout: seconds that each waits for
    others."""
    options = {"postgresql_readonly": True} if read_only else {}
    schema = own_schema(url)
    try:
        engine = new_engine(
            url.difference_update_query(["schema"]),
            pool_timeout=timeout,
            isolation_level="REPEATABLE READ",
            execution_options=options,
        )
    except (ImportError, ArgumentError) as error:
        raise CannotOpen(f"a store in PostgreSQL takes a driver, pip install 'cbpe[postgresql]': {error}") from error

    @event.listens_for(engine, "connect")
    def set_up(driver: Any, record: object) -> None:
        driver.execute(f"SET lock_timeout = {round(max(timeout, 0.001) * 1000)}")
        if schema is not None:
            use_schema(driver, schema, read_only)
        driver.commit()

    @event.listens_for(engine, "begin")
    def limit_waiting(connection: Connection) -> None:
        deadline = connection.get_execution_options().get(DEADLINE)
        if deadline is not None:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds_left(deadline)}")

    try_idle_connections(engine)
    return engine


def try_idle_connections(engine: Engine) -> None:
    """Before a connection is used again: make another one if the server has ended it. To ask the server each time would
    take as long as most questions do, so that it is asked only where it has said something, as it does when it ends a
    connection, or where it was not heard of for some time."""

    @event.listens_for(engine, "checkin")
    def note_time(driver: Any, record: Any) -> None:
        record.info[SEEN] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def try_it(driver: Any, record: Any, proxy: object) -> None:
        seen = record.info.get(SEEN)
        if seen is None or (time.monotonic() - seen < SECONDS_UNSEEN and not has_spoken(driver)):
            return
        try:
            engine.dialect.do_ping(driver)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError("the server has ended the connection") from error


def has_spoken(driver: Any) -> bool:
    """Whether there is something to read that nobody has asked for, or the connection is closed."""
    if driver.closed:
        return True
    if not hasattr(select, "poll"):  # Windows, where select() takes any socket
        return bool(select.select([driver], [], [], 0)[0])
    poll = select.poll()
    poll.register(driver, select.POLLIN)
    return bool(poll.poll(0))


def use_schema(driver: Any, schema: str, read_only: bool) -> None:
    """Let a new connection to PostgreSQL find the tables of this schema alone, which is made if need be."""
    quoted = '"' + schema.replace('"', '""') + '"'
    with driver.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema])
        if cursor.fetchone() is None and not read_only:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_OF_UPGRADES])  # which another process may have
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted}")
        cursor.execute(f"SET search_path TO {quoted}")
