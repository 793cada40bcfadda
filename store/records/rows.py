"""Vocabularies as rows: where their tokens are, for the store's own questions, and each token and merge, for SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, TableClause, column, delete, insert, table
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.formats.minbpe import render_token
from store.database.schema import merges, special_tokens, token_places, tokens

__all__ = [
    "SqlRows",
    "delete_sql_rows",
    "insert_places",
    "insert_special_tokens",
    "insert_sql_rows",
    "merge_rows",
    "special_token_rows",
    "sql_rows",
    "token_rows",
]

MAX_SHOWN = 1000  # bytes of a token
# Of the columns that are copied, which a binary COPY does not convert.
TYPES_IN_POSTGRESQL = {"INTEGER": "int4", "BIGINT": "int8", "BLOB": "bytea", "TEXT": "text"}

# SQLite keeps the text of a token in `shown` where it is not just the bytes, and computes `text`.
tokens_in_sqlite = table("tokens", *map(column, ("vocabulary_id", "id", "bytes", "shown")))


def token_rows(vocabulary: Vocabulary) -> Iterator[tuple[int, bytes, str]]:
    """(id, bytes, text) of all tokens by rising id."""
    for token_id, token in vocabulary.tokens().items():
        yield token_id, token, readable(token)


def readable(token: bytes) -> str:
    """A token as people can read it and every database can hold it: what render_token shows, and of a long token the
    beginning, followed by ".."."""
    if len(token) > MAX_SHOWN:
        return readable(token[:MAX_SHOWN]) + ".."
    if token.isascii():  # for which this is quicker
        text = token.decode("ascii")
        if text.isprintable():
            return text
    return render_token(token)


def merge_rows(vocabulary: Vocabulary) -> Iterator[tuple[int, int, int, int]]:
    """(new, rank, left, right) of all merges in the order in which they apply; see Vocabulary.merge_parts."""
    for rank, (left, right, new) in enumerate(vocabulary.merge_parts()):
        yield new, rank, left, right


def special_token_rows(special: Mapping[str, int]) -> Iterator[tuple[int, int, bytes, str]]:
    """(position, id, bytes, text) of special tokens, in order of their text."""
    for position, (token, token_id) in enumerate(sorted(special.items())):
        spelled = token.encode("utf-8", "surrogatepass")
        yield position, token_id, spelled, readable(spelled)


def insert_places(connection: Connection, vocabulary_id: int, places: Iterable[tuple[int, bytes]]) -> None:
    """Write where the tokens of a vocabulary are: the rows of place_rows."""
    rows = [(bucket, vocabulary_id, entries) for bucket, entries in places]
    insert_rows(connection, token_places, ("bucket", "vocabulary_id", "entries"), rows)


class SqlRows(NamedTuple):
    """The rows of tokens and of merges, as they are written."""

    tokens: list[tuple[int, int, bytes, str | None]]
    merges: list[tuple[int, int, int, int, int]]


def sql_rows(vocabulary_id: int, vocabulary: Vocabulary, dialect: str) -> SqlRows:
    """All tokens and merges for a database: PostgreSQL takes the text of each token, SQLite where it is not just the
    bytes."""
    written = token_rows(vocabulary)
    if dialect == "sqlite":
        shown = ((i, token, None if text.encode() == token else text) for i, token, text in written)
        tokens_written = [(vocabulary_id, *row) for row in shown]
    else:
        tokens_written = [(vocabulary_id, *row) for row in written]
    return SqlRows(tokens_written, [(vocabulary_id, *row) for row in merge_rows(vocabulary)])


def insert_sql_rows(connection: Connection, rows: SqlRows) -> None:
    """Write all tokens and merges."""
    if connection.dialect.name == "sqlite":
        insert_rows(connection, tokens_in_sqlite, ("vocabulary_id", "id", "bytes", "shown"), rows.tokens)
    else:
        insert_rows(connection, tokens, ("vocabulary_id", "id", "bytes", "text"), rows.tokens)
    insert_rows(connection, merges, ("vocabulary_id", "new_id", "rank", "left_id", "right_id"), rows.merges)


def delete_sql_rows(connection: Connection, vocabulary_id: int) -> None:
    """Remove all tokens and merges of a vocabulary."""
    connection.execute(delete(tokens).where(tokens.c.vocabulary_id == vocabulary_id))
    connection.execute(delete(merges).where(merges.c.vocabulary_id == vocabulary_id))


def insert_special_tokens(connection: Connection, version_id: int, special: Mapping[str, int]) -> None:
    """Write the special tokens of a version."""
    columns = ("version_id", "position", "id", "bytes", "text")
    insert_rows(connection, special_tokens, columns, [(version_id, *row) for row in special_token_rows(special)])


def insert_rows(
    connection: Connection, target: TableClause, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert many rows at once."""
    if not rows:
        return
    if connection.dialect.name == "postgresql":
        copy_rows(connection, target, columns, rows)
        return
    # Straight to the driver: SQLAlchemy would make a dict of each row.
    connection.exec_driver_sql(insert_statement(target, tuple(columns), connection.dialect), rows)


@cache
def insert_statement(target: TableClause, columns: tuple[str, ...], dialect: Dialect) -> str:
    """The SQL that inserts a row."""
    return str(insert(target).compile(dialect=dialect, column_keys=list(columns)))


def copy_rows(
    connection: Connection, target: TableClause, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """PostgreSQL's own way of taking many rows."""
    driver: Any = connection.connection.driver_connection
    types = [TYPES_IN_POSTGRESQL[str(target.c[name].type)] for name in columns]
    statement = f"COPY {target.name} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)
    except connection.dialect.loaded_dbapi.Error as error:  # which SQLAlchemy does not see
        raise DBAPIError(statement, None, error) from error
    except BaseException:  # Ctrl-C: the server still waits for rows
        connection.invalidate()
        raise
