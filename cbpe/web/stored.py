"""What the page's JSON says of a model store: versions, where aliases pointed, how a version came about, the audit log.

This room knows no store: who starts the page hands in what opens one, for reading alone, at each request anew. Whatever
people have written into a store is cut where it is long, and what there is of it is said beside.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cbpe.common.wording import shown
from cbpe.views.changes import change_in_words
from cbpe.web.refusals import Refused, in_a_line

if TYPE_CHECKING:
    from cbpe.training.record import TrainingRecord

__all__ = [
    "Models",
    "OpenModels",
    "asked",
    "changes",
    "described_version",
    "lineage",
    "moves_of_aliases",
    "names",
    "versions",
]

T = TypeVar("T")

MOST_NAMES = 1000
MOST_VERSIONS = 100  # of a page of a list
MOST_CHANGES = 100  # of a page of the audit log
LAST_CHANGE = 10_000  # of all pages of it
MOST_MOVES = 500  # of aliases
MOST_LOOKED_AT = 2000  # versions, for those that a version came from or led to
MOST_OF_A_LINEAGE = 300
MOST_POINTS = 200  # of a training curve
LONGEST_NOTES = 100_000  # characters
LABELS_OF_A_ROW, LONGEST_IN_A_ROW = 10, 80  # tags, aliases and metrics of a version in a list; characters of each
MOST_LABELS, LONGEST_LABEL = 1000, 1000  # of a version alone
LONGEST_DETAIL = 300  # characters of what the log says of a change

ABSENT = "this page was started without a model store"


class Models(Protocol):
    """What the page asks of a model store. `store.ModelStore` has these methods, and says what they answer. ValueError
    itself is about what was asked; a class of its own, as Damaged and NotAStore, about the store."""

    @property
    def url(self) -> str: ...
    def names(self) -> list[str]: ...
    @property
    def versions(self) -> Callable[..., list[Any]]: ...
    def version(self, reference: str) -> Any: ...
    def training(self, reference: Any) -> TrainingRecord | None: ...
    def alias_history(self, name: str) -> list[Any]: ...
    def audit_log(self, name: str | None = None, limit: int | None = None) -> list[Any]: ...
    def diff(self, a: Any, b: Any) -> Any: ...


OpenModels = Callable[[], AbstractContextManager[Models]]  # FileNotFoundError says why there is none


def asked(open_models: OpenModels | None, ask: Callable[[Models], T]) -> T:
    """What a store answers. Refused where there is none, it has no such thing, or it cannot be opened or read."""
    if open_models is None:
        raise Refused(404, ABSENT)
    with ExitStack() as stack:
        try:
            models = stack.enter_context(open_models())
        except FileNotFoundError as error:
            raise Refused(404, in_a_line(error)) from error
        except (OSError, ValueError) as error:
            raise Refused(503, in_a_line(error)) from error
        try:
            return ask(models)
        except LookupError as error:
            raise Refused(404, in_a_line(error)) from error
        except OSError as error:  # others keep it locked, or the database is gone
            raise Refused(503, in_a_line(error)) from error
        except ValueError as error:
            raise Refused(400 if type(error) is ValueError else 503, in_a_line(error)) from error


def names(open_models: OpenModels | None) -> dict[str, Any]:
    """Where the store is and which names it has; where there is none that can be read, why."""
    try:
        return asked(open_models, lambda models: listed_names(models.url, models.names()))
    except Refused as refused:
        missing = refused.status == 404
        return {"store": None, "why": refused.message, "missing": missing, "n_names": 0, "names": []}


def listed_names(url: str, found: list[str]) -> dict[str, Any]:
    return {"store": url, "why": None, "missing": False, "n_names": len(found), "names": found[:MOST_NAMES]}


def versions(models: Models, name: str | None, offset: int, order: str, **wanted: Any) -> dict[str, Any]:
    """A page of the versions that meet all wishes (prefix, tag, metric), and whether there are more. Refused for a name
    that no version has."""
    found = models.versions(name, **wanted, order=order, offset=offset, limit=MOST_VERSIONS + 1)
    if not found:
        if name is not None:
            refuse_unknown(models, name)
        refuse_comparison(models, wanted.get("metric"))
    by, _, metric = order.removeprefix("-").partition(":")
    rows = [row_of(version, metric if by == "metric" else None) for version in found[:MOST_VERSIONS]]
    return {"offset": offset, "versions": rows, "more": len(found) > MOST_VERSIONS}


def refuse_unknown(models: Models, name: str) -> None:
    """Raise, with what may be meant, if no version has this name."""
    models.version(name)


def refuse_comparison(models: Models, metric: Any) -> None:
    """Refused for "loss>1" in the place of a metric, unless there is one that is called so."""
    if isinstance(metric, str) and not {"<", ">"}.isdisjoint(metric) and not models.versions(metric=metric, limit=1):
        raise Refused(400, f"'metric' is {shown(metric)}, which no version has: bounds are KEY=MIN..MAX, as loss=..3.5")


def row_of(version: Any, metric: str | None = None) -> dict[str, Any]:
    """A version as lists have it: with the first of its labels, and how many it has. metric: one that comes first."""
    fields = fields_of(version, LABELS_OF_A_ROW, LONGEST_IN_A_ROW)
    if metric is not None and metric in version.metrics:
        metrics = {metric: version.metrics[metric], **version.metrics}
        fields["metrics"] = dict(first_of(metrics, LABELS_OF_A_ROW))
    return fields


def described_version(models: Models, reference: str) -> dict[str, Any]:
    """All about one version."""
    version = models.version(reference)
    notes = version.notes
    return {
        **fields_of(version, MOST_LABELS, LONGEST_LABEL),
        "pattern": version.pattern,
        "unicode_version": version.unicode_version,
        "vocabulary_digest": version.vocabulary_digest,
        "notes": None if notes is None else beginning(notes, LONGEST_NOTES),
        "n_notes": len(notes or ""),
        "training": training_of(models.training(version)),
    }


def fields_of(version: Any, most: int, longest: int) -> dict[str, Any]:
    return {
        "reference": version.reference,
        "name": version.name,
        "number": version.number,
        "class": version.kind,
        "encoding": version.encoding_name,
        "semantics": version.semantics,
        "vocab_size": version.vocab_size,
        "n_merges": version.n_merges,
        "n_special_tokens": version.n_special_tokens,
        "time": moment(version.time),
        "digest": version.digest,
        "parent": version.parent,
        "n_aliases": len(version.aliases),
        "aliases": list(version.aliases[:most]),
        "n_tags": len(version.tags),
        "tags": {key: beginning(value, longest) for key, value in first_of(version.tags, most)},
        "n_metrics": len(version.metrics),
        "metrics": dict(first_of(version.metrics, most)),
    }


def first_of(labels: Mapping[str, T], most: int) -> Iterable[tuple[str, T]]:
    return islice(labels.items(), most)


def beginning(text: str, most: int) -> str:
    """A text; of a longer one, the beginning, and an ellipsis."""
    return text if len(text) <= most else text[:most] + "…"


def moment(time: datetime) -> str:
    return time.isoformat()


def training_of(record: TrainingRecord | None) -> dict[str, Any] | None:
    """How a version was trained; its curve is some of the sizes of the vocabulary, each with the bytes per token."""
    if record is None:
        return None
    curve = record.compression_curve()
    step = max(1, -(-len(curve) // MOST_POINTS))
    places = [*range(0, len(curve) - 1, step), len(curve) - 1]
    return {
        "source": beginning(record.source, LONGEST_LABEL),
        "text_bytes": record.text_bytes,
        "covered_bytes": record.covered_bytes,
        "dropped_occurrences": record.dropped_occurrences,
        "distinct_pieces": record.distinct_pieces,
        "seconds": record.seconds,
        "stopped": record.stopped,
        "cbpe_version": record.cbpe_version,
        "began_at": record.start_tokens + record.merges_before,
        "curve": [[record.start_tokens + i, curve[i]] for i in places if isfinite(curve[i])],
    }


def moves_of_aliases(models: Models, name: str) -> dict[str, Any]:
    """Where the aliases of a name pointed, the newest move first."""
    found = models.alias_history(name)
    if not found:
        refuse_unknown(models, name)
    newest = found[: -MOST_MOVES - 1 : -1]
    moves = [{"alias": move.alias, "number": move.number, "time": moment(move.time)} for move in newest]
    return {"name": name, "n_moves": len(found), "moves": moves}


def changes(models: Models, name: str | None, offset: int) -> dict[str, Any]:
    """A page of the audit log, the newest change first, and whether there are more."""
    if offset > LAST_CHANGE:
        raise Refused(400, f"'offset' is {offset}; the page has {LAST_CHANGE:,} changes, and cbpe models log all")
    newest = models.audit_log(name, offset + MOST_CHANGES + 1)
    if name is not None and not newest:  # the log still knows a name whose versions are all deleted
        refuse_unknown(models, name)
    found = newest[offset:]
    rows = [
        {
            "time": moment(change.time),
            "who": change.who,
            "action": change.action,
            "name": change.name,
            "number": change.number,
            "said": beginning(change_in_words(change.details), LONGEST_DETAIL),
            "details": {str(key): detail(value) for key, value in first_of(change.details, LABELS_OF_A_ROW)},
        }
        for change in found[:MOST_CHANGES]
    ]
    return {"offset": offset, "changes": rows, "more": len(found) > MOST_CHANGES}


def detail(value: object) -> object:
    """A value of the log's as it is; of a long one, the beginning of its text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST_DETAIL else beginning(text, LONGEST_DETAIL)


