"""The places of tokens in few rows, so that those of tokens and merges are written only when they are asked for; these
lose their foreign keys, at which the database looked for each row."""

from zlib import crc32

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    op.add_column("vocabularies", sa.Column("has_rows", sa.Boolean, nullable=False, server_default=sa.false()))
    op.execute("UPDATE vocabularies SET has_rows = true")
    op.create_table(
        "token_places",
        sa.Column("bucket", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column(
            "vocabulary_id",
            sa.Integer,
            sa.ForeignKey("vocabularies.id", ondelete="CASCADE"),
            primary_key=True,
            index=True,
        ),
        sa.Column("entries", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    for (vocabulary_id,) in connection.execute(sa.text("SELECT id FROM vocabularies ORDER BY id")).all():
        fill_places(connection, vocabulary_id)
    if connection.dialect.name == "sqlite":
        make_tables_anew()
    else:
        for table in ("tokens", "merges"):
            (key,) = sa.inspect(connection).get_foreign_keys(table)
            op.drop_constraint(str(key["name"]), table, type_="foreignkey")


def fill_places(connection: sa.Connection, vocabulary_id: int) -> None:
    """Deal the tokens of a vocabulary into buckets of about 32, by the CRC-32 of their bytes."""
    query = sa.text(
        "SELECT tokens.id, tokens.bytes, merges.rank FROM tokens LEFT JOIN merges "
        "ON merges.vocabulary_id = tokens.vocabulary_id AND merges.new_id = tokens.id "
        "WHERE tokens.vocabulary_id = :vocabulary_id ORDER BY tokens.id"
    )
    rows = connection.execute(query, {"vocabulary_id": vocabulary_id}).all()
    n_buckets = 1 << (len(rows) // 32).bit_length()
    buckets: dict[int, list[bytes]] = {}
    for token_id, token, rank in rows:
        if not (isinstance(token, bytes) and isinstance(token_id, int) and isinstance(rank, (int, type(None)))):
            continue  # what is damaged; verify() names it
        spelled = token.replace(b"\xfd", b"\xfd\0").replace(b"\xfe", b"\xfd\1").replace(b"\xff", b"\xfd\2")
        if rank is None:
            numbers = b"%d" % token_id
        else:
            numbers = b"%d," % token_id if rank == token_id - 256 else b"%d,%d" % (token_id, rank)
        entries = buckets.setdefault(n_buckets + (crc32(token) & (n_buckets - 1)), [])
        entries.append(b"\xfe" + spelled + b"\xff" + numbers)
    places = sa.table("token_places", *map(sa.column, ("bucket", "vocabulary_id", "entries")))
    values = [
        {"bucket": bucket, "vocabulary_id": vocabulary_id, "entries": b"".join(entries)}
        for bucket, entries in sorted(buckets.items())
    ]
    if values:
        connection.execute(places.insert(), values)


def make_tables_anew() -> None:
    """SQLite takes no foreign key from a table that is there."""
    op.drop_index("tokens_bytes", "tokens")
    op.rename_table("tokens", "tokens_before")
    op.rename_table("merges", "merges_before")
    op.create_table(
        "tokens",
        sa.Column("vocabulary_id", sa.Integer, primary_key=True),
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
        sa.Column("shown", sa.Text),
        sa.Column("text", sa.Text, sa.Computed("coalesce(shown, CAST(bytes AS TEXT))", persisted=False)),
        sa.Column("length", sa.Integer, sa.Computed("length(bytes)", persisted=False)),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "merges",
        sa.Column("vocabulary_id", sa.Integer, primary_key=True),
        sa.Column("new_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("left_id", sa.BigInteger, nullable=False),
        sa.Column("right_id", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    tokens, merges = "vocabulary_id, id, bytes, shown", "vocabulary_id, new_id, rank, left_id, right_id"
    op.execute(f"INSERT INTO tokens ({tokens}) SELECT {tokens} FROM tokens_before ORDER BY vocabulary_id, id")
    op.execute(f"INSERT INTO merges ({merges}) SELECT {merges} FROM merges_before ORDER BY vocabulary_id, new_id")
    op.drop_table("tokens_before")
    op.drop_table("merges_before")
    op.create_index("tokens_bytes", "tokens", ["bytes"])
