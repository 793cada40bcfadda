"""Names as tables and charts show them: short enough to stand beside each other, and never two alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from unicodedata import category, east_asian_width

__all__ = ["short_names", "width"]


def short_names(names: Iterable[str], most: int) -> dict[str, str]:
    """Each name in at most `most` columns: by its end, which tells files apart, from a slash on where that fits, or by
    its beginning and its end, where two would look alike. Where they would in all ways, longer.

    >>> short_names(["data/flores/de.txt", "data/flores/en.txt"], 15)
    {'data/flores/de.txt': '…/flores/de.txt', 'data/flores/en.txt': '…/flores/en.txt'}
    >>> short_names(["data/flores/devtest.de.txt", "data/flores/devtest.en.txt", "a.txt"], 10)
    {'data/flores/devtest.de.txt': '…st.de.txt', 'data/flores/devtest.en.txt': '…st.en.txt', 'a.txt': 'a.txt'}
    >>> short_names(["english-by-somebody", "german-by-somebody"], 10)
    {'english-by-somebody': 'engli…body', 'german-by-somebody': 'germa…body'}
    >>> short_names(["中文分词器"], 5)
    {'中文分词器': '…词器'}
    """
    whole = list(dict.fromkeys(names))
    while True:
        for way in (by_parts, by_end, by_both_ends):
            found = {name: name if width(name) <= most else way(name, most) for name in whole}
            if len({*found.values()}) == len(whole):
                return found
        most *= 2


def width(text: str) -> int:
    """How many columns a text takes, in a terminal and in a chart, where a Chinese character is as wide as two letters.

    >>> width("abc"), width("中文")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if category(each) in ("Mn", "Me") else 1 + (east_asian_width(each) in "WF") for each in text)


Way = Callable[[str, int], str]


def by_parts(name: str, most: int) -> str:
    end = end_of(name, most - 1)
    slash = end.find("/", 0, -1)
    return f"…{end if slash < 0 else end[slash:]}"


def by_end(name: str, most: int) -> str:
    return f"…{end_of(name, most - 1)}"


def by_both_ends(name: str, most: int) -> str:
    start = most // 2
    return f"{beginning_of(name, start)}…{end_of(name, most - start - 1)}"


def beginning_of(name: str, most: int) -> str:
    """The first characters, of so many columns at most."""
    end = min(most, len(name))
    while width(name[:end]) > most:
        end -= 1
    return name[:end]


def end_of(name: str, most: int) -> str:
    """The last characters, of so many columns at most."""
    start = max(len(name) - most, 0)
    while width(name[start:]) > most or (start < len(name) and not width(name[start])):  # no mark without its letter
        start += 1
    return name[start:]
