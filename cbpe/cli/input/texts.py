"""What commands read, from files or standard input, as it comes: texts, and the bytes of files that hold token ids."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Literal

from cbpe.cli.input.settings import settings
from cbpe.common.atomic_files import is_url
from cbpe.common.progress import ProgressCallback, about, progress_reports
from cbpe.common.warning import warn
from cbpe.common.wording import shown
from cbpe.corpus.describing import tell_of_objects, tell_of_plain_text
from cbpe.corpus.files import TextFile, has_field
from cbpe.corpus.sources import Reader, read_chunks
from cbpe.corpus.storage import has_wildcards, place_of
from cbpe.corpus.stored_bytes import PARQUET, refuse_other_kinds
from cbpe.encodings.references import is_encoding

__all__ = [
    "STANDARD_STREAM",
    "Errors",
    "Missing",
    "bars_can_be_drawn",
    "bars_wanted",
    "field_of_texts",
    "files_meant",
    "files_of_ids",
    "id_chunks",
    "input_name",
    "is_stream",
    "may_be_several",
    "readers",
    "reading_bars",
    "refuse_encodings",
    "source_of",
    "sources_of",
    "stands_for_files",
    "tell_of_plain_text_in",
    "tell_of_tables_in",
    "text_of_standard_input",
    "warn_of_no_text",
]

STANDARD_STREAM = "-"
NOTEBOOK = "JPY_PARENT_PID"  # what the kernel of a notebook, and what it starts, has in the environment
SECONDS_WITHOUT_BARS = 0.5  # in which there is nothing to wait for
STDIN_TWICE = "standard input is named twice, and can be read only once"

Errors = Literal["strict", "replace"]
Missing = Literal["error", "skip"]


def is_stream(file: str) -> bool:
    """Whether a name is that of a pipe or a device, which can be read only once."""
    return os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)


def source_of(file: str) -> PathLike[str] | BinaryIO:
    """What cbpe.train and Reader take for a file that the user names, by its path or URL."""
    return standard_input() if file == STANDARD_STREAM else place_of(file)


def sources_of(files: list[str] | None, field: str | None, errors: Errors) -> list[PathLike[str] | BinaryIO]:
    """What cbpe.train takes for the files, folders, patterns and URLs that the user names, and for standard input, with
    a warning of what is named twice. Raises as find_sources does."""
    from cbpe.tasks.sources import find_sources  # of no use to the commands that read files alone

    places: list[PathLike[str] | BinaryIO] = []
    named: dict[str, list[str]] = {}  # each file, with its names
    for name in files or [STANDARD_STREAM]:
        if name == STANDARD_STREAM:
            if name in named:
                raise ValueError(STDIN_TWICE)
            named[name] = [name]
            places.append(standard_input())
            continue
        for found in find_sources(name, field=field, errors=errors):
            same = os.path.realpath(found.path) if isinstance(found.place, Path) else found.path
            named.setdefault(same, []).append(found.path)
            places.append(found.place)
    tell_of_several_names(named)
    return places


def tell_of_several_names(named: dict[str, list[str]]) -> None:
    """A warning for each file that has several names."""
    for names in named.values():
        if len(names) > 1:
            times = "twice" if len(names) == 2 else f"{len(names):,} times"
            warn(f"{names[-1]} is named {times}: its texts count {times}")


def text_of_standard_input(most: int, instead: str) -> str:
    """All of standard input, without the line break at its end. ValueError for more bytes than that, and for what is
    not UTF-8. instead: what messages say that would do as well."""
    data = standard_input(instead).read(most + len(b"\r\n") + 1).removesuffix(b"\n").removesuffix(b"\r")
    if len(data) > most:
        raise ValueError(f"standard input has more than {most:,} bytes, which is the most that is kept")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        at = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise ValueError(f"standard input is not UTF-8 ({at}): convert it") from error


def standard_input(instead: str = "name a file") -> BinaryIO:
    if sys.stdin is None:
        raise ValueError(f"standard input is closed: {instead}")
    if sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
        warn(f"reading what you type, as standard input is a terminal: end it with {end}, or {instead}")
    return sys.stdin.buffer


def warn_of_no_text(file: str, n_bytes: int) -> None:
    """A warning where a file that was to be measured holds no text."""
    if not n_bytes:
        warn(f"{input_name(file)} holds no text: there is nothing to measure")


def input_name(file: str) -> str:
    """What a message calls a file that the user names."""
    return "standard input" if file == STANDARD_STREAM else file


def field_of_texts(form: str | None, field: str | None, files: list[str] | None) -> str | None:
    """The field that holds the texts, where --format may say that standard input has one, or that it has none."""
    if form is None:
        return field
    import typer  # slow to import, and rarely needed

    if files and STANDARD_STREAM not in files:
        raise typer.BadParameter("only for standard input: the name of a file tells what it is", param_hint="--format")
    if form == "text" and field is not None:
        raise typer.BadParameter("a text has no fields: leave --field out, or give jsonl", param_hint="--format")
    return "text" if form == "jsonl" and field is None else field


def readers(
    files: list[str] | None, field: str | None, errors: Errors, missing: Missing | None = None, *, told: bool = False
) -> list[tuple[str, Reader]]:
    """Each file with its reader. A missing file raises before any other is read, and says so of several. ValueError
    where standard input is named twice. told: whether tell_of_plain_text_in tells of what looks like JSON Lines."""
    named = named_once(files)
    try:
        found = [(file, Reader(source_of(file), field=field, errors=errors, missing=missing)) for file in named]
        if field is None and not told:
            tell_of_objects(Path(file) for file in named if os.path.isfile(file))
        return found
    except OSError as error:
        if isinstance(error, FileNotFoundError) and len(named) == 1 and seems_a_text(named[0]):
            problem = f"there is no file {shown(named[0])}: a text is read from a file, or from standard input"
            raise FileNotFoundError(problem) from error
        if len(named) == 1 or error.strerror is None:
            raise
        problem = f"{error.strerror}; nothing was read of the {len(named)} files, which are all looked at first"
        raise OSError(error.errno, problem, error.filename) from error


def may_be_several(files: list[str] | None, field: str | None) -> bool:
    """Whether there may be several texts."""
    return field is not None or len(files or []) > 1


def files_meant(files: list[str] | None, field: str | None, errors: Errors, *, told: bool = True) -> list[str] | None:
    """The files that names mean: those of a folder or a pattern stand in its place. Raises and warns as find_sources
    does. told: whether a warning tells of files that are named twice then."""
    if not any(map(stands_for_files, files or ())):
        return files
    found: list[str] = []
    named: dict[str, list[str]] = {}  # each file of this machine, with its names
    for name in files or ():
        names = names_of_files(name, field, errors) if stands_for_files(name) else [name]
        for each in names:
            if each != STANDARD_STREAM and not is_url(each):
                named.setdefault(os.path.realpath(each), []).append(each)
        found += names
    if told:
        tell_of_several_names(named)
    return found


def stands_for_files(name: str) -> bool:
    """Whether this is the name of a folder, or a pattern of names, on this machine."""
    if name == STANDARD_STREAM or is_url(name):
        return False
    return os.path.isdir(name) or (has_wildcards(name) and not os.path.exists(name))


def names_of_files(name: str, field: str | None, errors: Errors) -> list[str]:
    """The files of a folder or a pattern, which begin as it does."""
    from cbpe.tasks.sources import find_sources  # seldom needed

    found = [each.path for each in find_sources(name, field=field, errors=errors)]
    if os.path.isdir(name):
        return [os.path.join(name, os.path.relpath(path, name)) for path in found]
    return [os.path.join(os.curdir, path) if path == STANDARD_STREAM else path for path in found]


def tell_of_plain_text_in(files: list[str] | None, field: str | None) -> None:
    """A warning of files that are tables or JSON, and are measured as plain text. A reader tells of standard input."""
    tell_of_plain_text([source_of(file) for file in files or () if file != STANDARD_STREAM], field=field)


def tell_of_tables_in(files: list[str] | None, field: str | None) -> None:
    """A warning of files of comma- or tab-separated values, all of which is read. Of JSON, that is often wanted."""
    tables = [
        file for file in files or () if any(each.lower() in (".csv", ".tsv") for each in Path(file).suffixes[-2:])
    ]
    tell_of_plain_text_in(tables, field)


def named_once(files: list[str] | None) -> list[str]:
    """The files, or standard input if none is named. ValueError where it is named twice."""
    named = files or [STANDARD_STREAM]
    if named.count(STANDARD_STREAM) > 1:
        raise ValueError(STDIN_TWICE)
    refuse_encodings(named)
    return named


def refuse_encodings(files: list[str]) -> None:
    """FileNotFoundError for the name of an encoding in the place of a file, where there is no such file."""
    for file in files:
        if is_encoding(file) and not os.path.exists(file):
            raise FileNotFoundError(f"there is no file {shown(file)}, which is a named encoding: give -t before each")


def seems_a_text(name: str) -> bool:
    """Whether somebody may have given a text in place of a file's name."""
    return os.sep not in name and (" " in name or not name.isascii())


