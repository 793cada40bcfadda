"""Seals: digests over the rows by which a version is found. A row that was changed, and one that a damaged index leads
to in place of another, does not have its seal, and no other version is taken for the one that was asked for.

A seal is the SHA-256, in hexadecimal, of a JSON array without spaces. It is no signature: who can write to a database
can seal what he wrote. verify() compares with the audit log as well.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from store.database.revisions import UNSEALED
from store.errors import Damaged
from store.records.references import Reference

if TYPE_CHECKING:
    from sqlalchemy import Row

__all__ = [
    "alias_seal",
    "check_alias",
    "check_found",
    "check_name",
    "check_version",
    "damaged",
    "name_seal",
    "version_seal",
]

OLD = "revision 3: "  # before a seal of the revisions 3 to 6 (store/database/older.py)


def seal_of(*sealed: object) -> str:
    return hashlib.sha256(json.dumps(sealed, separators=(",", ":")).encode("ascii")).hexdigest()


def name_seal(name_id: int, name: str, last_number: int, newest: int | None) -> str:
    """The seal of a name: it has this row, has given this number as its last, and has this as its newest version."""
    return seal_of(name_id, name, last_number, newest)


def version_seal(version_id: int, name_id: int, number: int, digest: str, kind: str, encoding_name: str | None) -> str:
    """The seal of what never changes about a version besides its content."""
    return seal_of(version_id, name_id, number, digest, kind, encoding_name)


def alias_seal(name_id: int, alias: str, version_id: int) -> str:
    """The seal of where an alias points to."""
    return seal_of(name_id, alias, version_id)


def check_version(row: Row[Any]) -> None:
    """Raise Damaged unless a version's row has its seal."""
    described = (row.number, row.digest, row.kind, row.encoding_name)
    try:
        right = (version_seal(row.id, row.name_id, *described), UNSEALED, OLD + seal_of(*described))
    except (TypeError, ValueError) as error:  # SQLite keeps anything anywhere
        raise damaged(row, "the row of the version holds what none can") from error
    if row.seal not in right:
        raise damaged(row, "its number, its class or its name as an Encoding is not what was saved")


def check_name(row: Row[Any], name_id: int, seal: str | None) -> None:
    """Raise Damaged unless a name's row has its seal."""
    try:
        right = (name_seal(name_id, row.name, row.last_number, row.newest), UNSEALED)
    except (TypeError, ValueError) as error:
        raise Damaged(f"{row.name!r:.80} is damaged: the row of the name holds what none can") from error
    if seal not in right:
        raise Damaged(f"{row.name} is damaged: the name, its last number or its newest version is not what was saved")


def check_alias(row: Row[Any]) -> None:
    """Raise Damaged unless an alias's row has its seal, and leads to this version."""
    try:
        right = (alias_seal(row.alias_name_id, row.alias, row.id), UNSEALED)
    except (TypeError, ValueError) as error:
        raise Damaged(f"{row.name}@{row.alias!r:.80} is damaged: its row holds what none can") from error
    if row.alias_seal not in right:
        raise Damaged(f"{row.name}@{row.alias} is damaged: it does not point to the version that it was set to")


def check_found(row: Row[Any], parsed: Reference) -> None:
    """Raise Damaged unless the row is sealed, and is what was asked for: an index that is damaged may lead to another
    row."""
    check_version(row)
    check_name(row, row.name_id, row.name_seal)
    if parsed.alias is not None:
        check_alias(row)
    asked = (parsed.name or row.name, parsed.number or row.number, parsed.alias, parsed.digest or "")
    found = (row.name, row.number, parsed.alias and row.alias, row.digest[: len(asked[-1])])
    if asked != found:
        raise Damaged(f"the store is damaged: {row.name}@{row.number} was found where another version was asked for")


def damaged(row: Row[Any], reason: str) -> Damaged:
    return Damaged(f"{row.name}@{row.number} is damaged: {reason}")
