"""Writes files whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["check_writable", "write_files", "write_whole"]


def check_writable(path: str | os.PathLike[str]) -> None:
    """OSError where a file could not be written, because of its folder. It is better to know before there is work to
    lose."""
    import tempfile  # not every program needs it

    folder = os.path.dirname(path) or "."
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise type(error)(error.errno, error.strerror, folder) from error


def write_whole(path: str | os.PathLike[str], parts: Iterable[Buffer]) -> None:
    """Write one file of consecutive parts, as write_files does."""
    write_files({os.fspath(path): parts})


def write_files(contents: Mapping[str, Iterable[Buffer]]) -> None:
    """Write several files, each of consecutive parts: first all of them beside their places, in the same folders, and
    then move each to its place.

    Whatever is raised (OSError for a disk that is full, or what the parts raise), no file is ever half there, and each
    path keeps what it held. A link stays a link: its target is written. A pipe or a device is refused.
    """
    places = {path: os.path.realpath(path) for path in contents}
    aside = {path: f"{place}.{os.getpid()}.part" for path, place in places.items()}
    try:
        for path, parts in contents.items():
            if os.path.isdir(path):
                raise IsADirectoryError(f"cannot write {path!r}: it is a directory")
            if os.path.exists(path) and not os.path.isfile(path):  # a file would replace it
                raise OSError(f"cannot write {path!r}: it is a pipe or a device, and what is written a file")
            try:
                with open(aside[path], "wb") as file:
                    for part in parts:
                        file.write(part)
                    file.flush()
                    os.fsync(file.fileno())  # or a crash could leave the name without the content
            except OSError as error:
                if error.filename in (None, aside[path]):
                    error.filename = path
                raise
        for path, place in places.items():
            os.replace(aside[path], place)
    finally:
        for path in aside.values():
            Path(path).unlink(missing_ok=True)
