"""Names as tables and charts show them: short enough to stand beside each other, and never two alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["short_names"]


def short_names(names: Iterable[str], most: int) -> dict[str, str]:
    """Each name in at most `most` characters: by its end, which tells files apart, from a slash on where that fits, or
    by its beginning and its end, where two would look alike. Where they would in all ways, longer.

    >>> short_names(["data/flores/de.txt", "data/flores/en.txt"], 15)
    {'data/flores/de.txt': '…/flores/de.txt', 'data/flores/en.txt': '…/flores/en.txt'}
    >>> short_names(["data/flores/devtest.de.txt", "data/flores/devtest.en.txt", "a.txt"], 10)
    {'data/flores/devtest.de.txt': '…st.de.txt', 'data/flores/devtest.en.txt': '…st.en.txt', 'a.txt': 'a.txt'}
    >>> short_names(["english-by-somebody", "german-by-somebody"], 10)
    {'english-by-somebody': 'engli…body', 'german-by-somebody': 'germa…body'}
    """
    whole = list(dict.fromkeys(names))
    while True:
        for way in (by_parts, by_end, by_both_ends):
            found = {name: name if len(name) <= most else way(name, most) for name in whole}
            if len({*found.values()}) == len(whole):
                return found
        most *= 2


Way = Callable[[str, int], str]


def by_parts(name: str, most: int) -> str:
    slash = name.find("/", len(name) + 1 - most, -1)
    return by_end(name, most) if slash < 0 else f"…{name[slash:]}"


def by_end(name: str, most: int) -> str:
    return f"…{name[len(name) + 1 - most :]}"


def by_both_ends(name: str, most: int) -> str:
    start = most // 2
    return f"{name[:start]}…{name[len(name) + start + 1 - most :]}"
