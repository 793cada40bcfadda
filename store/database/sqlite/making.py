"""Making a new store in an SQLite file."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from store.database.migrating import upgrade
from store.database.sqlite.connections import WRITES, make_engine
from store.database.sqlite.files import APPLICATION_ID, files_of
from store.errors import CannotOpen

__all__ = ["create_file", "make_file", "set_pragmas", "sync_folder"]

PAGE_BYTES = 4096
_empty: bytes | None = None  # the file of an empty store, once this process has made one: migrating takes long


def create_file(path: str) -> None:
    """Make a new and empty store under another name, and put it in place when it is whole, so that nobody finds half of
    one. If another process was first, its store stays. Raises CannotOpen if no store can be made.
    """
    global _empty
    aside = f"{path}.{os.getpid()}.{secrets.token_hex(4)}.part"
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if _empty is None:
            make_file(aside)
            with closing(sqlite3.connect(aside, isolation_level=None)) as connection:
                connection.execute("VACUUM")  # of the tables that migrations have made anew
            _empty = Path(aside).read_bytes()
        else:
            with open(aside, "xb") as file:
                file.write(_empty)
        set_pragmas(aside, "journal_mode = WAL")
        put_in_place(aside, path)
    except OSError as error:
        raise CannotOpen(f"no store can be made at {path}: {problem_of(error)}") from error
    except (DBAPIError, sqlite3.Error) as error:
        raise CannotOpen(f"no store can be made at {path}: {getattr(error, 'orig', error)}") from error
    finally:
        for left in files_of(aside):
            with suppress(OSError):
                os.unlink(left)


def problem_of(error: OSError) -> str:
    """What bars a folder, or the file in it."""
    if isinstance(error, (FileExistsError, NotADirectoryError)) and error.filename:
        barring = next((path for path in (error.filename, *Path(error.filename).parents) if os.path.isfile(path)), None)
        if barring is not None:
            return f"{barring} is a file, and no folder"
    return error.strerror or str(error)


def make_file(path: str, revision: str = "head") -> None:
    """Make a new and empty store, step by step, of a revision of the schema."""
    set_pragmas(path, f"page_size = {PAGE_BYTES}", f"application_id = {APPLICATION_ID}")
    engine = make_engine(path)
    try:
        with engine.execution_options(**{WRITES: True}).begin() as connection:
            upgrade(connection, revision)
    finally:
        engine.dispose()


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
    sync_folder(path)


def sync_folder(path: str) -> None:
    """Have a file's name survive a power cut, as its content does."""
    if os.name == "posix":
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
