"""In SQLite, the text of a token is computed from its bytes where it is nothing but them: most of what it took."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return  # PostgreSQL computes no column by its convert_from, which a setting could change
    op.drop_index("tokens_bytes", "tokens")
    op.rename_table("tokens", "tokens_before")
    op.create_table(
        "tokens",
        sa.Column("vocabulary_id", sa.Integer, sa.ForeignKey("vocabularies.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
        sa.Column("shown", sa.Text),
        sa.Column("text", sa.Text, sa.Computed("coalesce(shown, CAST(bytes AS TEXT))", persisted=False)),
        sa.Column("length", sa.Integer, sa.Computed("length(bytes)", persisted=False)),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO tokens (vocabulary_id, id, bytes, shown) "
        "SELECT vocabulary_id, id, bytes, nullif(text, CAST(bytes AS TEXT)) FROM tokens_before "
        "ORDER BY vocabulary_id, id"
    )
    op.drop_table("tokens_before")
    op.create_index("tokens_bytes", "tokens", ["bytes"])
