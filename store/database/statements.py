"""Compiled statements: what SQLAlchemy has compiled for one store of a process serves all others of the same kind.

SQLAlchemy finds what it has compiled by the statement and by the dialect, and each engine has a dialect of its own. A
store that is opened again would have the same statements compiled again, which takes longer than to run them. So all
engines keep them in one place here, and dialects are equal where they have found the same of their databases: the
version, what it can do, the schema.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

__all__ = ["new_engine"]

Kind = tuple[type, frozenset[tuple[str, Any]]]

MOST = 1000  # statements that are kept: several times as many as a store has
PLAIN = (str, int, float, tuple, frozenset, type(None))  # the types of what a dialect finds

_compiled: LRUCache[Any, Any] = LRUCache(MOST)  # which threads may use at once
_kinds: dict[Kind, Kind] = {}  # of dialects: one object for all that are equal


def new_engine(url: URL, **options: Any) -> Engine:
    """An engine for a database in SQLite or PostgreSQL, as create_engine makes it. A driver that users name, other than
    psycopg, shares nothing."""
    engine = create_engine(url.set(drivername=SHARING.get(url.drivername, url.drivername)), **options)
    engine.update_execution_options(compiled_cache=_compiled)
    return engine


class Alike:
    """What makes dialects equal that have found the same of their databases. One that has not looked yet is equal to
    itself alone."""

    _kind: Kind | None = None

    def initialize(self, connection: Connection) -> None:
        """Find out about the database. SQLAlchemy calls this when the engine connects first, before it compiles."""
        super().initialize(connection)  # type: ignore[misc]
        found = frozenset((name, value) for name, value in vars(self).items() if isinstance(value, PLAIN))
        self._kind = _kinds.setdefault((type(self), found), (type(self), found))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Alike) and None is not self._kind is other._kind)

    def __hash__(self) -> int:  # which stays the same when the kind is known
        return hash(type(self))


class SQLite(Alike, SQLiteDialect_pysqlite):
    supports_statement_cache = True


class PostgreSQL(Alike, PGDialect_psycopg):
    supports_statement_cache = True

    def __init__(self, **options: Any) -> None:
        # To ask for a type that is not used takes a round trip.
        super().__init__(use_native_hstore=False, **options)  # type: ignore[no-untyped-call]


# The driver names that SQLAlchemy finds these dialects by, for those that a store's URL has.
SHARING = {"sqlite": "sqlite+cbpe", "postgresql+psycopg": "postgresql+cbpe"}

registry.register("sqlite.cbpe", __name__, SQLite.__name__)
registry.register("postgresql.cbpe", __name__, PostgreSQL.__name__)
