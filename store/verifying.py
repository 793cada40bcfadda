"""Verifying: proves that packed form, rows and digest of what is stored agree."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql import ColumnElement

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.progress import ProgressCallback, progress_reports
from cbpe.common.public import public_of
from cbpe.tokenizers.description import KINDS, canonical_form
from store.database.failures import UNREADABLE
from store.database.older import AS_IT_IS, has_constraints, has_token_places
from store.database.opening import Database
from store.database.schema import (
    alias_history,
    aliases,
    merges,
    names,
    special_tokens,
    token_places,
    tokens,
    versions,
    vocabularies,
)
from store.database.sqlite.soundness import in_plain_words, why_unreadable
from store.errors import Damaged
from store.records import audit
from store.records.content import model_of, readable_pattern, training_of
from store.records.places import place_rows
from store.records.rows import merge_rows, special_token_rows, token_rows
from store.records.seals import check_alias, check_name
from store.records.versions import ALIAS, NAME, STORED, Version, check_meant, look_up

__all__ = ["Report", "first_of", "verify"]

MOST_SHOWN = 5  # wrong rows that a problem quotes
SHOWN = 100  # problems, in a notebook
TOLD = 3  # problems in the message of an error or a warning
WHOLE = {"database": "the database", "name": "the names", "log": "the log of changes"}  # what is checked as a whole
PART = 50  # vocabularies or versions that are checked in one transaction


@public_of("store")
@dataclass(frozen=True)
class Report:
    """What verify() found. It is true if nothing is wrong."""

    versions: int  # that were looked at
    vocabularies: int
    problems: tuple[str, ...]  # each in one sentence, with the version or vocabulary named

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def _repr_html_(self) -> str:
        """What a notebook shows: how much was looked at, and the first problems."""
        from cbpe.views.html import block, pairs, table

        about = (
            ("all is well", "yes" if self.ok else "no"),
            ("versions", self.versions),
            ("vocabularies", self.vocabularies),
            ("problems", len(self.problems)),
        )
        problems = table(("problem",), ([each] for each in self.problems[:SHOWN]))
        return block(pairs("What is stored", about), problems if self.problems else "")


def verify(
    database: Database, reference: str | Version | None = None, progress: bool | ProgressCallback | None = None
) -> Report:
    """Check one version with its name, its vocabulary and the aliases that point to it, or everything in the store.

    All that is stored is checked in parts, each in a transaction of its own, so that none is held for long. What is
    deleted meanwhile is no problem.
    """
    with progress_reports(progress) as report:
        if reference is not None:
            return database.read(report_on_version, reference)
        problems, used, chosen = database.read(report_on_all)
        done, total = 0, len(used) + len(chosen)
        for check, ids in ((vocabulary_problems, used), (version_problems, chosen)):
            for start in range(0, len(ids), PART):
                part = ids[start : start + PART]
                problems += database.read(found_in, check, part)
                done += len(part)
                if report is not None:
                    report("verifying", done, total)
    return Report(len(chosen), len(used), tuple(problems))


def report_on_all(connection: Connection) -> tuple[list[str], list[int], list[int]]:
    """The problems of the store as a whole, and the ids of its vocabularies and versions."""
    checks = (database_problems, name_problems, log_problems)
    problems = [problem for check in checks for problem in found(check, connection)]
    used = list(connection.scalars(select(vocabularies.c.id).order_by(vocabularies.c.id)))
    chosen = list(connection.scalars(select(versions.c.id).order_by(versions.c.id)))
    return problems, used, chosen


def report_on_version(connection: Connection, reference: str | Version) -> Report:
    try:
        row, _ = look_up(connection, reference, STORED)
    except Damaged as error:
        return Report(1, 0, (str(error),))
    check_meant(row, reference)
    problems = [*found(name_problems, connection, row.name_id), *found(origin_problems, connection, row.id)]
    used = [] if row.packed is None else [row.vocabulary_id]
    problems += found_in(connection, vocabulary_problems, used) + found_in(connection, version_problems, [row.id])
    return Report(1, len(used), tuple(problems))


def first_of(problems: Sequence[str]) -> str:
    """The first problems, for a message, and how many more there are."""
    more = len(problems) - TOLD
    last = [f"and {more:,} more, which verify() lists"] if more > 0 else []
    return "; ".join([*problems[:TOLD], *last])


def found_in(connection: Connection, check: Callable[..., Iterator[str]], ids: list[int]) -> list[str]:
    """All problems that a check finds in the rows with these ids."""
    return [problem for row_id in ids for problem in found(check, connection, row_id)]


def found(check: Callable[..., Iterator[str]], connection: Connection, *which: int) -> list[str]:
    """All problems that a check finds. If it cannot go on because of what it reads, that is one more."""
    problems: list[str] = []
    try:
        problems += check(connection, *which)
    except (*UNREADABLE, AttributeError, DBAPIError, Damaged, TypeError, ValueError) as error:
        what = check.__name__.removesuffix("_problems")
        named = f"{what} {', '.join(map(str, which))}" if which else WHOLE[what]
        reason = why_unreadable(error.orig if isinstance(error, DBAPIError) else error)
        problems.append(f"{named} cannot be read: {reason}")
    return problems


def database_problems(connection: Connection) -> Iterator[str]:
    """What SQLite itself finds wrong with its pages, indices and references (PostgreSQL checks its own), and the rows
    that break a constraint, or would in a store of the newest schema."""
    is_sound = True
    if connection.dialect.name == "sqlite":
        for (line,) in connection.exec_driver_sql("PRAGMA integrity_check"):
            if line != "ok":
                is_sound = False
                yield from (f"the database: {problem}" for problem in in_plain_words(line))
        lost = Counter(
            (table, parent) for table, _, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check")
        )
        for (table, parent), n in lost.items():
            rows = f"a row of {table} refers" if n == 1 else f"{n:,} rows of {table} refer"
            yield f"the database: {rows} to one of {parent} that is not there"
    if not is_sound or not has_constraints(connection):
        yield from row_breaks(connection)


def row_breaks(connection: Connection) -> list[str]:
    from store.database.migrations.versions.revision_9 import broken_rows  # slow to import, and rarely needed

    connection.execution_options(**{AS_IT_IS: True})
    try:
        return list(broken_rows(connection))
    finally:
        connection.execution_options(**{AS_IT_IS: False})


def vocabulary_problems(connection: Connection, vocabulary_id: int) -> Iterator[str]:
    """Where a packed vocabulary, its digest and its rows do not agree."""
    row = connection.execute(select(vocabularies).where(vocabularies.c.id == vocabulary_id)).first()
    if row is None:
        return  # it was removed meanwhile
    what = f"vocabulary {vocabulary_id}"
    if hashlib.sha256(row.packed).hexdigest() != row.digest:
        yield f"{what}: its packed form does not have its digest"
        return
    try:
        vocabulary = Vocabulary.unpack(row.packed)
    except ValueError as error:
        yield f"{what}: {error}"
        return
    if (row.n_tokens, row.n_merges) != (len(vocabulary), vocabulary.n_merges):
        yield f"{what}: it says {row.n_tokens} tokens and {row.n_merges} merges, which are not what it has"
    place = token_places.c
    if not has_token_places(connection):
        yield from sql_row_problems(connection, row, vocabulary)
        return
    there = connection.execute(select(place.bucket, place.entries).where(place.vocabulary_id == vocabulary_id))
    yield from row_problems(f"{what}, places of tokens", place_rows(vocabulary), there)
    yield from sql_row_problems(connection, row, vocabulary)


def sql_row_problems(connection: Connection, row: Row[Any], vocabulary: Vocabulary) -> Iterator[str]:
    """Where the rows of tokens and merges are not those of a vocabulary, or are there and should not be."""
    token, merge = tokens.c, merges.c
    written = select(token.id, token.bytes, token.text).where(token.vocabulary_id == row.id).order_by(token.id)
    joined = select(merge.new_id, merge.rank, merge.left_id, merge.right_id).where(merge.vocabulary_id == row.id)
    there = connection.execute(written), connection.execute(joined.order_by(merge.rank))
    wanted = (token_rows(vocabulary), merge_rows(vocabulary)) if row.has_rows else ((), ())
    yield from row_problems(f"vocabulary {row.id}, tokens", wanted[0], there[0])
    yield from row_problems(f"vocabulary {row.id}, merges", wanted[1], there[1])


def row_problems(what: str, right: Iterable[tuple[Any, ...]], there: Iterable[Any]) -> Iterator[str]:
    """Which rows are missing, changed or too many, compared with those that the content has. The first item of each row
    is its key."""
    wanted, written = {row[0]: row for row in right}, {row[0]: tuple(row) for row in there}
    if wanted == written:
        return
    missing = [key for key in wanted if key not in written]
    extra = [key for key in written if key not in wanted]
    changed = [key for key, row in wanted.items() if key in written and written[key] != row]
    for problem, keys in (("missing", missing), ("too many", extra), ("changed", changed)):
        if keys:
            shown = ", ".join(map(str, keys[:MOST_SHOWN])) + (", ..." if len(keys) > MOST_SHOWN else "")
            rows = "1 row is" if len(keys) == 1 else f"{len(keys)} rows are"
            yield f"{what}: {rows} {problem}: {shown}"


def version_problems(connection: Connection, version_id: int) -> Iterator[str]:
    """Where a version's canonical form, its digest, its columns and its special tokens do not agree."""
    if connection.scalar(select(versions.c.id).where(versions.c.id == version_id)) is None:
        return  # it was deleted meanwhile
    stored = STORED.add_columns(versions.c.seal)
    row = connection.execute(stored.where(versions.c.id == version_id)).one()
    what = f"{row.name}@{row.number}"
    try:
        model = model_of(row)
        training_of(row)
    except Damaged as error:
        yield str(error)
        return
    columns = connection.execute(select(versions).where(versions.c.id == version_id)).one()
    said = {
        "semantics": model.semantics,
        "pattern": readable_pattern(model.pattern),
        "unicode_version": model.unicode_version,
        "n_special_tokens": len(model.special_tokens),
    }
    for column, value in said.items():
        if getattr(columns, column) != value:
            yield f"{what}: its {column} is {getattr(columns, column)!r:.80}, and {value!r:.80} in its canonical form"
    if columns.parent_id is not None:
        parent = connection.scalar(select(versions.c.digest).where(versions.c.id == columns.parent_id))
        if parent != columns.parent_digest:
            yield f"{what}: its parent's digest is {columns.parent_digest!r:.80}, and {parent!r:.80} where it points"
    if canonical_form(model).decode("ascii") != row.content:
        yield f"{what}: its canonical form is not as cbpe writes it"
    if model.kind not in KINDS:
        yield f"{what}: its class {model.kind!r:.80} is unknown"
    special = special_tokens.c
    written = select(special.position, special.id, special.bytes, special.text)
    written = written.where(special.version_id == version_id).order_by(special.position)
    yield from row_problems(
        f"{what}, special tokens", special_token_rows(model.special_tokens), connection.execute(written)
    )
    yield from alias_problems(connection, aliases.c.version_id == version_id)


