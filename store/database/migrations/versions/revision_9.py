"""The database itself holds what a column may have: by constraints, and in SQLite by tables that are STRICT, where a
column takes values of its own type alone. A store with a row that breaks one is damaged, and is not migrated."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import sqlalchemy as sa
from alembic import op

from store.errors import Damaged

revision = "9"
down_revision = "8"

MOST_TOLD = 5  # rows that break a constraint
MOST_SHOWN = 80  # bytes of a value
MAX_NUMBER = 2**31 - 1
MAX_FLOAT = "1.7976931348623157e308"
KINDS = (
    "Tokenizer",
    "BasicTokenizer",
    "RegexTokenizer",
    "GPT2Tokenizer",
    "GPT4Tokenizer",
    "Encoding",
    "HuggingFaceTokenizer",
    "SentencePieceTokenizer",
    "WordTokenizer",
)
MOMENT = "0000-00-00 00:00:00.000000".replace("0", "[0-9]")  # as SQLite has it

# The columns in SQLite: the type, and what is said of each besides; and of each table, what stands at its end.
ID = {"id": "INTEGER NOT NULL PRIMARY KEY"}
OF_VERSION = "INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE"
TABLES: dict[str, tuple[dict[str, str], str]] = {
    "store_schema": ({"version_num": "TEXT NOT NULL PRIMARY KEY"}, ""),
    "store_meta": ({"key": "TEXT NOT NULL PRIMARY KEY", "value": "TEXT NOT NULL"}, ""),
    "names": (
        {
            **ID,
            "name": "TEXT NOT NULL UNIQUE",
            "last_number": "INTEGER NOT NULL",
            "newest": "INTEGER",
            "seal": "TEXT",
        },
        "",
    ),
    "vocabularies": (
        {
            **ID,
            "digest": "TEXT NOT NULL UNIQUE",
            "n_tokens": "INTEGER NOT NULL",
            "n_merges": "INTEGER NOT NULL",
            "packed": "BLOB NOT NULL",
            "has_rows": "INTEGER NOT NULL DEFAULT 0",
        },
        "",
    ),
    "token_places": (
        {
            "bucket": "INTEGER NOT NULL",
            "vocabulary_id": "INTEGER NOT NULL REFERENCES vocabularies (id) ON DELETE CASCADE",
            "entries": "BLOB NOT NULL",
        },
        "PRIMARY KEY (bucket, vocabulary_id)",
    ),
    "tokens": (
        {
            "vocabulary_id": "INTEGER NOT NULL",
            "id": "INTEGER NOT NULL",
            "bytes": "BLOB NOT NULL",
            "shown": "TEXT",
            "text": "TEXT GENERATED ALWAYS AS (coalesce(shown, CAST(bytes AS TEXT))) VIRTUAL",
            "length": "INTEGER GENERATED ALWAYS AS (length(bytes)) VIRTUAL",
        },
        "PRIMARY KEY (vocabulary_id, id)",
    ),
    "merges": (
        {
            "vocabulary_id": "INTEGER NOT NULL",
            "new_id": "INTEGER NOT NULL",
            "rank": "INTEGER NOT NULL",
            "left_id": "INTEGER NOT NULL",
            "right_id": "INTEGER NOT NULL",
        },
        "PRIMARY KEY (vocabulary_id, new_id)",
    ),
    "versions": (
        {
            **ID,
            "name_id": "INTEGER NOT NULL REFERENCES names (id)",
            "number": "INTEGER NOT NULL",
            "created_at": "TEXT NOT NULL",
            "digest": "TEXT NOT NULL",
            "content": "TEXT NOT NULL",
            "vocabulary_id": "INTEGER NOT NULL REFERENCES vocabularies (id)",
            "kind": "TEXT NOT NULL",
            "encoding_name": "TEXT",
            "semantics": "TEXT NOT NULL",
            "pattern": "TEXT",
            "unicode_version": "TEXT",
            "n_special_tokens": "INTEGER NOT NULL",
            "notes": "TEXT",
            "parent_id": "INTEGER REFERENCES versions (id) ON DELETE SET NULL",
            "parent_digest": "TEXT",
            "seal": "TEXT",
        },
        "UNIQUE (name_id, number)",
    ),
    "special_tokens": (
        {
            "version_id": OF_VERSION,
            "position": "INTEGER NOT NULL",
            "id": "INTEGER NOT NULL",
            "bytes": "BLOB NOT NULL",
            "text": "TEXT NOT NULL",
        },
        "PRIMARY KEY (version_id, position)",
    ),
    "training_records": ({"version_id": OF_VERSION, "record": "TEXT NOT NULL"}, "PRIMARY KEY (version_id)"),
    "tags": (
        {"version_id": OF_VERSION, "key": "TEXT NOT NULL", "value": "TEXT NOT NULL"},
        "PRIMARY KEY (version_id, key)",
    ),
    "aliases": (
        {
            "name_id": "INTEGER NOT NULL REFERENCES names (id)",
            "alias": "TEXT NOT NULL",
            "version_id": "INTEGER NOT NULL REFERENCES versions (id)",
            "seal": "TEXT",
        },
        "PRIMARY KEY (name_id, alias)",
    ),
    "alias_history": (
        {
            **ID,
            "name_id": "INTEGER NOT NULL REFERENCES names (id)",
            "alias": "TEXT NOT NULL",
            "number": "INTEGER",
            "set_at": "TEXT NOT NULL",
        },
        "",
    ),
    "metrics": (
        {"version_id": OF_VERSION, "metric": "TEXT NOT NULL", "value": "REAL NOT NULL"},
        "PRIMARY KEY (version_id, metric)",
    ),
    "audit_log": (
        {
            **ID,
            "time": "TEXT NOT NULL",
            "who": "TEXT",
            "action": "TEXT NOT NULL",
            "name": "TEXT",
            "number": "INTEGER",
            "details": "TEXT NOT NULL",
            "operation": "TEXT",
        },
        "",
    ),
}
WITHOUT_ROWID = ("token_places", "tokens", "merges", "special_tokens")


def upgrade() -> None:
    connection = op.get_bind()
    told = list(broken_rows(connection))
    if told:
        raise Damaged(
            f"the store is damaged, and is left as it was: {'; '.join(told[:MOST_TOLD])}"
            f"{'; and more' if len(told) > MOST_TOLD else ''}. `cbpe models verify` tells what else is wrong: restore "
            "a backup (`cbpe models restore`), or copy the sound versions to a new store (`cbpe models copy`)"
        )
    if connection.dialect.name == "sqlite":
        make_tables_anew(connection)
        return
    for name, constraints in constraints_of("postgresql").items():
        added = (f"ADD CONSTRAINT {name}_{what} CHECK ({condition})" for what, condition in constraints.items())
        connection.exec_driver_sql(f"ALTER TABLE {name} {', '.join(added)}")


# ---- What holds


def constraints_of(dialect: str) -> dict[str, dict[str, str]]:
    """The conditions on the rows of each table, by the name of the column that they are about. One of NULL holds."""

    digits, is_json, is_name = (partial(each, dialect) for each in (digits_in, json_in, name_in))
    constraints = {
        "store_schema": {"version_num": is_text("version_num", 32)},
        "store_meta": {"key": is_text("key", 64)},
        "names": {
            "name": is_name("name"),
            "last_number": f"last_number BETWEEN 0 AND {MAX_NUMBER}",
            "newest": "newest BETWEEN 1 AND last_number",
            "seal": digits("seal", 64),
        },
        "vocabularies": {
            "digest": digits("digest", 64),
            "n_tokens": "n_tokens >= 0",
            "n_merges": "n_merges BETWEEN 0 AND n_tokens",
            "packed": "length(packed) > 0",
        },
        "token_places": {"bucket": "bucket > 0", "entries": "length(entries) > 0"},
        "tokens": {"id": "id >= 0", "bytes": "length(bytes) > 0"},
        "merges": {
            "new_id": "new_id >= 0",
            "rank": "rank >= 0",
            "left_id": "left_id >= -256",
            "right_id": "right_id >= -256",
        },
        "versions": {
            "number": is_number("number"),
            "digest": digits("digest", 64),
            "content": is_json("content"),
            "kind": is_one_of("kind", *KINDS),
            "semantics": is_one_of("semantics", "pairs", "ranks"),
            "unicode_version": is_text("unicode_version", 32),
            "n_special_tokens": "n_special_tokens >= 0",
            "parent_id": "parent_id IS NULL OR (parent_id <> id AND parent_digest IS NOT NULL)",
            "parent_digest": digits("parent_digest", 64),
            "seal": digits("seal", 64),
        },
        "special_tokens": {"position": "position >= 0", "id": "id >= 0", "bytes": "length(bytes) > 0"},
        "training_records": {"record": is_json("record")},
        "tags": {"key": is_text("key")},
        "aliases": {"alias": is_name("alias"), "seal": digits("seal", 64)},
        "alias_history": {"alias": is_name("alias"), "number": is_number("number")},
        "metrics": {"metric": is_text("metric"), "value": f"value BETWEEN -{MAX_FLOAT} AND {MAX_FLOAT}"},
        "audit_log": {
            "action": is_text("action", 32),
            "name": is_text("name"),
            "number": is_number("number"),
            "details": is_json("details"),
            "operation": digits("operation", 32),
        },
    }
    if dialect == "sqlite":  # whose types say less
        constraints["vocabularies"]["has_rows"] = "has_rows IN (0, 1)"
        for name, column in (("versions", "created_at"), ("alias_history", "set_at"), ("audit_log", "time")):
            constraints[name][column] = f"{column} GLOB '{MOMENT}' AND julianday({column}) IS NOT NULL"
    return constraints


def digits_in(dialect: str, column: str, number: int) -> str:
    if dialect == "postgresql":
        return f"{column} ~ '^[0-9a-f]{{{number}}}$'"
    return f"length({column}) = {number} AND {column} NOT GLOB '*[^0-9a-f]*'"


def json_in(dialect: str, column: str) -> str:
    # By its ends in SQLite, which before 3.41 calls no json_valid where it does not trust the schema.
    if dialect == "sqlite":
        return f"{column} GLOB '{{*}}'"
    return f"json_typeof(CAST({column} AS json)) = 'object'"


def is_text(column: str, most: int = 255) -> str:
    return f"length({column}) BETWEEN 1 AND {most}"


def name_in(dialect: str, column: str) -> str:
    place = f"instr({column}, '@')" if dialect == "sqlite" else f"position('@' IN {column})"
    return f"{is_text(column)} AND {place} = 0"


def is_number(column: str) -> str:
    return f"{column} BETWEEN 1 AND {MAX_NUMBER}"


def is_one_of(column: str, *values: str) -> str:
    return f"{column} IN ({', '.join(repr(value) for value in values)})"


# ---- Rows that do not hold it


def broken_rows(connection: sa.Connection) -> Iterator[str]:
    """Each row that breaks a constraint, in a sentence. This also looks at stores of older schemas, for what is in
    them."""
    there = sa.inspect(connection)
    tables = set(there.get_table_names())
    is_sqlite = connection.dialect.name == "sqlite"
    for name, constraints in constraints_of(connection.dialect.name).items():
        if name not in tables:
            continue
        columns = {column["name"] for column in there.get_columns(name)}
        keys = there.get_pk_constraint(name)["constrained_columns"]
        told = list(rows_of_other_types(connection, name, keys, columns)) if is_sqlite else []
        yield from told
        for column, condition in constraints.items():
            if not told and column in columns:
                yield from rows_against(connection, name, keys, column, condition)
    if is_sqlite:
        for name, rowid, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check").all():
            yield f"{name}, row {rowid}: it refers to a row of {parent} that is not there"


def rows_of_other_types(connection: sa.Connection, name: str, keys: list[str], columns: set[str]) -> Iterator[str]:
    """What a STRICT table does not take; it would take some of it as something else."""
    for column, said in TABLES[name][0].items():
        kind = said.split()[0].lower()
        if column in columns and "GENERATED" not in said:
            types = f"'{kind}'" if "NOT NULL" in said else f"'{kind}', 'null'"
            yield from rows_against(connection, name, keys, column, f"typeof({column}) IN ({types})")


def rows_against(connection: sa.Connection, name: str, keys: list[str], column: str, condition: str) -> Iterator[str]:
    if connection.dialect.name == "sqlite":  # to which nothing is the first part of no bytes
        part = f"coalesce(substr(CAST({column} AS BLOB), 1, {MOST_SHOWN}), x'')"
        value = f"CASE WHEN {column} IS NOT NULL THEN {part} END"
    else:
        value = f"left(CAST({column} AS text), {MOST_SHOWN})"
    query = f"SELECT {', '.join(keys)}, {value} FROM {name} WHERE NOT ({condition})"
    # In SQLite a query that fails leaves the transaction as it was; a savepoint takes longer than the query.
    savepoint: AbstractContextManager[Any]
    savepoint = nullcontext() if connection.dialect.name == "sqlite" else connection.begin_nested()
    try:
        with savepoint:
            rows = connection.exec_driver_sql(f"{query} LIMIT {MOST_TOLD + 1}").all()
    except sa.exc.DataError:  # PostgreSQL does not read on where it finds what is no JSON
        rows = rows_without_json(connection, name, keys, column, value)
    for *key, found in rows:
        shown = found.decode("utf-8", "backslashreplace") if isinstance(found, bytes) else found
        which = ", ".join(f"{what} {part!r}" for what, part in zip(keys, key, strict=True))
        yield f"{name}, {which}: its {column} is {shown!r}, and breaks the constraint {condition}"


def rows_without_json(connection: sa.Connection, name: str, keys: list[str], column: str, value: str) -> list[Any]:
    """The rows of a table in PostgreSQL in which a column is no JSON: each is asked alone."""
    key = keys[0]
    rows: list[Any] = []
    for (number,) in connection.exec_driver_sql(f"SELECT {key} FROM {name} ORDER BY {key}").all():
        of_row = f"FROM {name} WHERE {key} = {number}"
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"SELECT CAST({column} AS json) IS NULL {of_row}").all()
        except sa.exc.DataError:
            rows += connection.exec_driver_sql(f"SELECT {key}, {value} {of_row}").all()
            if len(rows) > MOST_TOLD:
                break
    return rows


# ---- Tables in SQLite


def make_tables_anew(connection: sa.Connection) -> None:
    """SQLite takes no constraint into a table that is there. The old tables get other names, by which they go on
    referring to one another; the new ones are filled, those first that others refer to; and the old ones go, those
    first that refer to others, so that nothing that is in the new ones goes with them."""
    beside = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL"
    kept = connection.exec_driver_sql(f"{beside} ORDER BY rowid").all()  # those of people too, who ask by SQL
    for what, name, _ in kept:
        if what != "index":
            connection.exec_driver_sql(f"DROP {what} {quoted(name)}")
    for name in TABLES:
        connection.exec_driver_sql(f"ALTER TABLE {name} RENAME TO {name}_before")
    constraints = constraints_of("sqlite")
    for name, (columns, at_end) in TABLES.items():
        parted = [(column, *said.partition(" REFERENCES ")) for column, said in columns.items()]
        items = [f"{column} {said}" for column, said, _, _ in parted] + [at_end] * bool(at_end)
        items += [f"FOREIGN KEY ({column}) REFERENCES {referred}" for column, _, _, referred in parted if referred]
        items += [f"CONSTRAINT {name}_{what} CHECK ({condition})" for what, condition in constraints[name].items()]
        options = "STRICT, WITHOUT ROWID" if name in WITHOUT_ROWID else "STRICT"
        connection.exec_driver_sql(f"CREATE TABLE {name} ({', '.join(items)}) {options}")
        written = ", ".join(column for column, said in columns.items() if "GENERATED" not in said)
        connection.exec_driver_sql(f"INSERT INTO {name} ({written}) SELECT {written} FROM {name}_before")
    for name in reversed(TABLES):
        connection.exec_driver_sql(f"DROP TABLE {name}_before")
    for _, _, statement in kept:
        connection.exec_driver_sql(statement)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
