"""Reports how far long work is: by a bar on stderr, or to a function of the caller's."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from cbpe.common.wording import shown

__all__ = ["SECONDS_BETWEEN_REPORTS", "ProgressCallback", "progress_reports"]

SECONDS_BETWEEN_REPORTS = 0.1

# Called with (stage, done, total). Stage "reading" counts bytes of the source as they are stored, and total is None
# where their number is not known beforehand; stage "merging" counts merges, and total is the number asked for;
# stage "encoding", of a sweep, counts sizes of a vocabulary.
ProgressCallback = Callable[[str, int, "int | None"], object]


@contextlib.contextmanager
def progress_reports(progress: bool | ProgressCallback | None) -> Iterator[ProgressCallback | None]:
    """A function to call with (stage, done, total), as often as one likes; None if nobody wants to know.

    progress: True for a bar on stderr, as long as the context lasts; or a function, which is called some ten times a
    second, and where a stage begins and ends. TypeError for anything but these, False and None.

    >>> with progress_reports(print) as report:
    ...     report("merging", 0, 20)
    merging 0 20
    """
    if callable(progress):
        yield Occasional(progress)
    elif progress is True:
        with Bar() as bar:
            yield Occasional(bar.show)
    elif progress is None or progress is False:
        yield None
    else:
        raise TypeError(f"progress must be True, False or a function, not {type(progress).__name__}: {shown(progress)}")


class Occasional:
    """Passes a report on where a stage begins or ends, and otherwise every tenth of a second."""

    def __init__(self, callback: ProgressCallback) -> None:
        self.callback = callback
        self.stage: str | None = None
        self.due = 0.0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if stage == self.stage and done != total and now < self.due:
            return
        self.stage = stage
        self.due = now + SECONDS_BETWEEN_REPORTS
        self.callback(stage, done, total)


class Bar:
    """Bars on stderr, one for each stage."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        # The bar is on stderr alone; what the program prints on stdout meanwhile stays there.
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[shown]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            redirect_stdout=False,
        )
        self.tasks: dict[str, Any] = {}

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()

    def show(self, stage: str, done: int, total: int | None) -> None:
        shown = amount(stage, done, total)
        if stage not in self.tasks:
            self.tasks[stage] = self.progress.add_task(stage, total=total, shown=shown)
        self.progress.update(self.tasks[stage], completed=done, total=total, shown=shown)


def amount(stage: str, done: int, total: int | None) -> str:
    """("reading", 1_500_000, None) -> "1.5 MB"; ("merging", 20, 1000) -> "20/1,000" """
    if stage == "reading":
        of_total = "" if total is None else f"/{total / 1e6:,.1f}"
        return f"{done / 1e6:,.1f}{of_total} MB"
    return f"{done:,}" if total is None else f"{done:,}/{total:,}"
