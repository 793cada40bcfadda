"""The files that names of files, folders, patterns and URLs mean, each with what tells whether it changes."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from cbpe.columns.texts import is_table
from cbpe.common.checks import refuse_no_field, refuse_set
from cbpe.common.warning import warn
from cbpe.common.wording import links_not_followed, listed, number_of, shown
from cbpe.corpus.files import TextFile, has_field
from cbpe.corpus.storage import Url, has_wildcards, place_of, version_of
from cbpe.tasks.patterns import matched_by, matches, refuse_closed

__all__ = ["Name", "SourceFile", "find_sources", "refuse_within_sources", "version_in_words"]

Name: TypeAlias = str | os.PathLike[str]

WRITTEN = re.compile(r"mtime ([0-9]{13,19})")  # in ns, as version_of says it; other systems say seconds
# What tokenizers are saved as, in text that would be read as well.
TOKENIZER = re.compile(
    r".+\.(model|vocab|tiktoken|settings\.json)|(.+[-_.])?(tokenizer|tokenizer_config)\.json"
    r"|special_tokens_map\.json|vocab\.(json|bpe)|encoder\.json|merges\.txt"
)
MOST_NAMED = 3  # files of a folder that are left out
HIDDEN = "A file does not count if its name, or that of a folder it is in, begins with a dot or an underscore"


@dataclass(frozen=True)
class SourceFile:
    """A file of a corpus, as it was when a run began."""

    path: str  # or URL
    size: int  # in bytes, as it is stored
    version: str  # changes when the content does; "" if nobody can tell

    @property
    def place(self) -> Path | Url:
        return place_of(self.path)

    def refuse_changed(self) -> None:
        """ValueError if the file is no longer what it was; OSError if it is gone."""
        size, version = version_of(self.place)
        if size != self.size:
            raise ValueError(f"{self.path} has changed since the run began: it had {self.size:,} bytes, now {size:,}")
        if version != self.version:
            before, now = version_in_words(self.version), version_in_words(version)
            raise ValueError(f"{self.path} has changed since the run began ({before}, now {now})")


def version_in_words(version: str) -> str:
    """What tells whether a file changes, as messages say it: the time when a file of this machine was written as such.

    >>> version_in_words("ETag 5d41")
    'ETag 5d41'
    """
    time = WRITTEN.fullmatch(version)
    if time is None:
        return version
    seconds, rest = divmod(int(time[1]), 10**9)
    return f"written {datetime.fromtimestamp(seconds).isoformat(' ')}.{rest // 1000:06}"


def find_sources(sources: Name | Iterable[Name], *, field: str | None, errors: str) -> list[SourceFile]:
    """The files of all sources, in their order; those of a folder or a pattern by their names.

    A source is a file, a folder, a pattern with *, ? or [..] (** for folders within folders), or a URL of one of these.
    Of a folder, at any depth, it is all files of JSON Lines and Parquet if there is a field, and else all others (a
    UserWarning tells of texts that are left out); but none whose name, or whose folder's, begins with a dot or an
    underscore. A link to a file that is there as well is left out, with a UserWarning. Raises TypeError for what is no
    name, OSError where there is no such file, ValueError for a folder or a pattern that has none, for a file that is
    named twice, and for a field that is missing or of no use.
    """
    refuse_no_field(field)
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    elif not isinstance(sources, Iterable) or isinstance(sources, (bytes, bytearray, memoryview)):
        raise TypeError(f"sources are names of files, not {type(sources).__name__}: {shown(sources)}")
    if isinstance(sources, Mapping) or is_table(type(sources)):
        kind = type(sources).__name__
        raise TypeError(f"sources are names of files, and a {kind} holds texts: write it to a file, and name that")
    refuse_set("the sources", sources)
    found: list[SourceFile] = []
    seen: dict[str, str] = {}
    for name in sources:
        if not isinstance(name, (str, os.PathLike)):
            raise TypeError(f"a source is the name of a file, not {type(name).__name__}: {shown(name)}")
        of_name: set[str] = set()
        links: list[str] = []
        for place in files_of(name, field):
            same = str(place) if isinstance(place, Url) else os.path.realpath(place)
            if same in of_name:  # by a link: nobody named it twice
                links.append(str(place))
                continue
            of_name.add(same)
            if same in seen:
                raise ValueError(f"{place} is named twice (the first time as {seen[same]}): name each source once")
            seen[same] = str(place)
            try:
                TextFile(place, field=field, errors=errors)  # raises what reading would raise at once
            except FileNotFoundError as error:
                if any(map(str.isspace, str(place))):
                    problem = "there is no such file, and a source is the name of a file, not a text"
                    raise FileNotFoundError(error.errno, problem, str(place)) from error
                raise
            size, version = version_of(place)
            found.append(SourceFile(str(place), size, version))
        if links:
            told, are = number_of(len(links), "file"), "is" if len(links) == 1 else "are"
            warn(f"of {name}, {told} ({listed(links, MOST_NAMED)}) {are} left out, as the same is read by another name")
    if not found:
        raise ValueError("there are no sources: name files, folders or patterns")
    return found


def refuse_within_sources(output: Path, sources: Name | Iterable[Name], *, is_folder: bool = False) -> None:
    """ValueError for an output that is among the sources as soon as it is there, in a folder all files of which are, or
    by a pattern: going on with the run would find what it has made. is_folder: it is one, with files of any name."""
    made_files = Path(output).absolute().parts + (("file",) if is_folder else ())
    names = [sources] if isinstance(sources, (str, os.PathLike)) else sources
    for name in names if isinstance(names, (list, tuple)) else ():  # others can be gone through once
        place = place_of(name)
        if not isinstance(place, Path):
            continue
        if not place.is_dir():
            if has_wildcards(str(place)) and matches(made_files, place.absolute().parts):
                raise ValueError(f"{output} would be among the sources, as {place} matches it: give another name")
            continue
        made = os.path.relpath(os.path.realpath(output), os.path.realpath(place)).split(os.sep)
        if made[0] != os.pardir and not any(part.startswith((".", "_")) and part != os.curdir for part in made):
            raise ValueError(f"{output} is in {place}, all files of which are sources: name one beside it")


def files_of(name: Name, field: str | None) -> Iterator[Path | Url]:
    """The files that one name means."""
    place = place_of(name)
    if isinstance(place, Url):
        found: list[Any] = place.files()
        if found == [place]:
            yield place
            return
        places: list[Any] = found if has_wildcards(place.url) else wanted(found, place.url, field)
        tell_folders(place, place.folders_left_out(), are_files=bool(places))
    elif place.is_dir():
        places = wanted([*files_within(place)], str(place), field)
    elif has_wildcards(str(place)) and not place.exists():
        refuse_closed(place)
        matched, links = matched_by(place)
        tell_links(f"what {place} matches", links)
        # A link that leads nowhere is an error when the file is looked at, and no file less.
        places = [path for path in matched if path.is_file() or not path.exists()]
        folders = [path for path in matched if path.is_dir() and str(path) not in links]
        tell_folders(place, folders_left_out(folders, {*places}), are_files=bool(places))
    else:
        yield place
        return
    if not places:
        raise ValueError(without_files(place, field))
    yield from sorted(places, key=str)


def tell_folders(pattern: Path | Url, folders: Sequence[str], *, are_files: bool) -> None:
    """A UserWarning for folders that a pattern matches and that are left out; ValueError if it matches no file."""
    if not folders:
        return
    said = f"{number_of(len(folders), 'folder')} ({listed(folders, MOST_NAMED)})"
    if not are_files:
        raise ValueError(f"no file matches {pattern}, but {said}: name what to read, as {pattern}/**")
    are = "is" if len(folders) == 1 else "are"
    warn(
        f"of what {pattern} matches, {said} {are} left out, as a pattern is of files: name what else to read, as "
        f"{pattern}/**"
    )


def folders_left_out(folders: Iterable[Path], matched: Container[Path]) -> list[str]:
    """Those of the folders that a pattern matches in which is a file that it does not match."""
    return sorted(str(folder) for folder in folders if any(path not in matched for path in seen_within(folder)))


def seen_within(folder: Path) -> Iterator[Path]:
    """The files in a folder that is named, but for hidden ones."""
    for where, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if not is_hidden(name)]
        yield from (Path(where, name) for name in names if not is_hidden(name))


def files_within(folder: Path) -> Iterator[Path]:
    """The files of a folder, at any depth, but for the folders in it that count as hidden. OSError for one that cannot
    be read; a UserWarning for links to folders, which are not followed, as they may lead anywhere."""
    links = []
    for where, folders, names in os.walk(folder, onerror=raise_it):
        folders[:] = [name for name in folders if not is_hidden(name)]
        links += [link for name in folders if os.path.islink(link := os.path.join(where, name))]
        # A link that leads nowhere is an error when the file is looked at, and no file less.
        yield from (path for name in names if (path := Path(where, name)).is_file() or not path.exists())
    tell_links(f"the folder {folder}", [os.path.relpath(link, folder) for link in links])


def tell_links(what: str, links: Sequence[str]) -> None:
    """A UserWarning for links to folders, if there are any."""
    if links:
        warn(f"{links_not_followed(what, links)}: name what is behind as a source of its own")


def raise_it(error: OSError) -> None:
    raise error


def is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def without_files(place: Path | Url, field: str | None) -> str:
    """The message about a folder or a pattern that has no file of a corpus."""
    if has_wildcards(str(place)) and not (isinstance(place, Path) and place.exists()):
        return f"no file matches {place}"
    if isinstance(place, Path) and not any(path.is_file() for path in place.rglob("*")):
        return f"there is no file in the folder {place}"
    if field is None:
        missing = "plain text; for .jsonl and .parquet, set field to a name"
    else:
        missing = ".jsonl or .parquet, which have fields (.json files that are JSON Lines are named by a pattern)"
    return f"the folder {place} holds no file of {missing}. {HIDDEN}"


def wanted(places: list[Any], folder: str, field: str | None) -> list[Any]:
    """The files of a folder that a corpus is of."""
    found: dict[bool, list[Any]] = {False: [], True: []}  # those that have fields, and the others
    before = "" if folder == os.curdir else folder  # of which the names of files in the current folder have nothing
    for place in places:
        inside = str(place).removeprefix(before).replace(os.sep, "/").split("/")
        if not any(map(is_hidden, inside)):
            found[has_field(place)].append(place)
    read = found[field is not None]
    if read:
        tell_left_out(found[field is None], folder, field)
        tell_tokenizers([place for place in read if TOKENIZER.fullmatch(os.path.basename(str(place)))], folder)
    return read


def tell_tokenizers(places: list[Any], folder: str) -> None:
    """A UserWarning for files of a folder that are read as texts, and by their names hold tokenizers."""
    if places:
        what = (
            "is read as text, by its name a tokenizer"
            if len(places) == 1
            else "are read as texts, by their names tokenizers"
        )
        named = listed(sorted(os.path.relpath(str(place), folder) for place in places), MOST_NAMED)
        warn(f"of the folder {folder}, {number_of(len(places), 'file')} ({named}) {what}: keep such in another folder")


def tell_left_out(places: list[Any], folder: str, field: str | None) -> None:
    """A UserWarning for files of a folder that are not read as the others are."""
    if places:
        kind = "of JSON Lines and Parquet " if field is None else ""
        named = listed(sorted(os.path.relpath(str(place), folder) for place in places), MOST_NAMED)
        are = f"{number_of(len(places), 'file')} {kind}({named}) {'is' if len(places) == 1 else 'are'} left out"
        way = (
            ": to read such in place of the others, set field to a name"
            if field is None
            else f", as {'it has' if len(places) == 1 else 'they have'} no field"
        )
        if field is not None and any(".json" in place.suffixes[-2:] for place in places):
            way += "; .json files that are JSON Lines are read where a pattern names them"
        warn(f"of the folder {folder}, {are}{way}")
