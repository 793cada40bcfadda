"""Keeping a store: a backup of all that is in it, and a store that is put back from one. A backup is a store in an
SQLite file, of whichever database: it can be opened as it is."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import chain, count
from typing import Any

from sqlalchemy import Connection, Row, Table, column, func, insert, inspect, select, table, update

from cbpe.common.atomic_files import missing_folder, name_beside, new_file, refuse_no_file
from cbpe.common.warning import warn
from store.database.locations import find_store
from store.database.older import AS_IT_IS
from store.database.opening import Database
from store.database.outputs import reason, written_file
from store.database.schema import REVISIONS, merges, meta, metadata, tokens, versions, vocabularies
from store.database.sqlite.connections import WRITES, make_engine
from store.database.sqlite.files import APPLICATION_ID, check_file, files_of
from store.database.sqlite.making import make_file, set_pragmas, sync_folder
from store.database.sqlite.soundness import in_plain_words
from store.errors import Damaged, Failed, Refused, StoreError
from store.records import audit
from store.verifying import first_of, verify

__all__ = ["backup", "checked_backup", "migrate", "restore"]

EXAMPLE = "models-backup.db"  # the name of a backup, in messages
OTHERWISE = "would be lost: name another file for the backup, or delete that one first"
BEFORE_RESTORE = ".before-restore"  # after the name of the store's file: the store as it was
ROWS_AT_ONCE = 1000  # that are copied


# ---- Backups


def backup(database: Database, path: str | os.PathLike[str]) -> None:
    """Write all that is in a store, as it is at one moment, to an SQLite file, which appears when it is whole. What was
    copied is verified: of a damaged store, a backup takes no other's place, and a new one is warned of."""
    write_copy(database, path, check_content)


def write_copy(
    database: Database, path: str | os.PathLike[str], check: Callable[[Database, str, str], None] | None = None
) -> None:
    """check: what looks at the copy of the store, in a file aside, before it becomes the target."""
    target = os.path.realpath(written_file(path, EXAMPLE))
    check_target(database, target)
    aside = name_beside(target)
    models = (target, database.path or "")  # by what stands there, or as the store is: who may read the backup
    try:
        database.read(copy_to, aside, database.revision, models)
        set_pragmas(aside, "journal_mode = WAL")
        check_pages(database, aside)
        if check is not None:
            check(database, aside, target)
        os.replace(aside, target)
        sync_folder(target)
    except StoreError:
        raise
    except (sqlite3.Error, OSError) as error:
        raise Failed(f"no backup of the store {database} can be made at {path}: {reason(error)}") from error
    finally:
        for left in files_of(aside):
            with suppress(OSError):
                os.unlink(left)


def check_target(database: Database, target: str) -> None:
    """Refused for what a backup would destroy: the store itself, and what is no older backup of it. Failed where its
    folder is not there."""
    folder = missing_folder(target)
    if folder is not None:
        what = f"no backup of the store {database} can be made at {target}"
        raise Failed(f"{what}: {folder} is no folder, in which {os.path.basename(target)} could be made: make it first")
    if database.path is not None and target in files_of(os.path.realpath(database.path)):
        raise Refused(f"{target} is the store itself: back it up to another file")
    if os.path.lexists(target):
        check_older_backup(database, target)
        refuse_no_file(target)  # PermissionError for one that was made read-only, which is to be kept


def check_older_backup(database: Database, target: str) -> None:
    """Refused for a file with anything that the store did not have at some time. Each change is a row of the log, which
    only grows: an older backup ends in a row that the store's log has as well."""
    try:
        check_file(target, writable=False)
        there = Database(find_store(target), read_only=True)
        try:
            last, n_versions = there.read(audit.last), there.read(count_versions)
        finally:
            there.close()
    except StoreError as error:
        raise Refused(f"{target} is there already, and is no backup that another could replace: {error}") from error
    if last is None and n_versions:
        raise Refused(f"{target} holds versions without a log of changes, which {OTHERWISE}")
    if last is not None and found(database, last.id) != last:
        change = " ".join(filter(None, (last.action, last.name)))
        raise Refused(
            f"{target} is no older backup of the store {database}: it holds changes that this lacks (the last one: "
            f"{change}, {last.time:%Y-%m-%d %H:%M:%S} UTC), which {OTHERWISE}"
        )


def found(database: Database, change_id: int) -> Row[Any] | None:
    try:
        return database.read(audit.find, change_id)
    except Damaged as error:
        raise Damaged(f"{error}, and no backup of it is made") from error


def count_versions(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(versions)) or 0


