"""Reading a store of an older schema as it is: each query sees its tables as if they had the newest schema."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, Table, event
from sqlalchemy.engine import Dialect

from store.database.schema import REVISIONS, UNSEALED, metadata

__all__ = ["AS_IT_IS", "has_constraints", "has_token_places", "read_as_newest"]

AS_IT_IS = "store_as_it_is"  # the execution option of connections that see the tables of the schema that there is

REVISION_OF = "store_revision_of"  # the execution option of connections that tells the schema's revision
# What later revisions have brought, and what stands for it: the revision, a table, and its new columns. A table without
# columns was new as a whole, and is empty before. Revisions that are not here have brought none: those of 8 and 9 are
# read as they are.
BROUGHT: list[tuple[str, str, dict[str, str]]] = [
    ("2", "metrics", {}),
    ("3", "versions", {"seal": f"'{UNSEALED}'"}),
    ("6", "vocabularies", {"has_rows": "true"}),
    ("6", "token_places", {}),
    ("7", "versions", {"seal": "'revision 3: ' || seal"}),  # store/records/seals.py knows it
    (
        "7",
        "names",
        {
            "newest": "(SELECT max(number) FROM {schema}versions AS numbered WHERE numbered.name_id = given.id)",
            "seal": f"'{UNSEALED}'",
        },
    ),
    ("7", "aliases", {"seal": f"'{UNSEALED}'"}),
    ("7", "audit_log", {"operation": "NULL"}),
]
# The log of a store that had none: as the migration to revision 2 writes it.
FIRST_LOG = """SELECT versions.id AS id, versions.created_at AS time, NULL AS who, 'save' AS action, names.name AS name,
versions.number AS number, '{{"before": "the audit log"}}' AS details, NULL AS operation
FROM {schema}versions AS versions JOIN {schema}names AS names ON names.id = versions.name_id"""


def read_as_newest(engine: Engine, revision_of: Callable[[], str]) -> None:
    """Let the queries of an engine see the newest schema, whichever the store has, unless a connection is to see it
    AS_IT_IS."""

    engine.update_execution_options(**{REVISION_OF: revision_of})

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def with_tables(
        connection: Connection, cursor: object, statement: str, parameters: Any, context: object, many: bool
    ) -> tuple[str, Any]:
        revision = revision_of()
        is_seen = connection.get_execution_options().get(AS_IT_IS)
        if revision != REVISIONS[-1] and statement.startswith("SELECT") and not is_seen:
            tables = tables_of(revision, connection.dialect)
            statement = f"WITH {tables} {statement}" if tables else statement
        return statement, parameters


def has_token_places(connection: Connection) -> bool:
    """Whether the store that a connection is to says in token_places where tokens are; if not, all are rows."""
    return is_of(connection, "6")


def has_constraints(connection: Connection) -> bool:
    """Whether the database itself holds what the columns of a store may have."""
    return is_of(connection, "9")


def is_of(connection: Connection, revision: str) -> bool:
    """Whether the store that a connection is to has this revision of the schema, or a later one."""
    revision_of = connection.get_execution_options().get(REVISION_OF)
    return revision_of is None or not is_before(revision_of(), revision)


def is_before(revision: str, other: str) -> bool:
    return REVISIONS.index(revision) < REVISIONS.index(other)


@cache
def tables_of(revision: str, dialect: Dialect) -> str:
    """The tables that are other ones in the newest schema, as common table expressions."""
    schema = "main." if dialect.name == "sqlite" else ""  # within WITH, SQLite takes a bare name for the new table
    changed: dict[str, dict[str, str]] = {}
    for since, name, columns in reversed(BROUGHT):  # what came first comes last, and holds
        if is_before(revision, since):
            changed[name] = {**changed.get(name, {}), **columns} if columns else {}
    written = [f"{name} AS ({seen(metadata.tables[name], new, schema, dialect)})" for name, new in changed.items()]
    if revision == "1":
        written = [one for one in written if not one.startswith("audit_log ")]
        written.append(f"audit_log AS ({FIRST_LOG.format(schema=schema)})")
    return ", ".join(written)


def seen(each: Table, new: dict[str, str], schema: str, dialect: Dialect) -> str:
    if not new:
        empty = (f"CAST(NULL AS {column.type.compile(dialect)}) AS {column.name}" for column in each.columns)
        return f"SELECT {', '.join(empty)} WHERE 1 = 0"
    said = {column.name: f"given.{column.name}" for column in each.columns} | new
    columns = (f"{expression.format(schema=schema)} AS {name}" for name, expression in said.items())
    return f"SELECT {', '.join(columns)} FROM {schema}{each.name} AS given"
