"""Asking: which names and versions there are, and which tokens they have."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, exists, func, or_, select, true, union
from sqlalchemy.sql import ColumnElement

from cbpe.common.checks import is_float
from cbpe.common.public import public_of
from cbpe.common.warning import warn
from cbpe.common.wording import meant
from store.database.older import has_token_places
from store.database.schema import (
    merges,
    metrics,
    names,
    special_tokens,
    tags,
    token_places,
    tokens,
    versions,
    vocabularies,
)
from store.records.content import readable_pattern
from store.records.places import having, places_in
from store.records.references import checked_label, checked_name, refuse_surrogates, shown
from store.records.versions import FEW, Order, Version, fetch, fetch_by_id

__all__ = ["ORDERS", "TokenPlace", "find_token", "list_names", "list_versions"]

# What versions can be ordered by; a "-" in front turns it around.
ORDERS: dict[str, tuple[ColumnElement[Any], ...]] = {
    "name": (names.c.name, versions.c.number),
    "number": (versions.c.number, names.c.name),
    "time": (versions.c.created_at, versions.c.id),
    "vocab_size": (vocabularies.c.n_tokens, names.c.name, versions.c.number),
    "digest": (versions.c.digest, versions.c.id),
}

BY_METRIC = "metric:"  # before the name of a metric, to order by it
MOST = 2**31 - 1  # tokens that a database can count
MOST_ROWS = 2**62  # the largest integer of a database is near
SEMANTICS = ("pairs", "ranks")
Metric = str | tuple[str, float | tuple[float | None, float | None]]  # to look for


def list_names(connection: Connection) -> list[str]:
    """The names that have a version, in order."""
    used = exists().where(versions.c.name_id == names.c.id)
    return sorted(connection.scalars(select(names.c.name).where(used)))


def list_versions(connection: Connection, order: str, limit: int | None, offset: int, **filters: Any) -> list[Version]:
    """The versions that meet all filters that are not None; of these at most `limit`, after the first `offset`."""
    has_places = has_token_places(connection)
    token = filters.pop("has_token", None)
    conditions = [CONDITIONS[what](value) for what, value in filters.items() if value is not None]
    if token is not None:
        conditions.append(has_token(token, has_places))
    page = (None if limit is None else checked_count("a limit", limit), checked_count("an offset", offset))
    return fetch(connection, *conditions, order=ordering(order), page=page)


def metric_of(order: str) -> str | None:
    """The metric that versions are in order of: "-metric:loss" -> "loss", "name" -> None"""
    by = order.removeprefix("-")
    return by.removeprefix(BY_METRIC) if by.startswith(BY_METRIC) else None


def tell_of_no_metric(connection: Connection, metric: str) -> None:
    """A UserWarning if no version has this metric."""
    known = connection.scalars(select(metrics.c.metric).distinct()).all()
    if metric not in known:
        warn(f"no version has the metric {shown(metric)}, which sorts nothing{meant(metric, known)}")


def checked_count(what: str, number: int) -> int:
    """The number, as a database takes it. Raises TypeError or ValueError for what is none."""
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{what} is an int, not {type(number).__name__}")
    if number < 0:
        raise ValueError(f"{what} is 0 or more, not {number}")
    return min(number, MOST_ROWS)


@public_of("store")
class TokenPlace(NamedTuple):
    """A version that has a token, the token's id there, and the rank of the merge that makes it: None for a special
    token, a single byte, and a token that no merge makes."""

    version: Version
    id: int
    rank: int | None


def find_token(connection: Connection, token: str | bytes) -> list[TokenPlace]:
    """The places of a token, in order of name, number and id."""
    spelled = spelled_out(token)
    special = select(special_tokens.c.version_id, special_tokens.c.id).where(special_tokens.c.bytes == spelled)
    has_places = has_token_places(connection)
    places = find_ordinary(connection, spelled) if has_places else find_rows(connection, spelled)
    known_ids = {place[:2] for place in places}  # of special tokens that are in the vocabulary as well
    places += [(*row, None) for row in connection.execute(special).all() if tuple(row) not in known_ids]
    ids = {place[0] for place in places}
    found = fetch_by_id(connection, versions.c.id.in_(list(ids)) if len(ids) <= FEW else has_token(token, has_places))
    known = [TokenPlace(found[version_id], token_id, rank) for version_id, token_id, rank in places]
    return sorted(known, key=lambda place: (place.version.name, place.version.number, place.id))


def find_ordinary(connection: Connection, spelled: bytes) -> list[tuple[int, int, int | None]]:
    """(id of a version, token id, rank) of each place of a token that is not special."""
    buckets = having(spelled, versions.c.id, token_places.c.entries).join_from(
        token_places, versions, token_places.c.vocabulary_id == versions.c.vocabulary_id
    )
    ordinary = connection.execute(buckets).all()
    return [(version_id, *place) for version_id, entries in ordinary for place in places_in(entries, spelled)]


def find_rows(connection: Connection, spelled: bytes) -> list[tuple[int, int, int | None]]:
    """What find_ordinary finds, in a store of an older schema, where each token is a row."""
    made = and_(merges.c.vocabulary_id == tokens.c.vocabulary_id, merges.c.new_id == tokens.c.id)
    query = (
        select(versions.c.id, tokens.c.id, merges.c.rank)
        .join_from(tokens, versions, tokens.c.vocabulary_id == versions.c.vocabulary_id)
        .outerjoin(merges, made)
    )
    rows = connection.execute(query.where(tokens.c.bytes == spelled)).all()
    return [(version_id, token_id, rank) for version_id, token_id, rank in rows]


def ordering(order: str) -> Order:
    backwards = text("order", order).startswith("-")
    by = order.removeprefix("-")
    metric = metric_of(order)
    if metric is not None:
        return by_metric(metric, backwards)
    columns = ORDERS.get(by)
    if columns is None:
        known = ", ".join([*ORDERS, "metric:NAME"])
        raise ValueError(
            f"order is {order!r}; it may be {known}, with a '-' in front to turn it around{meant(by, ORDERS)}"
        )
    return lambda query: query.order_by(*turned(columns, backwards))


def turned(columns: tuple[ColumnElement[Any], ...], backwards: bool) -> list[ColumnElement[Any]]:
    return [column.desc() if backwards else column.asc() for column in columns]


def by_metric(metric: str, backwards: bool) -> Order:
    """In order of a metric; the versions without it come last, either way."""
    own = metrics.alias("own_metric")
    is_own = and_(own.c.version_id == versions.c.id, own.c.metric == checked_label("a metric", metric))
    (value, *others) = turned((own.c.value, names.c.name, versions.c.number), backwards)
    return lambda query: query.outerjoin(own, is_own).order_by(value.nulls_last(), *others)


def all_of(what: Callable[[Any], ColumnElement[bool]], given: Any) -> ColumnElement[bool]:
    """A condition, or several in a list, all of which hold."""
    return and_(true(), *map(what, given)) if isinstance(given, list) else what(given)


def has_metric(metric: Metric) -> ColumnElement[bool]:
    name, bounds = (metric, (None, None)) if isinstance(metric, str) else two_of(metric)
    least, most = bounds if isinstance(bounds, tuple) and len(bounds) == 2 else (bounds, bounds)
    if not isinstance(name, str) or not all(end is None or is_float(end) for end in (least, most)):
        raise TypeError(
            f"a metric to look for is a str, (metric, value) or (metric, (least, most)), not {metric!r:.80}"
        )
    found = select(metrics.c.version_id).where(metrics.c.metric == asked("a metric", name))
    refuse_reversed(f"metric {name!r:.80}", least, most)
    if least is not None:
        found = found.where(metrics.c.value >= float(least))
    if most is not None:
        found = found.where(metrics.c.value <= float(most))
    return versions.c.id.in_(found)


def two_of(given: object) -> tuple[Any, Any]:
    return given if isinstance(given, tuple) and len(given) == 2 else (None, None)


def begins_with(prefix: str) -> ColumnElement[bool]:
    return func.substr(names.c.name, 1, len(asked("a prefix", prefix))) == prefix


def has_tag(tag: str | tuple[str, str]) -> ColumnElement[bool]:
    parts = (tag,) if isinstance(tag, str) else tag
    if not isinstance(parts, tuple) or len(parts) > 2 or not all(isinstance(part, str) for part in parts):
        raise TypeError(f"a tag to look for is a str, or (tag, value), not {tag!r:.80}")
    for part in parts:
        asked("a tag", part)
    key, is_pair, value = parts[0].partition("=")
    is_tag = tags.c.key == parts[0]
    if len(parts) == 2:
        is_tag = and_(is_tag, tags.c.value == parts[1])
    elif is_pair:  # as the command line has it; a key may hold the sign, too
        is_tag = or_(is_tag, and_(tags.c.key == key, tags.c.value == value))
    return versions.c.id.in_(select(tags.c.version_id).where(is_tag))


def has_size(size: int | tuple[int | None, int | None]) -> ColumnElement[bool]:
    bounds = (size, size) if isinstance(size, int) else size
    if not isinstance(bounds, tuple) or len(bounds) != 2 or not all(isinstance(n, (int, type(None))) for n in bounds):
        raise TypeError(f"vocab_size is a number of tokens, or (least, most) with None for no limit, not {size!r:.80}")
    refuse_reversed("vocab_size", *bounds)
    least, most = (default if n is None else min(max(n, 0), MOST) for n, default in zip(bounds, (0, MOST), strict=True))
    return vocabularies.c.n_tokens.between(least, most)


def refuse_reversed(what: str, least: float | None, most: float | None) -> None:
    if least is not None and most is not None and least > most:
        raise ValueError(f"{what} is at least {least:,} and at most {most:,}: no number is both")


def merges_by(semantics: str) -> ColumnElement[bool]:
    if semantics not in SEMANTICS:
        raise ValueError(f"semantics is {semantics!r:.80}; it may be {' or '.join(SEMANTICS)}")
    return versions.c.semantics == semantics


def is_since(since: datetime) -> ColumnElement[bool]:
    if not isinstance(since, datetime):
        raise TypeError(f"since is a datetime, not {since!r:.80}")
    try:
        moment = since.astimezone(timezone.utc)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"since is {since}, which is no moment in UTC") from error
    return versions.c.created_at >= moment


def has_pattern(pattern: str | list[str]) -> ColumnElement[bool]:
    from cbpe.text.splitting import refuse_pattern_name  # slow to import

    patterns = [text("the pattern", each) for each in (pattern if isinstance(pattern, list) else [pattern])]
    for each in patterns:
        refuse_pattern_name(each)
    return versions.c.pattern.in_([*map(readable_pattern, patterns)])


def text(what: str, value: str) -> str:
    """The value, if it is a str. Raises TypeError if not."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {type(value).__name__}")
    return value


