"""What SQLite finds wrong with a file, in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["in_plain_words", "why_unreadable"]

HEADING = re.compile(r"\*\*\* in database .* \*\*\*")  # before what SQLite says of pages
# What it says of one page: "On tree page 245 cell 3: ...", lately "Tree 12 page 245 cell 3: ...", and "Page 7: ...".
PAGE = re.compile(r"(?:On tree page|Tree \d+ page|Page) (?P<page>\d+)(?: cell \d+| right child)*: (?P<said>.+)")
OF_PAGE = re.compile(r"(?P<said>(?:Fragmentation of|Multiple uses for) .+ (?:on|of) page (?P<page>\d+))")
OTHERS = (
    (re.compile(r"Page (\d+)(?: is|:) never used"), r"page \1 of the file is in no table and no index"),
    (re.compile(r"row (\d+) missing from index (\S+)"), r"row \1 is missing from the index \2"),
    (
        re.compile(r"wrong # of entries in index (\S+)"),
        r"the index \1 has more or fewer entries than its table has rows",
    ),
    (re.compile(r"non-unique entry in index (\S+)"), r"the index \1 has two rows where one may be"),
    (re.compile(r"database disk image is malformed"), r"the file is damaged (SQLite: \g<0>)"),
)


def in_plain_words(said: str) -> Iterator[str]:
    """Each problem of a row of SQLite's integrity_check or quick_check, in one line.

    >>> list(in_plain_words("*** in database main ***\\nOn tree page 9 cell 1: invalid page number 7"))
    ['page 9 of the file is damaged (SQLite: invalid page number 7)']
    """
    for line in said.splitlines():
        if not HEADING.fullmatch(line):
            yield line_in_plain_words(line)


def line_in_plain_words(line: str) -> str:
    for form, words in OTHERS:
        if form.fullmatch(line):
            return form.sub(words, line)
    found = PAGE.fullmatch(line) or OF_PAGE.fullmatch(line)
    if found is None:
        return line
    return f"page {found['page']} of the file is damaged (SQLite: {found['said']})"


def why_unreadable(error: BaseException | None) -> str:
    """What an error of reading says."""
    return line_in_plain_words(str(error))
