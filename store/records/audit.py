"""The audit log: one row for each change, in the transaction of that change."""

from __future__ import annotations

import getpass
import hashlib
import json
from collections import defaultdict
from datetime import datetime, timezone
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, insert, select

from cbpe.common.public import public_of
from store.database.operations import OPERATION, Operation
from store.database.schema import IS_RENAME, audit_log
from store.errors import Damaged
from store.records.references import checked_name

__all__ = [
    "CHANNEL",
    "Change",
    "announce_move",
    "changes",
    "digest_when_made",
    "expected",
    "find",
    "last",
    "meanings",
    "notes_digest",
    "record",
    "utc_now",
]

log = audit_log.c
# An id and a Change.
FIELDS: Select[Any] = select(log.id, log.time, log.who, log.action, log.name, log.number, log.details)
CHANNEL = "cbpe_store_moved"  # of the whole database, where several stores may have schemas of their own
MAKING = ("save", "copy", "import")  # the changes that a version is made by


def record(connection: Connection, action: str, name: str | None, number: int | None = None, **details: Any) -> None:
    """Write down who did what, when; and with the first change of a transaction, its token."""
    row = {"time": utc_now(), "who": user(), "action": action, "name": name, "number": number}
    operation = connection.get_execution_options().get(OPERATION)
    if isinstance(operation, Operation) and not operation.is_noted:
        row["operation"] = operation.token
        operation.is_noted = True
    connection.execute(insert(audit_log).values(**row, details=as_json(details)))


