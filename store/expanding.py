"""Expanding: vocabularies, which the store keeps packed, are written as rows of tokens and merges when SQL is to ask
them, and removed again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select, update

from store.database.opening import Database
from store.database.schema import versions, vocabularies
from store.errors import Damaged
from store.records import audit
from store.records.content import model_of
from store.records.rows import delete_sql_rows, insert_sql_rows, sql_rows
from store.records.versions import STORED, Version, find_row
from store.saving import checked_vocabulary

__all__ = ["remove_rows", "write_rows"]


def write_rows(database: Database, reference: str | Version | None) -> int:
    """Write the rows of one vocabulary, or of all, each in a transaction of its own. Returns how many had none."""
    return sum(write_one(database, vocabulary_id) for vocabulary_id in chosen(database, reference))


def write_one(database: Database, vocabulary_id: int) -> bool:
    """Write the rows of a vocabulary, if it has none: they are made before others have to wait."""
    row = database.read(fetch_vocabulary, vocabulary_id)
    dialect = database.url.get_backend_name()
    if row is None or row.has_rows:
        return False
    try:
        made = sql_rows(vocabulary_id, checked_vocabulary(row.packed), dialect)
    except (TypeError, ValueError) as error:
        raise Damaged(f"vocabulary {vocabulary_id} is damaged: {error}") from error

    def work(connection: Connection) -> bool:
        if not marked(connection, vocabulary_id, True):
            return False  # another process was first, or removed the vocabulary
        insert_sql_rows(connection, made)
        audit.record(connection, "write rows", None, vocabulary=vocabulary_id)
        return True

    return database.write(work)


def remove_rows(database: Database, reference: str | Version | None) -> int:
    """Remove the rows of one vocabulary, or of all. Returns how many had them."""
    return sum(remove_one(database, vocabulary_id) for vocabulary_id in chosen(database, reference))


def remove_one(database: Database, vocabulary_id: int) -> bool:
    def work(connection: Connection) -> bool:
        if not marked(connection, vocabulary_id, False):
            return False
        delete_sql_rows(connection, vocabulary_id)
        audit.record(connection, "remove rows", None, vocabulary=vocabulary_id)
        return True

    return database.write(work)


def chosen(database: Database, reference: str | Version | None) -> list[int]:
    """The ids of the vocabulary of a version, or of all that have a version."""
    if reference is None:
        return database.read(used_vocabularies)
    row = database.read(find_row, reference, STORED)
    model_of(row)  # Damaged, if it is
    return [row.vocabulary_id]


def used_vocabularies(connection: Connection) -> list[int]:
    query = select(versions.c.vocabulary_id).distinct().order_by(versions.c.vocabulary_id)
    return list(connection.scalars(query))


def fetch_vocabulary(connection: Connection, vocabulary_id: int) -> Row[Any] | None:
    return connection.execute(select(vocabularies).where(vocabularies.c.id == vocabulary_id)).first()


def marked(connection: Connection, vocabulary_id: int, has_rows: bool) -> bool:
    """Say that a vocabulary has rows or none, and keep others from saying so until the transaction ends. False if it
    is not there, or said so already."""
    one = vocabularies.c.id == vocabulary_id
    changed = update(vocabularies).where(one, vocabularies.c.has_rows.is_(not has_rows)).values(has_rows=has_rows)
    return connection.execute(changed.returning(vocabularies.c.id)).first() is not None
