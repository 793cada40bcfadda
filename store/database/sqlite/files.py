"""SQLite files: what stands at a path, and whether it still is the file that was opened."""

from __future__ import annotations

import os
import stat
import struct
import threading
from collections import Counter
from typing import NamedTuple

from store.errors import CannotOpen, NotAStore

__all__ = [
    "APPLICATION_ID",
    "State",
    "check_file",
    "file_is_used",
    "file_was_closed",
    "files_of",
    "size_of_log",
    "state_of",
]

APPLICATION_ID = int.from_bytes(b"cbpe", "big")
# Of SQLite's header of 100 bytes: the magic, the page size, the size in pages, the application's id.
MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
MOST_LOOKS = 100  # at a file that somebody writes to all the time


class State(NamedTuple):
    """By what a file is known to be the one that was opened, unchanged."""

    device: int
    inode: int
    size: int  # bytes
    modified: int  # nanoseconds

    @property
    def identity(self) -> tuple[int, int]:
        """What stays while the file is written to, and changes when another takes its place."""
        return self.device, self.inode


def state_of(path: str) -> State | None:
    """The state of the file at a path, or of what a link there points to. None if there is no file."""
    try:
        return state_from(os.stat(path))
    except OSError:
        return None


def state_from(found: os.stat_result) -> State:
    return State(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def size_of_log(path: str) -> int:
    """How many bytes the write-ahead log of a file has, which stands beside the file itself, not beside a link to it.
    What is in it may not be in the file yet."""
    try:
        return os.path.getsize(f"{os.path.realpath(path)}-wal")
    except OSError:
        return 0


def files_of(path: str) -> tuple[str, ...]:
    """The files that SQLite keeps a database in."""
    return tuple(path + ending for ending in ("", "-wal", "-shm", "-journal"))


def check_file(path: str, writable: bool) -> None:
    """Raise CannotOpen or NotAStore unless a whole store is at this path and can be opened. Changes nothing."""
    real = os.path.realpath(path)
    for look in range(1, MOST_LOOKS + 1):
        found, header = look_at(path, real)
        try:
            if header is not None:
                check_header(path, header, found.st_size)
            break
        except NotAStore:
            # Its owner may have written between one look and the next: then size and header are of two moments.
            if look == MOST_LOOKS or state_of(real) == state_from(found):
                raise
    if writable and not (os.access(real, os.W_OK) and os.access(os.path.dirname(real), os.W_OK)):
        raise CannotOpen(f"the store {path} or its folder is not writable: it can only be read")


def look_at(path: str, real: str) -> tuple[os.stat_result, bytes | None]:
    """What is known of the file at a path, and its header as header_of gives it. CannotOpen where there is no file that
    can be read."""
    try:
        found = os.stat(real)
        if stat.S_ISDIR(found.st_mode):
            raise CannotOpen(f"{path} is a directory; a store is a file")
        if not stat.S_ISREG(found.st_mode):  # reading a pipe would wait, and a device may never end
            raise CannotOpen(f"{path} is a pipe or a device; a store is a file")
        return found, header_of(real, found)
    except CannotOpen:
        raise
    except OSError as error:
        raise CannotOpen(f"the store {path} cannot be read: {error.strerror or error}") from error


def check_header(path: str, header: bytes, size: int) -> None:
    if not header:
        raise NotAStore(f"{path} is empty, no store: remove it, or give another path")
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        raise NotAStore(f"{path} is no store: it is no SQLite database")
    (application,) = struct.unpack_from(">I", header, 68)
    if application != APPLICATION_ID:
        raise NotAStore(f"{path} is no store: it is an SQLite database of another program")
    page_bytes, n_pages = struct.unpack_from(">H10xI", header, 16)
    wanted = (65536 if page_bytes == 1 else page_bytes) * n_pages
    if size < wanted and not size_of_log(path):
        raise NotAStore(
            f"the store {path} is cut short: it has {size:,} bytes of {wanted:,}. Move the file away, and restore a "
            "backup to its path"
        )


# ---- Files that this process has open
#
# POSIX drops all of a process's locks on a file when the process closes any descriptor of that file. SQLite minds that
# for its own. So a file that SQLite has open here is never opened in another way: another process could take it for
# unused, and remove the log that this one writes to.

_used: Counter[tuple[int, int]] = Counter()  # connections of this process, by the file's identity
_using = threading.Lock()  # held while a file is opened or its header is read


_inherited: set[tuple[int, int]] = set()  # files that were open when this process was forked


def forget_files() -> None:
    """In a process that was forked: the connections of the one before have no locks here."""
    global _using
    _inherited.update(identity for identity, n in _used.items() if n > 0)
    _used.clear()
    _using = threading.Lock()  # another thread may have held the one before


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_files)


def is_inherited(state: State) -> bool:
    """Whether SQLite had a file open when this process was forked. It then takes itself for the owner of locks that
    only the other process has, whatever connection is opened, so that the two damage the file."""
    return state.identity in _inherited


def file_is_used(state: State) -> None:
    """Note that SQLite has opened a file, once for each connection."""
    with _using:
        _used[state.identity] += 1


def file_was_closed(state: State) -> None:
    """Note that one connection to a file was closed."""
    with _using:
        _used[state.identity] -= 1


def header_of(path: str, found: os.stat_result) -> bytes | None:
    """The first bytes of a file; None if this process has it open, and so has checked it before."""
    with _using:
        if _used[found.st_dev, found.st_ino] > 0:
            return None
        with open(path, "rb") as file:
            return file.read(HEADER_BYTES)
