"""Rich's bars, as they fit into a terminal. Rich takes long to import: import this where a bar is drawn."""

from __future__ import annotations

import functools
import importlib
import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.progress import Progress, ProgressColumn, Task, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from cbpe.common.checks import is_terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["CellOutput", "FittingBars", "ShorteningColumn", "TimesColumn", "shortened"]

ECHO = len("^C")  # which a terminal shows beside the bar: it must not begin a new line there
ANY_WIDTH = 100_000
NOTEBOOK_WIDTH = 80
SECONDS_BETWEEN_DRAWINGS = 0.25  # in a notebook
IN_A_CELL = '<pre style="white-space:pre;overflow-x:auto;line-height:normal;font-family:monospace">{code}</pre>'


class FittingBars(Progress):
    """Bars on stderr, with the first of several rows of columns that fits into the terminal; where none does, the
    ShorteningColumn of the last one has what the others leave.

    In a notebook they are an output of the cell, which is drawn anew where it is; what runs the notebook needs nothing
    for that, as it does for the boxes of ipywidgets, with which Rich draws there.
    """

    def __init__(self, *rows: Sequence[ProgressColumn]) -> None:
        self.rows = rows
        self.cell = CellOutput() if Console(stderr=True).is_jupyter else None
        # FORCE_COLOR, which notebooks set, would have a file or a pipe taken for a terminal.
        self.terminal = Console(stderr=True, force_jupyter=False, force_terminal=is_terminal(sys.stderr))
        # The bar is on stderr alone; what the program prints on stdout meanwhile stays there.
        super().__init__(*rows[0], console=self.terminal, redirect_stdout=False, disable=self.cell is not None)

    @property
    def are_drawn_anew(self) -> bool:
        """Whether they are drawn as the work goes on: not in a file, where they stand once, at its end, nor in a
        terminal that moves no cursor."""
        return self.cell is not None or (self.terminal.is_terminal and not self.terminal.is_dumb_terminal)

    def update(self, *arguments: Any, **changes: Any) -> None:
        super().update(*arguments, **changes)
        if self.cell is not None and self.cell.is_due():
            self.cell.draw(self.get_renderable())

    def stop(self) -> None:
        if self.cell is None:
            super().stop()
        elif self.tasks:
            self.cell.draw(self.get_renderable())

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


class CellOutput:
    """An output of a notebook's cell, which changes where it is."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.due = 0.0

    def is_due(self) -> bool:
        return time.monotonic() >= self.due

    def draw(self, renderable: RenderableType) -> None:
        drawing = Console(
            file=io.StringIO(), record=True, width=NOTEBOOK_WIDTH, force_terminal=True, force_jupyter=False,
            color_system="truecolor",
        )  # fmt: skip
        drawing.print(renderable)
        shown = {
            "text/plain": drawing.export_text(clear=False).rstrip("\n"),
            "text/html": drawing.export_html(inline_styles=True, code_format=IN_A_CELL),
        }
        if self.handle is None:
            display = importlib.import_module("IPython.display").display  # it is there where there is a notebook
            self.handle = display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)
        self.due = time.monotonic() + SECONDS_BETWEEN_DRAWINGS
