"""HTML that a notebook shows and a file keeps: self-contained, everything escaped, in light and in dark.

Nothing is fetched and no script runs. Texts and tokens are hostile: each goes through `escaped`, which also shows the
characters that would not be seen or would turn the text around it.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from unicodedata import bidirectional

from cbpe.views.readable import BLANK, on_circle

__all__ = [
    "Apart",
    "LeftToRight",
    "block",
    "cell_text",
    "escaped",
    "in_commas",
    "page",
    "pairs",
    "said",
    "section",
    "table",
    "visible",
    "with_names",
]

# Colours are variables, which have other values on a dark page. Notebooks tell by attributes of their own that they are
# dark.
LIGHT = "--ink:#1b1f24;--dim:#57606a;--line:#d0d7de;--head:#f0f2f5;--paper:#ffffff;--mark:#8a3b00;"
DARK = "--ink:#e6edf3;--dim:#9aa4af;--line:#3d444d;--head:#22272e;--paper:#12161c;--mark:#ffb37a;"
STYLE = (
    f".cbpe{{{LIGHT}color:var(--ink);background:var(--paper);font:14px/1.5 system-ui,sans-serif;overflow-x:auto;"
    "padding:.5em}"
    f"@media (prefers-color-scheme:dark){{.cbpe{{{DARK}}}}}"
    f'[data-jp-theme-light="false"] .cbpe,[data-theme="dark"] .cbpe,.vscode-dark .cbpe{{{DARK}}}'
    f'[data-jp-theme-light="true"] .cbpe,[data-theme="light"] .cbpe,.vscode-light .cbpe{{{LIGHT}}}'
    ".cbpe table{border-collapse:collapse;color:inherit;background:none}"
    ".cbpe caption{text-align:left;font-weight:600;padding:.2em 0}"
    ".cbpe th,.cbpe td{border-bottom:1px solid var(--line);padding:.2em .7em;color:inherit;background:none}"
    # Three times the class: JupyterLab sets all cells to the right, by a rule with two classes.
    ".cbpe.cbpe.cbpe th,.cbpe.cbpe.cbpe td{text-align:left}.cbpe.cbpe.cbpe .n{text-align:right}"
    ".cbpe thead th{background:var(--head);cursor:default}"
    # Tokens may have several spaces one after another; what names a row is not broken, unless it is long.
    ".cbpe bdi{white-space:pre-wrap}.cbpe tr>:first-child,.cbpe tr>:first-child bdi{white-space:pre}"
    ".cbpe.cbpe .w,.cbpe.cbpe .w bdi{white-space:pre-wrap}.cbpe .a{overflow-wrap:anywhere}"
    ".cbpe .w{min-width:10em}.cbpe tr>.w:first-child{min-width:20em}"
    ".cbpe .n{font-variant-numeric:tabular-nums}"
    ".cbpe .dim{color:var(--dim)}.cbpe code{font-family:ui-monospace,monospace;color:inherit;background:none}"
)
TURNING = {"R", "AL", "AN"}  # classes of Unicode's bidirectional algorithm
LONGEST_NAME = 40  # characters of what is not broken, and of a word that is broken nowhere
LONGEST_VALUE = 1000  # characters; of a longer one the beginning is shown
LEAST_BY_DECIMALS = 0.001  # of the numbers that are not shown by their first digits
NO_FORMULAS = "tex2jax_ignore mathjax_ignore"  # classes by which MathJax, of any version, leaves a text alone
# What is written in place of characters that do not show, or that act on others (as str.isprintable knows them), where
# people know a sign for them.
UNSEEN = {"\n": "↵", "\r": "␍", "\t": "⇥"}


def escaped(text: object) -> str:
    """Anything as text in HTML, which may stand in an attribute too: nothing in it is markup, every character shows.

    >>> escaped("<b>\\u202e")
    '&lt;b&gt;\\\\u202e'
    """
    return html.escape(visible(str(text)))


def visible(text: str) -> str:
    """Text on one line, in which the characters that do not show, or that act on others, are written out. A mark at its
    beginning stands on a dotted circle."""
    if text.isprintable() and not BLANK.search(text):
        return on_circle(text)
    text = BLANK.sub(lambda found: "".join(map(unseen, found[0])), text)
    return on_circle("".join(character if character.isprintable() else unseen(character) for character in text))


def unseen(character: str) -> str:
    code_point = ord(character)
    return UNSEEN.get(character) or (f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}")


def block(*parts: str, style: str = "") -> str:
    """Parts of HTML as a block of its own, which looks alike wherever it stands. In a notebook, what stands between
    signs of TeX, as "$" and "$", would be a formula otherwise."""
    return f'<div class="cbpe {NO_FORMULAS}"><style>{STYLE}{style}</style>{"".join(parts)}</div>'


def page(title: str | Apart, *parts: str) -> str:
    """A whole document, which needs nothing else: a policy in it forbids to run or to fetch anything. title: may be
    Apart, as a caption and a heading of a table may."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title><style>:root{{color-scheme:light dark}}"
        "body{margin:0 auto;max-width:75em}.cbpe figure{margin:1em 0}</style></head>"
        f"<body>{block(f'<h1>{said(title)}</h1>', *parts)}</body></html>\n"
    )


