"""Where files lie: on this machine, or wherever fsspec reaches by a URL (s3://, gs://, hf://, memory://)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Container, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from cbpe.common.atomic_files import LOCAL, is_url
from cbpe.common.warning import warn
from cbpe.common.wording import shown

__all__ = ["Url", "is_url", "place_of", "size_of", "version_of"]

# What tells two states of a file apart, by the names that the file systems give it.
VERSIONS = (
    *("ETag", "etag", "md5Hash", "Content-MD5", "Digest", "blob_id", "oid", "mtime", "LastModified", "Last-Modified"),
    *("last_modified", "updated", "created"),
)
LONGEST_PART = 255  # bytes of the name of a file or a folder, on all usual systems
HTTP = ("http://", "https://")
PAGE = "text/html"
PASSWORD = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/@]*:[^/@]*@")
HIDDEN = re.compile(r"(^|/)[._]")  # of a path
ABSENT = (404, 410)  # what an HTTP server says of a file that is not there

PATH_OF_URL = re.compile(r"[a-z][a-z0-9+.-]+:/[^/]")  # pathlib makes one slash of two


class Url(os.PathLike[str]):
    """The URL of a file that fsspec opens. Raises ImportError where that takes a library that is not installed, OSError
    for all that goes wrong on the way."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __fspath__(self) -> str:
        return self.url

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"Url({self.url!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)

    @property
    def suffixes(self) -> list[str]:
        return PurePosixPath(without_query(self.url)).suffixes

    def open(self) -> BinaryIO:
        """The file, opened in binary."""
        system, path = self._system()
        with named_errors(self.url):
            return cast("BinaryIO", Reading(system.open(path, "rb"), self.url))

    def info(self) -> dict[str, Any]:
        """What the file system says of it."""
        system, path = self._system()
        with named_errors(self.url):
            found: dict[str, Any] = system.info(path)
            return found

    def files(self) -> list[Url]:
        """The files that it means, in the order of their names: itself, those in a folder, or those of a pattern."""
        system, path = self._system()
        with named_errors(self.url):
            if has_wildcards(path):
                found = [name for name in system.glob(path) if system.isfile(name)]
            elif is_web_file(system, path):
                return [self]
            else:
                found = system.find(path)
                if not found:
                    system.info(path)  # says why, where it is no empty folder: find keeps that to itself
            # A page of links may have some to itself, in another order, and is no file.
            found = [name for name in found if not without_query(name).endswith("/")]
            return [Url(system.unstrip_protocol(name)) for name in sorted(found)]

    def folders_left_out(self) -> list[str]:
        """The folders that a pattern matches, and in which is a file that it does not match, in the order of their
        names."""
        if not has_wildcards(self.url) or self.url.lower().startswith(HTTP):  # a web server has links, and no folders
            return []
        system, path = self._system()
        with named_errors(self.url):
            matched = {*system.glob(path)}
            folders = [name for name in matched if not system.isfile(name)]
            return sorted(system.unstrip_protocol(name) for name in folders if holds_others(system, name, matched))

    def _system(self) -> tuple[Any, str]:
        tell_of_password(self.url)
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise ImportError(f'reading {self.url} takes fsspec: pip install "cbpe[remote]"') from error
        with named_errors(self.url):
            system, path = url_to_fs(self.url)
            return system, path


def without_query(url: str) -> str:
    """A URL of the web without its query and fragment, which are no part of the file's name; others as they are."""
    return re.split("[?#]", url, maxsplit=1)[0] if url.lower().startswith(HTTP) else url


def is_web_file(system: Any, url: str) -> bool:
    """Whether a URL of the web is one file. A folder is a page of links, whose name has no ending, or ends in "/": the
    links in other files lead anywhere. Raises what the server says."""
    if not url.lower().startswith(HTTP) or url.endswith("/"):
        return False
    found = system.info(url)  # or there is no such file
    return bool(PurePosixPath(without_query(url)).suffix) or found.get("mimetype") != PAGE


@cache
def tell_of_password(url: str) -> None:
    """A UserWarning, once for each URL, where it has a password."""
    found = PASSWORD.match(url)
    if found is not None:
        warn(
            f"the URL {found[1]}...@{url[found.end() :]} holds a password, which manifests, records of trainings and "
            "messages show as any other name: give it to fsspec by its configuration, and leave it out of the URL"
        )


def holds_others(system: Any, folder: str, matched: Container[str]) -> bool:
    """Whether there is a file in a folder that was not matched, but for hidden ones."""
    return any(
        name not in matched and not HIDDEN.search(name.removeprefix(folder).lstrip("/")) for name in system.find(folder)
    )


