"""The seal of a version: of its number, class and name as an Encoding, which the digest of its content is not of."""

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    op.add_column("versions", sa.Column("seal", sa.String(64)))
    columns = ("id", "number", "digest", "kind", "encoding_name", "seal")
    versions = sa.table("versions", *map(sa.column, columns))
    connection = op.get_bind()
    for row in connection.execute(sa.select(versions)).all():
        sealed = [row.number, row.digest, row.kind, row.encoding_name]
        if all(isinstance(value, (int, str, type(None))) for value in sealed):  # what is damaged has none
            seal = hashlib.sha256(json.dumps(sealed, separators=(",", ":")).encode()).hexdigest()
            connection.execute(versions.update().where(versions.c.id == row.id).values(seal=seal))
