"""Draws the curve of a training with matplotlib, which is imported when somebody wants a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cbpe.common.checks import N_BYTES
from cbpe.views.pictures import INK, STYLE, picture_of, put_commas, put_sizes

__all__ = ["USE", "draw_compression"]

USE = "plot a training"  # what matplotlib is for, in a message

MOST_POINTS = 2000  # more would make the file large and the curve no better
CURVE = "#4c8fd0"  # of a lightness like the ink's


def draw_compression(
    curve: Sequence[float], merges_before: int, text: str, ending: str, *, start_tokens: int = N_BYTES
) -> bytes:
    """A compression curve as a picture of the kind that refuse_picture gave. curve: item i is the bytes of text per
    token with start_tokens + i tokens, at least one item. merges_before: after how many merges a mark stands, 0 for no
    mark. text: of what, for the title. ValueError where the text has no token.
    """
    import matplotlib
    from matplotlib.figure import Figure

    if math.isnan(curve[0]):
        raise ValueError("there is nothing to plot: the training's text has no token")
    sizes = sorted({*range(0, len(curve), len(curve) // MOST_POINTS + 1), len(curve) - 1})
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        found = [start_tokens + size for size in sizes]
        axes.plot(found, [curve[size] for size in sizes], color=CURVE, marker="o" if len(sizes) == 1 else "")
        if merges_before:
            axes.axvline(start_tokens + merges_before, color=INK, linestyle=":", label="learned from here on")
            axes.legend()
        put_sizes(axes, found)
        put_commas(axes)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("tokens in the vocabulary")
        axes.set_ylabel("bytes of text per token")
        axes.set_title(f"{text}: {curve[-1]:,.2f} bytes per token")
        axes.grid(alpha=0.3)
        return picture_of(figure, ending)
