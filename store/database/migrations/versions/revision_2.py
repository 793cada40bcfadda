"""Metrics of versions, and a log of all changes; it begins with the versions that are there."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    op.create_table(
        "metrics",
        sa.Column("version_id", sa.Integer, sa.ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("metric", sa.String(255), primary_key=True),
        sa.Column("value", sa.Float, nullable=False),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("time", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.Text),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255)),
        sa.Column("number", sa.Integer),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.execute(
        "INSERT INTO audit_log (time, action, name, number, details) "
        "SELECT versions.created_at, 'save', names.name, versions.number, '{\"before\": \"the audit log\"}' "
        "FROM versions JOIN names ON names.id = versions.name_id ORDER BY versions.id"
    )
