"""Indexes, so that no question reads a whole table."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    op.create_index("ix_versions_created_at", "versions", ["created_at"])
    op.create_index("ix_versions_number", "versions", ["number"])
    op.create_index("ix_versions_parent_id", "versions", ["parent_id"])
    op.create_index("ix_vocabularies_n_tokens", "vocabularies", ["n_tokens"])
    op.create_index("ix_tags_key", "tags", ["key"])
    op.create_index("ix_metrics_metric", "metrics", ["metric", "value"])
    op.create_index("ix_audit_log_name", "audit_log", ["name", "id"])
    # What may be longer than a row of a B-tree in PostgreSQL.
    op.create_index("versions_pattern", "versions", ["pattern"], postgresql_using="hash")
    op.create_index("special_tokens_bytes", "special_tokens", ["bytes"], postgresql_using="hash")
    is_rename = sa.text("action = 'rename'")
    op.create_index(
        "audit_log_renames",
        "audit_log",
        ["details"],
        postgresql_using="hash",
        postgresql_where=is_rename,
        sqlite_where=is_rename,
    )
