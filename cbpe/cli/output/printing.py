"""Printing: tables for people, JSON for programs, bytes as they are, errors in one line.

Names of files, tokens and whatever else comes from outside are escaped first: a terminal takes nothing in them as
markup or as an escape sequence.
"""

from __future__ import annotations

import codecs
import errno
import json
import math
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TextIO

from cbpe.cli.output.columns import SPACE, Column, widths_in, with_room
from cbpe.cli.output.folding import Folding, Words, at_blanks, folded
from cbpe.cli.output.naming import of_options
from cbpe.cli.output.rows import json_value
from cbpe.views.readable import printable, readable_bytes

if TYPE_CHECKING:
    from rich.console import Console

    from cbpe.analysis.lookup import MergeTree

__all__ = [
    "StandardOutput",
    "console",
    "drop_output",
    "end_with_failures",
    "error_message",
    "escape_what_is_missing",
    "fitted",
    "ignore_warnings_of_measures",
    "leave_closed_pipe",
    "naming_standard_output",
    "print_counts",
    "print_dim",
    "print_error",
    "print_json",
    "print_line_of_json",
    "print_lines",
    "print_pairs",
    "print_rows",
    "print_table",
    "print_told",
    "print_tree",
    "print_warning",
    "warn_of_measures",
    "write_bytes",
    "write_text",
]

SHARE = re.compile(r"[\d,.]+%", re.ASCII)
BETWEEN_LINES = re.compile(r"\s*[\n\r]\s*")
CLOSED_PIPE = 141  # what a shell reports for a program that SIGPIPE ended
WIDE = 10**9  # columns where no terminal is: a file or a pipe wants every line whole
USUAL = 80  # columns of a terminal that does not say how many it has
LINES = 25  # of a terminal; nothing that is printed here depends on them
COLOURS_OF_TERM = {"linux": "standard", "xterm": "standard", "dumb": "standard"}  # where they are fewer than 256
ESCAPES = "cbpe-escapes"  # a way for Python's encoders
# Names of values that are not folded, as they are copied: split patterns and URLs.
COPIED = ("pattern", "split pattern", "split first", "config.pattern", "page", "from elsewhere", "sha256")


class StandardOutput:
    """Where write_bytes has left it."""

    line_begun = False  # whether what it has written ends within a line
    failure: OSError | None = None  # why what was printed during work was dropped from there on


def print_error(message: str) -> None:
    """One line on stderr, below what stands in the terminal already, which folds it between words."""
    if sys.stderr is not None:  # print(file=None), where it is closed, would write to standard output
        if StandardOutput.line_begun and sys.stdout.isatty() and sys.stderr.isatty():
            write_bytes(b"\n")
        with suppress(OSError):  # where it cannot be told, the exit code still says what it was
            line = BETWEEN_LINES.sub(" ", message.strip())  # the blanks of a quoted value stay as they are
            print(*fitted(f"cbpe: {printable(line)}", sys.stderr), sep="\n", file=sys.stderr)


def print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """One line on stderr; may stand in place of warnings.showwarning."""
    print_error(of_options(str(message)))


def ignore_warnings_of_measures() -> None:
    """Until the command ends, what Python warns of measures is not printed: warn_of_measures names the files."""
    from cbpe.analysis.texts import AS_TEXT, EMPTY, LEFT_OUT, UNKNOWN

    for told in (AS_TEXT, EMPTY, LEFT_OUT, UNKNOWN):
        warnings.filterwarnings("ignore", f".* {told}")


def warn_of_measures(tokenizer: str, file: str, *sizes: Any) -> None:
    """Lines on stderr for what misleads about measures, whose sizes are as for told_of_measures."""
    from cbpe.analysis.texts import told_of_measures  # which not all commands need

    for told in told_of_measures(tokenizer, file, *sizes):
        print_warning(told)


def end_with_failures(failures: Iterable[Exception]) -> None:
    """After what is printed of the other files: a line for each error, once, and exit code 1 if there is any."""
    messages = dict.fromkeys(map(error_message, failures))
    for message in messages:
        print_error(message)
    if messages:
        import typer  # slow to import, and rarely needed

        raise typer.Exit(1)


