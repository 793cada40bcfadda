"""The first schema: names, versions and their vocabularies, in packed form and as rows."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "store_meta",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    create_vocabularies()
    create_versions()
    create_labels()


def create_vocabularies() -> None:
    op.create_table(
        "vocabularies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("n_tokens", sa.Integer, nullable=False),
        sa.Column("n_merges", sa.Integer, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    # PostgreSQL keeps computed columns, SQLite computes them when they are read.
    persisted = op.get_bind().dialect.name == "postgresql"
    op.create_table(
        "tokens",
        of_vocabulary(),
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("length", sa.Integer, sa.Computed("length(bytes)", persisted)),
        sqlite_with_rowid=False,
    )
    op.create_index("tokens_bytes", "tokens", ["bytes"], postgresql_using="hash")
    op.create_table(
        "merges",
        of_vocabulary(),
        sa.Column("new_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("left_id", sa.BigInteger, nullable=False),
        sa.Column("right_id", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )


def create_versions() -> None:
    op.create_table(
        "names",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(255), nullable=False, unique=True),
        sa.Column("last_number", sa.Integer, nullable=False),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name_id", sa.Integer, sa.ForeignKey("names.id"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, index=True),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("vocabulary_id", sa.Integer, sa.ForeignKey("vocabularies.id"), nullable=False, index=True),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("encoding_name", sa.Text),
        sa.Column("semantics", sa.String(16), nullable=False),
        sa.Column("pattern", sa.Text),
        sa.Column("unicode_version", sa.String(32)),
        sa.Column("n_special_tokens", sa.Integer, nullable=False),
        sa.Column("notes", sa.Text),
        sa.Column("parent_id", sa.Integer, sa.ForeignKey("versions.id", ondelete="SET NULL")),
        sa.Column("parent_digest", sa.String(64)),
        sa.UniqueConstraint("name_id", "number"),
    )
    op.create_table(
        "special_tokens",
        of_version(),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.BigInteger, nullable=False),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table("training_records", of_version(), sa.Column("record", sa.Text, nullable=False))


def create_labels() -> None:
    op.create_table(
        "tags",
        of_version(),
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "aliases",
        sa.Column("name_id", sa.Integer, sa.ForeignKey("names.id"), primary_key=True),
        sa.Column("alias", sa.String(255), primary_key=True),
        sa.Column("version_id", sa.Integer, sa.ForeignKey("versions.id"), nullable=False, index=True),
    )
    op.create_table(
        "alias_history",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name_id", sa.Integer, sa.ForeignKey("names.id"), nullable=False, index=True),
        sa.Column("alias", sa.String(255), nullable=False),
        sa.Column("number", sa.Integer),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
    )


def of_vocabulary() -> sa.Column[int]:
    return sa.Column(
        "vocabulary_id", sa.Integer, sa.ForeignKey("vocabularies.id", ondelete="CASCADE"), primary_key=True
    )


def of_version() -> sa.Column[int]:
    return sa.Column("version_id", sa.Integer, sa.ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True)
