"""Standard output of work that prints as it goes: folded for a terminal, and dropped where nobody takes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from cbpe.cli.output.printing import StandardOutput, drop_output, fitted

__all__ = ["lasting_output"]


class FoldedOutput:
    """Standard output that is a terminal: what is printed to it is folded between words."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.begun = ""  # of a line

    def write(self, text: str) -> int:
        *lines, self.begun = (self.begun + text).split("\n")
        for line in lines:
            self.stream.writelines(f"{part}\n" for part in fitted(line, self.stream))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class LastingOutput:
    """Standard output that is a file or a pipe: where it cannot be written, because its reader has gone or a disk is
    full, the rest is dropped, so that the work whose progress it tells is not lost."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        try:
            self.stream.write(text)
        except OSError as error:
            StandardOutput.failure = error
            drop_output()
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def lasting_output() -> Iterator[None]:
    """A context in which print goes to standard output as the classes above say. The command ends with the exit code
    of what went wrong."""
    if not sys.stdout.isatty():
        lasting: Any = LastingOutput(sys.stdout)
        with redirect_stdout(lasting):
            yield
        return
    stream: Any = FoldedOutput(sys.stdout)
    try:
        with redirect_stdout(stream):
            yield
    finally:
        stream.stream.write(stream.begun)  # a line without an end
