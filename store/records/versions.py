"""Version: what the store says about one version; and how versions are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from string import hexdigits
from typing import Any, TypeVar
from unicodedata import normalize

from sqlalchemy import Connection, Row, Select, and_, bindparam, func, select
from sqlalchemy.sql import ColumnElement

from cbpe.common.public import public_of
from cbpe.common.published import is_published
from cbpe.common.wording import meant, number_text
from cbpe.encodings.references import is_encoding, is_file
from store.database.schema import aliases, metrics, names, tags, training_records, versions, vocabularies
from store.errors import Ambiguous, Damaged, NotFound, StoreError
from store.records.references import LATEST, Reference, parse, shown
from store.records.seals import check_found

__all__ = [
    "ALIAS",
    "CONTENT",
    "FEW",
    "NAME",
    "STORED",
    "Order",
    "Version",
    "check_meant",
    "fetch",
    "fetch_by_id",
    "fetch_one",
    "find_row",
    "look_up",
    "not_found",
    "unknown_name",
]

T = TypeVar("T")

MOST_CANDIDATES = 10  # that an error lists
DIGITS = 64  # of a digest
SHORT_DIGEST = 8  # digits of it that a reference needs
FEW = 500  # ids that a query names one by one


@public_of("store")
@dataclass(frozen=True)
class Version:
    """One version of a tokenizer in a store. Its content never changes. Tags, aliases, notes, parent and metrics are
    those that it had at the time of the call that returned it.

    What it is: `name`, `number`, `reference` ("name@number"), `time` (of saving, in UTC) and `created` (whether this
    very save made it); `kind`, the class ("RegexTokenizer"), and `encoding_name`, the name of an Encoding, else None.

    What it holds: `vocab_size` (tokens of the vocabulary), `n_special_tokens` (which are not among these) and
    `n_merges`; `semantics`, "pairs" if merging goes by pairs of tokens, or "ranks"; `pattern`, the split pattern or
    None, for people to read; `unicode_version`, that of the pattern's classes; `digest`, the SHA-256 of all of it, and
    `vocabulary_digest`, of the vocabulary alone, in hexadecimal.

    What is known about it: `tags`, `aliases`, `notes`, `metrics`, and `parent`, the version that its training went on
    from ("name@number", or "sha256:..." if no version of that content is in the store), or None.
    """

    name: str
    number: int
    digest: str  # SHA-256 of the canonical form (cbpe.tokenizers.description.canonical_form), in hexadecimal
    vocabulary_digest: str  # SHA-256 of the packed vocabulary
    kind: str  # the class: "Encoding", "RegexTokenizer", ...
    encoding_name: str | None  # of an Encoding
    semantics: str  # "pairs" or "ranks"
    pattern: str | None  # for people to read: NULs and lone surrogates in it are escaped
    unicode_version: str | None
    vocab_size: int  # tokens in the vocabulary; special tokens are not in it
    n_merges: int
    n_special_tokens: int
    time: datetime  # of saving, in UTC
    tags: Mapping[str, str] = field(hash=False)
    aliases: tuple[str, ...]  # that point here
    notes: str | None
    parent: str | None  # "name@number"; "sha256:..." if no version of the parent's content is in the store (any more)
    metrics: Mapping[str, float] = field(hash=False)
    created: bool = field(default=False, compare=False)  # whether this very save made it

    @property
    def reference(self) -> str:
        """What it is loaded by: "name@number"."""
        return f"{self.name}@{self.number}"

    def __str__(self) -> str:
        return self.reference

    def __repr__(self) -> str:
        """<Version pylib@2: RegexTokenizer, 300 tokens, 1 special, sha256:ab12cd34>"""
        special = f", {self.n_special_tokens:,} special" if self.n_special_tokens else ""
        tokens = f"{self.vocab_size:,} tokens{special}"
        return f"<Version {self.reference}: {self.kind}, {tokens}, sha256:{self.digest[:SHORT_DIGEST]}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: what it is called and measured, and what it holds."""
        from cbpe.views.html import Apart, block, in_commas, pairs, table

        tags = [[key, "=", value] if value else [key] for key, value in self.tags.items()]
        about: list[tuple[str, object]] = [
            ("class", self.kind if self.encoding_name is None else f"{self.kind} {self.encoding_name!r}"),
            ("tokens", self.vocab_size),
            ("merges", self.n_merges),
            ("special tokens", self.n_special_tokens),
            ("semantics", self.semantics),
            ("pattern", self.pattern),
            ("Unicode", self.unicode_version),
            ("saved", self.time.isoformat(" ", "seconds")),
            ("aliases", Apart(in_commas([alias] for alias in self.aliases))),
            ("tags", Apart(in_commas(tags))),
            ("notes", self.notes),
            ("parent", self.parent),
            ("sha256", self.digest),
        ]
        known = [(name, value) for name, value in about if value is not None and value not in ("", ())]
        measured = ((key, number_text(value)) for key, value in self.metrics.items())
        metrics = table(("metric", "value"), measured) if self.metrics else ""
        return block(pairs(self.reference, known), metrics)


