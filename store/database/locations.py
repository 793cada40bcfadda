"""Which store is meant: a path, an SQLAlchemy URL, the environment's CBPE_STORE, or a file in the user's data
folder. What looks like a mistyped URL is refused, and no message shows a password."""

from __future__ import annotations

import os
import re
from pathlib import Path

import platformdirs
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from store.errors import CannotOpen

__all__ = ["ENVIRONMENT", "find_store", "is_in_memory", "own_schema", "shown_url", "sqlite_path"]

ENVIRONMENT = "CBPE_STORE"
BACKENDS = ("sqlite", "postgresql")
IN_MEMORY = (None, ":memory:")  # what SQLite's URLs of a database in memory say
# A text that is taken for a path, but was hardly meant as one: "postgresql:/u:p@h/db", as pathlib makes it of a URL, or
# "sqlite:models.db"; "postgresql//h/db"; and "u:p@h/db".
MISTYPED = re.compile(
    r"""[a-z][a-z0-9+.-]+:[/\\]
    | (sqlite\d?|postgres(ql)?|psql|mysql|file)(\+\w+)?(:|//)
    | [^/\\:]+:[^/\\]*@[^/\\]+[/\\]""",
    re.VERBOSE | re.IGNORECASE,
)
MOST_BYTES = 63  # of a name in PostgreSQL, which cuts a longer one off
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
SECRET = re.compile("password|secret|token|key", re.IGNORECASE)  # in the names of a URL's options


def find_store(url_or_path: str | os.PathLike[str] | URL | None = None) -> URL:
    """The URL of a store. Raises CannotOpen for a database that no store can be in."""
    if url_or_path is None:
        url_or_path = os.environ.get(ENVIRONMENT) or platformdirs.user_data_path("cbpe", appauthor=False) / "models.db"
    if isinstance(url_or_path, str) and "://" in url_or_path:
        return checked_url(parsed(url_or_path))
    if isinstance(url_or_path, URL):
        return checked_url(url_or_path)
    path = os.fspath(url_or_path) if isinstance(url_or_path, os.PathLike) else url_or_path
    if not isinstance(path, str):
        raise CannotOpen(f"a store is named by a path or a URL, a str, not by {type(path).__name__}")
    check_path(path)
    if path == ":memory:":
        return URL.create("sqlite")
    if MISTYPED.match(path):
        raise CannotOpen(
            "this looks like a URL that was mistyped, and is not shown, since it may hold a password: a store's URL is "
            "as postgresql://user@host/database or sqlite:///models.db, and a file of such a name is given as ./NAME"
        )
    if os.path.basename(path) in ("", os.curdir, os.pardir):
        raise CannotOpen(f"{path!r} is a folder: a store is a file in it, as {os.path.join(path, 'models.db')}")
    return URL.create("sqlite", database=os.path.abspath(Path(path).expanduser()))


def parsed(text: str) -> URL:
    """The parts of a URL. No message quotes it: SQLAlchemy takes a password that it cannot place for a port."""
    try:
        return make_url(text)
    except (ArgumentError, ValueError):
        raise CannotOpen(
            "this is no URL of a database: one is as postgresql://user:password@host:5432/database or "
            "sqlite:///models.db, with @ : / in a password written as %40 %3A %2F"
        ) from None


def check_path(path: str) -> None:
    """Raise CannotOpen unless a file can be called that."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise CannotOpen(f"a store is named by a path, which has no lone surrogate: {error.reason}") from error
    if not path or "\0" in path:
        raise CannotOpen("a store is named by a path, which is not empty and has no NUL")


def checked_url(url: URL) -> URL:
    if url.drivername == "postgres":  # as many services spell it
        url = url.set(drivername="postgresql")
    backend = url.get_backend_name()
    if backend not in BACKENDS:
        raise CannotOpen(f"a store is in SQLite or PostgreSQL, not in {backend}")
    return checked_postgresql(url) if backend == "postgresql" else checked_sqlite(url)


def checked_postgresql(url: URL) -> URL:
    """The URL with its driver. What stands in the place of a host or a database may be a part of a password, which the
    server's messages would show."""
    if "@" in (url.host or "") or re.search("[@/]", url.database or ""):
        raise CannotOpen(
            "the host or the database in this URL holds an @ or a /: one is as postgresql://user:password@host/database,"
            " with @ and / in a password written as %40 and %2F"
        )
    own_schema(url)
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def own_schema(url: URL) -> str | None:
    """The schema of PostgreSQL that a store's tables are in, by the URL's option `schema`. None: where the server's
    search_path leads, mostly `public`. Raises CannotOpen for what is no name of one."""
    schema = url.query.get("schema")
    if schema is None:
        return None
    is_name = isinstance(schema, str) and 1 <= len(schema.encode("utf-8", "replace")) <= MOST_BYTES
    if not isinstance(schema, str) or not is_name or UNSTORABLE.search(schema) or schema.startswith("pg_"):
        raise CannotOpen(
            f"schema={schema!r:.100} in a store's URL names no schema: a name has 1 to {MOST_BYTES} bytes, no NUL, and "
            "does not begin with pg_"
        )
    return schema


def checked_sqlite(url: URL) -> URL:
    if url.drivername not in ("sqlite", "sqlite+pysqlite") or url.query:
        raise CannotOpen("an SQLite store is named by its path alone, without options, as in sqlite:///models.db")
    if url.host or url.username or url.password or url.port:
        raise CannotOpen(
            "an SQLite store has no host: its URL has three slashes before the path, as sqlite:///models.db, and four "
            "before a path from the root, as sqlite:////data/models.db"
        )
    if url.database in IN_MEMORY:
        return URL.create("sqlite")
    check_path(url.database or "")
    return URL.create("sqlite", database=os.path.abspath(url.database or ""))


def sqlite_path(url: URL) -> str | None:
    """The file of an SQLite store; None for a store in PostgreSQL, and for one in memory."""
    return None if url.get_backend_name() == "postgresql" or is_in_memory(url) else url.database


def is_in_memory(url: URL) -> bool:
    """Whether it is SQLite's database in memory, which nobody else sees and which is gone when it is closed."""
    return url.get_backend_name() == "sqlite" and url.database in IN_MEMORY


def shown_url(url: URL) -> str:
    """The URL as messages and logs show it: without a password, also where an option gives it."""
    shown = {name: "..." if SECRET.search(name) else value for name, value in url.query.items()}
    return url.set(query=shown).render_as_string(hide_password=True)
