"""What is said of files that installing completion changes, of which Typer names one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from cbpe.cli.output.printing import print_told

__all__ = ["told_of_start_files"]

INSTALL = "--install-completion"
START_FILES = (".bashrc", ".zshrc")  # which shells read as they start, and which get a line


@contextmanager
def told_of_start_files(args: list[str]) -> Iterator[None]:
    """A context that installs completion, if the arguments say so, and tells which file the shell reads as it starts
    has a new line. BadParameter for arguments beside the option, which would be ignored."""
    if INSTALL not in args:
        yield
        return
    if len(args) > 1:
        others = " ".join(each for each in args if each != INSTALL)
        raise typer.BadParameter(
            f"it stands alone, and completes the shell that it is called in: leave out {others}", param_hint=INSTALL
        )
    before = contents()
    try:
        yield
    finally:
        for path, content in contents().items():
            if content != before.get(path):
                print_told([f"{path} has a line that loads it"])


def contents() -> dict[Path, bytes]:
    """What there is in the files that shells read as they start."""
    places = [Path.home() / name for name in START_FILES]
    return {place: place.read_bytes() for place in places if place.is_file()}