def error_message(error: Exception) -> str:
    """What an exception says, for somebody who does not see where it came from, and who gives options."""
    if isinstance(error, OSError) and error.filename is not None:  # which may be called like an argument
        return f"{os.fsdecode(error.filename) or repr('')}: {error.strerror}"
    if isinstance(error, ImportError):
        from cbpe.common.published import of_store  # which few errors need

        return of_store(error) or of_options(plain_message(error))
    return of_options(plain_message(error))


def plain_message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if isinstance(error, (ImportError, LookupError, NotImplementedError, OSError, OverflowError, ValueError)):
        return str(error)
    if isinstance(error, MemoryError):
        return str(error) or "there is not enough memory: this machine, or a limit on this program, has no more"
    return f"{type(error).__name__}: {error} (--debug shows where)"


def write_bytes(data: bytes) -> None:
    """Bytes as they are, at once."""
    # Where the reader has gone away, flushing here ends the program in silence; at exit Python would complain.
    with naming_standard_output():
        write_whole(data)
        sys.stdout.buffer.flush()
    if data:
        StandardOutput.line_begun = not data.endswith(b"\n")


@contextmanager
def naming_standard_output() -> Iterator[None]:
    """A context that does little but print: an error that names no file says that standard output could not be
    written."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise of_standard_output(error)  # noqa: B904  # the same error


def put(data: bytes) -> None:
    """A part of what is printed, of which there may be many: it is written when there is enough, or by write_bytes."""
    with naming_standard_output():
        write_whole(data)


def write_whole(data: bytes) -> None:
    """Write all of it: standard output that is not buffered (PYTHONUNBUFFERED) may take a part, where a disk is full or
    a reader goes away, and says so when the next part comes."""
    left = memoryview(data)
    while left:
        written = sys.stdout.buffer.write(left)
        if written is None:
            raise BlockingIOError(errno.EAGAIN, "it takes no more for now, and does not wait")
        left = left[written:]


def of_standard_output(error: OSError) -> OSError:
    """The error, with the name of the stream. Of a closed pipe nothing is said."""
    if not isinstance(error, BrokenPipeError):
        error.filename = "standard output"
        drop_output()
    return error


def escaped(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that an encoding does not have, as Python's encoders ask for it: \\u00ef. Python's own
    backslashreplace has \\xef, which is how a byte looks here."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(f"\\u{ord(c):04x}" if c < "\U00010000" else f"\\U{ord(c):08x}" for c in characters), error.end


codecs.register_error(ESCAPES, escaped)


def escape_what_is_missing() -> None:
    """A name or a token in characters that the terminal's encoding does not have is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ESCAPES)


def write_text(text: str) -> None:
    """A whole text in UTF-8, such as CSV; a byte of a file's name that is no UTF-8 is escaped, and in a terminal what
    it would act upon."""
    if sys.stdout.isatty():
        text = "\n".join(map(printable, text.split("\n")))
    write_bytes(text.encode("utf-8", "backslashreplace"))


def leave_closed_pipe() -> int:
    """Leave the rest out where the reader has gone away. Returns the exit code."""
    drop_output()
    return CLOSED_PIPE


def drop_output() -> None:
    """Drop what is left to be written, of which Python would complain when it ends."""
    with suppress(OSError):  # of a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(value: Any) -> None:
    """One value, as JSON in ASCII."""
    write_bytes(json.dumps(json_value(value), indent=2).encode() + b"\n")


def print_line_of_json(value: Any) -> None:
    """One value, as JSON in ASCII on a line of its own, for a program that reads line by line."""
    write_bytes(json.dumps(json_value(value)).encode() + b"\n")


def print_rows(rows: Iterable[Any], in_one_line: bool = False) -> None:
    """Rows as a JSON array in ASCII, one on each line, printed as they come. in_one_line: for JSON Lines."""
    before = b"["
    for row in rows:
        put(before + json.dumps(json_value(row)).encode())
        before = b", " if in_one_line else b",\n "
    write_bytes((b"[]" if before == b"[" else b"]") + b"\n")


