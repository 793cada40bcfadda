"""Vocabularies as rows, for SQL: what is in the packed form, token by token and merge by merge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, TableClause, column, insert, table

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.formats.minbpe import render_token
from store.database.schema import merges, special_tokens, tokens

__all__ = ["insert_special_tokens", "insert_vocabulary_rows", "merge_rows", "special_token_rows", "token_rows"]

MAX_SHOWN = 1000  # bytes of a token

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


def insert_vocabulary_rows(connection: Connection, vocabulary_id: int, vocabulary: Vocabulary) -> None:
    """Write all tokens and merges."""
    insert_tokens(connection, vocabulary_id, vocabulary)
    merge_columns = ("vocabulary_id", "new_id", "rank", "left_id", "right_id")
    insert_rows(connection, merges, merge_columns, [(vocabulary_id, *row) for row in merge_rows(vocabulary)])


def insert_tokens(connection: Connection, vocabulary_id: int, vocabulary: Vocabulary) -> None:
    columns = ("vocabulary_id", "id", "bytes")
    written = token_rows(vocabulary)
    if connection.dialect.name == "sqlite":
        insert_rows(
            connection,
            tokens_in_sqlite,
            (*columns, "shown"),
            [(vocabulary_id, i, token, None if text.encode() == token else text) for i, token, text in written],
        )
    else:
        insert_rows(connection, tokens, (*columns, "text"), [(vocabulary_id, *row) for row in written])


def insert_special_tokens(connection: Connection, version_id: int, special: Mapping[str, int]) -> None:
    """Write the special tokens of a version."""
    columns = ("version_id", "position", "id", "bytes", "text")
    insert_rows(connection, special_tokens, columns, [(version_id, *row) for row in special_token_rows(special)])


def insert_rows(
    connection: Connection, target: TableClause, columns: Sequence[str], rows: list[tuple[Any, ...]]
) -> None:
    """Insert many rows at once."""
    if not rows:
        return
    if connection.dialect.name == "postgresql":
        copy_rows(connection, target, columns, rows)
        return
    # Straight to the driver: SQLAlchemy would make a dict of each row.
    statement = insert(target).compile(dialect=connection.dialect, column_keys=list(columns))
    connection.exec_driver_sql(str(statement), rows)


def copy_rows(connection: Connection, target: TableClause, columns: Sequence[str], rows: list[tuple[Any, ...]]) -> None:
    """PostgreSQL's own way of taking many rows."""
    driver: Any = connection.connection.driver_connection
    statement = f"COPY {target.name} ({', '.join(columns)}) FROM STDIN"
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
