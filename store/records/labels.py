"""What is known about versions and may be changed: tags, notes, metrics, parents, training records, aliases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, delete, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from cbpe.common.checks import is_float
from cbpe.training.record import TrainingRecord
from store.database.schema import alias_history, aliases, metrics, tags, training_records, versions
from store.errors import Refused
from store.records import audit
from store.records.limits import MAX_LABELS, MAX_NOTES_BYTES, MAX_TAG_VALUE
from store.records.references import checked_label, checked_new_alias, checked_text, shown
from store.records.seals import alias_seal
from store.records.training import record_to_json
from store.records.versions import PARENT_ID

__all__ = ["Labels", "checked_labels"]

LOCK_OF_PARENTS = int.from_bytes(b"cbpp", "big")  # PostgreSQL's advisory lock on the parents of versions


class Labels(NamedTuple):
    """What save is given besides the content. What is None or empty leaves the version as it is."""

    tags: Mapping[str, str]
    aliases: tuple[str, ...]
    notes: str | None
    metrics: Mapping[str, float]


def checked_labels(
    tags: Mapping[str, str] | Iterable[str] | None,
    aliases: Iterable[str],
    notes: str | None,
    metrics: Mapping[str, float] | None,
) -> Labels:
    """Labels as they are stored. Raises TypeError or ValueError for a label that is not allowed."""
    return Labels(
        checked_tags(tags),
        tuple(checked_new_alias(alias) for alias in listed("aliases", aliases)),
        checked_notes(notes),
        checked_metrics(metrics),
    )


def checked_tags(tags: Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    """Tags with their values; those of a list have none, which is an empty text. ValueError for one in a list that is
    written with a value, as the command line takes it."""
    if tags is None:
        return {}
    pairs = list(tags.items()) if isinstance(tags, Mapping) else [(tag, "") for tag in listed("tags", tags)]
    if not isinstance(tags, Mapping):
        for tag, _ in pairs:
            if isinstance(tag, str) and "=" in tag:
                key, _, value = tag.partition("=")
                raise ValueError(
                    f"a list is of tags without values, and {shown(tag)} has one: give {{{key!r}: {value!r}}}"
                )
    check_number("tags", len(pairs))
    return {
        checked_label("a tag", key): checked_text(f"the tag {shown(key)}", value, MAX_TAG_VALUE) for key, value in pairs
    }


def listed(what: str, items: Iterable[str]) -> list[str]:
    if isinstance(items, str):
        raise TypeError(f"{what} are several: give a list, [{items!r}]")
    if not isinstance(items, Iterable) or isinstance(items, (Mapping, bytes, bytearray)):
        raise TypeError(f"{what} are a list, not {type(items).__name__}")
    found = list(items)
    check_number(what, len(found))
    return found


def check_number(what: str, number: int) -> None:
    if number > MAX_LABELS:
        raise ValueError(f"{number} {what} are too many: a version takes at most {MAX_LABELS} at once")


def check_mapping(what: str, given: object) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} are a dict, not {type(given).__name__}")


def checked_notes(notes: str | None) -> str | None:
    return None if notes is None else checked_text("a note", notes, MAX_NOTES_BYTES)


def checked_metrics(metrics: Mapping[str, float] | None) -> dict[str, float]:
    metrics = {} if metrics is None else metrics
    check_mapping("metrics", metrics)
    check_number("metrics", len(metrics))
    checked = {}
    for metric, value in metrics.items():
        if not is_float(value):
            raise TypeError(f"the metric {metric!r} is a number, not {type(value).__name__}: {value!r}")
        try:
            number = float(value)
        except OverflowError as error:
            raise ValueError(f"the metric {metric!r} is beyond what a float holds") from error
        if not math.isfinite(number):
            raise ValueError(f"the metric {metric!r} is {number}, which no database keeps")
        checked[checked_label("a metric", metric)] = number
    return checked


# ---- Changes, each within a transaction of the caller's


def put(connection: Connection, table: Table, **values: Any) -> None:
    """Insert a row, or replace the one with the same primary key."""
    keys = [column.name for column in table.primary_key]
    new = upsert(connection, table).values(**values)
    others = {name: value for name, value in values.items() if name not in keys}
    connection.execute(new.on_conflict_do_update(index_elements=keys, set_=others))


def upsert(connection: Connection, table: Table) -> Any:
    """An INSERT that takes ON CONFLICT. SQLAlchemy has a separate one for each database."""
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)


def apply(connection: Connection, version: Any, labels: Labels) -> None:
    """Put labels on the version whose row (with id, name_id and number) is given."""
    for key, value in labels.tags.items():
        put(connection, tags, version_id=version.id, key=key, value=value)
    put_metrics(connection, version.id, labels.metrics)
    if labels.notes:
        set_notes(connection, version.id, labels.notes)
    elif labels.notes is not None:  # empty ones, as a script may have them, take no others away
        has_none = (versions.c.id == version.id) & versions.c.notes.is_(None)
        connection.execute(update(versions).where(has_none).values(notes=labels.notes))
    for alias in labels.aliases:
        point(connection, version, alias)


def without_known(connection: Connection, version_id: int, given: Labels) -> Labels:
    """Those of the labels for which a version has none of its own: no tag and no metric of that name, and no notes."""
    own_tags = set(connection.scalars(select(tags.c.key).where(tags.c.version_id == version_id)))
    own_metrics = set(connection.scalars(select(metrics.c.metric).where(metrics.c.version_id == version_id)))
    has_notes = connection.scalar(select(versions.c.notes).where(versions.c.id == version_id)) is not None
    return given._replace(
        tags={key: value for key, value in given.tags.items() if key not in own_tags},
        notes=None if has_notes else given.notes,
        metrics={metric: value for metric, value in given.metrics.items() if metric not in own_metrics},
    )


def point(connection: Connection, version: Any, alias: str) -> None:
    """Make an alias of the version's name point to it. Its history has no row more where it did already."""
    pointing = select(aliases.c.version_id).where(aliases.c.name_id == version.name_id, aliases.c.alias == alias)
    moves = connection.scalar(pointing) != version.id
    seal = alias_seal(version.name_id, alias, version.id)
    put(connection, aliases, name_id=version.name_id, alias=alias, version_id=version.id, seal=seal)
    if moves:
        note_alias(connection, version.name_id, alias, version.number)