def print_lines(lines: Iterable[str]) -> None:
    """Lines in the encoding of the terminal or pipe, printed as they come."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        put(line.encode(encoding, ESCAPES) + b"\n")
    write_bytes(b"")


def print_told(sentences: Iterable[str]) -> None:
    """Sentences, one a line; a terminal gets them folded between words."""
    print_lines(line for sentence in sentences for line in fitted(sentence, sys.stdout))


def fitted(sentence: str, stream: TextIO) -> list[str]:
    """The lines of a sentence: as many as a terminal needs, one in a file or a pipe."""
    return at_blanks(sentence, terminal_width(stream)) if stream.isatty() else [sentence]


def print_counts(counts: Sequence[tuple[str, int]], *, named: bool) -> None:
    """Numbers with the names of files, as wc has them, and the total of several."""
    if len(counts) > 1:
        counts = [*counts, ("total", sum(n for _, n in counts))]
    wide = max(len(str(n)) for _, n in counts)
    print_lines(f"{n:{wide}}{' ' + printable(file) if named else ''}" for file, n in counts)


def console(wide: bool = False, coloured: bool = False) -> Console:
    """Rich's console, told to take nothing as markup; where `wide`, each line is whole in a terminal too. coloured: as
    if it were a terminal with colours, what it is not."""
    from rich.console import Console

    is_terminal = coloured or sys.stdout.isatty()
    width = terminal_width(sys.stdout) if is_terminal and not wide else WIDE
    # Without a height, Rich takes 80 columns for a dumb terminal, whatever the width. FORCE_COLOR, which every notebook
    # sets for the commands in it, would have a file or a pipe taken for a terminal.
    how: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False, "force_terminal": is_terminal}
    if coloured:
        how |= {"no_color": False, "color_system": COLOURS_OF_TERM.get(os.environ.get("TERM", ""), "256")}
    return Console(width=width, height=LINES, **how)


def terminal_width(stream: TextIO) -> int:
    """The columns of a terminal, also of a dumb one, for which Rich takes 80."""
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    except (OSError, ValueError):
        return USUAL


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    whole: Sequence[str] = (),
    spare: Sequence[str] = (),
    asked: Sequence[str] = (),
    kept: Sequence[str] = (),
    wide: bool = False,
) -> list[str]:
    """A table with a line of headings; columns of numbers are aligned to the right. Returns the columns that it has.

    In a narrow terminal the `spare` columns are left out, the first of them first and those that were `asked` for last,
    until the others fit; what was asked for stays if folded paths make room for it. What a row is
    called, its numbers and the columns in `whole` are not folded, if there is room for the rest. Where `wide`, nothing
    is folded or left out. In a narrow terminal headings have their words below each other where cells are narrower (but
    for those that are `kept` in a line, if there is room for them without the spare columns), and a line below says
    what was left out: a command with spare columns has the option --wide. Where there are no rows, a line on stderr
    says so.
    """
    from rich.table import Table

    rows = [list(row) for row in rows]
    if not rows:
        print_error("there is nothing to list")
    found = [[cell_text(cell) for cell in column] for column in zip(columns, *rows, strict=True)]
    drawn = [
        Column(cells, numbers := are_numbers([row[i] for row in rows]), i == 0 or numbers or columns[i] in whole)
        for i, cells in enumerate(found)
    ]
    room = console(wide).width
    places = [columns.index(name) for name in spare if name in columns]
    has_lines = any("\n" in cell for column in drawn for cell in column.cells)
    if not console(wide).is_terminal and not has_lines and sum(column.widest + SPACE for column in drawn) <= room:
        print_lines(lines_of_table(drawn))
        return list(columns)
    drawn, there = with_room(drawn, places, [i for i in places if columns[i] in asked], kept, room)
    table = Table(box=None, padding=(0, SPACE, 0, 0), pad_edge=False, header_style="bold")
    for column, width in zip(drawn, widths_in(drawn, room), strict=True):
        side: Any = "right" if column.numbers else "left"
        table.add_column(Folding(column.cells[0], side), justify=side, width=width)
    for i in range(1, len(rows) + 1):
        table.add_row(*(Folding(column.cells[i], "right" if column.numbers else "left") for column in drawn))
    print_drawn(table, wide)
    if sys.stdout.isatty():
        print_left_out([name for i, name in enumerate(columns) if i not in there], room)
    return [columns[i] for i in there]


def lines_of_table(columns: Sequence[Column]) -> Iterator[str]:
    """The lines of a table that has room, as Rich draws them, which takes long for long cells."""
    from rich.cells import cell_len

    *first, last = columns
    widths = [*(column.widest for column in first), last.widest if last.numbers else 0]
    for row in zip(*(column.cells for column in columns), strict=True):
        parts = []
        for cell, column, width in zip(row, columns, widths, strict=True):
            blanks = " " * (width and width - cell_len(cell))
            parts.append(blanks + cell if column.numbers else cell + blanks)
        yield (" " * SPACE).join(parts).rstrip()


def print_left_out(names: list[str], room: int) -> None:
    """Below a table, for who looks at it: which columns it would have in a wider terminal."""
    if names:
        *first, last = names
        print_dim(Words(["left out for the width:", *(f"{name}," for name in first), last, "(--wide shows all)"]), room)


def print_dim(told: str | Words, room: int | None = None) -> None:
    """A remark below what is printed in a terminal, which has so much room or as much as it has."""
    from rich.text import Text

    print_drawn(Text("\n".join(folded(told, room or console().width)), style="dim"))


def are_numbers(cells: Sequence[object]) -> bool:
    """Whether these are numbers, shares such as "12.3%" among them."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    return bool(cells) and (
        all(isinstance(cell, (int, float, str)) or cell is None for cell in cells)
        and all(SHARE.fullmatch(text) or not text for text in texts)
        and any(text != "" for text in cells)
    )