def name_problems(connection: Connection, name_id: int | None = None) -> Iterator[str]:
    """Names, or the given one, whose counter is no number or is lower than the number of a version: the next save would
    give a number twice."""
    query = (
        select(names.c.id, *NAME, names.c.name, versions.c.number)
        .join_from(names, versions, names.c.id == versions.c.name_id, isouter=True)
        .order_by(names.c.id, versions.c.number)
    )
    rows = connection.execute(query if name_id is None else query.where(names.c.id == name_id)).all()
    for _, same in groupby(rows, lambda row: row.id):
        of_name = list(same)
        name, last = of_name[0].name, of_name[0].last_number
        yield from seal_problems(check_name, of_name[0], of_name[0].id, of_name[0].name_seal)
        if of_name[-1].newest != of_name[-1].number:
            yield f"{name}: its newest version is {of_name[-1].number}, and its row says {of_name[-1].newest!r:.80}"
        for number in (row.number for row in of_name):
            if not is_count(last, 0):
                yield f"{name}: its last number is {last!r:.80}, which is none"
                break
            if number is not None and not is_count(number, 1):
                yield f"{name}: the number of a version is {number!r:.80}, which is none"
            elif number is not None and number > last:
                yield f"{name}: its last number is {last}, but it has a version {number}"