def bars_wanted(files: list[str] | None) -> bool:
    """Whether to draw bars on stderr for files that the user names: if they can be drawn there, and nobody types what
    is read."""
    typed = STANDARD_STREAM in (files or [STANDARD_STREAM]) and sys.stdin is not None and sys.stdin.isatty()
    return bars_can_be_drawn() and not typed


def bars_can_be_drawn() -> bool:
    """Whether stderr is a terminal that moves its cursor, and --no-progress is not given. A notebook gives commands a
    terminal that does not, and would keep each drawing of a bar."""
    in_notebook = NOTEBOOK in os.environ
    return settings.bars and sys.stderr is not None and sys.stderr.isatty() and not in_notebook


@contextmanager
def reading_bars(files: list[str]) -> Iterator[Callable[[str], ProgressCallback | None]]:
    """A function that gives, for the name of each file, what its reader calls. That draws a bar on stderr, where bars
    are wanted and nobody types any of the files, as soon as reading has taken more than a moment."""
    if not bars_wanted(files):
        yield lambda file: None
        return
    reports: ProgressCallback | None = None
    with ExitStack() as bars:

        def reports_of(file: str) -> ProgressCallback:
            name = "standard input" if file == STANDARD_STREAM else os.path.basename(file)
            own: ProgressCallback | None = None
            due = first_read_at() + SECONDS_WITHOUT_BARS

            def report(stage: str, done: int, total: int | None) -> None:
                nonlocal reports, own
                if reports is None and time.monotonic() >= due:
                    reports = bars.enter_context(progress_reports(True))
                if own is None:
                    own = about(reports, name)
                if own is not None:
                    own(stage, done, total)

            return report

        yield reports_of