def section(title: str, *parts: str) -> str:
    """A part of a page under a heading."""
    return f"<section><h2>{escaped(title)}</h2>{''.join(parts)}</section>"


def table(
    columns: Sequence[str | Apart],
    rows: Iterable[Sequence[object]],
    *,
    caption: str | Apart = "",
    titles: Sequence[str] = (),
) -> str:
    """A table. titles: what a pointer over each heading shows. Columns of numbers stand to the right."""
    rows = [list(row) for row in rows]
    numbers = [are_numbers([row[i] for row in rows]) for i in range(len(columns))]
    kinds = [' class="n"' if number else "" for number in numbers]
    pointed = [f' title="{escaped(title)}"' if title else "" for title in titles] or [""] * len(columns)
    heads = (
        f'<th scope="col"{kind}{title}>{said(name)}</th>'
        for name, kind, title in zip(columns, kinds, pointed, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(cell(value, kind, i == 0) for i, (value, kind) in enumerate(zip(row, kinds, strict=True)))
        + "</tr>"
        for row in rows
    )  # fmt: skip
    shown = f"<caption>{said(caption)}</caption>" if caption else ""
    return f"<table>{shown}<thead><tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table>"


def pairs(caption: str, items: Iterable[tuple[str, object]]) -> str:
    """Names and values, a row for each."""
    rows = "".join(f'<tr><th scope="row">{escaped(name)}</th>{cell(value)}</tr>' for name, value in items)
    return f"<table><caption>{escaped(caption)}</caption><tbody>{rows}</tbody></table>"


class Apart(tuple[str, ...]):
    """Parts of a text, each of which runs in the direction of its own letters; together they run from left to right.
    In one text, two parts in Hebrew with a comma between them would change places."""

    def __str__(self) -> str:
        return "".join(self)


def with_names(text: str, names: Iterable[str]) -> str | Apart:
    """A sentence with each of the names in it apart that have a letter that runs from the right: the others turn
    nothing around.

    >>> with_names("no text in א", ["א", "text"])
    ('no text in ', 'א', '')
    """
    turning = sorted((name for name in names if TURNING & set(map(bidirectional, name))), key=len, reverse=True)
    return Apart(re.split(f"({'|'.join(map(re.escape, turning))})", text)) if turning else text


def in_commas(items: Iterable[Iterable[str]], most: int | None = None) -> list[str]:
    """The parts of the first items, with a comma between two items, and how many more there are.

    >>> in_commas([["a", "=", "1"], ["b"], ["c"]], most=2)
    ['a', '=', '1', ', ', 'b', ' and 1 more']
    """
    found = list(items)
    shown = found if most is None else found[:most]
    parts = [part for i, item in enumerate(shown) for part in ([", "] if i else []) + list(item)]
    return parts + ([f" and {len(found) - len(shown):,} more"] if len(shown) < len(found) else [])


class LeftToRight(str):
    """A text that runs from left to right whatever its first letter, as escapes stand in it."""


def said(text: str | Apart) -> str:
    """A heading or a sentence, whose parts are isolated if it has some."""
    return isolated(text) if isinstance(text, Apart) else escaped(text)


def cell(value: object, kind: str = "", is_head: bool = False) -> str:
    kind = kind or broken(cell_text(value))
    return f'<th scope="row"{kind}>{isolated(value)}</th>' if is_head else f"<td{kind}>{isolated(value)}</td>"


def broken(text: str) -> str:
    """The classes of a cell whose text is broken where it is long, and within words where these are."""
    if len(text) <= LONGEST_NAME:
        return ""
    return ' class="w a"' if max(map(len, text.split()), default=0) > LONGEST_NAME else ' class="w"'


def isolated(value: object) -> str:
    """A value that runs in the direction of its first letter, or from left to right, and takes nothing with it."""
    if isinstance(value, Apart) and value:
        return f'<bdi dir="ltr">{"".join(map(isolated, value))}</bdi>'
    direction = ' dir="ltr"' if isinstance(value, LeftToRight) else ""
    text = cell_text(value)
    if len(text) > LONGEST_VALUE:
        return f"<bdi{direction}>{escaped(text[:LONGEST_VALUE])}…</bdi> ({len(text):,} characters, as written here)"
    return f"<bdi{direction}>{escaped(text)}</bdi>"


def are_numbers(cells: Sequence[object]) -> bool:
    there = [cell for cell in cells if cell not in (None, "")]
    return bool(there) and all(isinstance(cell, (int, float)) or is_share(cell) for cell in there)


def is_share(cell: object) -> bool:
    """ "45.1%" -> True"""
    return isinstance(cell, str) and cell.endswith("%") and cell[:1].isdecimal()


def cell_text(value: object) -> str:
    """A value as a table shows it: 1234 -> "1,234", 0.12345 -> "0.123", 0.00026 -> "0.00026", None and nan -> "" """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:,.3f}" if value == 0 or abs(value) >= LEAST_BY_DECIMALS else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