def note_alias(connection: Connection, name_id: int, alias: str, number: int | None) -> None:
    """Write down to which number an alias points from now on; None if it is removed."""
    moved = {"name_id": name_id, "alias": alias, "number": number, "set_at": audit.utc_now()}
    connection.execute(insert(alias_history).values(**moved))
    audit.announce_move(connection)


def set_notes(connection: Connection, version_id: int, notes: str | None) -> None:
    connection.execute(update(versions).where(versions.c.id == version_id).values(notes=notes))


def put_metrics(connection: Connection, version_id: int, given: Mapping[str, float]) -> None:
    for metric, number in given.items():
        put(connection, metrics, version_id=version_id, metric=metric, value=number)


def lock_parents(connection: Connection) -> None:
    """Keep others from saying which version another descends from until the transaction ends: two of them could make
    each the ancestor of the other. In SQLite every transaction that writes does."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_OF_PARENTS})


def descends(connection: Connection, version_id: int, from_id: int) -> bool:
    """Whether the training of a version went on from that of another, or from one that did."""
    parent = select(PARENT_ID)
    seen: set[int] = set()
    current: int | None = version_id
    while current is not None and current not in seen:  # in a damaged store parents may form a circle
        seen.add(current)
        current = connection.scalar(parent.where(versions.c.id == current))
    return from_id in seen


def refuse_circle(connection: Connection, parent: Any, version_id: int, child: str) -> None:
    """Refused for a parent (its row) whose training went on from that of its child, or from one that did."""
    lock_parents(connection)
    if descends(connection, parent.id, version_id):
        raise Refused(f"{parent.name}@{parent.number} was itself trained on from {child}, or from one that was")


def set_parent(connection: Connection, version_id: int, parent: Any | None) -> None:
    """Make the version of the given row the parent of another; None if that has no parent."""
    parenthood = {"parent_id": parent and parent.id, "parent_digest": parent and parent.digest}
    connection.execute(update(versions).where(versions.c.id == version_id).values(**parenthood))


def set_training(connection: Connection, version_id: int, record: TrainingRecord | None) -> None:
    if record is None:
        connection.execute(delete(training_records).where(training_records.c.version_id == version_id))
    else:
        put(connection, training_records, version_id=version_id, record=record_to_json(record, version_id))
