"""The group of commands, and how versions are printed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbpe.cli.app import new_app
from cbpe.cli.input.references import DIGEST, complete_version
from cbpe.cli.output.printing import print_json, print_pairs, print_rows, print_table

if TYPE_CHECKING:
    from store import Version

__all__ = [
    "NameArgument",
    "VersionArgument",
    "app",
    "brief",
    "print_saved",
    "print_version",
    "print_versions",
    "row_of",
]

app = new_app(
    name="models",
    add_completion=False,
    help="Keep tokenizers as versions under names: the model store.\n\n"
    "REF is a version in the store: name (its newest version), name@3, name@alias, or sha256: and the first digits of "
    "a digest.",
)

DIGITS_SHOWN = 12
MOST_CHARACTERS = 60  # of one label or token, in a table

VersionArgument = Annotated[
    str,
    typer.Argument(
        metavar="REF",
        help="A version: name, name@3, name@alias or sha256:ab12.",
        autocompletion=complete_version,
        show_default=False,
    ),
]
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A name.", autocompletion=complete_version, show_default=False)
]


def row_of(value: Any) -> Any:
    """What the store returns, as JSON can hold it: bytes are text and hexadecimal digits, times are ISO 8601."""
    if isinstance(value, bytes):
        return {"text": text_of(value), "bytes": value.hex()}
    if isinstance(value, datetime):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: row_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_fields"):
        return {name: row_of(getattr(value, name)) for name in value._fields}
    if isinstance(value, Mapping):
        return {key: row_of(item) for key, item in value.items()}
    return [row_of(item) for item in value] if isinstance(value, (list, tuple)) else value


def text_of(token: bytes) -> str | None:
    """None for what is no UTF-8."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def print_versions(versions: Iterable[Version], as_json: bool) -> None:
    """A row for each version."""
    if as_json:
        print_rows(map(row_of, versions))
        return
    columns = ("version", "aliases", "tags", "tokens", "semantics", "saved", "parent", "sha256")
    print_table(columns, (tuple(cells(version)) for version in versions))


def cells(version: Version) -> Iterator[object]:
    yield version.reference
    yield ", ".join(version.aliases)
    yield ", ".join(map(brief, labels(version.tags)))
    yield version.vocab_size
    yield version.semantics
    yield shown_time(version.time)
    parent = version.parent or ""
    yield parent[: len(DIGEST) + DIGITS_SHOWN] if parent.startswith(DIGEST) else parent
    yield version.digest[:DIGITS_SHOWN]


def labels(tags: Mapping[str, object]) -> list[str]:
    return [f"{key}={value}" if value != "" else key for key, value in tags.items()]


def brief(text: str) -> str:
    """The beginning of a text that is too long for a table."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."


def shown_time(time: datetime) -> str:
    """In the time zone of the machine, to the second."""
    return time.astimezone().isoformat(" ", "seconds")


def print_version(version: Version, as_json: bool, more: Mapping[str, object] | None = None) -> None:
    """All that is known about a version, and something more."""
    if as_json:
        print_json({**row_of(version), **row_of(more or {})})
        return
    pairs = [
        ("version", version.reference),
        ("class", version.kind if version.encoding_name is None else f"{version.kind} {version.encoding_name!r}"),
        ("tokens", f"{version.vocab_size:,}, of which {version.n_merges:,} are merges"),
        ("special tokens", version.n_special_tokens),
        ("semantics", version.semantics),
        ("pattern", version.pattern),
        ("Unicode", version.unicode_version),
        ("saved", shown_time(version.time)),
        ("aliases", ", ".join(version.aliases)),
        ("tags", ", ".join(labels(version.tags))),
        ("metrics", ", ".join(labels(version.metrics))),
        ("notes", version.notes),
        ("parent", version.parent),
        ("sha256", version.digest),
        *(more or {}).items(),
    ]
    print_pairs((name, value) for name, value in pairs if value is not None and value != "")


def print_saved(version: Version, as_json: bool) -> None:
    """What a save has made, or that it has not; in JSON that is the field `created`."""
    known = {"new": "no: the newest version is this already"}
    print_version(version, as_json, None if version.created or as_json else known)
