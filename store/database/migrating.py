"""Migrating: of which revision a store's schema is, and bringing it to another."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, insert, select, table
from sqlalchemy import column as sql_column

from cbpe._version import __version__
from store.database.schema import REVISIONS, VERSION_TABLE, meta
from store.errors import NotAStore

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ["revision_of", "upgrade"]

_alembic = threading.Lock()  # the whole process has one context of Alembic


def revision_of(connection: Connection) -> str:
    """The revision of a store's schema. Raises NotAStore for one that is newer than this cbpe knows, or is missing."""
    revision = connection.scalar(select(sql_column("version_num")).select_from(table(VERSION_TABLE)))
    if revision is None:
        raise NotAStore("this is no whole store: it does not say which revision its schema is of")
    if revision not in REVISIONS:
        written_by = connection.scalar(select(meta.c.value).where(meta.c.key == "cbpe_version"))
        newer = "a newer cbpe" if written_by in (None, __version__) else f"cbpe {written_by} or newer"
        raise NotAStore(
            f"the store's schema is revision {revision}, which {newer} reads; this is cbpe {__version__}, which reads "
            f"up to revision {REVISIONS[-1]}: upgrade cbpe"
        )
    return str(revision)


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations up to a revision, in the transaction that the connection is in."""
    from alembic import command  # slow to import, and rarely needed

    with _alembic:
        command.upgrade(configuration(connection), revision)
    connection.execute(delete(meta).where(meta.c.key == "cbpe_version"))
    connection.execute(insert(meta).values(key="cbpe_version", value=__version__))


def configuration(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "store.database:migrations")
    return config
