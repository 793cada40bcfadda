"""Draws measures with matplotlib, which is imported when somebody wants a picture."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from cbpe.common.warning import warn
from cbpe.measures.definitions import BY_KEY, SHARES
from cbpe.views.html import visible
from cbpe.views.names import short_names, width
from cbpe.views.pictures import STYLE, picture_of, put_commas, put_sizes, refuse_picture

__all__ = ["PAGES", "draw_comparison", "draw_sweep", "is_number", "names_in", "refuse_chart"]

Row = Mapping[str, Any]

# Okabe and Ito's colours, which people who see colours otherwise tell apart; then the same, hatched.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
HATCHES = ("", "//", "..", "xx")
MARKERS = "osD^vP*X"
LINES = ("-", "--", ":", "-.")  # of each colour, as the hatches
DRAWN = ("bytes_per_token", "fertility", "continued_words", "strr", "premium", "renyi_efficiency", "vocabulary_used")
PAGES = (".html", ".htm")  # endings of a report
# Columns, as in a terminal: a Chinese character takes two.
LONGEST_NAME = 25  # of a name
LONGEST_TITLE = 80  # of a name above the curves
BARS = 0.8  # the share of a chart that they take: the rest is between the corpora
# Inches of a picture.
WIDTH = 8.0  # if it need not be wider
WIDTH_OF_CURVES = 9.0  # as much as the page of a notebook shows
WIDEST = 100.0
LEAST_BAR = 0.045  # of a bar
AXIS = 0.6  # beside a chart
COLUMN = 0.065  # of a name
KEY = 0.7  # beside a name of a legend
LEGEND_ROW = 0.2
TURNED = 30  # degrees of names that are turned a little
LEAST_ROTATED = 0.35  # between names that are rotated a little
LEAST_UPRIGHT = 0.14  # between names that stand upright, which lie on each other with less
LEAST_SEEN = 1.5  # points of a bar
NOTHING = "nothing to measure"  # in a chart of no number
CURVES = (("bytes_per_token", "bytes per token"), ("fertility", "fertility"), ("vocabulary_used", "vocabulary used"))


def draw_comparison(rows: Sequence[Row], ending: str = ".svg") -> bytes:
    """A picture of this kind with a chart of bars for each measure of a comparison, by corpus and tokenizer. It grows
    with their number, so that each bar is seen."""
    found = {(row["tokenizer"], row["corpus"]): row for row in rows}
    keys = [key for key in DRAWN if any(is_number(row[key]) for row in rows)]
    tokenizers, corpora = names_in(rows, "tokenizer"), names_in(rows, "corpus")
    names, labels = (in_a_chart(each) for each in (tokenizers, corpora))
    layout = laid_out(len(keys), len(tokenizers), labels)
    inches = with_legend(layout.width, names)
    n_legend = legend_columns(names, inches)
    height = layout.n_rows * layout.row_height + LEGEND_ROW * math.ceil(len(names) / n_legend) + 0.3
    with new_figure(ending, height, inches) as figure:
        axes_of = iter(figure.subplots(layout.n_rows, layout.n_columns, squeeze=False).flat)
        bar = BARS / len(tokenizers)
        for key, axes in zip(keys, axes_of, strict=False):
            for i, name in enumerate(tokenizers):
                heights = [number_or_none(found[name, corpus][key]) for corpus in corpora]
                places = [at + (i - (len(tokenizers) - 1) / 2) * bar for at in range(len(corpora))]
                look = {"color": colour(i), "hatch": hatch(i), "edgecolor": "white", "linewidth": layout.edge}
                axes.bar(places, heights, bar, label=str(i), **look)
            axes.set_title(BY_KEY[key].title, fontsize=10)
            # The end of a name that is turned a little is at its place: in the middle, it would reach into the next.
            turned = {"ha": "right", "rotation_mode": "anchor"} if layout.rotation == TURNED else {}
            axes.set_xticks(range(len(corpora)), labels, rotation=layout.rotation, fontsize=8, **turned)
            axes.margins(x=0.01)
            axes.set_ylim(bottom=0)  # also where all are 0
            put_values(axes, key)
            axes.grid(axis="y", alpha=0.3)
            axes.set_axisbelow(True)
        for axes in axes_of:  # zip has taken those that have a measure
            axes.set_axis_off()
        put_legend(figure, names, n_legend)
        return picture_of(figure, ending)


class Layout(NamedTuple):
    """Where the charts of a comparison stand, in inches."""

    n_rows: int
    n_columns: int
    width: float  # of the picture
    row_height: float
    rotation: int  # of the names below, in degrees
    edge: float  # width of the line around a bar, in points


def laid_out(n_charts: int, n_tokenizers: int, labels: Sequence[str]) -> Layout:
    """Two charts stand beside each other. Where one of them has no room for its bars, or for the names below it, each
    stands alone, and is as wide as these take, up to a limit."""
    n_bars = n_tokenizers * len(labels)
    wanted = max(LEAST_BAR * n_bars / BARS, LEAST_UPRIGHT * len(labels))
    room = WIDTH / 2 - AXIS
    n_columns = 2 if wanted <= room else 1
    wide = WIDTH if n_columns == 2 else min(max(WIDTH, wanted + AXIS), WIDEST)
    chart = wide / n_columns - AXIS
    lengths = [COLUMN * width(label) for label in labels]
    longest = max(lengths)
    between = chart / len(labels)
    rotation = 90 if between < min(longest, LEAST_ROTATED) else TURNED if between < longest else 0
    # What names take stands beside and below a chart, which keeps its size.
    row_height = 2.6 + max(0.0, longest * math.sin(math.radians(rotation)) - 0.5)
    if rotation == TURNED:
        wide += n_columns * max(0.0, reach_of(lengths, between) - AXIS)
    points = 72 * BARS * chart / n_bars  # of one bar
    if points < LEAST_SEEN:
        warn(f"the picture has {n_bars:,} bars in each chart, which are too thin to be told apart: compare fewer")
    elif between < LEAST_UPRIGHT:
        warn(f"the picture has {len(labels):,} names below each chart, which lie on each other: compare fewer corpora")
    return Layout(-(-n_charts // n_columns), n_columns, wide, row_height, rotation, min(1.0, points / 8))


def reach_of(lengths: Sequence[float], between: float) -> float:
    """How far names that are turned a little reach to the left of a chart, as each ends at its place. lengths: of the
    names. between: the room from one place to the next. All are inches."""
    share = math.cos(math.radians(TURNED))
    return max(share * length - (i + 0.5) * between for i, length in enumerate(lengths))


def with_legend(inches: float, names: Sequence[str]) -> float:
    """The width of a picture, which is wider where one name of the legend has no room in it."""
    return max(inches, named_in_inches(names))


def named_in_inches(names: Sequence[str]) -> float:
    """What the longest name takes in a legend."""
    return COLUMN * max(map(width, names)) + KEY


def legend_columns(names: Sequence[str], inches: float) -> int:
    """How many names of a legend stand beside each other in a picture of this width."""
    return max(1, min(len(names), 4, int(inches / named_in_inches(names))))


def put_legend(figure: Any, names: Sequence[str], n_columns: int) -> None:
    """A legend below the charts, in which what has the number i as its label is called names[i]. matplotlib leaves a
    label that begins with an underscore out: such a name is put in when the legend is there."""
    handles, numbers = figure.axes[0].get_legend_handles_labels()
    legend = figure.legend(handles, numbers, loc="outside lower center", ncols=n_columns, fontsize=8)
    for number, said in zip(numbers, legend.get_texts(), strict=True):
        said.set_text(names[int(number)])


def draw_sweep(rows: Sequence[Row], ending: str = ".svg") -> bytes:
    """A picture of this kind with a curve of each corpus against the size of a tokenizer's vocabulary, for bytes per
    token, fertility and use; a ring stands where a doubling has bought little."""
    corpora = names_in(rows, "corpus")
    names = in_a_chart(corpora)
    inches = with_legend(WIDTH_OF_CURVES, names)
    n_legend = legend_columns(names, inches)
    tokenizer = visible(rows[0]["tokenizer"])
    height = 3.5 + LEGEND_ROW * math.ceil(len(names) / n_legend)
    with new_figure(ending, height, inches) as figure:
        figure.suptitle(short_names([tokenizer], LONGEST_TITLE)[tokenizer], fontsize=10)
        for axes, (key, title) in zip(figure.subplots(1, len(CURVES)), CURVES, strict=True):
            for i, corpus in enumerate(corpora):
                own = [row for row in rows if row["corpus"] == corpus]
                sizes, values = [row["vocab_size"] for row in own], [row[key] for row in own]
                style, marker = LINES[i // len(COLOURS) % len(LINES)], MARKERS[i % len(MARKERS)]
                axes.plot(sizes, values, style, color=colour(i), marker=marker, ms=4, label=str(i))
                little = [row for row in own if row["buys_little"]]
                axes.plot(
                    [row["vocab_size"] for row in little], [row[key] for row in little],
                    "o", ms=11, mfc="none", mec=colour(i),
                )  # fmt: skip
            axes.set_title(title, fontsize=10)
            axes.grid(alpha=0.3)
            if not any(is_number(row[key]) for row in rows):
                put_nothing(axes)
                continue
            put_sizes(axes, [row["vocab_size"] for row in rows])
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.tick_params(axis="x", labelsize=8, rotation=30)
            put_values(axes, key)
            if not any(row[key] for row in rows):
                axes.set_ylim(bottom=0)
            axes.set_xlabel("tokens in the vocabulary", fontsize=9)
        put_legend(figure, names, n_legend)
        return picture_of(figure, ending)


def put_nothing(axes: Any) -> None:
    """Say in a chart that it has no number. matplotlib would put numbers of its own beside the axes."""
    axes.set(xticks=[], yticks=[])
    axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center", va="center", fontsize=9)


def put_values(axes: Any, key: str) -> None:
    """The values beside an axis as tables have them: shares in percent, large ones with commas."""
    put_commas(axes)
    if key in SHARES:
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")


def names_in(rows: Sequence[Row], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


@contextmanager
def new_figure(ending: str, height: float, width: float) -> Iterator[Any]:
    """A figure, and how it is drawn. ImportError where matplotlib is missing. A UserWarning tells, at the end, where a
    picture of this kind has boxes in place of characters that no font here has."""
    import matplotlib
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {**STYLE, "text.parse_math": False}  # names are no formulas
    with matplotlib.rc_context(settings), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        yield Figure(figsize=(width, height), layout="constrained")
    others = [each for each in told if not str(each.message).startswith("Glyph")]
    for each in others:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if len(others) < len(told) and ending != ".svg":
        warn("no font here has some characters of the names: they are boxes; .svg and .html have them as text")


def refuse_chart(path: str | os.PathLike[str] | None) -> str:
    """ImportError where matplotlib is missing, ValueError for a name that ends like no report and like no picture.
    Returns the ending: without a name, that of what a notebook shows."""
    return refuse_picture("charts.svg" if path is None else path, use="draw measures", pages=PAGES)


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def number_or_none(value: Any) -> float:
    return float(value) if is_number(value) else math.nan


def in_a_chart(names: Sequence[str]) -> list[str]:
    """Names as a chart has them."""
    plain = [visible(name) for name in names]
    short = short_names(plain, LONGEST_NAME)
    return [short[name] for name in plain]


def colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]


def hatch(i: int) -> str:
    return HATCHES[i // len(COLOURS) % len(HATCHES)]
