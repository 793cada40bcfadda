"""Changing what is known about versions, renaming and deleting them. Each function is one transaction and one row in
the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, delete, exists, func, insert, select, update

from cbpe.common.public import public_of
from cbpe.common.wording import meant
from cbpe.training.record import TrainingRecord
from store.database.opening import Database
from store.database.schema import alias_history, aliases, metrics, names, tags, versions, vocabularies
from store.errors import NotFound, Refused
from store.records import audit, labels
from store.records.names import checked_row, last_number, lock_name, write_name
from store.records.references import (
    Reference,
    checked_alias,
    checked_label,
    checked_name,
    checked_new_alias,
    checked_new_name,
    parse,
    shown,
)
from store.records.rows import delete_sql_rows
from store.records.versions import DESCRIBED, Version, fetch_one, find_row, not_found, unknown_name

__all__ = [
    "AliasMove",
    "delete_name",
    "delete_version",
    "list_alias_moves",
    "remove_alias",
    "remove_unused",
    "rename",
    "set_alias",
    "set_metrics",
    "set_notes",
    "set_parent",
    "set_training",
    "tag",
    "untag",
]


@public_of("store")
class AliasMove(NamedTuple):
    """Where an alias pointed, and since when."""

    name: str
    alias: str
    number: int | None  # of the version; None: the alias was removed
    time: datetime


# ---- Labels


def tag(database: Database, reference: str | Version, given: Mapping[str, str]) -> Version:
    def work(connection: Connection, version: Row[Any]) -> dict[str, Any]:
        for key, value in given.items():
            labels.put(connection, tags, version_id=version.id, key=key, value=value)
        return {"tags": dict(given)}

    return change(database, "tag", reference, work)


def untag(database: Database, reference: str | Version, keys: Iterable[str]) -> Version:
    wanted = [checked_label("a tag", key) for key in labels.listed("tags", keys)]

    def work(connection: Connection, version: Row[Any]) -> dict[str, Any]:
        for key in wanted:
            gone = delete(tags).where(tags.c.version_id == version.id, tags.c.key == key).returning(tags.c.key)
            if connection.execute(gone).first() is None:
                known = connection.scalars(select(tags.c.key).where(tags.c.version_id == version.id))
                hint = meant(key.partition("=")[0], known)  # the key is meant where its value is given, too
                raise NotFound(f"{version.name}@{version.number} has no tag {shown(key)}{hint}")
        return {"tags": wanted}

    return change(database, "untag", reference, work)


def set_notes(database: Database, reference: str | Version, notes: str | None) -> Version:
    def work(connection: Connection, version: Row[Any]) -> dict[str, Any]:
        labels.set_notes(connection, version.id, notes)
        return {"notes": audit.notes_digest(notes)}

    return change(database, "notes", reference, work)


def set_metrics(database: Database, reference: str | Version, given: Mapping[str, float | None]) -> Version:
    labels.check_mapping("metrics", given)
    kept = labels.checked_metrics({metric: value for metric, value in given.items() if value is not None})
    for metric in given:
        checked_label("a metric", metric)

    def work(connection: Connection, version: Row[Any]) -> dict[str, Any]:
        for metric in given:
            row = (metrics.c.version_id == version.id, metrics.c.metric == metric)
            connection.execute(delete(metrics).where(*row))
        labels.put_metrics(connection, version.id, kept)
        return {"metrics": {metric: kept.get(metric) for metric in given}}

    return change(database, "metrics", reference, work)


def relabel(
    database: Database,
    reference: str | Version,
    decide: Callable[[Version], tuple[Mapping[str, float | None], Mapping[str, str | None]]],
) -> Version:
    """Give a version the metrics and the tags that `decide` says of what it has now; None removes one. All of it is one
    transaction, which may be repeated. There may be more of them than a version takes at once elsewhere."""

    def work(connection: Connection, version: Row[Any]) -> dict[str, Any]:
        new_metrics, new_tags = decide(fetch_one(connection, version.id))
        for metric, value in new_metrics.items():
            kept = {} if value is None else labels.checked_metrics({metric: value})
            row = (metrics.c.version_id == version.id, metrics.c.metric == checked_label("a metric", metric))
            connection.execute(delete(metrics).where(*row))
            labels.put_metrics(connection, version.id, kept)
        for key, text in new_tags.items():
            if text is None:
                connection.execute(delete(tags).where(tags.c.version_id == version.id, tags.c.key == key))
            else:
                for name, checked in labels.checked_tags({key: text}).items():
                    labels.put(connection, tags, version_id=version.id, key=name, value=checked)
        return {"metrics": dict(new_metrics), "tags": dict(new_tags)}

    return change(database, "metrics", reference, work)


def set_parent(database: Database, reference: str | Version, parent: str | Version | None) -> Version:
    def work(connection: Connection, version: Row[Any]) -> dict[str, Any]:
        row = None if parent is None else find_row(connection, parent)
        if row is not None and row.id == version.id:
            raise Refused(f"{version.name}@{version.number} cannot be its own parent")
        if row is not None:
            labels.refuse_circle(connection, row, version.id, f"{version.name}@{version.number}")
        labels.set_parent(connection, version.id, row)
        return {"parent": None if row is None else f"{row.name}@{row.number}"}

    return change(database, "parent", reference, work)


def set_training(database: Database, reference: str | Version, record: TrainingRecord | None) -> Version:
    if not isinstance(record, (TrainingRecord, type(None))):
        raise TypeError(f"a training record is a cbpe.TrainingRecord, not {type(record).__name__}")

    def work(connection: Connection, version: Row[Any]) -> dict[str, Any]:
        labels.set_training(connection, version.id, record)
        return {"training": None if record is None else record.source}

    return change(database, "training", reference, work)


def change(database: Database, action: str, reference: str | Version, work: Any) -> Version:
    """Let work change what is known about a version, and write what it did to the audit log."""

    def whole(connection: Connection) -> Version:
        version = locked_row(connection, reference)
        audit.record(connection, action, version.name, version.number, **work(connection, version))
        return fetch_one(connection, version.id)

    return database.write(whole)


def locked_row(connection: Connection, reference: str | Version) -> Row[Any]:
    """The row of one version, which nobody else can change until the transaction ends."""
    row = find_row(connection, reference, only_one=True)
    lock_name(connection, row.name_id)
    again = connection.execute(DESCRIBED.where(versions.c.id == row.id)).first()
    if again is None:
        raise NotFound(f"{row.name}@{row.number} was deleted just now")
    return again


# ---- Aliases


def set_alias(database: Database, name: str, alias: str, reference: str | Version) -> Version:
    checked_name(name)
    checked_new_alias(alias)

    def work(connection: Connection) -> Version:
        version = locked_row(connection, reference)
        if version.name != name and not is_used(connection, name):
            raise unknown_name(connection, name)
        if version.name != name:
            raise Refused(f"the alias {name}@{alias} cannot point to a version of another name, {version.name}")
        before = alias_row(connection, name, alias)
        labels.point(connection, version, alias)
        moved = {"alias": alias, "from": None if before is None else before.number}
        audit.record(connection, "alias", name, version.number, **moved)
        return fetch_one(connection, version.id)

    return database.write(work)


def remove_alias(database: Database, name: str, alias: str) -> None:
    checked_alias(alias)

    def work(connection: Connection) -> None:
        row = alias_row(connection, checked_name(name), alias)
        if row is not None:
            lock_name(connection, row.name_id)
            row = alias_row(connection, name, alias)  # somebody may have removed it, or renamed its name, just now
        if row is None:
            raise not_found(connection, f"{name}@{alias}", Reference(name, alias=alias))
        drop_aliases(connection, row.name_id, [alias])
        audit.record(connection, "remove alias", name, row.number, alias=alias)

    database.write(work)


def alias_row(connection: Connection, name: str, alias: str) -> Row[Any] | None:
    query: Select[Any] = (
        select(aliases.c.name_id, versions.c.number)
        .join_from(aliases, names, aliases.c.name_id == names.c.id)
        .join(versions, aliases.c.version_id == versions.c.id)
    )
    return connection.execute(query.where(names.c.name == name, aliases.c.alias == alias)).first()


def drop_aliases(connection: Connection, name_id: int, gone: Iterable[str]) -> None:
    for alias in gone:
        connection.execute(delete(aliases).where(aliases.c.name_id == name_id, aliases.c.alias == alias))
        labels.note_alias(connection, name_id, alias, None)


def list_alias_moves(connection: Connection, name: str, alias: str | None) -> list[AliasMove]:
    query = (
        select(names.c.name, alias_history.c.alias, alias_history.c.number, alias_history.c.set_at)
        .join_from(alias_history, names, alias_history.c.name_id == names.c.id)
        .where(names.c.name == checked_name(name))
        .order_by(alias_history.c.id)
    )
    if alias is not None:
        query = query.where(alias_history.c.alias == checked_alias(alias))
    return [AliasMove(*row) for row in connection.execute(query)]


def unknown_alias(connection: Connection, name: str, alias: str) -> NotFound:
    """The error about an alias that a name never had, which says what may be meant."""
    known = {move.alias for move in list_alias_moves(connection, name, None)}
    return NotFound(f"{name} never had the alias {shown(alias)}{meant(alias, known)}")


# ---- Names and versions


def rename(database: Database, old: str, new: str) -> None:
    checked_new_name(new)

    def work(connection: Connection) -> None:
        row = connection.execute(select(names).where(names.c.name == checked_name(old)).with_for_update()).first()
        if row is None or not has_versions(connection, row.id):
            raise unknown_name(connection, old)
        if new == old:
            raise Refused(f"the versions of {shown(old)} are called so already: give another name")
        checked_row(row)
        given = last_number(row)
        number = max(given, vacated(connection, new, row.id))
        check_meanings(connection, row.id, old, new)
        write_name(connection, row.id, new, number, row.newest)
        # So that the old name, if it is ever used again, goes on from there: old@1 never means something else.
        left = insert(names).values(name=old, last_number=given).returning(names.c.id)
        write_name(connection, connection.execute(left).scalar_one(), old, given, None)
        audit.record(connection, "rename", old, to=new)

    database.write(work)


def check_meanings(connection: Connection, name_id: int, old: str, new: str) -> None:
    """Refused where a number of the versions under a name was another version's under the new one."""
    meanings = audit.meanings(connection, old, new)
    query = select(versions.c.number).where(versions.c.name_id == name_id).order_by(versions.c.number)
    for number in connection.scalars(query):
        if number in meanings[new] and meanings[new][number] != meanings[old].get(number):
            reason = f"{new}@{number} was another version than {old}@{number} is, and would come to mean it"
            raise Refused(f"{shown(old)} cannot be called {shown(new)}: {reason}; take a name that was not used")


