"""Keeping what was measured: as metrics of a version, with tags that say on what and by what."""

from __future__ import annotations

import os
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import typer

from cbpe.cli.input.measured import (
    DEPENDING,
    MEASURED_BYTES,
    MEASURED_EARLIER,
    MEASURED_ON,
    MEASURED_PARALLEL,
    OF_CORPUS,
)
from cbpe.cli.input.model_store import open_store
from cbpe.cli.input.references import version_of
from cbpe.cli.input.texts import input_name
from cbpe.cli.output.interrupts import finishing
from cbpe.cli.output.printing import print_warning
from cbpe.common.wording import listed, number_of, shown
from cbpe.measures.definitions import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from store import Version

__all__ = ["check_savable", "keep_metrics", "kept_name", "of_corpus"]

LONGEST_SIZE = len("@786256")  # of a vocabulary, behind the name of a metric
METRICS_NAMED = 3  # in a message
LONGEST_METRIC = 255  # characters of the name that a store keeps


class Replaced(NamedTuple):
    """What becomes of the labels that a version has, where others come: new values by name, None for one that goes."""

    metrics: dict[str, float | None]
    tags: dict[str, str | None]
    told: str = ""  # the end of a message about it


# ---- Names


def kept_name(corpus: str, field: str | None) -> str:
    """What metrics and tags call a corpus: "a.txt", also for "./a.txt", or "a.jsonl[de]" where a field of the file is
    measured."""
    name = input_name(corpus)
    return (name if "://" in name else os.path.normpath(name)) + ("" if field is None else f"[{field}]")


def of_corpus(key: str, corpus: str) -> str:
    """The name of a metric of this corpus; of a long path, with its end."""
    rest = LONGEST_METRIC - len(key) - 1
    return f"{key}:{corpus if len(corpus) <= rest else '…' + corpus[1 - rest :]}"


def check_savable(references: list[str], corpora: list[str]) -> None:
    """Before long work: an error for metrics that could not be kept."""
    if not any(map(version_of, references)):
        raise typer.BadParameter("no version in the store is named, which could keep them", param_hint="--save-metrics")
    for corpus in corpora:
        check_in_metric(corpus, len(corpora) > 1)
    with open_store() as models:
        models.check_writable()


def check_in_metric(corpus: str, is_one_of_several: bool) -> None:
    """BadParameter for a file whose name cannot stand in those of metrics, as it does where there are several, or later
    where another one is measured."""
    from store import ModelStore

    key = max(BY_KEY, key=len)
    room = LONGEST_METRIC - len(key) - LONGEST_SIZE - 1
    if is_one_of_several and len(corpus) > room:
        problem = (
            f"{shown(corpus)} has {len(corpus)} characters, and stands in the names of metrics where several files are "
            f"measured, which leave it {room}: give a shorter path, or measure the file alone"
        )
        raise typer.BadParameter(problem, param_hint="--save-metrics")
    try:
        tags = {of_corpus(tag, corpus): "" for tag in OF_CORPUS}
        ModelStore.check_labels("measured", metrics={of_corpus(key, corpus): 0.0}, tags=tags)
    except ValueError as error:
        problem = f"{shown(corpus)} cannot stand in the names of metrics: rename it, or give it as standard input"
        raise typer.BadParameter(f"{problem} ({error})", param_hint="--save-metrics") from error


# ---- Keeping