def log_problems(connection: Connection) -> Iterator[str]:
    """Versions and aliases that are not what the changes in the audit log lead to."""
    noted = audit.expected(connection)
    query = select(names.c.name, versions.c.number, versions.c.digest)
    rows = connection.execute(query.join_from(versions, names, versions.c.name_id == names.c.id)).all()
    there = {(name, number): digest for name, number, digest in rows}
    for which, digest in there.items():
        if which not in noted.versions:
            yield f"{shown(which)}: the audit log has no such version"
        elif noted.versions[which] not in (None, digest):
            yield other_digest(which, digest, noted.versions[which])
    for which in noted.versions:
        if which not in there:
            yield f"{shown(which)}: it is in the audit log, and is not there"
    pointing = (
        select(names.c.name, aliases.c.alias, versions.c.number)
        .join_from(aliases, names, aliases.c.name_id == names.c.id)
        .join(versions, aliases.c.version_id == versions.c.id)
    )
    pointed = {(name, alias): number for name, alias, number in connection.execute(pointing).all()}
    for which in sorted({*pointed, *noted.aliases}, key=str):
        said, number = noted.aliases.get(which), pointed.get(which)
        if said != number and (said is not None or noted.is_whole):
            yield f"{shown(which)}: it points to version {number}, and the audit log says {said}"


