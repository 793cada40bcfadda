"""What a database's errors mean: whether to try again, and which StoreError says it."""

from __future__ import annotations

import os
import shutil

from sqlalchemy.exc import DBAPIError, NoResultFound, OperationalError

from store.errors import Busy, CannotOpen, Damaged, Failed, NotAStore, StoreError

__all__ = [
    "UNREADABLE",
    "answer_is_lost",
    "as_busy",
    "as_damaged",
    "explained",
    "is_transient",
    "is_worth_repeating",
    "log_has_moved",
    "not_opened",
    "not_whole",
]

# Reading raises these for a missing row, and for bytes that are no text, also those in SQLite's own message.
UNREADABLE = (NoResultFound, UnicodeDecodeError)


def is_transient(error: DBAPIError) -> bool:
    """Whether the same transaction may succeed when it is repeated."""
    state = state_of(error)
    if state is not None:
        # Serialization, deadlock, lock; both made the same; one removed what the other refers to.
        return state in ("40001", "40P01", "55P03", "23505", "23503")
    reason = str(error.orig)
    return any(f"database {what}" in reason for what in ("is locked", "table is locked", "schema is locked"))


def is_worth_repeating(error: DBAPIError) -> bool:
    """Whether a transaction that was not committed may succeed when it is repeated: also where the server has ended the
    session, of which a connection that waited in the pool may hear only now."""
    return is_transient(error) or state_of(error) == "57P01"


def log_has_moved(error: DBAPIError) -> bool:
    """Whether SQLite failed because a log or its index, which its owner has made or removed just now, was not as a
    reader who may not write found it a moment ago."""
    return any(what in str(error.orig) for what in ("unable to open database file", "a readonly database"))


def answer_is_lost(error: DBAPIError) -> bool:
    """Whether an error of COMMIT leaves open what became of the transaction. It does not where the server itself says
    what is wrong, unless the connection is gone or the server is stopped."""
    state = state_of(error)
    return state is None or state.startswith(("08", "57P")) or state == "40003"


def state_of(error: DBAPIError) -> str | None:
    """What the server said, in SQL's code; None if it was not the server who said it, or the database is SQLite."""
    return getattr(error.orig, "sqlstate", None)


def not_opened(store: object, error: DBAPIError, path: str | None) -> StoreError:
    """path: the file of the store, if it is in one."""
    reason = str(error.orig).strip()
    if path is not None and disk_is_full(path):
        reason += " (its disk is full, and SQLite takes some of it for reading, too: make room)"
    if isinstance(error, OperationalError) and not is_transient(error):
        return CannotOpen(f"the store {store} cannot be opened: {reason}")
    if is_transient(error):
        return Busy(f"the store {store} cannot be opened: {reason}")
    return not_whole(store, reason, path)


def disk_is_full(path: str) -> bool:
    """Whether SQLite has no room for the index of its log, of 32 KiB, beside a store."""
    try:
        return shutil.disk_usage(os.path.dirname(os.path.abspath(path))).free < 1 << 16
    except OSError:
        return False


def not_whole(store: object, reason: str, path: str | None) -> NotAStore:
    advice = "" if path is None else ". Move the file away, and restore a backup to its path"
    return NotAStore(f"{store} is no whole store: {reason}{advice}")


def explained(store: object, error: DBAPIError) -> StoreError:
    """The error of a transaction that was not committed."""
    reason = str(error.orig).strip()
    if is_transient(error):
        return as_busy(store, reason)
    if any(problem in reason for problem in ("malformed", "not a database", "Could not decode")):
        return as_damaged(store, reason)
    if reason.startswith(("no such table", "no such column")):
        return as_damaged(store, f"{reason}. Restore a backup of it")
    if "readonly database" in reason:
        reason = (
            f"{reason}. Its file, or one of its log, which ends in -wal or -shm, is not yours to write: if somebody "
            "who only read the store left that log, remove both files while nobody has the store open"
        )
    return Failed(f"the store {store} could not do it, and is as before: {reason}")


def as_busy(store: object, reason: object) -> Busy:
    return Busy(f"the store {store} is kept busy by others: {reason}")


def as_damaged(store: object, reason: object) -> Damaged:
    return Damaged(f"the store {store} is damaged: {reason}")
