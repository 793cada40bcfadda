"""Writes files whole or not at all."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "LOCAL", "check_writable", "in_home", "is_beside", "is_url", "missing_folder", "name_beside", "new_file",
    "refuse_elsewhere", "refuse_missing_folder", "told_of_home", "write_files", "write_whole",
]  # fmt: skip

ANYBODY_WRITES = 0o222
LOCAL = "file://"
NO_FOLDER = "there is no such folder: make it first"
FOLDER = re.compile(r"[/\\]" if os.altsep else "/")
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # of one letter it is a drive, as in C://


def check_writable(path: str | os.PathLike[str]) -> None:
    """OSError where a file could not be written, because of its folder or what is at its place. It is better to know
    before there is work to lose."""
    import tempfile  # not every program needs it

    refuse_no_file(os.fspath(path))
    folder = os.path.dirname(path) or "."
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except FileNotFoundError as error:  # /proc is there, and says so of each file
        problem = "no file can be made there" if os.path.isdir(folder) else NO_FOLDER
        raise FileNotFoundError(error.errno, problem, folder) from error
    except OSError as error:
        problem = f"no file can be made in its folder: {error.strerror}"
        raise type(error)(error.errno, problem, os.fspath(path)) from error


def is_url(name: str) -> bool:
    """Whether a name is a URL that is not of this machine's files."""
    return URL.match(name) is not None and not name.startswith(LOCAL)


def refuse_elsewhere(path: str) -> None:
    """ValueError for a URL where something is going to be written: only this machine's files are. And for a path from
    "~", in whose place a shell has the home folder, but not within quotes, and Python never."""
    path = os.fsdecode(path)
    told = told_of_home(path)
    if told:
        raise ValueError(told)
    if URL.match(path):
        shown = f"{path.partition('://')[0]}://..." if {*path} & {"@", "?"} else path  # without what may be a password
        raise ValueError(f"{shown!r} is a URL, and is not written to: give a name on this machine")


def in_home(path: str) -> str | None:
    """Where a path from "~" may have been meant to lead; None for others, and where there is a folder of that name."""
    first, *others = FOLDER.split(path, maxsplit=1)
    home = os.path.expanduser(path) if others and first.startswith("~") else path
    return None if home == path or os.path.lexists(first) else home


def told_of_home(path: str) -> str:
    """What a message says of a path from "~" that something is going to be written to; "" for others."""
    home = in_home(path)
    folder = FOLDER.split(path)[0]
    return "" if home is None else f"{path!r} would be in a folder that is called {folder}: write {home!r}"


def refuse_no_file(path: str) -> None:
    """ValueError for a URL. OSError where there is something at a path already that is no file, or a read-only
    one."""
    refuse_elsewhere(path)
    if os.path.isdir(path):
        raise IsADirectoryError(f"cannot write {path!r}: it is a directory")
    if os.path.exists(path) and not os.path.isfile(path):  # a file would replace it
        raise OSError(f"cannot write {path!r}: it is a pipe or a device, and what is written a file")
    if os.path.exists(path) and not os.stat(path).st_mode & ANYBODY_WRITES:
        raise PermissionError(errno.EACCES, "the file is read-only: allow writing to it, or remove it, first", path)


def write_whole(path: str | os.PathLike[str], parts: Iterable[Buffer]) -> None:
    """Write one file of consecutive parts, as write_files does."""
    write_files({os.fspath(path): parts})


def write_files(contents: Mapping[str, Iterable[Buffer]]) -> None:
    """Write several files, each of consecutive parts: first all of them beside their places, in the same folders, and
    then move each to its place.

    Whatever is raised (OSError for a disk that is full, or what the parts raise), no file is ever half there, and each
    path keeps what it held. A link stays a link: its target is written. A file that is replaced keeps its permissions.
    A pipe or a device is refused, and a file that nobody may write to.
    """
    places = {path: os.path.realpath(path) for path in contents}
    aside = {path: name_beside(place) for path, place in places.items()}
    try:
        for path, parts in contents.items():
            refuse_no_file(path)
            try:
                new_file(aside[path], places[path])
                with open(aside[path], "wb") as file:
                    for part in parts:
                        file.write(part)
                    file.flush()
                    os.fsync(file.fileno())  # or a crash could leave the name without the content
            except OSError as error:
                folder = missing_folder(path)
                if folder is not None:
                    raise FileNotFoundError(error.errno, NO_FOLDER, folder) from error
                if error.filename in (None, aside[path]):
                    error.filename = path
                raise
        for path, place in places.items():
            os.replace(aside[path], place)
    finally:
        for path in aside.values():
            with suppress(OSError):  # on a file system that nothing can be written to, which has been said
                Path(path).unlink()


def missing_folder(path: str) -> str | None:
    """The folder of a file, where it is not there."""
    folder = os.path.dirname(path)
    return folder if folder and not os.path.isdir(folder) else None


def refuse_missing_folder(path: str | os.PathLike[str]) -> None:
    """FileNotFoundError where the folder of a file is not there."""
    folder = missing_folder(os.fspath(path))
    if folder is not None:
        raise FileNotFoundError(errno.ENOENT, NO_FOLDER, folder)


def name_beside(path: str) -> str:
    """The path of a file beside another one, which nobody can foresee, and so has put no link there."""
    return f"{path}.{os.getpid()}.{os.urandom(4).hex()}.part"


def is_beside(name: str) -> bool:
    """Whether it is the name of such a file, which a program left that was killed."""
    return re.search(r"\.[0-9]+\.[0-9a-f]{8}\.part$", name) is not None


def new_file(path: str, *models: str) -> None:
    """Make an empty file, which nobody may read who may not read the first of these models that is there. Raises
    FileExistsError if something is there already, and OSError."""
    modes = [os.stat(model).st_mode & 0o777 for model in models if os.path.exists(model)]
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if modes else 0o666))
    if modes:
        os.chmod(path, modes[0] | 0o600)  # its owner has to write it