def origin_problems(connection: Connection, version_id: int) -> Iterator[str]:
    """A version whose digest is not the one that the audit log noted when it was made."""
    query = select(names.c.name, versions.c.number, versions.c.digest)
    joined = query.join_from(versions, names, versions.c.name_id == names.c.id)
    name, number, digest = connection.execute(joined.where(versions.c.id == version_id)).one()
    noted = audit.digest_when_made(connection, name, number)
    if noted not in (None, digest):
        yield other_digest((name, number), digest, noted)


def other_digest(which: tuple[str, object], digest: object, noted: object) -> str:
    return f"{shown(which)}: its digest is {digest!r:.20}..., and the audit log says {noted!r:.20}..."


def shown(which: tuple[str, object]) -> str:
    return f"{which[0]}@{which[1]}"


def seal_problems(check: Callable[..., None], *what: Any) -> Iterator[str]:
    """What a check of a seal says."""
    try:
        check(*what)
    except Damaged as error:
        yield str(error)


def is_count(value: object, least: int) -> bool:
    """Whether it is a whole number of at least so much. SQLite does not check the types of columns."""
    return isinstance(value, int) and value >= least


def alias_problems(connection: Connection, condition: ColumnElement[bool]) -> Iterator[str]:
    """Aliases that point to a version of another name, or not where their history says."""
    newest = (
        select(alias_history.c.number)
        .where(alias_history.c.name_id == aliases.c.name_id, alias_history.c.alias == aliases.c.alias)
        .order_by(alias_history.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    own = (versions.c.name_id == names.c.id).label("own")
    query = (
        select(names.c.name, *ALIAS, versions.c.id, versions.c.number, own, newest.label("noted"))
        .join_from(aliases, names, aliases.c.name_id == names.c.id)
        .join(versions, aliases.c.version_id == versions.c.id)
    )
    for row in connection.execute(query.where(condition)).all():
        yield from seal_problems(check_alias, row)
        if not row.own:
            yield f"{row.name}@{row.alias}: it points to a version of another name"
        elif row.noted != row.number:
            yield f"{row.name}@{row.alias}: it points to version {row.number}, and its history says {row.noted}"