class Reading:
    """An open file of fsspec's, whose errors name its URL."""

    def __init__(self, file: Any, url: str) -> None:
        self.file = file
        self.name = url

    def read(self, size: int = -1) -> bytes:
        with named_errors(self.name):
            data: bytes = self.file.read(size)
            return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> Reading:
        return self

    def __exit__(self, *exception: object) -> None:
        self.file.close()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.file)


@contextmanager
def named_errors(url: str) -> Iterator[None]:
    """Raise what a file system raises, which may be of any class, as an OSError that names the URL; ImportError and
    what asks to end stay as they are."""
    try:
        yield
    except ImportError as error:
        if url.lower().startswith(HTTP):
            raise ImportError(f'reading {url} takes aiohttp: pip install "cbpe[remote]"') from error
        raise ImportError(f"reading {url} takes a library that is not installed: {error}") from error
    except FileNotFoundError as error:
        cause = error.__cause__  # fsspec raises it for whatever a server says, or does not say
        if cause is None or isinstance(cause, FileNotFoundError) or getattr(cause, "status", None) in ABSENT:
            raise FileNotFoundError(f"there is no {url}") from error
        raise OSError(f"{url} cannot be read: {reason_of(cause, url)}") from error
    except MemoryError:
        raise
    except Exception as error:
        raise OSError(f"{url} cannot be read: {reason_of(error, url)}") from error


def reason_of(error: BaseException, url: str) -> str:
    if type(error).__name__ == "TooManyRedirects":  # aiohttp's, without a message
        return "the server sends on from one place to another without end"
    status, message = getattr(error, "status", None), getattr(error, "message", None)
    if isinstance(status, int) and isinstance(message, str):  # aiohttp's, of what an HTTP server says
        return f"the server says {status} {message}"
    system = getattr(error, "os_error", None)  # aiohttp's, of a server that is not reached
    if isinstance(system, OSError):
        number = system.errno or 0  # below 0 of a host that is not found
        return os.strerror(number) if number > 0 else system.strerror or str(system)
    if "range requests" in str(error):
        told = "the server gives no part of a file: download it"  # which of Parquet is always asked for
        return told if url.lower().endswith(".parquet") else f"{told}, or make task_bytes more than it has"
    return str(error) or type(error).__name__


def place_of(name: str | os.PathLike[str]) -> Path | Url:
    """Where a file lies that is named by its path or URL. ValueError for "", as a variable that is not set leaves."""
    if isinstance(name, Url):
        return name
    text = os.fspath(name)
    if not text:
        raise ValueError("'' names no file: give the name of one")
    if is_url(text):
        return Url(text)
    if any(len(os.fsencode(part)) > LONGEST_PART for part in text.split(os.sep)):
        raise FileNotFoundError(f"{shown(text)} is too long for the name of a file: a text is read from a file")
    return Path(text.removeprefix(LOCAL))


def has_wildcards(name: str) -> bool:
    """Whether a name is a pattern of names. What follows "?" in a URL of the web is a query."""
    return any(character in without_query(name) for character in "*?[")


def version_of(place: Path | Url) -> tuple[int, str]:
    """The size of a file in bytes, and a text that changes when its content does. OSError where it cannot be told."""
    if isinstance(place, Path):
        status = place.stat()
        # Of a pipe, the time changes when it is written to.
        return status.st_size, f"mtime {status.st_mtime_ns}" if stat.S_ISREG(status.st_mode) else ""
    found = place.info()
    said = [f"{name} {found[name]}" for name in VERSIONS if found.get(name) is not None]
    return int(found.get("size") or 0), said[0] if said else ""


def size_of(place: Path | Url) -> int | None:
    """The size of a file as it is stored; None for a pipe. OSError where there is no file."""
    if isinstance(place, Url):
        found = place.info()
        if found.get("type") == "directory":
            raise IsADirectoryError(f"{place} is a directory: name the files in it")
        size = found.get("size")
        return None if size is None else int(size)
    try:
        status = place.stat()
    except FileNotFoundError as error:
        if has_wildcards(str(place)):
            problem = "there is no such file, and patterns are not looked up here: name the files that match"
            raise FileNotFoundError(error.errno, problem, str(place)) from error
        if PATH_OF_URL.match(str(place)):
            problem = (
                "there is no such file, and a pathlib.Path is no URL: cbpe.count_corpus reads URLs, and train takes"
            )
            raise FileNotFoundError(error.errno, f"{problem} what it writes", str(place)) from error
        raise
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{place} is a directory: name the files in it")
    return status.st_size if stat.S_ISREG(status.st_mode) else None
