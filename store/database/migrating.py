"""Brings a store's schema to where this version of cbpe has it."""

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

__all__ = ["is_current", "upgrade"]

_alembic = threading.Lock()  # its context is one for the whole process


def is_current(connection: Connection) -> bool:
    """Whether a store has the newest schema. NotAStore for one newer than is known here."""
    revision = connection.scalar(select(sql_column("version_num")).select_from(table(VERSION_TABLE)))
    if revision is not None and revision not in REVISIONS:
        written_by = connection.scalar(select(meta.c.value).where(meta.c.key == "cbpe_version"))
        raise NotAStore(
            f"the store's schema is revision {revision}, which cbpe {written_by} or newer reads; this is cbpe "
            f"{__version__}, which reads up to revision {REVISIONS[-1]}: upgrade cbpe"
        )
    return bool(revision == REVISIONS[-1])


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations up to a revision, in the transaction that the connection is in."""
    from alembic import command  # which takes a while to import, and is rarely needed

    with _alembic:
        command.upgrade(configuration(connection), revision)
    connection.execute(delete(meta).where(meta.c.key == "cbpe_version"))
    connection.execute(insert(meta).values(key="cbpe_version", value=__version__))


def configuration(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "store.database:migrations")
    return config
