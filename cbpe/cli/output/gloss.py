"""Tokens with their ids, for people: coloured and in two lines on a terminal, one below the other elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from cbpe.cli.output.printing import console, print_lines, write_bytes
from cbpe.views.readable import readable_bytes

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_gloss", "print_parts"]

# Of neighbouring tokens, in turn: black on light colours of the 256 that no palette changes, by their numbers.
COLOURS = tuple(f"color(16) on color({number})" for number in (153, 157, 225, 223, 195))
# The same where a terminal has 16 colours or fewer: black can be read on these in common palettes.
FEW_COLOURS = tuple(f"black on {name}" for name in ("cyan", "green", "white", "yellow"))
NEW_LINE = b"\n"
Part: TypeAlias = "tuple[str | None, Iterable[tuple[int, bytes]]]"


def print_gloss(texts: Iterable[Iterable[tuple[int, bytes]]], coloured: bool = False) -> None:
    """Print the pairs of (id, token) of texts: coloured on a terminal with colours, or anywhere, if that is asked for;
    else a line for each. An empty line stands between two texts."""
    print_parts((("" if number else None, tokens) for number, tokens in enumerate(texts)), coloured)


def print_parts(parts: Iterable[Part], coloured: bool = False) -> None:
    """The same of parts, each with the line that stands before it, or None."""
    target = console(coloured=coloured)
    if target.color_system is None or (target.no_color and not coloured):
        print_lines(lines_of(parts))
        return
    gloss = Gloss(target)
    try:
        for border, tokens in parts:
            if border is not None:
                target.print(border)
            for token_id, token in tokens:
                gloss.add(token_id, token)
            gloss.end_row()
    except KeyboardInterrupt:
        # A terminal drops what it was sent last, also what ends a colour.
        with suppress(OSError):
            write_bytes(b"\x1b[0m\n")
        raise


def lines_of(parts: Iterable[Part]) -> Iterator[str]:
    for border, tokens in parts:
        if border is not None:
            yield border
        yield from (f"{token_id}\t{readable_bytes(token)}" for token_id, token in tokens)


class Gloss:
    """Rows of tokens, each with its id below, as many as fit in the width of a terminal."""

    def __init__(self, target: Console) -> None:
        from rich.text import Text

        self.target = target
        self.colours = COLOURS if target.color_system in ("256", "truecolor") else FEW_COLOURS
        self.new = Text
        self.above, self.below = Text(no_wrap=True), Text(no_wrap=True)
        self.n = 0

    def add(self, token_id: int, token: bytes) -> None:
        """Add a token to the row. A row ends where it is full, and after a token that ends a line."""
        from rich.cells import cell_len

        shown, number = readable_bytes(token), str(token_id)
        wide = max(cell_len(shown), len(number)) + 1
        if self.above.cell_len + wide > self.target.width:
            self.end_row()
        self.above.append(shown, style=self.colours[self.n % len(self.colours)]).append(" " * (wide - cell_len(shown)))
        self.below.append(number, style="dim").append(" " * (wide - len(number)))
        self.n += 1
        if token.endswith(NEW_LINE):
            self.end_row()

    def end_row(self) -> None:
        if self.above:
            for line in self.above, self.below:
                self.target.print(line, soft_wrap=True)
        self.above, self.below = self.new(no_wrap=True), self.new(no_wrap=True)
