"""What is said of a run that Ctrl-C ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from cbpe.cli.output.printing import print_error

__all__ = ["finishing", "told_if_interrupted"]


@contextmanager
def finishing() -> Iterator[None]:
    """A context for the end of long work, which one Ctrl-C does not interrupt: it would lose what is as good as done. A
    second one does."""

    def let_pass(*_: object) -> None:
        signal.signal(signal.SIGINT, before)

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, let_pass)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def told_if_interrupted(output: str, kind: Literal["file", "folder"], resumes: bool) -> Iterator[None]:
    """A context that says after Ctrl-C what is kept of a run, and what goes on with it. kind: what the run makes;
    resumes: whether the command as it is does."""
    from cbpe.tasks.run import left_of

    try:
        yield
    except KeyboardInterrupt:
        left = left_of(Path(output), kind)
        how = "the same command" if resumes else "the same command with --resume"
        if left is None:
            print_error(f"interrupted: {output} is finished, and {how} says what it holds")
        elif left[1]:
            tasks = "task is" if left[1] == 1 else "tasks are"
            print_error(f"interrupted: {left[1]:,} {tasks} done, which {left[0]} keeps: {how} goes on from there")
        else:
            print_error("interrupted before a task was done: the same command begins anew")
        raise
