"""Operations: each transaction that changes a store has a token, which the audit log holds. Whoever has lost the answer
to a COMMIT looks there whether it was done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from store.database.schema import audit_log

__all__ = ["OPERATION", "AnswerLost", "Operation", "is_noted", "was_committed"]

OPERATION = "store_operation"  # the execution option of transactions that says which Operation they are
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass
class Operation:
    """What is done in one transaction. The first change of it that is written to the audit log has its token."""

    token: str
    is_noted: bool = False


class AnswerLost(Exception):  # noqa: N818  (as the store's errors, it is named for what it says)
    """COMMIT was sent, and it is not known what became of it. If it was done, this is the result."""

    def __init__(self, error: DBAPIError, result: object) -> None:
        super().__init__(error)
        self.error = error
        self.result = result


def is_noted(connection: Connection, token: str) -> bool:
    """Whether the audit log has the token."""
    return connection.scalar(select(audit_log.c.id).where(audit_log.c.operation == token)) is not None


def was_committed(connection: Connection, token: str) -> bool:
    """Whether the audit log has the token. If a transaction that has written it is just being committed, this waits for
    that one. It is called in a transaction of its own, which is rolled back."""
    if is_noted(connection, token):
        return True
    try:
        connection.execute(insert(audit_log).values(time=EPOCH, action="ask", details="{}", operation=token))
    except IntegrityError as error:
        if not is_duplicate(error):
            raise
        return True
    return False


def is_duplicate(error: IntegrityError) -> bool:
    """Whether a row is refused because there is one like it, and not for what it holds."""
    return getattr(error.orig, "sqlstate", None) == "23505" or "UNIQUE constraint failed" in str(error.orig)
