"""Names as tables and charts show them: short enough to stand beside each other, and never two alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["short_names"]


def short_names(names: Iterable[str], most: int) -> dict[str, str]:
    """Each name in at most `most` characters: by its end, which tells files apart, or by its beginning and its end,
    where two would look alike. Where they would in both ways, longer.

    >>> short_names(["data/flores/devtest.de.txt", "data/flores/devtest.en.txt", "a.txt"], 10)
    {'data/flores/devtest.de.txt': '…st.de.txt', 'data/flores/devtest.en.txt': '…st.en.txt', 'a.txt': 'a.txt'}
    >>> short_names(["english-by-somebody", "german-by-somebody"], 10)
    {'english-by-somebody': 'engli…body', 'german-by-somebody': 'germa…body'}
    """
    whole = list(dict.fromkeys(names))
    while True:
        for way in (by_end, by_both_ends):
            found = {name: name if len(name) <= most else way(name, most) for name in whole}
            if len({*found.values()}) == len(whole):
                return found
        most *= 2


Way = Callable[[str, int], str]


def by_end(name: str, most: int) -> str:
    return f"…{name[len(name) + 1 - most :]}"


def by_both_ends(name: str, most: int) -> str:
    start = most // 2
    return f"{name[:start]}…{name[len(name) + start + 1 - most :]}"
