"""Folding what is too wide for a terminal: between words, within a name after what joins its parts, and within a
part only where there is no such place. Nothing is lost but the blank between two words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, JustifyMethod
    from rich.text import Text

__all__ = ["Folding", "Words", "at_blanks", "folded", "longest_number", "longest_part"]

# Digits, and what stands between and before those of one number: "1.5", "-2", "1.25e-05".
NUMBER = re.compile(r"(?:(?<==)-)?\d+(?:\.\d+)*(?:e[+-]\d+)?", re.ASCII)
VERSION = r"@\d+(?![\w/@_=-]|\.\w)[^/@_=-]*"  # "@12", and what closes it, as "," or ")"
# Of a name: "a-b@prod" -> "a-", "b@", "prod"; with its ending, "a/b.json" -> "a/", "b.json"; with a version's number,
# "a-b@12" -> "a-", "b@12". A date is one part, as a number is: "loss=-1.5" -> "loss=", "-1.5".
PARTS = re.compile(
    rf"(?:\b\d{{4}}-\d\d-\d\d\b|(?:{NUMBER.pattern}|[^/@_.=-]|\.(?=[A-Za-z]\w{{0,7}}$))+)"
    rf"(?:{VERSION}|(?:[/@_.=]|(?<!=)-|-(?!\d))*)|[/@_.=-]+"
)
OF_PATH = re.compile(r"[^/]*/+|[^/]+")  # "a-b/c.json" -> "a-b/", "c.json"
ENDING = re.compile(rf"(?:{VERSION}|[/@_.=-]+|\.[A-Za-z]\w{{0,7}})$")  # of a part, before which it is not cut
# What stands in double quotes, as in JSON; what nothing closes goes to the end, so that no part is looked at twice.
QUOTED = re.compile(r'(?s)"([^"\\]*(?:\\(?:.|\Z)[^"\\]*)*)("|\Z)')

ESCAPED = re.compile(r"(?s)\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|x[0-9a-f]{2}|.)|.")  # an escape, or a character

# A word of a sentence; what stands in quotes, as repr shows texts and tokens, is one with what stands beside it.
SENTENCE_WORD = re.compile(r"""(?:(?<![^\s(\[=])b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|[^ ])+""")


class Words(list[str]):
    """Words with blanks between them, which may have others within: a line ends only after one of them."""

    def __str__(self) -> str:
        return " ".join(self)


def folded(value: object, width: int) -> list[str]:
    """The lines of a text, or of Words, in so many columns of a terminal.

    >>> folded("a long-name@prod", 11)
    ['a', 'long-name@', 'prod']
    """
    from rich.cells import cell_len

    lines: list[str] = []
    for paragraph in [value] if isinstance(value, Words) else str(value).split("\n"):
        if cell_len(whole := str(paragraph)) <= width:  # as all is that goes into a file
            lines.append(whole)
            continue
        words = paragraph if isinstance(paragraph, Words) else words_of(paragraph)
        line = words[0]
        for word in words[1:]:
            if cell_len(line) + 1 + cell_len(word) <= width:
                line += f" {word}"
            else:
                lines += within(line.rstrip(" "), width)
                line = word
        lines += within(line, width)
    return lines


def at_blanks(sentence: str, width: int) -> list[str]:
    """The lines of a sentence in so many columns of a terminal. No word is cut, nor what stands in quotes: a path or a
    split pattern that is longer than a line stays whole.

    >>> at_blanks("b@1 has the token 'of the' in a/long-path/to/a-file.txt", 20)
    ['b@1 has the token', "'of the' in", 'a/long-path/to/a-file.txt']
    """
    from rich.cells import cell_len

    lines, begun, end = [], 0, 0
    for word in SENTENCE_WORD.finditer(sentence):
        if end and cell_len(sentence[begun : word.end()]) > width:
            lines.append(sentence[begun:end])
            begun = word.start()
        end = word.end()
    return [*lines, sentence[begun:]]


def words_of(text: str) -> list[str]:
    """The words between blanks. A token in quotes that begins or ends with blanks is one word: they are to be counted.

    >>> words_of('"  " (220), " the end" (5)')
    ['"  "', '(220),', '" the end"', '(5)']
    """
    words, end = [""], 0
    for quoted in QUOTED.finditer(text):
        if quoted[2] and quoted[1].strip(" ") != quoted[1]:
            first, *others = text[end : quoted.start()].split(" ")
            words[-1] += first
            words += others
            words[-1] += quoted[0]
            end = quoted.end()
    first, *others = text[end:].split(" ")
    words[-1] += first
    return words + others


def longest_part(text: str) -> int:
    """How many columns the longest part takes that `folded` cuts only where it is too wide."""
    from rich.cells import cell_len

    return max((cell_len(part) for word in text.split() for part in PARTS.findall(word)), default=0)


def longest_number(text: str) -> int:
    """How many columns the longest number takes."""
    return max(map(len, NUMBER.findall(text)), default=0)


def within(word: str, width: int) -> list[str]:
    """The lines of a word: as many whole parts in each as fit, and of a longer part as many characters. What stands
    between two slashes of a path is cut only where it is too wide."""
    from rich.cells import cell_len

    if cell_len(word) <= width:
        return [word]
    lines = [""]
    of_path = [[each] if cell_len(each) <= width else PARTS.findall(each) for each in OF_PATH.findall(word)]
    for part in chain.from_iterable(of_path):
        if cell_len(lines[-1]) + cell_len(part) <= width:
            lines[-1] += part
        else:
            lines += cut(part, width)
    return [line for line in lines if line]


def cut(part: str, width: int) -> list[str]:
    """The lines of a part that may be too long. What it ends with, as a hyphen or a number, does not stand alone."""
    from rich.cells import cell_len

    lines = chopped(part, width)
    ending = ENDING.search(part)
    if len(lines) > 1 and ending and ending.start() > 0 and len(ending[0]) >= len(lines[-1]):
        kept = part[ending.start() - 1 :]
        if cell_len(kept) <= width:
            return [*chopped(part[: ending.start() - 1], width), kept]
    return lines


def chopped(text: str, width: int) -> list[str]:
    r"""As many characters in each line as fit. An escape is one, unless it is too wide itself.

    >>> chopped(r"ab\n\u001b", 7)
    ['ab\\n', '\\u001b']
    """
    from rich.cells import cell_len, chop_cells

    if "\\" not in text:
        return chop_cells(text, width)
    lines = [""]
    for unit in ESCAPED.findall(text):
        if cell_len(unit) > width:
            return chop_cells(text, width)
        if cell_len(lines[-1] + unit) > width:
            lines.append("")
        lines[-1] += unit
    return lines


class Folding:
    """A cell of a table, as Rich draws it in a column of some width."""

    def __init__(self, text: str, justify: JustifyMethod) -> None:
        self.text = text
        self.justify = justify

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        yield Text("\n".join(folded(self.text, options.max_width)), justify=self.justify, overflow="fold")
