"""Tables for rich.print, which cut no name and no number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from cbpe.views.text import LONGEST_NAME, are_sizes, cells_of, in_groups, names_for_fewest_tables

__all__ = ["rich_tables"]

BESIDE = 3  # columns of a terminal that a column of the table takes besides its cells: two blanks and a line
LAST = 1  # and the line at the end
LEAST_NAME = 9  # characters that a name keeps in a narrow terminal, as its heading "tokenizer" has


def rich_tables(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[object]], *, names: int, room: int
) -> Iterator[Table]:
    """A table of so many columns of a terminal, whose first columns, `names` of them, name the rows. Where the others
    do not fit beside these, names are shortened, and what still does not fit follows in more tables, as few as may be,
    with the names again."""
    columns = [[heading, *cells_of([row[i] for row in rows])] for i, heading in enumerate(headings)]
    widths = [max(map(cell_len, column)) for column in columns]
    if sum(widths) + BESIDE * len(widths) + LAST > room:
        beside_one = room - LAST - BESIDE * (names + 1) - max(widths[names:])
        most = max(LEAST_NAME, min(LONGEST_NAME, beside_one // names))
        values = [[row[i] for row in rows] for i in range(names)]
        columns[:names] = names_for_fewest_tables(
            headings[:names], values, widths[names:], most, cell_len, room - LAST - BESIDE, BESIDE
        )
        widths[:names] = [max(map(cell_len, column)) for column in columns[:names]]
    for group in in_groups(widths, names, room - LAST - BESIDE, BESIDE):
        table = Table(title=title)
        title = ""
        for i in group:
            is_name = i < names
            to_the_right = not is_name or are_sizes([row[i] for row in rows])
            side: Literal["left", "right"] = "right" if to_the_right else "left"
            table.add_column(Text(headings[i]), justify=side, no_wrap=not is_name, overflow="fold")
        for cells in zip(*(columns[i][1:] for i in group), strict=True):
            table.add_row(*map(Text, cells))
        yield table
