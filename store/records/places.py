"""Where tokens are: which vocabularies have a token, and its id and rank in each, without a row for every token.

A vocabulary deals its tokens by the CRC-32 of their bytes into a power of two of buckets, so that about 32 come into
one, and each bucket is a row. Buckets are numbered over all powers: those of `n` are n to 2n - 1. So one row of each
vocabulary answers for a token, and an index leads to these rows.

A bucket holds entries, one after the other: FE, the token, FF, its id, and if a merge makes it "," and the rank, both
in decimal. A rank that is the id less 256, as it mostly is, is left out. In the token, FD, FE and FF, which no UTF-8
has, are written as FD 00, FD 01 and FD 02: an entry is found by looking for its first bytes.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

from sqlalchemy import Boolean, LargeBinary, Select, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from cbpe._core.vocabulary.buckets import bucket_entries
from cbpe._core.vocabulary.vocabulary import Vocabulary
from store.database.schema import token_places

__all__ = ["having", "place_rows", "places_in"]

TOKENS_IN_BUCKET = 32
N_BYTES = 256
MOST_LEVELS = 24  # powers of two of buckets that there may be: of more tokens than a store takes
BEGIN, END = b"\xfe", b"\xff"
ESCAPES = {b"\xfd": b"\xfd\0", b"\xfe": b"\xfd\1", b"\xff": b"\xfd\2"}


class Holds(FunctionElement[bool]):
    """Whether bytes hold other bytes."""

    type = Boolean()
    inherit_cache = True


@compiles(Holds, "sqlite")
def holds_in_sqlite(element: Holds, compiler: SQLCompiler, **options: Any) -> str:
    return "instr({}, {}) > 0".format(*(compiler.process(clause, **options) for clause in element.clauses))


@compiles(Holds, "postgresql")
def holds_in_postgresql(element: Holds, compiler: SQLCompiler, **options: Any) -> str:
    return "position({1} IN {0}) > 0".format(*(compiler.process(clause, **options) for clause in element.clauses))


def place_rows(vocabulary: Vocabulary) -> list[tuple[int, bytes]]:
    """(bucket, entries) of all buckets that are not empty."""
    n_buckets = 1 << (len(vocabulary) // TOKENS_IN_BUCKET).bit_length()
    buckets = bucket_entries(vocabulary, n_buckets)
    return [(n_buckets + i, entries) for i, entries in enumerate(buckets) if entries]


def escaped(token: bytes) -> bytes:
    for byte, written in ESCAPES.items():  # FD first: the others are written with it
        token = token.replace(byte, written)
    return token


def key_of(token: bytes) -> bytes:
    """What the entries of a token begin with."""
    return BEGIN + escaped(token) + END


def having(token: bytes, *columns: ColumnElement[Any]) -> Select[Any]:
    """The query for columns of token_places, in the rows of the vocabularies that have a token."""
    crc = crc32(token)
    buckets = [1 << level | crc & ((1 << level) - 1) for level in range(MOST_LEVELS)]
    return select(*columns).where(
        token_places.c.bucket.in_(buckets), Holds(token_places.c.entries, literal(key_of(token), LargeBinary))
    )


def places_in(entries: bytes, token: bytes) -> list[tuple[int, int | None]]:
    """(id, rank) of each entry of a token. Raises ValueError for entries that are none."""
    key = key_of(token)
    found = []
    start = entries.find(key)
    while start >= 0:
        start += len(key)
        numbers = entries[start:].partition(BEGIN)[0].split(b",")
        token_id = int(numbers[0])
        rank = None if len(numbers) == 1 else int(numbers[1] or token_id - N_BYTES)
        found.append((token_id, rank))
        start = entries.find(key, start)
    return found