def lineage(models: Models, name: str) -> dict[str, Any]:
    """The versions of a name, all that they came from, and all that went on from them: each before its parent, else the
    newest first. Of a large store, the newest; whether these are all is said."""
    own = models.versions(name, order="-number", limit=MOST_OF_A_LINEAGE)
    if not own:
        refuse_unknown(models, name)
    newest = models.versions(order="-time", limit=MOST_LOOKED_AT)
    known = {version.reference: version for version in (*newest, *own)}
    related = kin([version.reference for version in own], {each: version.parent for each, version in known.items()})
    found = {each: known[each] for each in related[:MOST_OF_A_LINEAGE]}
    nodes = [
        {
            "reference": version.reference,
            "parent": version.parent,
            "vocab_size": version.vocab_size,
            "time": moment(version.time),
            "n_aliases": len(version.aliases),
            "aliases": list(version.aliases[:LABELS_OF_A_ROW]),
        }
        for version in children_first(found)
    ]
    whole = len(newest) < MOST_LOOKED_AT and len(found) == len(related)
    return {"name": name, "versions": nodes, "whole": whole}


def kin(own: Iterable[str], parents: Mapping[str, str | None]) -> list[str]:
    """These versions, and all that parents and children lead to from them, the nearest first."""
    children: dict[str, list[str]] = {}
    for child, parent in parents.items():
        if parent is not None:
            children.setdefault(parent, []).append(child)
    found = dict.fromkeys(own)
    queue = list(found)
    for each in queue:  # which grows meanwhile
        for other in (parents[each], *children.get(each, ())):
            if other is not None and other in parents and other not in found:
                found[other] = None
                queue.append(other)
    return queue


def children_first(found: Mapping[str, Any]) -> list[Any]:
    """Versions, each before its parent, else the newest first."""
    waiting = Counter(version.parent for version in found.values())
    ready = [(-version.time.timestamp(), each) for each, version in found.items() if not waiting[each]]
    heapq.heapify(ready)
    ordered: dict[str, Any] = {}
    while ready:
        _, each = heapq.heappop(ready)
        version = ordered[each] = found[each]
        waiting[version.parent] -= 1
        if version.parent in found and not waiting[version.parent]:
            heapq.heappush(ready, (-found[version.parent].time.timestamp(), version.parent))
    return [*ordered.values(), *(version for each, version in found.items() if each not in ordered)]
