"""SQLite files: checking the one that is there, making a new one, and connecting to it."""

from __future__ import annotations

import os
import secrets
import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from store.database.migrating import upgrade
from store.errors import CannotOpen, NotAStore

__all__ = ["check_file", "create_file", "make_engine", "memory_engine", "reading_mode"]

APPLICATION_ID = int.from_bytes(b"cbpe", "big")
SECONDS_LOCKED = 30.0  # that a connection waits for others
WRITES = "store_writes"  # the execution option of transactions that write
PAGE_BYTES = 4096
# Of SQLite's header of 100 bytes: the magic, the page size, the size in pages, the application's id.
MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100


def check_file(path: str, writable: bool) -> None:
    """Raise CannotOpen or NotAStore unless a whole store is at this path and can be opened. Changes nothing."""
    if os.path.isdir(path):
        raise CannotOpen(f"{path} is a directory; a store is a file")
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe would wait, and a device may never end
        raise CannotOpen(f"{path} is a pipe or a device; a store is a file")
    try:
        with open(path, "rb") as file:
            header = file.read(HEADER_BYTES)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise CannotOpen(f"the store {path} cannot be read: {error.strerror or error}") from error
    if not header:
        raise NotAStore(f"{path} is empty, no store: remove it, or give another path")
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        raise NotAStore(f"{path} is no store: it is no SQLite database")
    (application,) = struct.unpack_from(">I", header, 68)
    if application != APPLICATION_ID:
        raise NotAStore(f"{path} is no store: it is an SQLite database of another program")
    page_bytes, n_pages = struct.unpack_from(">H10xI", header, 16)
    wanted = (65536 if page_bytes == 1 else page_bytes) * n_pages
    if size < wanted and not has_log(path):
        raise NotAStore(f"the store {path} is cut short: it has {size} bytes of {wanted}")
    if writable and not (os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)):
        raise CannotOpen(f"the store {path} or its folder is not writable: it can only be read")


def has_log(path: str) -> bool:
    """Whether the write-ahead log beside the file has changes that are not in the file yet."""
    try:
        return os.path.getsize(f"{path}-wal") > 0
    except OSError:
        return False


def create_file(path: str) -> None:
    """Make a new and empty store under another name, and put it in place when it is whole, so that nobody finds half of
    one. If another process was first, its store stays. Raises CannotOpen if no store can be made.
    """
    aside = f"{path}.{os.getpid()}.{secrets.token_hex(4)}.part"
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        set_pragmas(aside, f"page_size = {PAGE_BYTES}", f"application_id = {APPLICATION_ID}")
        engine = make_engine(aside, "rw")
        try:
            with engine.execution_options(**{WRITES: True}).begin() as connection:
                upgrade(connection)
        finally:
            engine.dispose()
        set_pragmas(aside, "journal_mode = WAL")
        put_in_place(aside, path)
    except OSError as error:
        raise CannotOpen(f"no store can be made at {path}: {error.strerror or error}") from error
    except (DBAPIError, sqlite3.Error) as error:
        raise CannotOpen(f"no store can be made at {path}: {getattr(error, 'orig', error)}") from error
    finally:
        for ending in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(aside + ending)


def set_pragmas(path: str, *pragmas: str) -> None:
    """Set pragmas that the file itself keeps. A file that is not there is made."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")


def put_in_place(aside: str, path: str) -> None:
    """Give a file its name, unless another file has it."""
    try:
        os.link(aside, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not os.path.exists(path):
            os.replace(aside, path)
    if os.name == "posix":
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def reading_mode(path: str) -> str:
    """How to open a file that is only read. "rw" if possible, since only a connection that may write removes the log
    and its index in the end. Otherwise "ro", or "immutable" if SQLite cannot put the index beside the file and there is
    no log to read."""
    beside = os.access(os.path.dirname(path), os.W_OK)
    if beside and os.access(path, os.W_OK):
        return "rw"
    return "ro" if beside or has_log(path) else "immutable"


def make_engine(path: str, mode: str, read_only: bool = False) -> Engine:
    """Connections to an existing file. mode: "rw", "ro" or "immutable". With read_only no connection changes anything,
    whatever the mode."""
    query = "mode=ro&immutable=1" if mode == "immutable" else f"mode={mode}"
    uri = f"file:{quote(os.fsencode(path))}?{query}"

    def connect() -> sqlite3.Connection:
        return prepared(sqlite3.connect(uri, uri=True, timeout=SECONDS_LOCKED, check_same_thread=False), not read_only)

    return with_transactions(
        create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=-1)
    )


def memory_engine() -> Engine:
    """One connection to a database in memory, which threads take turns with."""

    def connect() -> sqlite3.Connection:
        return prepared(sqlite3.connect(":memory:", check_same_thread=False), True)

    return with_transactions(
        create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=1, max_overflow=0)
    )


def prepared(connection: sqlite3.Connection, writable: bool) -> sqlite3.Connection:
    connection.isolation_level = None  # so that SQLAlchemy's BEGIN below is the only one
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")  # a file from elsewhere calls no functions of this program
    if writable:
        connection.execute("PRAGMA synchronous = FULL")  # what was committed survives a power cut
    else:
        connection.execute("PRAGMA query_only = ON")
    return connection


def with_transactions(engine: Engine) -> Engine:
    """Let SQLAlchemy begin the transactions, as its documentation of SQLite recommends. A transaction that writes takes
    the lock at once: one that has read first may be refused the lock later."""

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