def keep_metrics(
    reference: str,
    metrics: dict[str, float],
    measured: Mapping[str, int],
    field: str | None,
    measured_by: Mapping[str, str] | None = None,
) -> None:
    """Keep what was measured, with the corpus in the names of the metrics, or, of one corpus, in a tag. Then metrics of
    the corpus that the tag named before get its name. measured: the corpora, with their sizes in bytes. measured_by:
    tags that name what else they depend on, and go with them."""
    measured_by = measured_by or {}
    sizes = {kept_name(corpus, field): str(n_bytes) for corpus, n_bytes in measured.items()}
    alone = len(sizes) == 1
    if not alone:
        names = dict(zip(measured, sizes, strict=True))
        parts = ((key.partition(":"), value) for key, value in metrics.items())
        metrics = {of_corpus(key, names[corpus]): value for (key, _, corpus), value in parts}
    told_by = [*tags_of(metrics.keys(), [*sizes], measured_by)]
    told = ""

    def decide(version: Version) -> tuple[dict[str, float | None], dict[str, str | None]]:
        nonlocal told
        if alone:
            [(corpus, size)] = sizes.items()
            old = of_another_corpus(version, corpus, size)
            stale = of_other_size(version, corpus, size, measured_by.get(MEASURED_PARALLEL))
            old = Replaced({**stale.metrics, **old.metrics}, {**stale.tags, **old.tags}, old.told + stale.told)
            old.tags.update({MEASURED_ON: corpus, MEASURED_BYTES: size})
            old.tags.update(dict.fromkeys({MEASURED_EARLIER} & version.tags.keys()))
        else:
            old = of_other_text(version, sizes, measured_by.get(MEASURED_PARALLEL))
            moved = under_their_name(version, sizes, measured_by.get(MEASURED_PARALLEL))
            old = Replaced({**old.metrics, **moved.metrics}, {**old.tags, **moved.tags}, moved.told + old.told)
            old.tags.update({of_corpus(MEASURED_BYTES, corpus): size for corpus, size in sizes.items()})
        told = old.told
        unmeasured = {key: None for _, _, keys in told_by for key in keys if key in version.metrics}
        return {**old.metrics, **unmeasured, **metrics}, {**old.tags, **{tag: value for tag, value, _ in told_by}}

    with open_store() as models, finishing():
        version = models._relabel(reference, decide)
    print_warning(f"kept {number_of(len(metrics), 'metric')} of {version.reference}{told}")


def tags_of(
    metrics: Collection[str], corpora: list[str], measured_by: Mapping[str, str]
) -> Iterator[tuple[str, str, list[str]]]:
    """The tags for these metrics: the name of each, its value, and the names of the metrics that depend on it."""
    for (tag, value), corpus in product(measured_by.items(), corpora):
        name, *keys = [each if len(corpora) == 1 else of_corpus(each, corpus) for each in (tag, *DEPENDING[tag])]
        if any(key in metrics for key in keys):
            yield name, value, keys


def that_name_no_corpus(version: Version) -> tuple[dict[str, float], dict[str, str]]:
    """The measures of the corpus that a tag names, and the tags that go with them."""
    measures = ((key, value) for key, value in version.metrics.items() if ":" not in key)  # else of a corpus it names
    found = {key: value for key, value in measures if key.partition("@")[0] in BY_KEY}
    return found, {tag: version.tags[tag] for tag in OF_CORPUS if tag in version.tags}


def of_when(n_metrics: int, corpus: str, size_before: str | None, size: str) -> str:
    """The end of a message about measures of a corpus that has changed since."""
    sizes = f"{int(size_before or 0):,} bytes, not {int(size):,}"
    return f", in place of {number_of(n_metrics, 'metric')} that were measured when {corpus} had {sizes}"


def of_another_corpus(version: Version, corpus: str, size: str) -> Replaced:
    """What becomes of the measures that name no corpus, where those of this one come: they get the name of theirs, or
    go where it has the same, or where newer ones of aligned lines have that name."""
    before = version.tags.get(MEASURED_ON)
    found, tags = that_name_no_corpus(version)
    size_before = tags.get(MEASURED_BYTES)
    if not found or (before == corpus and size_before in (size, None)):
        return Replaced({}, {})
    if before is None:
        named = listed((f"{key} was {value:.4g}" for key, value in found.items()), METRICS_NAMED)
        return Replaced({}, {}, f", in place of or beside those of a corpus that nobody named: {named}")
    if before == corpus:
        return Replaced(dict.fromkeys(found), dict.fromkeys(tags), of_when(len(found), corpus, size_before, size))
    other = of_other_text(version, {before: size_before}, tags.get(MEASURED_PARALLEL))
    if other.metrics and MEASURED_EARLIER in version.tags:
        gone = f" on {corpus}, in place of {number_of(len(found), 'metric')} on {before}"
        told = f"{gone}, whose name newer ones of aligned lines have"
        return Replaced(dict.fromkeys(found), dict.fromkeys(tags), told)
    renamed = {**other.metrics, **dict.fromkeys(found), **{of_corpus(key, before): found[key] for key in found}}
    retagged = {**other.tags, **dict.fromkeys(tags), **{of_corpus(tag, before): tags[tag] for tag in tags}}
    named = listed((of_corpus(key, before) for key in found), METRICS_NAMED)
    lost = any(key not in found and version.metrics.get(key, value) != value for key, value in renamed.items())
    more = other.told or (", in place of what was measured there before" if lost else "")
    return Replaced(renamed, retagged, f" on {corpus}; those on {before} are {named} now{more}")


