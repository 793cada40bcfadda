"""Reports how far long work is: by a bar on stderr, or to a function of the caller's."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

from cbpe.common.wording import shown

__all__ = ["SECONDS_BETWEEN_REPORTS", "ProgressCallback", "about", "progress_reports"]

SECONDS_BETWEEN_REPORTS = 0.1
LONGEST_NAME = 20  # columns of a name beside a bar
BAR_WIDTH = 14

# Called with (stage, done, total). Stage "reading" counts bytes of the source as they are stored, and total is None
# where their number is not known beforehand; stage "merging" counts merges, and total is the number asked for or, where
# nothing is left to merge, of those made; stage "encoding", of a sweep, counts sizes of a vocabulary.
ProgressCallback = Callable[[str, int, "int | None"], object]


@contextlib.contextmanager
def progress_reports(progress: bool | ProgressCallback | None) -> Iterator[ProgressCallback | None]:
    """A function to call with (stage, done, total), as often as one likes; None if nobody wants to know.

    progress: True for a bar on stderr, as long as the context lasts; or a function, which is called some ten times a
    second, and where a stage begins and ends. In a file the bar stands when the work has ended; in a notebook it is an
    output of the cell. TypeError for anything but these, False and None.

    >>> with progress_reports(print) as report:
    ...     report("merging", 0, 20)
    merging 0 20
    """
    if callable(progress):
        yield Occasional(progress)
    elif progress is True:
        with Bar() as bar:
            yield ShownReports(bar)
    elif progress is None or progress is False:
        yield None
    else:
        raise TypeError(f"progress must be True, False or a function, not {type(progress).__name__}: {shown(progress)}")


def about(report: ProgressCallback | None, name: str) -> ProgressCallback | None:
    """The same reports, where what is read has a name: a bar shows it, and a function of the caller's hears no more
    than before."""
    return ShownReports(report.bar, name) if isinstance(report, ShownReports) and name else report


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


class ShownReports(Occasional):
    """Reports that a bar shows, of something with a name or without one."""

    def __init__(self, bar: Bar, name: str = "") -> None:
        super().__init__(functools.partial(bar.show, self))
        self.bar = bar
        self.name = name


class Bar:
    """Bars on stderr, one for each stage and name. While they are drawn, those of a name make room for those of the
    next: of a hundred files the one that is read is shown."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, TextColumn

        from cbpe.common.bars import FittingBars, ShorteningColumn, TimesColumn

        bar, sizes, times = BarColumn(BAR_WIDTH), TextColumn("{task.fields[shown]}"), TimesColumn()
        name = ShorteningColumn(lambda task, room: named(task.description, task.fields["name"], room))
        self.progress = FittingBars([name, bar, sizes, times], [name, sizes, times], [name, times])
        self.tasks: dict[tuple[str, ShownReports], Any] = {}
        self.last_named: ShownReports | None = None

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()

    def show(self, reports: ShownReports, stage: str, done: int, total: int | None) -> None:
        shown_amount = amount(stage, done, total)
        key = stage, reports
        if reports.name and reports is not self.last_named:
            if self.progress.are_drawn_anew:
                self.remove_those_of(self.last_named)
            self.last_named = reports
        if key not in self.tasks:
            self.tasks[key] = self.progress.add_task(stage, total=total, name=reports.name, shown=shown_amount)
        self.progress.update(self.tasks[key], completed=done, total=total, shown=shown_amount)

    def remove_those_of(self, reports: ShownReports | None) -> None:
        for key in [key for key in self.tasks if key[1] is reports]:
            self.progress.remove_task(self.tasks.pop(key))


def named(stage: str, name: str, room: int) -> str:
    """What stands before a bar, in so many columns: the stage and the name, of which a long one has "…" in its middle.
    Nothing in it is for a terminal to act upon."""
    from cbpe.common.bars import shortened

    printed = name if name.isprintable() else repr(name)[1:-1]
    return f"{stage} {shortened(printed, min(LONGEST_NAME, room - len(stage) - 1))}" if name else stage


def amount(stage: str, done: int, total: int | None) -> str:
    """("reading", 1_500_000, None) -> "1.5 MB"; ("reading", 100, 2_000) -> "0.1/2.0 kB"; ("reading", 3, 11) ->
    "3/11 bytes"; ("merging", 20, 1000) -> "20/1,000" """
    largest = max(done, total or 0)
    if stage == "reading" and largest < 1000:
        return (f"{done}" if total is None else f"{done}/{total}") + " bytes"
    if stage == "reading":
        unit, size = ("MB", 1e6) if largest >= 1e6 else ("kB", 1e3)
        of_total = "" if total is None else f"/{total / size:,.1f}"
        return f"{done / size:,.1f}{of_total} {unit}"
    return f"{done:,}" if total is None else f"{done:,}/{total:,}"
