"""Saving: a tokenizer becomes a version, its vocabulary packed and the places of its tokens beside it, in one
transaction."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, case, insert, select, update

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.warning import warn
from cbpe.tokenizers.description import Model, canonical_form
from cbpe.training.record import TrainingRecord
from store.database.opening import Database
from store.database.schema import names, training_records, versions, vocabularies
from store.records import audit, labels, rows
from store.records.content import readable_pattern
from store.records.labels import Labels
from store.records.limits import MAX_JSON_BYTES, MAX_PACKED_BYTES, MAX_PATTERN, MAX_TOKEN_BYTES
from store.records.names import last_number, locked_name, write_name
from store.records.places import place_rows
from store.records.references import UNSTORABLE, shown
from store.records.seals import version_seal
from store.records.versions import CONTENT, Version, fetch_one, find_row

__all__ = ["Entry", "check_pattern", "checked_vocabulary", "entry_of", "first_same", "has_training", "put", "save"]

Content = tuple[str, str, "str | None"]  # what makes two versions the same: digest, kind, an Encoding's name


class Tables(NamedTuple):
    """What tables say of a vocabulary besides its packed form."""

    n_tokens: int
    n_merges: int
    places: list[tuple[int, bytes]]  # of the tokens (store/records/places.py)


@dataclass(frozen=True)
class Entry:
    """What a version is made of."""

    model: Model
    content: str  # the canonical form
    digest: str
    vocabulary_digest: str
    training: TrainingRecord | None
    parent_digest: str | None = None  # if the parent itself may be in another store
    tables: Tables | None = None  # of its vocabulary, if they were made before the transaction


def entry_of(model: Model, training: TrainingRecord | None = None, parent_digest: str | None = None) -> Entry:
    """The entry of a model. Raises ValueError for a model that is too large, or an Encoding's name that a database
    cannot hold."""
    check_pattern(model.pattern)
    if model.name is not None and UNSTORABLE.search(model.name):
        raise ValueError(f"an Encoding's name that is stored has no NUL and no lone surrogate: {shown(model.name)}")
    content = canonical_form(model)
    if len(content) > MAX_JSON_BYTES:
        problem = f"its pattern and special tokens take {len(content)} bytes"
        raise ValueError(f"the tokenizer is too large for a store: {problem} of at most {MAX_JSON_BYTES}")
    return Entry(
        model,
        content.decode("ascii"),
        hashlib.sha256(content).hexdigest(),
        model.vocabulary_digest,
        training,
        parent_digest,
    )


def check_pattern(pattern: str | None) -> None:
    """ValueError for a split pattern that is too large for a store."""
    if isinstance(pattern, str) and len(pattern) > MAX_PATTERN:
        raise ValueError(f"the split pattern has {len(pattern)} characters: a store takes at most {MAX_PATTERN}")


def save(
    database: Database,
    entry: Entry,
    name: str,
    given: Labels,
    parent: str | Version | None,
    action: str = "save",
    *,
    from_elsewhere: bool = False,
    since: int | None = None,
    **details: Any,
) -> Version:
    """Make the entry a version, unless the newest of that name already is the same, and put the labels on it either
    way. from_elsewhere: the labels came with it, and nobody gave them: those that the version has here stay. since:
    the version that is the same need not be the newest, and has this number or a later one. The action and its details
    go to the audit log."""
    prepared = with_tables(database, entry)
    return database.write(
        lambda connection: put(connection, prepared, name, given, parent, action, from_elsewhere, since, **details)
    )


def with_tables(database: Database, entry: Entry) -> Entry:
    """The entry with what tables say of its vocabulary, if that is new: it is made before others have to wait."""
    is_known = database.read(known_vocabulary, entry) is not None
    return entry if is_known else dataclasses.replace(entry, tables=tables_of(entry))


def tables_of(entry: Entry) -> Tables:
    vocabulary = checked_vocabulary(entry.model.vocabulary)
    return Tables(len(vocabulary), vocabulary.n_merges, place_rows(vocabulary))


def put(
    connection: Connection,
    entry: Entry,
    name: str,
    given: Labels,
    parent: str | Version | None,
    action: str,
    from_elsewhere: bool = False,
    since: int | None = None,
    **details: Any,
) -> Version:
    """What save does, within a transaction of the caller's."""
    parent_row = None if parent is None else find_row(connection, parent)
    name_row = locked_name(connection, name)
    number = name_row.newest if since is None else first_same(connection, name, content_of(entry), since)
    there = None if number is None else whole_row(connection, f"{name}@{number}")
    created = there is None or not is_same(there, entry)
    if there is None or created:
        version = add_version(connection, name_row, entry, parent_row)
        if parent_row is not None:
            labels.refuse_circle(connection, parent_row, version.id, f"{name}@{version.number}")
    else:
        version = there
        if not add_to_known(connection, version, entry, parent_row):
            parent_row = None
        if from_elsewhere:
            given = labels.without_known(connection, version.id, given)
    labels.apply(connection, version, given)
    facts = {"digest": entry.digest, "created": created, **changes(given), **details}
    if parent_row is not None:
        facts["parent"] = f"{parent_row.name}@{parent_row.number}"
    audit.record(connection, action, name, version.number, **facts)
    return dataclasses.replace(fetch_one(connection, version.id), created=created)


