"""The seals of names and aliases, and of versions with their ids and names; the newest version of a name; and in the
audit log the token of an operation, so that one whose answer was lost is found there and not done twice."""

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "7"
down_revision = "6"

names = sa.table("names", *map(sa.column, ("id", "name", "last_number", "newest", "seal")))
versions = sa.table("versions", *map(sa.column, ("id", "name_id", "number", "digest", "kind", "encoding_name", "seal")))
aliases = sa.table("aliases", *map(sa.column, ("name_id", "alias", "version_id", "seal")))


def upgrade() -> None:
    op.add_column("audit_log", sa.Column("operation", sa.String(32)))
    op.create_index("ix_audit_log_operation", "audit_log", ["operation"], unique=True)
    op.add_column("names", sa.Column("newest", sa.Integer))
    op.add_column("names", sa.Column("seal", sa.String(64)))
    op.add_column("aliases", sa.Column("seal", sa.String(64)))
    connection = op.get_bind()
    seal_versions(connection)
    seal_names(connection)
    for row in connection.execute(sa.select(aliases)).all():
        where = (aliases.c.name_id == row.name_id, aliases.c.alias == row.alias)
        seal = seal_of(row.name_id, row.alias, row.version_id)
        connection.execute(aliases.update().where(*where).values(seal=seal))


def seal_versions(connection: sa.Connection) -> None:
    """What does not have its seal of before is damaged, and gets none."""
    for row in connection.execute(sa.select(versions)).all():
        described = (row.number, row.digest, row.kind, row.encoding_name)
        if row.seal is not None and row.seal == seal_of(*described):
            seal = seal_of(row.id, row.name_id, *described)
            connection.execute(versions.update().where(versions.c.id == row.id).values(seal=seal))


def seal_names(connection: sa.Connection) -> None:
    newest = sa.select(versions.c.name_id, sa.func.max(versions.c.number)).group_by(versions.c.name_id)
    numbers = {row[0]: row[1] for row in connection.execute(newest).all()}
    for row in connection.execute(sa.select(names)).all():
        number = numbers.get(row.id)
        if number is not None and not (isinstance(row.last_number, int) and number <= row.last_number):
            continue  # it is damaged: its counter is behind
        seal = seal_of(row.id, row.name, row.last_number, number)
        connection.execute(names.update().where(names.c.id == row.id).values(newest=number, seal=seal))


def seal_of(*sealed: object) -> str | None:
    """None for what cannot be sealed, since it is damaged."""
    if not all(isinstance(value, (int, str, type(None))) for value in sealed):
        return None
    return hashlib.sha256(json.dumps(sealed, separators=(",", ":")).encode()).hexdigest()
