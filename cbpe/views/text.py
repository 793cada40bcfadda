"""Tables of plain text, as print shows them: aligned, and no wider than a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width

from cbpe.views.html import cell_text, visible

__all__ = ["text_table"]

WIDTH = 80
GAP = 2  # columns of a terminal between two of the table
WIDEST_NAME = 24  # characters of what names a row: a longer one loses its middle

Column = list[str]


def text_table(headings: Sequence[str], rows: Sequence[Sequence[object]], names: int) -> str:
    """A table, whose first columns, `names` of them, name the rows. Where the others do not fit beside these, they
    follow in more tables below, with the names again.

    >>> print(text_table(["corpus", "tokens"], [["english", 1234], ["code", 5]], names=1))
    corpus   tokens
    english   1,234
    code          5
    """
    columns = [
        aligned([heading, *(cell(row[i], i < names) for row in rows)], to_the_right=i >= names)
        for i, heading in enumerate(headings)
    ]
    naming = columns[:names]
    room = WIDTH - sum(width(column[0]) + GAP for column in naming)
    tables = ([*naming, *some] for some in fitting(columns[names:], room))
    return "\n\n".join("\n".join((" " * GAP).join(line).rstrip() for line in zip(*one, strict=True)) for one in tables)


def cell(value: object, is_name: bool) -> str:
    text = visible(cell_text(value))
    if not is_name or len(text) <= WIDEST_NAME:
        return text
    half = WIDEST_NAME // 2
    return f"{text[: half - 1]}..{text[1 - half :]}"


def aligned(cells: Column, *, to_the_right: bool) -> Column:
    widest = max(map(width, cells))
    blanks = [" " * (widest - width(each)) for each in cells]
    return [b + each if to_the_right else each + b for each, b in zip(cells, blanks, strict=True)]


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


def fitting(columns: Sequence[Column], room: int) -> Iterator[list[Column]]:
    """The columns in groups, each as wide as there is room, and of one column at least."""
    group: list[Column] = []
    for column in columns:
        if group and sum(width(each[0]) + GAP for each in [*group, column]) - GAP > room:
            yield group
            group = []
        group.append(column)
    yield group
