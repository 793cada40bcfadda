"""How versions are printed: one in full, or a row for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from cbpe.cli.input.measured import is_of_metrics
from cbpe.cli.input.references import DIGEST
from cbpe.cli.output.printing import print_json, print_pairs, print_rows, print_table, print_told
from cbpe.cli.output.rows import json_value
from cbpe.common.wording import EXACT, number_of, number_text
from cbpe.views.inspected import moved_listed, special_listed, steps_in_words
from cbpe.views.readable import beginning, printable

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from store import Version

__all__ = [
    "in_order",
    "labels",
    "local_time",
    "measured",
    "print_done",
    "print_saved",
    "print_version",
    "print_versions",
    "short_time",
]

DIGITS = 5  # of a metric, among other things
MOST_DIGITS = 100  # of a number in a name, which sorts by it
DIGITS_SHOWN = 12  # of a digest, in a table
MINUTES, SECONDS = 16, 19  # characters of a time up to its minutes, or seconds
COLUMNS = ("version", "tokens", "saved", "aliases", "tags", "semantics", "parent", "sha256")
NOT_SPLIT = ("saved", "semantics", "parent", "sha256")
SPARE = ("sha256", "semantics", "parent", "saved", "tags")  # left out in a narrow terminal, in this order


def print_versions(versions: Sequence[Version], as_json: bool, wide: bool, metric: str | None = None) -> None:
    """A row for each version, with a metric beside the sizes if one is named."""
    if as_json:
        print_rows(versions)
        return
    columns, rows = list(COLUMNS), [list(version_cells(version, wide)) for version in versions]
    if metric is not None:
        columns.insert(2, metric)
        for row, version in zip(rows, versions, strict=True):
            row.insert(2, rounded(version.metrics[metric]) if metric in version.metrics else "")
    # A column without aliases makes no room for itself by folding names, nor any beside a metric that was asked for.
    keeps_aliases = metric is None and any(version.aliases for version in versions)
    spare = SPARE if keeps_aliases else (*SPARE, "aliases")
    named = [] if metric is None else [metric]
    print_table(columns, rows, whole=[*NOT_SPLIT, *named], spare=spare, kept=named, wide=wide)


def version_cells(version: Version, wide: bool) -> Iterator[object]:
    """The cells of a row; wide: in full."""
    yield version.reference
    yield version.vocab_size
    yield local_time(version.time)[:MINUTES]
    yield ", ".join(version.aliases)
    yield ", ".join(labels(version.tags) if wide else listed_tags(version.tags))
    yield version.semantics
    parent = version.parent or ""
    yield parent[: len(DIGEST) + DIGITS_SHOWN] if parent.startswith(DIGEST) and not wide else parent
    yield version.digest if wide else version.digest[:DIGITS_SHOWN]


def listed_tags(tags: Mapping[str, object]) -> list[str]:
    """Tags as a table has them: those that tell of metrics are counted."""
    others = {tag: value for tag, value in tags.items() if not is_of_metrics(tag)}
    of_metrics = len(tags) - len(others)
    return [*map(beginning, labels(others)), *([f"{number_of(of_metrics, 'tag')} of metrics"] if of_metrics else [])]


def labels(tags: Mapping[str, object]) -> list[str]:
    """{"language": "en", "final": ""} -> ["language=en", "final"]"""
    return [f"{key}={value}" if value != "" else key for key, value in tags.items()]


def measured(metrics: Mapping[str, float]) -> dict[str, str]:
    """{"loss": 1.25e-05, "tokens": 61548.0} -> {"loss": "1.25e-05", "tokens": "61548"}, as numbers of any size are
    read."""
    return {key: number_text(value) for key, value in metrics.items()}


def in_order(key: str) -> list[tuple[bool, int, str]]:
    """What sorts a name by its texts and by the values of the numbers in it: "fertility@512" before
    "fertility@1024"."""
    parts = re.split(r"(\d+)", key, flags=re.ASCII)
    return [(part.isdecimal(), int(part[:MOST_DIGITS]) if part.isdecimal() else 0, part) for part in parts]


def rounded(number: float) -> str:
    """A number with DIGITS digits, or all of those before the point: 1.6730577472612045 -> "1.6731"."""
    if number.is_integer() or not abs(number) < EXACT:
        return number_text(number)
    return f"{number:.{DIGITS}g}" if abs(number) < 10**DIGITS - 0.5 else f"{number:.0f}"


def sorted_metrics(metrics: Mapping[str, float]) -> dict[str, str]:
    """Metrics with their numbers rounded; `models metrics` and --json have all digits."""
    return {key: rounded(metrics[key]) for key in sorted(metrics, key=in_order)}


def note_pairs(notes: str | None) -> Iterator[tuple[str, object]]:
    """A line for each of the notes."""
    for i, line in enumerate((notes or "").splitlines()):
        yield "" if i else "notes", line


def local_time(time: datetime) -> str:
    """In the time zone of the machine, to the second."""
    return time.astimezone().isoformat(" ", "seconds")


def short_time(time: datetime) -> str:
    """In the time zone of the machine, to the second, for a table."""
    return local_time(time)[:SECONDS]


def print_version(
    version: Version, as_json: bool, more: Mapping[str, object] | None = None, tok: Tokenizer | None = None
) -> None:
    """All that is known about a version, and what is in `more`; with its tokenizer, which special tokens there are and
    what is done around merging, and not whether a save has just made it."""
    if as_json:
        row = json_value(version)
        if tok is not None:
            del row["created"]
            row |= {"special_tokens": tok.special_tokens, "processing": tok._processing()}
        print_json({**row, **(more or {})})
        return
    special = [] if tok is None or not tok.special_tokens else [("", special_listed(tok.special_tokens))]
    steps = () if tok is None else steps_in_words(tok._processing())
    pairs = [
        ("version", version.reference),
        ("class", class_of(version)),
        ("tokens", f"{version.vocab_size:,}, of which {version.n_merges:,} are merges"),
        ("special tokens", version.n_special_tokens),
        *special,
        ("semantics", version.semantics),
        ("pattern", version.pattern),
        *steps,
        ("Unicode", version.unicode_version),
        ("saved", local_time(version.time)),
        ("aliases", ", ".join(version.aliases)),
        ("tags", ", ".join(labels(version.tags))),
        ("metrics", sorted_metrics(version.metrics)),
        *note_pairs(version.notes),
        ("parent", version.parent),
        ("sha256", version.digest),
        *(more or {}).items(),
    ]
    print_pairs((name, value) for name, value in pairs if value not in (None, {}) and (value != "" or name == ""))


def print_done(version: Version, done: str, as_json: bool) -> None:
    """What was done to a version, in a line; in JSON, the version as it is now."""
    if as_json:
        print_json(json_value(version))
    else:
        print_told([printable(done)])


def print_saved(
    version: Version,
    as_json: bool,
    before: Version | None = None,
    labels: str = "",
    moved: str = "",
    moved_ids: Mapping[str, tuple[int, int]] | None = None,
) -> None:
    """A version after a save, and whether the save made it; in JSON the field `created` says that. before: the version
    that was the newest then. labels: what became of tags, notes and the like where there was one. moved: the aliases
    that were another version's. moved_ids: the special tokens whose ids are other ones since the tokenizer was made
    smaller."""
    told = {"other ids": moved_listed(moved_ids)} if moved_ids else {}
    if not version.created:
        told["new"] = f"no: the newest version is this already{labels and f'; {labels}'}"
    elif before is not None and before.digest == version.digest:
        told["new"] = f"yes: {before.reference} gives the same results, but its class is {class_of(before)}"
    if moved:
        told["moved"] = moved
    in_json = {"special_moved": moved_ids} if moved_ids else None
    print_version(version, as_json, in_json if as_json else told)


def class_of(version: Version) -> str:
    return version.kind if version.encoding_name is None else f"{version.kind} {version.encoding_name!r}"