parents = versions.alias("parents")
parent_names = names.alias("parent_names")
same = versions.alias("same")
# A version that came into the store without its parent has the parent's digest alone: then the parent is the version of
# this content, if one came as well; of several that of the same name, else the oldest. One that went on from this very
# version is not.
OF_ITS_CONTENT = (
    select(func.min(same.c.id))
    .where(same.c.digest == versions.c.parent_digest, same.c.id != versions.c.id)
    .where(same.c.parent_digest.is_distinct_from(versions.c.digest))
    .correlate(versions)
)
PARENT_ID = func.coalesce(
    versions.c.parent_id,
    OF_ITS_CONTENT.where(same.c.name_id == versions.c.name_id).scalar_subquery(),
    OF_ITS_CONTENT.scalar_subquery(),
)
CONTENT = (versions.c.digest, versions.c.kind, versions.c.encoding_name)  # what makes two versions the same


# All columns that a Version is made of: three ids, and then its fields in order (as_version).
DESCRIBED: Select[Any] = (
    select(
        versions.c.id,
        versions.c.name_id,
        versions.c.vocabulary_id,
        names.c.name,
        versions.c.number,
        versions.c.digest,
        vocabularies.c.digest.label("vocabulary_digest"),
        versions.c.kind,
        versions.c.encoding_name,
        versions.c.semantics,
        versions.c.pattern,
        versions.c.unicode_version,
        vocabularies.c.n_tokens,
        vocabularies.c.n_merges,
        versions.c.n_special_tokens,
        versions.c.created_at,
        versions.c.notes,
        versions.c.parent_digest,
        parents.c.number.label("parent_number"),
        parent_names.c.name.label("parent_name"),
    )
    .join_from(versions, names, versions.c.name_id == names.c.id)
    .join(vocabularies, versions.c.vocabulary_id == vocabularies.c.id)
    .outerjoin(parents, parents.c.id == PARENT_ID)
    .outerjoin(parent_names, parents.c.name_id == parent_names.c.id)
)


# Which versions there are, for conditions and orders over these three tables.
FOUND: Select[Any] = (
    select(versions.c.id)
    .join_from(versions, names, versions.c.name_id == names.c.id)
    .join(vocabularies, versions.c.vocabulary_id == vocabularies.c.id)
)

# All that a tokenizer is built from.
STORED: Select[Any] = (
    select(
        versions.c.id,
        versions.c.name_id,
        versions.c.vocabulary_id,
        names.c.name,
        versions.c.number,
        versions.c.digest,
        versions.c.content,
        versions.c.kind,
        versions.c.encoding_name,
        vocabularies.c.packed,
        training_records.c.record,
    )
    .join_from(versions, names, versions.c.name_id == names.c.id)
    .outerjoin(vocabularies, versions.c.vocabulary_id == vocabularies.c.id)
    .outerjoin(training_records, training_records.c.version_id == versions.c.id)
)

# The columns that a query of versions and names takes along, so that the row can be checked; and those of aliases.
NAME = (names.c.seal.label("name_seal"), names.c.last_number, names.c.newest)
ALIAS = (aliases.c.alias, aliases.c.name_id.label("alias_name_id"), aliases.c.seal.label("alias_seal"))


Page = tuple["int | None", int]  # the most rows, after how many
Order = Callable[[Select[Any]], Select[Any]]  # puts the rows of a query in order


def in_any_order(query: Select[Any]) -> Select[Any]:
    return query


def fetch(
    connection: Connection, *conditions: ColumnElement[bool], order: Order = in_any_order, page: Page = (None, 0)
) -> list[Version]:
    """The versions that meet all conditions."""
    return list(fetch_by_id(connection, *conditions, order=order, page=page).values())


def fetch_by_id(
    connection: Connection, *conditions: ColumnElement[bool], order: Order = in_any_order, page: Page = (None, 0)
) -> dict[int, Version]:
    """The versions that meet all conditions, by the ids of their rows.

    First which they are, and then all about them: a database that does not know how few there are would put together
    all about every version.
    """
    limit, offset = page

    def chosen(query: Select[Any]) -> Select[Any]:
        return order(query.where(*conditions)).limit(limit).offset(offset or None)

    if conditions or limit is not None:
        ids = list(connection.scalars(chosen(FOUND)))
        if not ids:
            return {}
        if len(ids) <= FEW:
            rows = {row[0]: row for row in connection.execute(DESCRIBED.where(versions.c.id.in_(ids))).all()}
            return with_labels(connection, [rows[version_id] for version_id in ids if version_id in rows])
    return with_labels(connection, connection.execute(chosen(DESCRIBED)).all())