def announce_move(connection: Connection) -> None:
    """Tell who listens to a PostgreSQL server that an alias, or the newest version of a name, has moved: with the
    COMMIT of this transaction, and once however often this is called. SQLite has no such thing: who wants to know looks
    at the file (store/sharing/watching.py)."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"NOTIFY {CHANNEL}")


def as_json(details: dict[str, Any]) -> str:
    return json.dumps(details, sort_keys=True)


@public_of("store")
class Change(NamedTuple):
    """One row of the log."""

    time: datetime
    who: str | None  # the user that the program ran as
    action: str  # "save", "delete", "alias", ...
    name: str | None  # as it was then
    number: int | None
    details: dict[str, Any]


def changes(connection: Connection, name: str | None, limit: int | None) -> list[Change]:
    """The newest changes, of one name or of all, the newest first. Raises TypeError or ValueError for a name or limit
    that is none."""
    if limit is not None and not isinstance(limit, int):
        raise TypeError(f"a limit is an int, not {type(limit).__name__}")
    if limit is not None and limit < 0:
        raise ValueError(f"a limit is 0 or more, not {limit}")
    most = None if limit is None else min(limit, 2**62)  # the largest integer of a database is near
    newest_first = FIELDS.order_by(log.id.desc()).limit(most)
    if name is None:
        return [change for _, change in read(connection, newest_first)]
    under_it = newest_first.where(log.name == checked_name(name))
    to_it = newest_first.where(IS_RENAME, log.details == as_json({"to": name}))
    # Two questions, each of which an index answers in this order.
    found = dict([*read(connection, under_it), *read(connection, to_it)])
    return [found[key] for key in sorted(found, reverse=True)[:limit]]


def last(connection: Connection) -> Row[Any] | None:
    """The row of the newest change; None if there was none."""
    return connection.execute(FIELDS.order_by(log.id.desc()).limit(1)).first()


def find(connection: Connection, row_id: int) -> Row[Any] | None:
    """The row with an id; None if there is none."""
    return connection.execute(FIELDS.where(log.id == row_id)).first()


def read(connection: Connection, query: Select[Any]) -> list[tuple[int, Change]]:
    """The changes that a query for FIELDS finds, with their ids."""
    rows = connection.execute(query).all()
    try:
        return [(row.id, Change(*row[1:])._replace(details=dict(json.loads(row.details)))) for row in rows]
    except (TypeError, ValueError, RecursionError) as error:
        raise Damaged(f"the details of a change in the audit log cannot be read: {error}") from error


def notes_digest(notes: str | None) -> dict[str, Any] | None:
    """What the log keeps of notes, which may be large and removed later."""
    if notes is None:
        return None
    written = notes.encode("utf-8")
    return {"sha256": hashlib.sha256(written).hexdigest(), "bytes": len(written)}


def meanings(connection: Connection, *of_names: str) -> dict[str, dict[int, int]]:
    """Which version each number under these names has meant, deleted and renamed versions included: a version is known
    by the place in the log where it was made. Of several versions that a number has meant, this gives the last."""
    meant: dict[str, dict[int, int]] = defaultdict(dict)
    present: dict[str, dict[int, int]] = defaultdict(dict)
    telling = log.name.in_(sources(connection, *of_names)), log.action.in_((*MAKING, "delete", "rename"))
    for place, change in read(connection, FIELDS.where(*telling).order_by(log.id)):
        name, number = change.name, change.number
        if name is None:
            continue
        if change.action == "rename":
            renamed = str(change.details.get("to"))
            present[renamed] = present.pop(name, {})
            meant[renamed].update(present[renamed])
        elif number is not None and change.action == "delete":
            present[name].pop(number, None)
        elif number is not None and change.action in MAKING and change.details.get("created", True):
            present[name][number] = meant[name][number] = place
    return meant


def sources(connection: Connection, *of_names: str) -> list[str]:
    """These names, and all that were ever renamed to one of them."""
    found = list(dict.fromkeys(of_names))
    for name in found:  # which grows meanwhile
        renames = select(log.name).where(IS_RENAME, log.details == as_json({"to": name})).distinct()
        found += [source for source in connection.scalars(renames).all() if source not in found]
    return found


class Expected(NamedTuple):
    """What the log says that a store has now."""

    versions: dict[tuple[str, int], str | None]  # the digest; None where the version is older than the log
    aliases: dict[tuple[str, str], int]
    is_whole: bool  # whether the log has been kept from the start: if not, there may be aliases that it does not know


def expected(connection: Connection) -> Expected:
    """What the changes in the log lead to, one after the other. Raises Damaged if they cannot be read."""
    versions: dict[str, dict[int, str | None]] = defaultdict(dict)
    aliases: dict[str, dict[str, int]] = defaultdict(dict)
    is_whole = True
    for _, (_, _, action, name, number, details) in read(connection, FIELDS.order_by(log.id)):
        if name is None:
            continue
        if action == "rename":
            for known in (versions, aliases):
                moved: Any = known.pop(name, {})
                known[str(details.get("to"))] = moved
        elif action == "alias" and number is not None:
            aliases[name][str(details.get("alias"))] = number
        elif action == "remove alias":
            aliases[name].pop(str(details.get("alias")), None)
        elif action == "delete" and number is not None:
            versions[name].pop(number, None)
            for alias in details.get("aliases", ()):
                aliases[name].pop(alias, None)
        elif action in MAKING and number is not None:
            is_whole = is_whole and "digest" in details
            if details.get("created", True):
                versions[name][number] = details.get("digest")
            for alias in details.get("aliases", ()):
                aliases[name][alias] = number
    return Expected(flat(versions), flat(aliases), is_whole)


def flat(known: dict[str, dict[Any, Any]]) -> dict[Any, Any]:
    """{"a": {1: x}} -> {("a", 1): x}"""
    return {(name, key): value for name, under in known.items() for key, value in under.items()}


def digest_when_made(connection: Connection, name: str, number: int) -> str | None:
    """The digest of a version as the log noted it when the version was made. None if it does not know, as of a version
    that has had another name."""
    made = FIELDS.where(log.name == name, log.number == number, log.action.in_(MAKING)).order_by(log.id.desc())
    for _, change in read(connection, made):
        if change.details.get("created", True):
            digest = change.details.get("digest")
            return None if digest is None else str(digest)
    return None


def utc_now() -> datetime:
    """The time, with its zone."""
    return datetime.now(timezone.utc)


@cache
def user() -> str | None:
    """The name of the user that this program runs as, if it has one."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return None
    return name.encode("utf-8", "backslashreplace").decode("utf-8")  # the environment may hold any bytes
