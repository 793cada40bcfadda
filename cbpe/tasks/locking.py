"""Keeps two programs from working on one run without knowing of each other."""

from __future__ import annotations

import errno
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]

__all__ = ["locked", "unlock"]

BUSY = (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK)


def locked(path: Path, *, shared: bool) -> int | None:
    """Lock a file, which is made with its folder if it is not there, for this program alone, or shared with others that
    share it. The lock is held until `unlock` gets the descriptor that is returned, or the program ends. None where the
    system, or the file system, knows no locks. BlockingIOError where another program has locked it."""
    if fcntl is None:
        return None
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:  # whoever had it has just removed the folder
            continue
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno in BUSY:
                raise BlockingIOError(error.errno, error.strerror, str(path)) from error
            return None
        if is_of(descriptor, path):
            return descriptor
        os.close(descriptor)  # the file was removed before it was locked: others would lock a new one


def unlock(descriptor: int) -> None:
    """Give up a lock. Processes that were forked meanwhile do not hold it any longer either."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def is_of(descriptor: int, path: Path) -> bool:
    """Whether this is the file that has the path now."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