def under_their_name(version: Version, sizes: Mapping[str, str], parallel: str | None) -> Replaced:
    """What becomes of the measures that name no corpus, where theirs is one of these, which are measured together: they
    get its name, so that what is measured now takes their place, or go where it was another text. Those of whole texts
    stay where aligned lines are measured now, with a tag that they are older, and the other way round."""
    corpus = version.tags.get(MEASURED_ON)
    if corpus is None or corpus not in sizes:
        return Replaced({}, {})
    found, tags = that_name_no_corpus(version)
    if tags.get(MEASURED_PARALLEL) != parallel:
        return Replaced({}, {MEASURED_EARLIER: "true"} if found else {})
    about = {MEASURED_ON, MEASURED_EARLIER} & version.tags.keys()
    gone = Replaced(dict.fromkeys(found), dict.fromkeys((*tags, *about)))
    size = tags.get(MEASURED_BYTES)
    if size not in (sizes[corpus], None):
        return gone._replace(told=of_when(len(found), corpus, size, sizes[corpus]))
    gone.metrics.update({of_corpus(key, corpus): value for key, value in found.items()})
    gone.tags.update({of_corpus(tag, corpus): value for tag, value in tags.items()})
    return gone


def of_other_size(version: Version, corpus: str, size: str, parallel: str | None) -> Replaced:
    """What becomes of the measures that name this corpus where it is measured alone: they go where it had another size.
    Those of aligned lines stay where whole texts are measured now."""
    before = version.tags.get(of_corpus(MEASURED_BYTES, corpus))
    if before in (size, None) or version.tags.get(of_corpus(MEASURED_PARALLEL, corpus)) != parallel:
        return Replaced({}, {})
    return of_other_text(version, {corpus: size}, parallel)


def of_other_text(version: Version, sizes: Mapping[str, str | None], parallel: str | None) -> Replaced:
    """What becomes of the measures that name these corpora: those of whole texts go where new ones are of aligned
    lines, and the other way round, and those of a text of the same name go that had another size, in bytes."""

    def tag(name: str, corpus: str) -> str | None:
        return version.tags.get(of_corpus(name, corpus))

    in_other_lines = {corpus for corpus in sizes if tag(MEASURED_PARALLEL, corpus) != parallel}
    before = {corpus: tag(MEASURED_BYTES, corpus) for corpus in sizes}
    resized = {corpus for corpus, size in sizes.items() if size and before[corpus] not in (size, None)}
    bases = [key.partition(":")[0] for key in version.metrics]
    measures = [base for base in bases if base.partition("@")[0] in BY_KEY]

    def of(corpora: set[str]) -> set[str]:
        return {of_corpus(base, corpus) for base in measures for corpus in corpora} & version.metrics.keys()

    gone = of(in_other_lines | resized)
    tags = {of_corpus(name, corpus) for name in OF_CORPUS for corpus in in_other_lines | resized} & version.tags.keys()
    if of(in_other_lines):
        way = "in other lines" if parallel is None else "in other lines, or in none"
    else:
        way = f"when {listed(sorted(resized), METRICS_NAMED)} had another size"
    more = f", in place of {number_of(len(gone), 'metric')} that were measured {way}" if gone else ""
    return Replaced(dict.fromkeys(gone), dict.fromkeys(tags), more)
