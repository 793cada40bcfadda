"""Loading a version from an SQLite file with Python's sqlite3 alone: to import SQLAlchemy takes longer than to load
most tokenizers, and a program that loads one and ends has nothing else to do with it.

This holds what it reads to the same seals and digests as ModelStore.load, and answers only where all is sound. Anything
else, be it another database, a much older schema, a reference to nothing, damage, or somebody in the way, it leaves to
ModelStore, which says what is wrong.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from cbpe.tokenizers.tokenizer import Tokenizer
from store.database.revisions import ALIKE, VERSION_TABLE
from store.database.sqlite.files import check_file, file_is_used, file_was_closed, state_of
from store.errors import StoreError
from store.records.content import stored_tokenizer
from store.records.references import Reference, parse
from store.records.seals import check_found

__all__ = ["QUERIES", "load"]

# As store.records.versions.find_row asks, by what is given of a version.
COLUMNS = """
    versions.id, versions.name_id, versions.vocabulary_id, names.name, versions.number, versions.digest,
    versions.content, versions.kind, versions.encoding_name, vocabularies.packed, training_records.record,
    versions.seal, names.seal AS name_seal, names.last_number, names.newest
"""
ALIAS = "aliases.alias, aliases.name_id AS alias_name_id, aliases.seal AS alias_seal"
JOINED = """
    FROM versions JOIN names ON versions.name_id = names.id
    LEFT OUTER JOIN vocabularies ON versions.vocabulary_id = vocabularies.id
    LEFT OUTER JOIN training_records ON training_records.version_id = versions.id
"""
OF_ALIAS = "JOIN aliases ON aliases.name_id = names.id AND aliases.version_id = versions.id"
QUERIES = {
    ("name",): f"SELECT {COLUMNS} {JOINED} WHERE names.name = :name AND versions.number = names.newest",
    ("name", "number"): f"SELECT {COLUMNS} {JOINED} WHERE names.name = :name AND versions.number = :number",
    ("name", "alias"): f"SELECT {COLUMNS.rstrip()}, {ALIAS} {JOINED} {OF_ALIAS} "
    "WHERE names.name = :name AND aliases.alias = :alias",
    ("id",): f"SELECT {COLUMNS} {JOINED} WHERE versions.id = :id",
}
BY_DIGEST = "SELECT id, digest, kind, encoding_name FROM versions WHERE digest BETWEEN ? AND ? ORDER BY id"
DIGITS = 64  # of a digest


def load(path: str | None, reference: str) -> Tokenizer | None:
    """The tokenizer that ModelStore(path, read_only=True) loads by this reference; None if that is for it to say."""
    try:
        file = store_file(path)
        if file is None:
            return None
        parsed = parse(reference)
        row = read(file, parsed)
        if row is None:
            return None
        check_found(row, parsed)
        return stored_tokenizer(row)
    except (StoreError, sqlite3.Error, OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def store_file(path: str | None) -> str | None:
    """The file of a store that can be opened in the usual way, with its log beside it. None for what may be no path."""
    if path is None:
        path = os.environ.get("CBPE_STORE")
    if not path:
        import platformdirs

        found = str(platformdirs.user_data_path("cbpe", appauthor=False) / "models.db")
    elif ":" in path or "//" in path:  # a URL, ":memory:", or what looks like a mistyped URL
        return None
    else:
        found = os.path.abspath(Path(path).expanduser())
    check_file(found, writable=True)  # so that SQLite can remove the log in the end
    return found


def read(file: str, parsed: Reference) -> Any:
    """The row of the version that is meant, read in one transaction. None if there is none, or not just one."""
    before = state_of(file)
    if before is None:
        return None
    file_is_used(before)
    try:
        uri = f"file:{quote(os.fsencode(file))}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            row = find_row(connection, parsed)
        after = state_of(file)
        return row if after is not None and after.identity == before.identity else None
    finally:
        file_was_closed(before)


def find_row(connection: sqlite3.Connection, parsed: Reference) -> Any:
    revision = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    if revision is None or revision[0] not in ALIKE:
        return None
    if parsed.digest is not None:
        ends = (parsed.digest.ljust(DIGITS, "0"), parsed.digest.ljust(DIGITS, "f"))
        found = connection.execute(BY_DIGEST, ends).fetchall()
        if len({row[1:] for row in found}) != 1:
            return None
        given: dict[str, Any] = {"id": found[0][0]}
    else:
        given = {part: value for part, value in parsed._asdict().items() if value is not None}
    cursor = connection.execute(QUERIES[tuple(given)], given)
    columns = [column[0] for column in cursor.description]
    row = cursor.fetchone()
    return None if row is None else SimpleNamespace(**dict(zip(columns, row, strict=True)))