def print_pairs(pairs: Iterable[tuple[str, object]]) -> None:
    """Names and values, one a line. In a narrow terminal they are folded, but for those that are copied. A name that
    takes more than half of it stands above its value. A value that is a dict is pairs of its own."""
    print_lines(lines_of_pairs(pairs, console().width))


def lines_of_pairs(pairs: Iterable[tuple[str, object]], room: int) -> Iterator[str]:
    from rich.cells import cell_len, set_cell_size

    pairs = [(printable(name), value) for name, value in pairs]
    lengths = [cell_len(name) for name, _ in pairs]
    left = max((length for length in lengths if length <= room // 2), default=0)
    for name, value in pairs:
        right = max(1, room - left - SPACE)
        if isinstance(value, dict):
            whole = list(lines_of_pairs(value.items(), right))
        elif name in COPIED:
            whole = [cell_text(value)]
        else:
            whole = folded(value if isinstance(value, Words) else cell_text(value), right)
        if cell_len(name) > left:
            yield from folded(name, room)
            name = ""
        for start, end in zip_longest([name], whole, fillvalue=""):
            yield f"{set_cell_size(start, left)}{' ' * SPACE}{end}" if end else start


def print_tree(root: MergeTree) -> None:
    """A token with the two that it is merged from below it, these with theirs, and so on."""
    from rich.text import Text
    from rich.tree import Tree

    def label(node: MergeTree) -> Text:
        return Text(f'{node.id}  "{readable_bytes(node.token)}"')

    drawn = Tree(label(root))
    unfinished = [(root, drawn)]
    while unfinished:
        node, branch = unfinished.pop()
        unfinished.extend((part, branch.add(label(part))) for part in node.parts)
    print_drawn(drawn, wide=True)  # where a line was folded, blanks of the token would be lost


def print_drawn(renderable: Any, wide: bool = False) -> None:
    """Something of Rich's, without blanks at the ends of lines."""
    target = console(wide)
    with naming_standard_output(), target.capture() as captured:  # Rich flushes
        target.print(renderable)
    print_lines(line.rstrip() for line in captured.get().splitlines())


def cell_text(cell: object) -> str:
    """A cell of a table: 1234 -> "1,234", 0.5 -> "0.50", None -> "" """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float):
        return f"{cell:,.2f}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return printable(str(cell))
