"""The options of commands that do a run of tasks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cbpe.cli.input.texts import STANDARD_STREAM
from cbpe.cli.input.values import bytes_of

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
    "tasks_in_words",
]

WORK = "The run"  # a group of options


def refuse_standard_input(sources: Any) -> Any:  # under Python 3.10, Typer takes no list[str] here
    if STANDARD_STREAM in sources:
        problem = "'-' is standard input, which cannot be read again when a run goes on: name a file that holds it"
        raise typer.BadParameter(problem, param_hint="SOURCE")
    return sources


SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        callback=refuse_standard_input,
        help="Files, folders, patterns, or URLs of these.",
        show_default=False,
    ),
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
TaskBytesOption = Annotated[
    int,
    typer.Option(
        parser=bytes_of,
        metavar="BYTES",
        help="The size of a task, as 100m (of 1,000,000 bytes) or 256Mi (of 1,048,576); by default 256Mi.",
        show_default=False,
        rich_help_panel=WORK,
    ),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Go on with a run that was interrupted.", rich_help_panel=WORK)
]
VerifyOption = Annotated[
    bool, typer.Option("--verify", help="Read all back against the manifest; not beside --task.", rich_help_panel=WORK)
]
LinesOption = Annotated[bool, typer.Option("--json", help="Print JSON, a line for each second.", rich_help_panel=WORK)]


def share_of(task: str) -> tuple[int, int]:
    """ "17/100" -> (17, 100)"""
    number, _, n = task.partition("/")
    if not number.isdecimal() or not n.isdecimal() or not 1 <= int(number) <= int(n):
        raise typer.BadParameter(f"{task!r} is no I/N with I from 1 to N, as 17/100", param_hint="--task")
    return int(number), int(n)


def tasks_in_words(manifest: dict[str, Any]) -> str:
    """How many tasks are done; before the run is finished, of how many: "2 of 3 done"."""
    done = f"{len(manifest['tasks']):,}"
    return f"{done} of {manifest['total_tasks']:,} done" if "total_tasks" in manifest else f"{done} done"