def copy_to(connection: Connection, aside: str, revision: str, models: tuple[str, ...]) -> None:
    for left in files_of(aside):  # of a try before
        with suppress(FileNotFoundError):
            os.unlink(left)
    new_file(aside, *models)
    if connection.dialect.name == "sqlite":
        driver: Any = connection.connection.driver_connection
        with closing(sqlite3.connect(aside)) as target:
            driver.backup(target)
        set_pragmas(aside, f"application_id = {APPLICATION_ID}")  # which a store in memory does not have
        return
    make_file(aside, revision)
    engine = make_engine(aside)
    try:
        with engine.execution_options(**{WRITES: True}).begin() as target_connection:
            copy_rows(connection, target_connection)
    finally:
        engine.dispose()


def check_pages(database: Database, aside: str) -> None:
    """Damaged for a store whose pages cannot all be read: it replaces no older backup, which may be whole."""
    with closing(sqlite3.connect(aside)) as connection:
        (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        found = "; ".join(in_plain_words(said))
        raise Damaged(f"the store {database} is damaged, and no backup of it is made: {found}")


def check_content(database: Database, aside: str, target: str) -> None:
    """Verify a copy. Damaged where it would take the place of an older backup, which may be whole."""
    problems = problems_of(aside)
    if not problems:
        return
    damage, most = f"the store {database} is damaged", first_of(problems)
    if os.path.lexists(target):
        raise Damaged(
            f"{damage}, and no backup of it takes the place of {target}, which may be whole: {most}. To keep the "
            "store as it is, name a file that is not there yet"
        )
    warn(f"{damage}, and so is the backup {target}: {most}")


def problems_of(path: str) -> tuple[str, ...]:
    """What verify finds wrong with a copy of a store."""
    copy = Database(find_store(path), read_only=True)
    try:
        return verify(copy).problems
    except Damaged:  # its message would name the file aside
        return ("not all of it can be read",)
    finally:
        copy.close()


# ---- Restoring


def restore(
    database: Database, path: str | os.PathLike[str], before: str | os.PathLike[str] | None, force: bool
) -> str | None:
    """Replace all that is in a store by what is in a backup, in one transaction, while others have the store open.
    before: where the store as it was is kept. Returns where that is; None if nothing was kept."""
    if force and before is not None:
        raise ValueError(f"force is set, which keeps nothing, and so no backup can be made in {os.fspath(before)!r}")
    if database.path is not None and os.path.realpath(path) == os.path.realpath(database.path):
        raise Refused(f"{os.fspath(path)} is the store itself: restore it from another file")
    source = checked_backup(path, before)
    try:
        kept = None if force else kept_before(database, before)
        put_back(database, source)
        return kept
    finally:
        source.close()


def checked_backup(path: str | os.PathLike[str], before: str | os.PathLike[str] | None) -> Database:
    """A backup, opened, which is whole. before: where the store as it was is going to be kept."""
    if before is not None:
        written_file(before, EXAMPLE)
    source = Database(find_store(os.path.abspath(path)), read_only=True)
    try:
        report = verify(source)
        if not report.ok:
            raise Damaged(f"the backup {source} is damaged, and is not restored: {first_of(report.problems)}")
    except BaseException:
        source.close()
        raise
    return source


def kept_before(database: Database, path: str | os.PathLike[str] | None) -> str | None:
    """A backup of a store that is going to be replaced, if it holds versions, in a file that was not there yet."""
    try:
        if not database.read(count_versions):
            return None
        if path is None and database.path is None:
            raise Refused(f"{database} holds versions: name a file for the backup of it that is made before")
        target = os.path.abspath(path) if path is not None else free_name(f"{database.path}{BEFORE_RESTORE}")
        if os.path.lexists(target):
            raise Refused(f"{target} is there already: name another file for the backup of the store as it is")
        write_copy(database, target)  # not verified: that takes long, and what others save meanwhile would be lost
    except (Damaged, Failed, Refused) as error:
        raise type(error)(f"{error}, or set force to restore without that backup") from error
    return target


def free_name(path: str) -> str:
    """This name, or the first one with a number after it, of which there is no file."""
    names = chain([path], (f"{path}-{number}" for number in count(2)))
    return next(name for name in names if not os.path.lexists(name))


def put_back(database: Database, source: Database) -> None:
    if database.url.get_backend_name() == "sqlite":
        source.read(lambda connection: database.overwrite(connection.connection.driver_connection))
        if database.revision == REVISIONS[-1]:
            database.write(lambda connection: audit.record(connection, "restore", None, source=str(source)))
        return
    if source.revision == REVISIONS[-1]:
        database.write(lambda connection: source.read(replace_rows, connection, str(source)))
        return
    with tempfile.TemporaryDirectory() as folder:  # an older backup stays as it is, and a copy of it is migrated
        copy = os.path.join(folder, "models.db")
        write_copy(source, copy)
        migrated = Database(find_store(copy), read_only=False)
        try:
            migrated.migrate()
            database.write(lambda connection: migrated.read(replace_rows, connection, str(source)))
        finally:
            migrated.close()


def replace_rows(source: Connection, target: Connection, path: str) -> None:
    remove_rows(target)
    copy_rows(source, target)
    audit.record(target, "restore", None, source=path)


# ---- Migrating


def migrate(database: Database, path: str | os.PathLike[str] | None) -> str | None:
    """Bring a store to the newest schema, after a backup. Returns where that is; None if there was nothing to do."""
    if path is not None:
        written_file(path, EXAMPLE)
    if database.revision == REVISIONS[-1]:
        return None
    if path is None and database.path is None:
        raise Refused(f"name a file for the backup of {database}: it is made before the store is migrated")
    target = os.path.abspath(path if path is not None else f"{database.path}.revision-{database.revision}")
    if os.path.lexists(target):
        raise Refused(f"{target} is there already: name another file for the backup before the migration")
    try:
        database.migrate(lambda: write_copy(database, target))
    except Damaged:  # the store is as before, and the next try makes a backup again
        with suppress(FileNotFoundError):
            os.unlink(target)
        raise
    return target if os.path.lexists(target) else None


# ---- Rows, from one database to another with the same revision of the schema


def copy_rows(source: Connection, target: Connection) -> None:
    """Write the rows of one store to another. Rows of tokens and merges, which write_rows makes again, stay behind
    where the schema says of which vocabularies there are any."""
    source = source.execution_options(**{AS_IT_IS: True})
    has_flag = "has_rows" in columns_of(source, vocabularies)
    there = inspect(source).get_table_names()
    for each in sorted(
        metadata.sorted_tables, key=lambda each: each in (tokens, merges)
    ):  # they once referred to others
        if each.name in there and each is not meta and not (has_flag and each in (tokens, merges)):
            copy_table(source, target, each)
    if has_flag:
        target.execute(update(vocabularies).values(has_rows=False))
    if target.dialect.name == "postgresql":
        count_on(target)


def columns_of(connection: Connection, each: Table) -> list[str]:
    """The columns of a table that are written, and not computed, in the order of the table."""
    found = inspect(connection).get_columns(each.name)
    return [item["name"] for item in found if "computed" not in item]


def copy_table(source: Connection, target: Connection, each: Table) -> None:
    read = [name for name in (item["name"] for item in inspect(source).get_columns(each.name)) if name in each.c]
    written = columns_of(target, each)
    known: Any = each
    if "shown" in written:  # the text of a token, where SQLite computes what is just its bytes
        known = table(each.name, *map(column, written))
    parents: dict[int, int] = {}
    rows = source.execution_options(yield_per=ROWS_AT_ONCE).execute(select(*(each.c[name] for name in read)))
    for chunk in rows.mappings().partitions(ROWS_AT_ONCE):
        values = [dict(row) for row in chunk]
        for row in values:
            if "shown" in written:
                row["shown"] = None if row["text"].encode() == row["bytes"] else row["text"]
            if each is versions and row["parent_id"] is not None:  # it may come later
                parents[row["id"]] = row["parent_id"]
                row["parent_id"] = None
        target.execute(insert(known), [{name: row[name] for name in written if name in row} for row in values])
    for version_id, parent_id in parents.items():
        target.execute(update(versions).where(versions.c.id == version_id).values(parent_id=parent_id))


def remove_rows(connection: Connection) -> None:
    """Empty all tables but those that say of which revision the schema is."""
    connection.execute(update(versions).values(parent_id=None))
    for each in reversed(metadata.sorted_tables):
        if each is not meta:
            connection.execute(each.delete())


def count_on(connection: Connection) -> None:
    """Let PostgreSQL give the next row an id that none has."""
    for each in counted():
        last = select(func.max(each.c.id)).scalar_subquery()
        sequence = func.pg_get_serial_sequence(each.name, "id")
        connection.execute(select(func.setval(sequence, func.coalesce(last, 1), last.is_not(None))))


def counted() -> Iterator[Table]:
    """The tables whose ids the database gives."""
    for each in metadata.sorted_tables:
        if "id" in each.primary_key.columns and len(each.primary_key.columns) == 1:
            yield each