def with_labels(connection: Connection, rows: Sequence[Row[Any]]) -> dict[int, Version]:
    """The versions of rows of DESCRIBED, by the ids of these."""
    if not rows:
        return {}
    ids = [row[0] for row in rows]
    tagged: dict[int, dict[str, str]] = {}
    for version_id, key, value in connection.execute(select(tags).where(among(tags.c.version_id, ids))).all():
        tagged.setdefault(version_id, {})[key] = value
    measured: dict[int, dict[str, float]] = {}
    for version_id, metric, number in connection.execute(select(metrics).where(among(metrics.c.version_id, ids))).all():
        measured.setdefault(version_id, {})[metric] = number
    called: dict[int, list[str]] = {}
    chosen = select(aliases.c.version_id, aliases.c.alias).where(among(aliases.c.version_id, ids))
    for version_id, alias in connection.execute(chosen).all():
        called.setdefault(version_id, []).append(alias)
    return {row[0]: as_version(row, tagged.get(row[0]), called.get(row[0]), measured.get(row[0])) for row in rows}


def among(column: ColumnElement[Any], ids: list[int]) -> ColumnElement[bool]:
    """Whether a column is one of these ids; of many, whether it may be, since a query cannot name thousands."""
    return column.in_(ids) if len(ids) <= FEW else column.between(min(ids), max(ids))


def as_version(
    row: Row[Any], tagged: dict[str, str] | None, called: list[str] | None, measured: dict[str, float] | None
) -> Version:
    """A row of DESCRIBED as a Version, whose fields stand there in their order: lists have thousands of rows."""
    _, _, _, *described, notes, parent_digest, parent_number, parent_name = tuple(row)
    parent = None
    if parent_name is not None:
        parent = f"{parent_name}@{parent_number}"
    elif parent_digest is not None:
        parent = f"sha256:{parent_digest}"
    labels: dict[str, Any] = {"tags": in_order(tagged), "metrics": in_order(measured)}
    labels |= {"aliases": tuple(sorted(called or ())), "notes": notes, "parent": parent}
    return Version(*described, **labels)


def in_order(labels: dict[str, T] | None) -> dict[str, T]:
    """By their keys."""
    if labels is None:
        return {}
    return labels if len(labels) == 1 else dict(sorted(labels.items()))


def fetch_one(connection: Connection, version_id: int) -> Version:
    found = with_labels(connection, connection.execute(DESCRIBED.where(versions.c.id == version_id)).all())
    if not found:
        raise Damaged(f"the store is damaged: version {version_id} has no name or no vocabulary")
    return found[version_id]


def find_row(
    connection: Connection, reference: str | Version, wanted: Select[Any] = DESCRIBED, *, only_one: bool = False
) -> Row[Any]:
    """The row of the version that is referred to, with the columns of `wanted`, a query of versions and names.

    Several versions with the same content have the same digest: the first of them is taken, or with only_one an error
    raised. Raises Damaged if that row is not what was saved under this reference; NotFound if there is none, and for a
    Version, of another store or time, that is not the one with its name and number here; Ambiguous if several contents
    have a digest with these first digits.
    """
    row, parsed = look_up(connection, reference, wanted, only_one)
    check_found(row, parsed)
    check_meant(row, reference)
    return row


def check_meant(row: Row[Any], reference: str | Version) -> None:
    """Raise NotFound for a Version, of another store or time, that is not the one with its name and number here."""
    if isinstance(reference, Version) and row.digest != reference.digest:
        reason = f"its sha256 is not {reference.digest[:12]}..."
        raise NotFound(f"{reference} is not the version that is meant here: {reason}")


def look_up(
    connection: Connection, reference: str | Version, wanted: Select[Any], only_one: bool = False
) -> tuple[Row[Any], Reference]:
    """What find_row finds, before it is checked; and what was asked for."""
    if isinstance(reference, Version):
        reference = reference.reference
    parsed = parse(reference)
    if parsed.digest is not None:
        found = {"id": find_by_digest(connection, parsed.digest, only_one)}
    else:
        found = {part: value for part, value in parsed._asdict().items() if value is not None}
    row = connection.execute(referred(wanted, tuple(found)), found).first()
    if row is None and parsed.alias == LATEST:  # and it is no alias
        parsed = Reference(parsed.name)
        row = connection.execute(referred(wanted, ("name",)), {"name": parsed.name}).first()
    if row is None:
        raise not_found(connection, reference, parsed)
    return row, parsed


