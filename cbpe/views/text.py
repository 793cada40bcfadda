"""Tables of plain text, as print shows them: aligned, and no wider than the terminal of standard output, or than 80
columns where that is none."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence

from cbpe.common.checks import is_terminal
from cbpe.views.html import cell_text, visible
from cbpe.views.names import short_names, width

__all__ = ["LONGEST_NAME", "are_sizes", "cells_of", "in_groups", "names_for_fewest_tables", "text_table"]

WIDTH = 80  # where nobody knows how wide what prints is
GAP = 2  # columns of a terminal between two of the table
# Columns of what names a row; a longer name is cut, as far as names stay different:
LONGEST_NAME = 60  # where there is room,
WIDEST_NAME = 24  # where there is none,
LEAST_NAME = 12  # and where fewer tables take all columns then.

Column = list[str]


def text_table(headings: Sequence[str], rows: Sequence[Sequence[object]], names: int) -> str:
    """A table, whose first columns, `names` of them, name the rows. Where the others do not fit beside these, they
    follow in more tables below, with the names again.

    >>> print(text_table(["corpus", "tokens"], [["english", 1234], ["code", 5]], names=1))
    corpus   tokens
    english   1,234
    code          5
    """
    values = [[row[i] for row in rows] for i in range(len(headings))]
    others = [[heading, *cells_of(column)] for heading, column in zip(headings[names:], values[names:], strict=True)]
    widths = [max(map(width, column)) for column in others]
    room = columns_to_print_on()
    beside_one = room - GAP * names - max(widths, default=0)
    most = max(WIDEST_NAME, min(LONGEST_NAME, beside_one // names))
    named = names_for_fewest_tables(headings[:names], values[:names], widths, most, width, room, GAP)
    columns = [
        aligned(cells, to_the_right=i >= names or are_sizes(values[i])) for i, cells in enumerate([*named, *others])
    ]
    groups = in_groups([width(column[0]) for column in columns], names, room, GAP)
    tables = ([columns[i] for i in group] for group in groups)
    return "\n\n".join("\n".join((" " * GAP).join(line).rstrip() for line in zip(*one, strict=True)) for one in tables)


def columns_to_print_on() -> int:
    """How wide the terminal of standard output is; where that is none, 80 columns."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else WIDTH


def are_sizes(values: Sequence[object]) -> bool:
    """Whether a column that names the rows names them by numbers."""
    return all(isinstance(value, int) for value in values)


def cells_of(values: Sequence[object], most: int | None = None) -> Column:
    """The values of a column as text on one line each. most: how many columns of a terminal a name has, of a
    column of names."""
    texts = [visible(cell_text(value)) for value in values]
    if most is None:
        return texts
    short = short_names(texts, most)
    return [short[text] for text in texts]


def names_for_fewest_tables(
    headings: Sequence[str],
    values: Sequence[Sequence[object]],
    widths: Sequence[int],
    most: int,
    width_of: Callable[[str], int],
    room: int,
    gap: int,
) -> list[Column]:
    """The columns that name the rows, with names of at most `most` columns of a terminal: the longest ones for which
    the others, of these widths, follow in no more tables than they need beside short ones. room, gap: as for
    in_groups."""

    def tables(columns: list[Column]) -> int:
        of_names = [max(map(width_of, column)) for column in columns]
        return sum(1 for _ in in_groups([*of_names, *widths], len(columns), room, gap))

    named = list(zip(headings, values, strict=True))
    lengths = range(most, min(most, LEAST_NAME) - 1, -1)
    return min(([[heading, *cells_of(each, n)] for heading, each in named] for n in lengths), key=tables)


def aligned(cells: Column, *, to_the_right: bool) -> Column:
    widest = max(map(width, cells))
    blanks = [" " * (widest - width(each)) for each in cells]
    return [b + each if to_the_right else each + b for b, each in zip(blanks, cells, strict=True)]


def in_groups(widths: Sequence[int], names: int, room: int, gap: int) -> Iterator[list[int]]:
    """The places of the columns of each table, if no table is to be wider than there is room: in each the first ones,
    `names` of them, and one of the others at least. gap: what two columns have between them."""
    naming = [*range(names)]
    group: list[int] = []
    for place in range(names, len(widths)):
        if group and sum(widths[i] + gap for i in [*naming, *group, place]) - gap > room:
            yield [*naming, *group]
            group = []
        group.append(place)
    yield [*naming, *group]
