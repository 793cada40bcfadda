"""The audit log has digests of notes, which themselves may be large."""

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    log = sa.table("audit_log", *map(sa.column, ("id", "details")))
    connection = op.get_bind()
    with_notes = sa.select(log.c.id).where(log.c.details.like('%"notes": "%'))
    for row_id in connection.scalars(with_notes).all():  # one at a time: each may have 16 MiB
        text = connection.scalar(sa.select(log.c.details).where(log.c.id == row_id))
        try:
            details = json.loads(str(text))
            notes = details["notes"].encode("utf-8")
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            continue  # what is damaged; reading the log names it
        details["notes"] = {"sha256": hashlib.sha256(notes).hexdigest(), "bytes": len(notes)}
        connection.execute(log.update().where(log.c.id == row_id).values(details=json.dumps(details, sort_keys=True)))