def asked(what: str, value: str) -> str:
    """The value, if a store may have it. Raises TypeError for what is no str, ValueError for a lone surrogate."""
    refuse_surrogates(what, text(what, value))
    return value


def has_token(token: str | bytes, has_places: bool) -> ColumnElement[bool]:
    """Asked from where tokens are: to look for them in each version would take as long as there are versions."""
    spelled = spelled_out(token)
    with_it = versions.alias("with_it")
    rows = select(tokens.c.vocabulary_id).where(tokens.c.bytes == spelled)
    vocabulary_ids = having(spelled, token_places.c.vocabulary_id) if has_places else rows
    ordinary = select(with_it.c.id).where(with_it.c.vocabulary_id.in_(vocabulary_ids))
    special = select(special_tokens.c.version_id).where(special_tokens.c.bytes == spelled)
    return versions.c.id.in_(union(ordinary, special))


def spelled_out(token: str | bytes) -> bytes:
    """The bytes of a token that is given as text or bytes."""
    if not isinstance(token, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"a token is a str or bytes, not {type(token).__name__}")
    return token.encode("utf-8", "surrogatepass") if isinstance(token, str) else bytes(token)


CONDITIONS: dict[str, Callable[[Any], ColumnElement[bool]]] = {
    "name": lambda name: names.c.name == checked_name(name),
    "prefix": begins_with,
    "tag": partial(all_of, has_tag),
    "metric": partial(all_of, has_metric),
    "vocab_size": has_size,
    "semantics": merges_by,
    "since": is_since,
    "pattern": has_pattern,
}
