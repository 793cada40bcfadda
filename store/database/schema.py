"""The tables, as queries use them. The migrations make them, and these are the columns that they lead to. In SQLite,
`tokens` has one more, `shown`, which only the migrations and store/records/rows.py name. The constraints on what
columns may have stand in the migrations alone (revision_9.py).

A version is built from `content`, its canonical form (cbpe.tokenizers.description.canonical_form), and the packed
vocabulary. Other columns and rows say the same for queries in SQL, and verify() checks that they agree with it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    FetchedValue,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)

from store.database.revisions import REVISIONS as REVISIONS
from store.database.revisions import UNSEALED as UNSEALED
from store.database.revisions import VERSION_TABLE as VERSION_TABLE
from store.errors import Damaged


class UtcTime(TypeDecorator[datetime]):
    """A moment, as a datetime that knows its time zone, UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        value = value.astimezone(timezone.utc)
        return value if dialect.name == "postgresql" else value.replace(tzinfo=None)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        process = super().result_processor(dialect, coltype) or as_it_is

        def checked(value: Any) -> datetime | None:
            try:
                return process(value)
            except (AttributeError, TypeError, ValueError) as error:
                raise Damaged(f"the store is damaged: {value!r:.80} is no time") from error

        return checked

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(timezone.utc) if value.tzinfo else value.replace(tzinfo=timezone.utc)


def as_it_is(value: Any) -> Any:
    return value


metadata = MetaData()

meta = Table(
    "store_meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

names = Table(
    "names",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(255), nullable=False, unique=True),
    Column("last_number", Integer, nullable=False),  # of a version, given once and never again
    Column("newest", Integer),  # the number of its newest version; none: it has no version
    Column("seal", String(64)),  # of the above (store/records/seals.py)
)

vocabularies = Table(
    "vocabularies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),  # SHA-256 of `packed`, in hexadecimal
    Column("n_tokens", Integer, nullable=False, index=True),
    Column("n_merges", Integer, nullable=False),
    Column("packed", LargeBinary, nullable=False),  # Vocabulary.pack()
    Column("has_rows", Boolean, nullable=False, server_default=false()),  # in tokens and merges
)

token_places = Table(
    "token_places",
    metadata,
    Column("bucket", Integer, primary_key=True, autoincrement=False),
    Column("vocabulary_id", Integer, ForeignKey("vocabularies.id", ondelete="CASCADE"), primary_key=True, index=True),
    Column("entries", LargeBinary, nullable=False),  # of tokens, ids and ranks (store/records/places.py)
)

# The rows of tokens and merges refer to their vocabulary without a foreign key, which the database would look at for
# each of them.

tokens = Table(
    "tokens",
    metadata,
    Column("vocabulary_id", Integer, primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("bytes", LargeBinary, nullable=False),
    Column("text", Text, FetchedValue(), nullable=False),  # for people; SQLite computes it (store/records/rows.py)
    Column("length", Integer, FetchedValue()),  # of `bytes`; computed
    Index("tokens_bytes", "bytes", postgresql_using="hash"),
)

merges = Table(
    "merges",
    metadata,
    Column("vocabulary_id", Integer, primary_key=True),
    Column("new_id", BigInteger, primary_key=True, autoincrement=False),  # each token is made by one merge at most
    Column("rank", Integer, nullable=False),  # 0 applies first
    Column("left_id", BigInteger, nullable=False),  # -1 - b for the byte b where that has no token
    Column("right_id", BigInteger, nullable=False),
)

versions = Table(
    "versions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name_id", Integer, ForeignKey("names.id"), nullable=False),
    Column("number", Integer, nullable=False, index=True),
    Column("created_at", UtcTime, nullable=False, index=True),
    Column("digest", String(64), nullable=False, index=True),  # SHA-256 of `content`, in hexadecimal
    Column("content", Text, nullable=False),
    Column("vocabulary_id", Integer, ForeignKey("vocabularies.id"), nullable=False, index=True),
    Column("kind", String(64), nullable=False),
    Column("encoding_name", Text),
    Column("semantics", String(16), nullable=False),
    Column("pattern", Text),  # for people to read
    Column("unicode_version", String(32)),
    Column("n_special_tokens", Integer, nullable=False),
    Column("notes", Text),
    Column("parent_id", Integer, ForeignKey("versions.id", ondelete="SET NULL"), index=True),
    Column("parent_digest", String(64)),  # kept when the parent is deleted
    Column("seal", String(64)),  # of id, name_id, number, digest, kind and encoding_name (store/records/seals.py)
    UniqueConstraint("name_id", "number"),
    Index("versions_pattern", "pattern", postgresql_using="hash"),
)

special_tokens = Table(
    "special_tokens",
    metadata,
    Column("version_id", Integer, ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),  # among them in order of their text
    Column("id", BigInteger, nullable=False),
    Column("bytes", LargeBinary, nullable=False),
    Column("text", Text, nullable=False),  # for people to read
    Index("special_tokens_bytes", "bytes", postgresql_using="hash"),
)

training_records = Table(
    "training_records",
    metadata,
    Column("version_id", Integer, ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True),
    Column("record", Text, nullable=False),  # JSON
)

tags = Table(
    "tags",
    metadata,
    Column("version_id", Integer, ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(255), primary_key=True, index=True),
    Column("value", Text, nullable=False),
)

aliases = Table(
    "aliases",
    metadata,
    Column("name_id", Integer, ForeignKey("names.id"), primary_key=True),
    Column("alias", String(255), primary_key=True),
    Column("version_id", Integer, ForeignKey("versions.id"), nullable=False, index=True),
    Column("seal", String(64)),  # of the above
)

alias_history = Table(
    "alias_history",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name_id", Integer, ForeignKey("names.id"), nullable=False, index=True),
    Column("alias", String(255), nullable=False),
    Column("number", Integer),  # of the version that it points to from then on; none: it was removed
    Column("set_at", UtcTime, nullable=False),
)

metrics = Table(
    "metrics",
    metadata,
    Column("version_id", Integer, ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True),
    Column("metric", String(255), primary_key=True),
    Column("value", Float, nullable=False),
    Index("ix_metrics_metric", "metric", "value"),
)

IS_RENAME = text("action = 'rename'")

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("time", UtcTime, nullable=False),
    Column("who", Text),
    Column("action", String(32), nullable=False),
    Column("name", String(255)),
    Column("number", Integer),
    Column("details", Text, nullable=False),  # JSON
    Column("operation", String(32), unique=True, index=True),  # the token of what was done (store/database/opening.py)
    Index("ix_audit_log_name", "name", "id"),
    Index(
        "audit_log_renames",
        "details",
        postgresql_using="hash",
        postgresql_where=IS_RENAME,
        sqlite_where=IS_RENAME,
    ),
)