def is_used(connection: Connection, name: str) -> bool:
    """Whether a name has versions."""
    name_id = connection.scalar(select(names.c.id).where(names.c.name == name))
    return name_id is not None and has_versions(connection, name_id)


def vacated(connection: Connection, name: str, heir: int) -> int:
    """Make a name free whose versions were all deleted, and leave what is known of it to its heir: the last number that
    was given under it, and where its aliases pointed. Refused for a name with versions."""
    row = connection.execute(select(names).where(names.c.name == name).with_for_update()).first()
    if row is None:
        return 0
    if has_versions(connection, row.id):
        raise Refused(f"there are versions called {shown(name)} already: rename or delete these, or take another name")
    connection.execute(update(alias_history).where(alias_history.c.name_id == row.id).values(name_id=heir))
    connection.execute(delete(names).where(names.c.id == row.id))
    return last_number(row)


def has_versions(connection: Connection, name_id: int) -> bool:
    return connection.execute(select(versions.c.id).where(versions.c.name_id == name_id).limit(1)).first() is not None


def delete_version(database: Database, reference: str | Version, force: bool) -> Version:
    def work(connection: Connection) -> Version:
        if isinstance(reference, str):
            refuse_one_of_several(connection, reference)
        return delete_one(connection, reference, force)

    return database.write(work)


