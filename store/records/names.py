"""Names: making and locking their rows, and the last number that each has given to a version."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from store.database.schema import names
from store.errors import Damaged
from store.records.labels import upsert

__all__ = ["last_number", "lock_name", "locked_name"]


def locked_name(connection: Connection, name: str) -> Row[Any]:
    """The row of a name, which is made if it is new. Others cannot change it until the transaction ends."""
    made = upsert(connection, names).values(name=name, last_number=0)
    wanted = select(names).where(names.c.name == name).with_for_update()
    while True:
        connection.execute(made.on_conflict_do_nothing(index_elements=["name"]))
        row = connection.execute(wanted).first()
        if row is not None:
            return row
        # While this waited for the lock, another transaction gave that row another name.


def lock_name(connection: Connection, name_id: int) -> None:
    """Keep others from changing a name, or a version of it, until the transaction ends."""
    connection.execute(select(names.c.id).where(names.c.id == name_id).with_for_update())


def last_number(name_row: Row[Any]) -> int:
    """The last number that a name gave to a version. Raises Damaged if what is stored is no number."""
    number = name_row.last_number
    if not isinstance(number, int):  # SQLite keeps anything anywhere
        raise Damaged(f"{name_row.name} is damaged: its last number is {number!r:.80}; verify tells what else is wrong")
    return number
