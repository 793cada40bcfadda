"""Where a store writes: files and folders of this machine. What names none is refused before anything is done."""

from __future__ import annotations

import os

from cbpe.common.atomic_files import LOCAL, is_url, told_of_home
from store.errors import Refused

__all__ = ["check_folder_name", "reason", "written_file"]


def written_file(path: str | os.PathLike[str], example: str) -> str:
    """The path of a file that is going to be written. Refused for what names none: nothing, a URL, a folder.

    example: the name of a file of that kind.
    """
    text = os.fsdecode(path)
    check_place(text, "file", example)
    if os.path.basename(text) in ("", os.curdir, os.pardir) or os.path.isdir(text):
        raise Refused(f"{text!r} is a folder: name a file in it, as {os.path.join(text, example)}")
    return text


def check_folder_name(path: str | os.PathLike[str], example: str) -> None:
    """Refused for what names no folder that could be written to: nothing, and a URL."""
    check_place(os.fsdecode(path), "folder", example)


def check_place(text: str, what: str, example: str) -> None:
    if not text:
        raise Refused(f"the name of the {what} is empty: give one, as {example}")
    told = told_of_home(text)
    if told:
        raise Refused(told)
    if is_url(text) or text.startswith(LOCAL):
        raise Refused(
            f"{shown_place(text)!r} is a URL, and is not written to: name a {what} of this machine, as {example}"
        )


def shown_place(url: str) -> str:
    """A URL as a message shows it: without what may hold a password."""
    return url if not set(url) & {"@", "?"} else f"{url.partition('://')[0]}://..."


def reason(error: Exception) -> str:
    """Why something could not be written, without the name of a file that nobody gave."""
    return getattr(error, "strerror", None) or str(error)
