"""What is said of a run that Ctrl-C or an error ends."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from cbpe.cli.ending import ENDING
from cbpe.cli.output.printing import print_error

__all__ = ["ADVICE", "finishing", "told_if_stopped"]

ADVICE = "advice"  # the attribute of an exception for a second line
# What may change before a run goes on that a text has stopped: all else makes another run.
MENDED = "once a file is mended of which no task is done, or with --errors replace or --missing skip"
# What is said by errors that say themselves how to go on, or that another program does.
SAYS_SO = re.compile(r"\band resume\b|: resume it\b|^another program works on ")
STDERR = 2  # the descriptor
LET_PASS = b"cbpe: what was done is being written; once more gives that up\n"


@contextmanager
def finishing() -> Iterator[None]:
    """A context for the end of long work, which one Ctrl-C or another signal does not interrupt: it would lose what is
    as good as done. A line says so, and a second signal does."""

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def let_pass(*_: object) -> None:
        restore()
        with suppress(OSError):  # not by print, which may have been interrupted itself
            os.write(STDERR, LET_PASS)

    before = {number: signal.getsignal(number) for number in ENDING}
    for number in before:
        signal.signal(number, let_pass)
    try:
        yield
    finally:
        restore()


@contextmanager
def told_if_stopped(output: str, kind: Literal["file", "folder"], resumes: bool) -> Iterator[None]:
    """A context that says after Ctrl-C what is kept of a run, and what goes on with it; where tasks were done before
    it, after another exception too. kind: what the run makes; resumes: whether the command as it is does."""
    from cbpe.tasks.run import left_of

    how = "the same command" if resumes else "the same command with --resume"
    before = left_of(Path(output), kind)
    try:
        yield
    except (OSError, ValueError) as error:  # as of a full disk, or of a text that is no UTF-8
        left = left_of(Path(output), kind)
        if before and left and left[1] > before[1] and not SAYS_SO.search(str(error)):
            mended = "once that is mended" if isinstance(error, OSError) else MENDED
            setattr(error, ADVICE, f"{done(*left)}: {mended}, {how} goes on from there")
        raise
    except KeyboardInterrupt:
        left = left_of(Path(output), kind)
        if left is None:
            print_error(f"interrupted: {output} is finished, and {how} says what it holds")
        elif left[1]:
            print_error(f"interrupted: {done(*left)}: {how} goes on from there")
        else:
            print_error("interrupted before a task was done: the same command begins anew")
        raise


def done(state: Path, n_tasks: int) -> str:
    """How many tasks of a run are done, and where they are, in words."""
    return f"{n_tasks:,} {'task is' if n_tasks == 1 else 'tasks are'} done, which {state} keeps"