def first_same(connection: Connection, name: str, content: Content, since: int) -> int | None:
    """The number of the first version of a name, from one number on, that has this content."""
    found = (
        select(versions.c.number, *CONTENT)
        .join_from(versions, names, versions.c.name_id == names.c.id)
        .where(names.c.name == name, versions.c.number >= since, versions.c.digest == content[0])
        .order_by(versions.c.number)
    )
    numbers = (number for number, *there in connection.execute(found).all() if tuple(there) == content)
    return next(numbers, None)


def whole_row(connection: Connection, reference: str) -> Row[Any]:
    """All that the store has of a version. Raises Damaged if it is not the one that was saved."""
    row = find_row(connection, reference)
    return connection.execute(select(versions).where(versions.c.id == row.id)).one()


def content_of(entry: Entry) -> Content:
    return entry.digest, entry.model.kind, entry.model.name


def is_same(row: Row[Any], entry: Entry) -> bool:
    return (row.digest, row.kind, row.encoding_name) == content_of(entry)


def add_version(connection: Connection, name_row: Row[Any], entry: Entry, parent: Row[Any] | None) -> Row[Any]:
    model = entry.model
    if parent is None and entry.parent_digest is not None:
        elsewhere = case((versions.c.name_id == name_row.id, 0), else_=1)
        known = select(versions).where(versions.c.digest == entry.parent_digest).order_by(elsewhere, versions.c.id)
        parent = connection.execute(known.limit(1)).first()
    number = last_number(name_row) + 1
    write_name(connection, name_row.id, name_row.name, number, number)
    new = insert(versions).values(
        name_id=name_row.id,
        number=number,
        created_at=audit.utc_now(),
        digest=entry.digest,
        content=entry.content,
        vocabulary_id=vocabulary_id(connection, entry),
        kind=model.kind,
        encoding_name=model.name,
        semantics=model.semantics,
        pattern=readable_pattern(model.pattern),
        unicode_version=model.unicode_version,
        n_special_tokens=len(model.special_tokens),
        parent_id=None if parent is None else parent.id,
        parent_digest=entry.parent_digest if parent is None else parent.digest,
    )
    version = connection.execute(new.returning(versions.c.id, versions.c.name_id, versions.c.number)).one()
    seal = version_seal(version.id, name_row.id, number, entry.digest, model.kind, model.name)
    connection.execute(update(versions).where(versions.c.id == version.id).values(seal=seal))
    rows.insert_special_tokens(connection, version.id, model.special_tokens)
    if entry.training is not None:
        labels.set_training(connection, version.id, entry.training)
    return version


def vocabulary_id(connection: Connection, entry: Entry) -> int:
    """The id of the vocabulary's row, which is made if it is not there: each vocabulary is stored once."""
    known = known_vocabulary(connection, entry)
    if known is not None:
        return known
    tables = entry.tables or tables_of(entry)
    new = insert(vocabularies).values(
        digest=entry.vocabulary_digest,
        n_tokens=tables.n_tokens,
        n_merges=tables.n_merges,
        packed=entry.model.vocabulary,
    )
    made: int = connection.execute(new.returning(vocabularies.c.id)).scalar_one()
    rows.insert_places(connection, made, tables.places)
    return made


def known_vocabulary(connection: Connection, entry: Entry) -> int | None:
    found = connection.scalar(select(vocabularies.c.id).where(vocabularies.c.digest == entry.vocabulary_digest))
    return None if found is None else int(found)


def checked_vocabulary(packed: bytes) -> Vocabulary:
    """The vocabulary in packed form. ValueError for what is none, or is too large for a store, before memory is taken
    for it."""
    if len(packed) > MAX_PACKED_BYTES:
        raise ValueError(f"the packed vocabulary has {len(packed)} bytes: a store takes at most {MAX_PACKED_BYTES}")
    return Vocabulary.unpack(packed, max_bytes=MAX_TOKEN_BYTES)


def add_to_known(connection: Connection, version: Row[Any], entry: Entry, parent: Row[Any] | None) -> bool:
    """Add what a second save of the same content says: its parent, and its training record if the version has none.
    False, and a UserWarning, where the parent is left out: the version itself, or one whose training went on from
    it."""
    takes_parent = True
    if parent is not None:
        labels.lock_parents(connection)
        takes_parent = not labels.descends(connection, parent.id, version.id)
        if takes_parent:
            labels.set_parent(connection, version.id, parent)
        else:
            itself = "is this very version" if parent.id == version.id else "has its own training from this version on"
            warn(f"the parent {parent.name}@{parent.number} is left out: it {itself}, which was there already")
    if entry.training is not None and not has_training(connection, version.id):
        labels.set_training(connection, version.id, entry.training)
    return takes_parent


def has_training(connection: Connection, version_id: int) -> bool:
    known = select(training_records.c.version_id).where(training_records.c.version_id == version_id)
    return connection.scalar(known) is not None


def changes(given: Labels) -> dict[str, Any]:
    """The labels that were given, for the audit log."""
    named = {**given._asdict(), "notes": audit.notes_digest(given.notes or None)}
    return {what: value for what, value in named.items() if value}
