"""What commands read: texts and token ids, from files or standard input, as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from cbpe.common.progress import ProgressCallback, progress_reports
from cbpe.corpus.sources import Reader, read_chunks

__all__ = [
    "Errors",
    "ErrorsOption",
    "FieldOption",
    "FilesArgument",
    "JsonOption",
    "id_chunks",
    "name_of",
    "readers",
    "reporting",
    "source_of",
    "strings",
]

STANDARD_STREAM = "-"


FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="Files, or - for standard input.", show_default=False),
]
FieldOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="The field (.jsonl) or column (.parquet) that holds the texts.")
]
Errors = Literal["strict", "replace"]
ErrorsOption = Annotated[Errors, typer.Option(help="What is not UTF-8 is refused, or read as U+FFFD.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def source_of(file: str) -> Path | BinaryIO:
    return standard_input() if file == STANDARD_STREAM else Path(file)


def standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise ValueError("standard input is closed: name a file")
    return sys.stdin.buffer


def name_of(file: str) -> str:
    return "standard input" if file == STANDARD_STREAM else file


def readers(files: list[str] | None, field: str | None, errors: Errors) -> list[tuple[str, Reader]]:
    """A reader for each file, with its name: a file that is missing is noticed before any other is read."""
    return [(file, Reader(source_of(file), field=field, errors=errors)) for file in files or [STANDARD_STREAM]]


@contextmanager
def reporting() -> Iterator[ProgressCallback | None]:
    """What to tell how far reading is: a bar on stderr, if that is a terminal."""
    with progress_reports(sys.stderr.isatty()) as report:
        yield report


def strings(files: list[str] | None, field: str | None, errors: Errors) -> Iterator[Iterator[str]]:
    """The texts of all files, each in chunks."""
    for _, reader in readers(files, field, errors):
        yield from reader.strings()


def id_chunks(file: str) -> Iterator[bytes]:
    """The bytes of a file that holds token ids."""
    if file == STANDARD_STREAM:
        yield from read_chunks(standard_input())
    else:
        with open(file, "rb") as opened:
            yield from read_chunks(opened)
