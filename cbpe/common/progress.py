"""Reports how far long work is: by a bar on stderr, or to a function of the caller's."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from cbpe.common.wording import shown

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["SECONDS_BETWEEN_REPORTS", "ProgressCallback", "about", "console_of_bars", "progress_reports"]

SECONDS_BETWEEN_REPORTS = 0.1
LONGEST_NAME = 20  # characters of a name beside a bar
BAR_WIDTH = 14  # so that a line of it fits into 80 columns

# Called with (stage, done, total). Stage "reading" counts bytes of the source as they are stored, and total is None
# where their number is not known beforehand; stage "merging" counts merges, and total is the number asked for;
# stage "encoding", of a sweep, counts sizes of a vocabulary.
ProgressCallback = Callable[[str, int, "int | None"], object]


@contextlib.contextmanager
def progress_reports(progress: bool | ProgressCallback | None) -> Iterator[ProgressCallback | None]:
    """A function to call with (stage, done, total), as often as one likes; None if nobody wants to know.

    progress: True for a bar on stderr, as long as the context lasts; or a function, which is called some ten times a
    second, and where a stage begins and ends. In a file, and in a notebook without ipywidgets, the bar stands
    when the work has ended. TypeError for anything but these, False and None.

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
        super().__init__(functools.partial(bar.show, name))
        self.bar = bar


class Bar:
    """Bars on stderr, one for each stage and name."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        # The bar is on stderr alone; what the program prints on stdout meanwhile stays there.
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),  # names are shown as they are
            BarColumn(BAR_WIDTH),
            TextColumn("{task.fields[shown]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console_of_bars(),
            redirect_stdout=False,
        )
        self.tasks: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()

    def show(self, name: str, stage: str, done: int, total: int | None) -> None:
        shown = amount(stage, done, total)
        key = stage, name
        if key not in self.tasks:
            self.tasks[key] = self.progress.add_task(f"{stage} {fitting(name)}".rstrip(), total=total, shown=shown)
        self.progress.update(self.tasks[key], completed=done, total=total, shown=shown)


def console_of_bars() -> Console:
    """Stderr, for bars. In a notebook without ipywidgets, where Rich would warn and show an empty box, it is as a file:
    whatever the environment says of colours, a bar is printed once, when it is put away."""
    import importlib.util

    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter and importlib.util.find_spec("ipywidgets") is None:
        return Console(stderr=True, force_jupyter=False, force_terminal=False)
    return console


def fitting(name: str) -> str:
    """A name as it stands beside a bar: of a long one the end, and nothing that a terminal would act upon."""
    printed = name if name.isprintable() else repr(name)[1:-1]
    return printed if len(printed) <= LONGEST_NAME else f"…{printed[1 - LONGEST_NAME :]}"


def amount(stage: str, done: int, total: int | None) -> str:
    """("reading", 1_500_000, None) -> "1.5 MB"; ("merging", 20, 1000) -> "20/1,000" """
    if stage == "reading":
        of_total = "" if total is None else f"/{total / 1e6:,.1f}"
        return f"{done / 1e6:,.1f}{of_total} MB"
    return f"{done:,}" if total is None else f"{done:,}/{total:,}"