def refuse_one_of_several(connection: Connection, reference: str) -> None:
    """Refused for a name alone that has several versions: deleting is not undone, and who gives the name may mean all
    of them, or the one that other calls take it for."""
    parsed = parse(reference)
    if parsed != Reference(parsed.name):
        return
    of_name = select(func.count()).join_from(versions, names, versions.c.name_id == names.c.id)
    n_versions = connection.scalar(of_name.where(names.c.name == parsed.name)) or 0
    if n_versions > 1:
        newest = find_row(connection, parsed.name)
        which = f"name one, as {newest.name}@{newest.number}, the newest, or delete all by delete_name"
        raise Refused(f"{shown(parsed.name)} has {n_versions} versions: {which}")


def delete_name(database: Database, name: str, force: bool) -> list[Version]:
    def work(connection: Connection) -> list[Version]:
        query = select(names).where(names.c.name == checked_name(name)).with_for_update()
        row = connection.execute(query).first()
        if row is None or not has_versions(connection, row.id):
            raise unknown_name(connection, name)
        of_name = select(versions.c.number).where(versions.c.name_id == row.id).order_by(versions.c.number)
        numbers = connection.scalars(of_name).all()
        return [delete_one(connection, f"{name}@{number}", force) for number in numbers]

    return database.write(work)


def delete_one(connection: Connection, reference: str | Version, force: bool) -> Version:
    row = locked_row(connection, reference)
    version = fetch_one(connection, row.id)
    if version.aliases and not force:
        shown_aliases = ", ".join(f"{version.name}@{alias}" for alias in version.aliases)
        raise Refused(f"{version} is what {shown_aliases} points to: move the alias, or set force")
    drop_aliases(connection, row.name_id, version.aliases)
    connection.execute(delete(versions).where(versions.c.id == row.id))
    forget_newest(connection, row.name_id)
    details = {"digest": version.digest, "aliases": list(version.aliases)}
    audit.record(connection, "delete", version.name, version.number, **details)
    return version


def forget_newest(connection: Connection, name_id: int) -> None:
    """After a version of a name was deleted: note which one is the newest now."""
    row = checked_row(connection.execute(select(names).where(names.c.id == name_id)).one())
    newest = connection.scalar(select(func.max(versions.c.number)).where(versions.c.name_id == name_id))
    write_name(connection, row.id, row.name, row.last_number, newest)


def remove_unused(database: Database) -> int:
    """Remove the vocabularies that no version has, and say how many there were."""

    def work(connection: Connection) -> int:
        used = exists().where(versions.c.vocabulary_id == vocabularies.c.id)
        gone = connection.scalars(delete(vocabularies).where(~used).returning(vocabularies.c.id)).all()
        for vocabulary_id in gone:
            delete_sql_rows(connection, vocabulary_id)
        audit.record(connection, "vacuum", None, vocabularies=len(gone))
        return len(gone)

    return database.write(work)
