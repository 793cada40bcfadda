"""Rich's bars, as they fit into a terminal. Rich takes long to import: import this where a bar is drawn."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.progress import Progress, ProgressColumn, Task, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

__all__ = ["FittingBars", "ShorteningColumn", "TimesColumn", "console_of_bars", "shortened"]

ECHO = len("^C")  # which a terminal shows beside the bar: it must not begin a new line there
ANY_WIDTH = 100_000


class FittingBars(Progress):
    """Bars on stderr, with the first of several rows of columns that fits into the terminal; where none does, the
    ShorteningColumn of the last one has what the others leave."""

    def __init__(self, *rows: Sequence[ProgressColumn]) -> None:
        self.rows = rows
        self.terminal = console_of_bars()
        # The bar is on stderr alone; what the program prints on stdout meanwhile stays there.
        super().__init__(*rows[0], console=self.terminal, redirect_stdout=False)

    def stop(self) -> None:
        if self.terminal.is_jupyter:  # where Rich leaves out what came since it last drew
            self.refresh()
        super().stop()

    def make_tasks_table(self, tasks: Iterable[Task]) -> Table:
        tasks = list(tasks)
        room = self.terminal.width - ECHO
        for row in self.rows:
            self.columns = tuple(row)
            table = super().make_tasks_table(tasks)
            if self.width_of(table) <= room:
                return table
        table.width = room
        return table

    def width_of(self, table: Table) -> int:
        """How wide a table is where nothing is cut."""
        return Measurement.get(self.terminal, self.terminal.options.update_width(ANY_WIDTH), table).maximum


class TimesColumn(ProgressColumn):
    """The time since a task began, and where its total is known the time that is left: "0:00:12, 0:00:48 left". It is
    not cut as long as another column can be."""

    max_refresh = 0.5  # seconds, as of Rich's own, so that the times can be read

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))
        self.elapsed, self.remaining = TimeElapsedColumn(), TimeRemainingColumn()

    def render(self, task: Task) -> Text:
        elapsed = self.elapsed.render(task)
        return elapsed if task.total is None else Text.assemble(elapsed, ", ", self.remaining.render(task), " left")


class ShorteningColumn(ProgressColumn):
    """What a function gives for a task and a number of columns, which it fits into."""

    def __init__(self, text_of: Callable[[Task, int], str]) -> None:
        super().__init__()
        self.text_of = text_of

    def render(self, task: Task) -> Shortening:
        return Shortening(functools.partial(self.text_of, task))


class Shortening:
    """A text that knows how to be shorter."""

    def __init__(self, text_of: Callable[[int], str]) -> None:
        self.text_of = text_of

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, cell_len(self.text_of(options.max_width))))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield Text(self.text_of(options.max_width), no_wrap=True, overflow="crop")


def shortened(text: str, room: int) -> str:
    """A text with "…" in place of its middle, where it takes more columns than that: it has as many then, with a blank
    for half of a wide character, and at least the "…"."""
    if cell_len(text) <= room:
        return text
    end = max(0, room - 1) // 2
    start = max(0, room - 1) - end
    return f"{set_cell_size(text, start)}…{set_cell_size(text[::-1], end)[::-1]}"


def console_of_bars() -> Console:
    """Stderr, for bars. In a notebook without ipywidgets, where Rich would warn and show an empty box, it is as a file:
    whatever the environment says of colours, a bar is printed once, when it is put away."""
    console = Console(stderr=True)
    if console.is_jupyter and importlib.util.find_spec("ipywidgets") is None:
        return Console(stderr=True, force_jupyter=False, force_terminal=False)
    return console
