"""What the file of a command may take the place of: nothing that the command reads, and no file of another kind."""

from __future__ import annotations

import os
from collections.abc import Iterable

import typer

from cbpe.common.wording import shown

__all__ = ["has_content", "refuse_replacing", "refuse_replacing_by_picture", "refuse_replacing_by_tokenizer"]


def refuse_replacing_by_tokenizer(files: Iterable[str], read: Iterable[str], option: str) -> None:
    """BadParameter, before any work, for files of a tokenizer of which one is read, or holds something
    else now, such as a vocabulary without its merges."""
    from cbpe.formats.files import holds_tokenizer

    for file in files:
        refuse_replacing(file, read, option)
        if has_content(file) and not holds_tokenizer(file):
            raise kept(f"{shown(file)} holds no tokenizer that can be loaded", option)


def refuse_replacing_by_picture(file: str, read: Iterable[str], option: str) -> None:
    """The same for a picture or a report."""
    from cbpe.views.pictures import is_picture

    refuse_replacing(file, read, option)
    if has_content(file) and not is_picture(file):
        ending = os.path.splitext(file)[1].lower()
        raise kept(f"{shown(file)} is no {'report of cbpe' if ending == '.html' else f'{ending} file'}", option)


def refuse_replacing(file: str, read: Iterable[str], option: str) -> None:
    """BadParameter for a file that is one of those that the command reads."""
    for other in read:
        if is_same(file, other):
            raise typer.BadParameter(f"{shown(file)} is read, and would be lost: give another name", param_hint=option)


def kept(problem: str, option: str) -> typer.BadParameter:
    way = "and would be lost: give another name, or remove it"
    return typer.BadParameter(f"{problem}, {way}", param_hint=option)


def has_content(file: str) -> bool:
    """Whether there is a file with something in it, which could be lost."""
    return os.path.isfile(file) and os.path.getsize(file) > 0


def is_same(file: str, other: str) -> bool:
    """Whether both are names of one file that is there."""
    try:
        return os.path.samefile(file, other)
    except (OSError, ValueError):
        return False
