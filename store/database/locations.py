"""Which store is meant: a path, an SQLAlchemy URL, the environment's CBPE_STORE, or a file in the user's data
folder."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from store.errors import CannotOpen

__all__ = ["ENVIRONMENT", "find_store", "sqlite_path"]

ENVIRONMENT = "CBPE_STORE"
BACKENDS = ("sqlite", "postgresql")


def find_store(url_or_path: str | os.PathLike[str] | URL | None = None) -> URL:
    """The URL of a store. Raises CannotOpen for a database that no store can be in."""
    if url_or_path is None:
        url_or_path = os.environ.get(ENVIRONMENT) or platformdirs.user_data_path("cbpe", appauthor=False) / "models.db"
    if isinstance(url_or_path, str) and "://" in url_or_path:
        try:
            url_or_path = make_url(url_or_path)
        except ArgumentError as error:
            raise CannotOpen(f"no URL of a database: {error}") from error
    if not isinstance(url_or_path, URL):
        path = os.fspath(url_or_path)
        if not isinstance(path, str) or not is_path(path):
            raise CannotOpen(f"a store is named by a path or a URL, not {url_or_path!r}")
        if path == ":memory:":
            return URL.create("sqlite")
        return URL.create("sqlite", database=os.path.abspath(Path(path).expanduser()))
    return checked_url(url_or_path)


def is_path(text: str) -> bool:
    """Whether a file can be called that."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return bool(text) and "\0" not in text


def checked_url(url: URL) -> URL:
    if url.drivername == "postgres":  # as many services spell it
        url = url.set(drivername="postgresql")
    backend = url.get_backend_name()
    if backend not in BACKENDS:
        raise CannotOpen(f"a store is in SQLite or PostgreSQL, not in {backend}: {url.render_as_string()}")
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url
    if url.query or url.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise CannotOpen(f"an SQLite store is named by its path alone, as in sqlite:///{url.database or 'models.db'}")
    path = sqlite_path(url)
    if path is not None and not is_path(path):
        raise CannotOpen(f"an SQLite store is named by a path, not {path!r}")
    return URL.create("sqlite", database=None if path is None else os.path.abspath(path))


def sqlite_path(url: URL) -> str | None:
    """The file of an SQLite store; None for a store in PostgreSQL, and for one in memory, which nobody else sees and
    which is gone when it is closed."""
    in_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return url.database if in_file else None
