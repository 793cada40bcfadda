"""Writing what a flipped bit makes of a store: the database, which holds what columns may have, looks away."""

import contextlib
import sqlite3

CHECKS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'c' AND connamespace = current_schema()::regnamespace
"""


@contextlib.contextmanager
def unchecked(connection):
    """Within this, a connection of sqlite3 or of SQLAlchemy writes anything into any column. The constraints stand
    again afterwards, and those of PostgreSQL ask no questions about the rows that are there."""
    run = connection.execute if isinstance(connection, sqlite3.Connection) else connection.exec_driver_sql
    if isinstance(connection, sqlite3.Connection) or connection.dialect.name == "sqlite":
        with unchecked_in_sqlite(run):
            yield
        return
    checks = run(CHECKS).all()
    for table, name, _ in checks:
        run(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    yield
    for table, name, said in checks:
        run(f"ALTER TABLE {table} ADD CONSTRAINT {name} {said.removesuffix(' NOT VALID')} NOT VALID")


@contextlib.contextmanager
def unchecked_in_sqlite(run):
    """A STRICT table is an ordinary one meanwhile, which keeps rows in the same way."""
    strict = run("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE '%) STRICT%'").fetchall()
    run("PRAGMA ignore_check_constraints = ON")
    run("PRAGMA writable_schema = ON")
    run("UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT, ', ') '), ') STRICT', ')')")
    run("PRAGMA writable_schema = RESET")
    yield
    run("PRAGMA writable_schema = ON")
    for name, said in strict:
        run(f"UPDATE sqlite_master SET sql = '{said.replace(chr(39), chr(39) * 2)}' WHERE name = '{name}'")
    run("PRAGMA writable_schema = RESET")
    run("PRAGMA ignore_check_constraints = OFF")
