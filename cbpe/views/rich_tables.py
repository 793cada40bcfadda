"""Tables for rich.print, which cut no name and no number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from cbpe.views.text import cells_of, in_groups

__all__ = ["rich_tables"]

BESIDE = 3  # columns of a terminal that a column of the table takes besides its cells: two blanks and a line
LAST = 1  # and the line at the end


def rich_tables(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[object]], *, names: int, room: int
) -> Iterator[Table]:
    """A table of so many columns of a terminal, whose first columns, `names` of them, name the rows. Where the others
    do not fit beside these, names are shortened, and what still does not fit follows in more tables, with the names
    again."""
    for shortened in (0, names):
        columns = [[heading, *cells_of([row[i] for row in rows], i < shortened)] for i, heading in enumerate(headings)]
        widths = [max(map(cell_len, column)) for column in columns]
        if sum(widths) + BESIDE * len(widths) + LAST <= room:
            break
    for group in in_groups(widths, names, room - LAST - BESIDE, BESIDE):
        table = Table(title=title)
        title = ""
        for i in group:
            is_name = i < names
            side: Literal["left", "right"] = "left" if is_name else "right"
            table.add_column(Text(headings[i]), justify=side, no_wrap=not is_name, overflow="fold")
        for cells in zip(*(columns[i][1:] for i in group), strict=True):
            table.add_row(*map(Text, cells))
        yield table
