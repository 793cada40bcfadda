"""Names: making, locking and sealing their rows, and the last number that each has given to a version."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select, update

from store.database.schema import names
from store.errors import Damaged
from store.records.audit import announce_move
from store.records.labels import upsert
from store.records.references import checked_new_name
from store.records.seals import check_name, name_seal

__all__ = ["checked_row", "last_number", "lock_name", "locked_name", "write_name"]


def locked_name(connection: Connection, name: str) -> Row[Any]:
    """The row of a name, which is made if it is new. Others cannot change it until the transaction ends."""
    made = upsert(connection, names).values(name=name, last_number=0)
    wanted = select(names).where(names.c.name == name).with_for_update()
    while True:
        connection.execute(made.on_conflict_do_nothing(index_elements=["name"]))
        row = connection.execute(wanted).first()
        if row is not None and row.seal is None:
            checked_new_name(name)
        if row is not None:
            return checked_row(row)
        # While this waited for the lock, another transaction gave that row another name.


def checked_row(row: Row[Any]) -> Row[Any]:
    """The row of a name, if it has its seal, or was made just now and has none yet. Raises Damaged if not."""
    last_number(row)
    if (row.seal, row.last_number, row.newest) != (None, 0, None):
        check_name(row, row.id, row.seal)
    return row


def write_name(connection: Connection, name_id: int, name: str, last_number: int, newest: int | None) -> None:
    """Write the row of a name that is there, with its seal."""
    values = {"name": name, "last_number": last_number, "newest": newest}
    sealed = name_seal(name_id, name, last_number, newest)
    connection.execute(update(names).where(names.c.id == name_id).values(**values, seal=sealed))
    announce_move(connection)


def lock_name(connection: Connection, name_id: int) -> None:
    """Keep others from changing a name, or a version of it, until the transaction ends."""
    connection.execute(select(names.c.id).where(names.c.id == name_id).with_for_update())


def last_number(name_row: Row[Any]) -> int:
    """The last number that a name gave to a version. Raises Damaged if what is stored is no number."""
    number = name_row.last_number
    if not isinstance(number, int):  # SQLite keeps anything anywhere
        raise Damaged(f"{name_row.name} is damaged: its last number is {number!r:.80}; verify tells what else is wrong")
    return number