@cache
def referred(wanted: Select[Any], given: tuple[str, ...]) -> Select[Any]:
    """The query of one version by what is given of it. It is cached: SQLAlchemy takes longer to build a query than to
    run it."""
    wanted = wanted.add_columns(versions.c.seal, *NAME)
    if "id" in given:
        return wanted.where(versions.c.id == bindparam("id"))
    query = wanted.where(names.c.name == bindparam("name"))
    if "number" in given:
        return query.where(versions.c.number == bindparam("number"))
    if "alias" in given:
        own = and_(aliases.c.name_id == names.c.id, aliases.c.version_id == versions.c.id)
        return query.join(aliases, own).add_columns(*ALIAS).where(aliases.c.alias == bindparam("alias"))
    return query.where(versions.c.number == names.c.newest)


def find_by_digest(connection: Connection, digest: str, only_one: bool) -> int:
    """The row's id of the version whose digest begins so."""
    query = (
        select(versions.c.id, names.c.name, versions.c.number, *CONTENT)
        .join_from(versions, names, versions.c.name_id == names.c.id)
        .where(versions.c.digest.between(digest.ljust(DIGITS, "0"), digest.ljust(DIGITS, "f")))
        .order_by(versions.c.id)
    )
    rows = connection.execute(query).all()
    if not rows:
        raise NotFound(f"no version has a digest that begins with {digest}")
    contents = {(row.digest, row.kind, row.encoding_name) for row in rows}
    if len(contents) > 1 or (only_one and len(rows) > 1):
        candidates = [f"{row.name}@{row.number} (sha256:{row.digest[:12]}, {row.kind})" for row in rows]
        more = "" if len(rows) <= MOST_CANDIDATES else ", ..."
        hint = "give more digits, or a name" if len({row.digest for row in rows}) > 1 else "give a name"
        raise Ambiguous(f"sha256:{digest} may be {', '.join(candidates[:MOST_CANDIDATES])}{more}: {hint}")
    return int(rows[0].id)


def not_found(connection: Connection, reference: str, parsed: Reference) -> StoreError:
    """Why there is no such version: Damaged where there has to be one."""
    name = connection.execute(select(names).where(names.c.name == parsed.name)).first()
    if name is None or name.newest is None:
        return unknown_name(connection, parsed.name)
    newest = connection.execute(referred(DESCRIBED, ("name",)), {"name": parsed.name}).first()
    if newest is None:
        return Damaged(f"{shown(parsed.name)} is damaged: its newest version, {name.newest!r:.80}, is not there")
    pointing = select(aliases.c.version_id).where(aliases.c.name_id == name.id, aliases.c.alias == parsed.alias)
    if parsed.alias is not None and connection.execute(pointing).first() is not None:
        return Damaged(f"{shown(reference)} is damaged: it points to no version of that name")
    known = f"; the newest version is {newest.name}@{newest.number}"
    if parsed.alias is None:
        return NotFound(f"there is no version {shown(reference)}{known}")
    others = connection.execute(select(aliases.c.alias).where(aliases.c.name_id == name.id)).scalars()
    return NotFound(f"there is no alias {shown(reference)}{known}{meant(parsed.alias, others)}")


def unknown_name(connection: Connection, name: str) -> NotFound:
    """The error about a name that no version has, with the name that may be meant."""
    kept = normalize("NFC", name)
    if kept != name:
        form = f"names are kept in Unicode's form C, in which it is {shown(kept)}"
        return NotFound(f"no version is called {name!a}: {form}")
    others = connection.execute(select(names.c.name).where(names.c.newest.is_not(None))).scalars()
    if is_encoding(name):
        return NotFound(f"no version is called {shown(name)}: it is a named encoding, which cbpe.get_encoding gives")
    if is_published(name):
        way = "ModelStore.save(cbpe.load(reference), name) keeps it here"
        return NotFound(f"no version is called {shown(name)}, which names one in a published copy: {way}")
    if is_file(name):
        way = "ModelStore.save(cbpe.load(path), name) gives it a version"
        return NotFound(f"no version is called {shown(name)}, and it is a file: {way}")
    if len(name) == DIGITS and set(name) <= set(hexdigits):
        return NotFound(f"no version is called {shown(name)}: by its digest, it is named as sha256:{name[:8]}")
    return NotFound(f"no version is called {shown(name)}{meant(name, others)}")