@functools.cache
def first_read_at() -> float:
    """When the command read the first file that may have a bar."""
    return time.monotonic()


def files_of_ids(files: list[str] | None) -> list[str]:
    """The files that hold token ids, or standard input if none is named. FileNotFoundError where one is not there;
    ValueError where standard input is named twice."""
    named = named_once(files)
    for file in named:
        if file == STANDARD_STREAM:
            continue
        if file and set(file) <= set(" ,[]0123456789") and not os.path.exists(file):
            raise FileNotFoundError(
                f"there is no file {shown(file)}: token ids are read from standard input, or from files"
            )
        os.stat(file)
    return named


def id_chunks(file: str) -> Iterator[bytes]:
    """The bytes of a file that holds token ids, decompressed. ValueError for what is no text."""
    if file == STANDARD_STREAM:
        chunks = read_chunks(standard_input())
    else:
        # Of JSON Lines the lines are lists: no field is looked for.
        chunks = TextFile(Path(file), field="ids" if has_field(Path(file)) else None, errors="strict").chunks()
    for i, chunk in enumerate(chunks):
        if i == 0:
            if chunk.startswith(PARQUET):
                raise ValueError(f"{input_name(file)} is Parquet, and ids are read from text and JSON Lines alone")
            refuse_other_kinds(chunk, input_name(file))
        yield chunk
