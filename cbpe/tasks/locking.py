"""Keeps two programs from working on one run without knowing of each other."""

from __future__ import annotations

import errno
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]

__all__ = ["locked"]

BUSY = (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK)


def locked(path: Path, *, shared: bool) -> int | None:
    """Lock a file, which is made if it is not there, for this program alone, or shared with others that share it. The
    lock is held until the descriptor that is returned is closed, at the end of the program at the latest. None where
    the system, or the file system, knows no locks. BlockingIOError where another program has locked it."""
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in BUSY:
            raise BlockingIOError(error.errno, error.strerror, str(path)) from error
        return None
    return descriptor
