"""Doing work as a user who owns nothing, where the tests run as root."""

import contextlib
import os
import tempfile
from pathlib import Path


def as_nobody(work):
    """Do work in a process of a user who owns nothing; what it raises, as text."""
    if os.geteuid() != 0:
        try:
            work()
        except Exception as error:
            return repr(error)
        return ""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            work()
        except BaseException as error:
            os.write(writer, repr(error).encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as said:
        what = said.read()
    os.waitpid(child, 0)
    return what


@contextlib.contextmanager
def folder_for_all():
    """A new folder that every user reaches. It is not in pytest's own, which pytest closes whenever a run begins, also
    while another one goes on."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for each in [folder, *folder.parents]:
            if not each.stat().st_mode & 0o001:
                each.chmod(each.stat().st_mode | 0o055)
        yield folder
