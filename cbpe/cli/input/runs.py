"""The options of commands that do a run of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from cbpe.cli.output.printing import print_error

__all__ = [
    "WORK",
    "ExecutorOption",
    "LinesOption",
    "ResumeOption",
    "SourcesArgument",
    "TaskBytesOption",
    "TaskOption",
    "VerifyOption",
    "WorkersOption",
    "share_of",
    "told_if_interrupted",
]

WORK = "The run"  # a group of options
SourcesArgument = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE", help="Files, folders, patterns, or URLs of these.", show_default=False),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Threads; all cores by default.", rich_help_panel=WORK)
]
ExecutorOption = Annotated[str, typer.Option(metavar="NAME", help="Who does them: local or ray.", rich_help_panel=WORK)]
TaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="I/N", help="Do the I-th of N shares of the tasks, as 17/100, and no more.", rich_help_panel=WORK
    ),
]
TaskBytesOption = Annotated[int, typer.Option(min=1, metavar="BYTES", help="The size of a task.", rich_help_panel=WORK)]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Go on with a run that was interrupted.", rich_help_panel=WORK)
]
VerifyOption = Annotated[
    bool, typer.Option("--verify", help="Read all back against the manifest.", rich_help_panel=WORK)
]
LinesOption = Annotated[bool, typer.Option("--json", help="Print JSON, a line for each second.", rich_help_panel=WORK)]


def share_of(task: str) -> tuple[int, int]:
    """ "17/100" -> (17, 100)"""
    number, _, n = task.partition("/")
    if not number.isdecimal() or not n.isdecimal() or not 1 <= int(number) <= int(n):
        raise typer.BadParameter(f"{task!r} is no I/N with I from 1 to N, as 17/100", param_hint="--task")
    return int(number), int(n)


@contextmanager
def told_if_interrupted(output: str, resumes: bool) -> Iterator[None]:
    """A context that says after Ctrl-C what is kept of a run, and what goes on with it. resumes: whether the command as
    it is does."""
    from cbpe.tasks.run import left_of

    try:
        yield
    except KeyboardInterrupt:
        left = left_of(Path(output))
        how = "the same command" if resumes else "the same command with --resume"
        if left is None:
            print_error(f"interrupted: {output} is finished, and {how} says what it holds")
        elif left[1]:
            tasks = "task is" if left[1] == 1 else "tasks are"
            print_error(f"interrupted: {left[1]:,} {tasks} done, which {left[0]} keeps: {how} goes on from there")
        else:
            print_error("interrupted before a task was done: the same command begins anew")
        raise
