"""The columns of a table: which of them stand in a narrow terminal, and how wide each is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cbpe.cli.output.folding import folded, longest_number, longest_part

__all__ = ["SPACE", "Column", "widths_in", "with_room"]

SPACE = 2  # columns of a terminal beside each
LEGIBLE = 18  # columns that each which need not be whole wants: for that, spare columns are left out
LONG_WORD = 32  # and for a word of so many, as a tag and its value are
LONG_PATH = 40  # of a longer path, that many or half of the terminal are wanted: for the rest of it nothing is left out
LONG_IN_HEADING = 20  # columns of a word that a heading does not go on within
FOLDED = 6  # columns that each of these keeps
NUMBER = len("-2.2250738585072014e-308")  # columns of the longest float, which is not broken before names are
SHORT = 10  # columns of a word, or of a date, that is not broken before names are


class Column(NamedTuple):
    """One of a table: its heading and what stands below it."""

    cells: list[str]
    numbers: bool
    whole: bool  # not to be folded

    @property
    def widest(self) -> int:
        """How many columns of a terminal its longest line takes."""
        from rich.cells import cell_len

        return max(cell_len(line) for cell in self.cells for line in cell.split("\n"))

    @property
    def longest_word(self) -> int:
        """The same of its longest word, between blanks."""
        from rich.cells import cell_len

        return max((cell_len(word) for cell in self.cells for word in cell.split()), default=0)

    @property
    def longest_part(self) -> int:
        """The same of its longest part that a fold keeps whole."""
        return max(longest_part(cell) for cell in self.cells)

    @property
    def longest_number(self) -> int:
        """The same of its longest number within text, if that is no longer than a float."""
        return max((n for cell in self.cells if (n := longest_number(cell)) <= NUMBER), default=0)

    @property
    def folded(self) -> int:
        """What is left of text before names that are whole are folded: enough for the heading, for short words and for
        numbers."""
        return max(FOLDED, longest_part(self.cells[0]), min(SHORT, self.longest_part), self.longest_number)

    def used(self, width: int) -> int:
        """How many of so many columns of a terminal its lines take, once they are folded."""
        from rich.cells import cell_len

        if width >= self.widest:
            return self.widest
        return max(cell_len(line) for cell in self.cells for line in folded(cell, width))

    def needs(self, of_path: int) -> int:
        """How wide it has to be to be legible, with the space beside it; of_path: what a longer path wants."""
        if self.numbers:
            return SPACE + self.widest
        if self.whole:
            return SPACE + max(wanted_by(line, of_path) for cell in self.cells for line in cell.split("\n"))
        word = self.longest_word
        return SPACE + min(self.widest, max(LEGIBLE, word if word <= LONG_WORD else 0))

    def least(self, step: int) -> int:
        """How narrow it may become in one of STEPS; numbers only after them."""
        if step == len(STEPS):
            return 1
        if self.numbers:
            return self.widest
        return min(self.widest, STEPS[step][self.whole](self))


def wanted_by(name: str, of_path: int) -> int:
    """How many columns a name wants before what is spare is left out."""
    from rich.cells import cell_len

    width = cell_len(name)
    return min(width, max(of_path, longest_part(name))) if "/" in name else width


# How narrow columns may become, step by step: those that need not be whole, and names that should be.
STEPS: tuple[tuple[Callable[[Column], int], Callable[[Column], int]], ...] = (
    (lambda text: max(LEGIBLE, text.longest_word), lambda name: name.widest),
    (lambda text: text.longest_word, lambda name: name.widest),
    (lambda text: text.longest_word, lambda name: name.longest_word),
    (lambda text: text.longest_part, lambda name: name.longest_word),
    (lambda text: max(min(LEGIBLE, text.longest_part), text.longest_number), lambda name: name.longest_word),
    (lambda text: max(min(LEGIBLE, text.longest_part), text.longest_number), lambda name: name.longest_part),
    (lambda text: text.folded, lambda name: name.longest_part),
    (lambda text: 1, lambda name: 1),
)


def with_room(
    columns: list[Column], spare: Sequence[int], asked: Sequence[int], kept: Sequence[str], room: int
) -> tuple[list[Column], list[int]]:
    """The columns that a terminal of so much room has, and their places: as many as may be, with headings in as few
    lines as that allows. kept: headings that stay in one, if there is room for them without the spare columns."""
    if needed(columns, range(len(columns)), room) > room:
        columns = with_folded_headings(columns, LONG_IN_HEADING, kept)
    there = without_spare(columns, spare, asked, room)
    narrow = with_folded_headings(columns, 0, kept)
    more = without_spare(narrow, spare, asked, room)
    if len(more) > len(there):
        columns, there = narrow, more
    columns = [columns[i] for i in there]
    if needed(columns, range(len(columns)), room) > room:
        columns = with_folded_headings(columns, 0)
    return columns, there


def without_spare(columns: Sequence[Column], spare: Sequence[int], asked: Sequence[int], room: int) -> list[int]:
    """The places of the columns without those of the spare ones that are left out: the first of them first, and none
    that fits beside the others in the end. Those that were asked for are left out last, and only where paths that are
    folded into short lines make no room for them."""
    there = [*range(len(columns))]
    left_out_last = [i for i in spare if i in asked]
    for i in [*(i for i in spare if i not in asked), *left_out_last]:
        if needed(columns, there, room, LEGIBLE if i in asked else LONG_PATH) > room:
            there.remove(i)
    for i in [*reversed(left_out_last), *reversed(spare)]:
        if i not in there and needed(columns, [*there, i], room) <= room:
            there.append(i)
    return sorted(there)


def needed(columns: Sequence[Column], there: Sequence[int], room: int, of_path: int = LONG_PATH) -> int:
    """How wide some of the columns are, each legible, without the space after the last. of_path: what a longer path
    wants, if that is no more than half of the room."""
    return sum(columns[i].needs(min(of_path, room // 2)) for i in there) - SPACE


def widths_in(columns: Sequence[Column], room: int) -> list[int]:
    """How wide each column is, so that all fit: in each step the widest gives up room first."""
    widths = [column.widest for column in columns]
    excess = sum(widths) + SPACE * (len(widths) - 1) - room
    for step in range(len(STEPS) + 1 if excess > 0 else 0):
        least = [min(width, column.least(step)) for column, width in zip(columns, widths, strict=True)]
        while excess > 0 and widths != least:
            i = max((i for i in range(len(widths)) if widths[i] > least[i]), key=widths.__getitem__)
            widths[i] -= 1
            excess -= 1
    return [column.used(width) for column, width in zip(columns, widths, strict=True)]


def with_folded_headings(columns: list[Column], long: int, kept: Sequence[str] = ()) -> list[Column]:
    """The columns with headings in several lines; kept: headings that stay in one."""
    return [
        column if column.cells[0] in kept else column._replace(cells=with_folded_heading(column.cells, long))
        for column in columns
    ]


def with_folded_heading(cells: Sequence[str], long: int) -> list[str]:
    """The cells of a column, its heading in lines no longer than the longest cell below it, or than one of its words of
    up to `long` columns. Longer ones go on in the next line after a / or - or their like: "bytes/" and "token"."""
    heading, *below = cells
    words = heading.split()
    parts = {word: re.findall(r"[^/@_-]+[/@_-]*|[/@_-]+", word) for word in words}
    least = max((len(part) for word in words for part in parts[word]), default=0)
    widest = max([least, *map(len, below), min(long, max(map(len, words), default=0))])
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= widest:
            lines[-1] += f" {word}"
            continue
        lines.append("")
        for part in parts[word]:
            if lines[-1] and len(lines[-1]) + len(part) > widest:
                lines.append("")
            lines[-1] += part
    return ["\n".join(lines), *below]
