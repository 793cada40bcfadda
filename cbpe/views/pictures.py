"""The kinds of pictures that are drawn, what is known of them before anything is read, and the bytes of their files."""

from __future__ import annotations

import io
import os
import re
import struct
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from cbpe.common.atomic_files import refuse_elsewhere
from cbpe.common.checks import refuse_no_path
from cbpe.common.wording import listed, shown

__all__ = ["INK", "STYLE", "Picture", "is_picture", "picture_of", "put_commas", "put_sizes", "refuse_picture"]

# Ending of a name -> what the file says of itself. Without a date in it, the same picture is the same file.
PICTURES: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".png": {}, ".pdf": {"CreationDate": None}}

# Of a lightness between white and near black, on no ground of their own, so that they read on light and on dark pages.
INK = "#77808a"
STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK, "axes.facecolor": "none", "axes.labelcolor": INK, "axes.titlecolor": INK,
    "figure.facecolor": "none", "grid.color": INK, "legend.edgecolor": INK, "legend.facecolor": "none",
    "legend.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    # Without random names and a date in it, the same picture is the same file.
    "svg.fonttype": "none", "svg.hashsalt": "cbpe",
    "axes.formatter.useoffset": False,  # "1.0011" beside an axis, not "0.0001" and "+1.001" in a corner
    "axes.formatter.limits": (-9, 15),  # nor "1e6" there
}  # fmt: skip

# What is found where a file of this kind begins.
BEGINNINGS = {
    ".svg": re.compile(rb"<svg", re.IGNORECASE),
    ".png": re.compile(rb"\A\x89PNG\r\n\x1a\n"),
    ".pdf": re.compile(rb"\A%PDF-"),
    ".html": re.compile(rb'<div class="cbpe[ "]'),  # a report of ours
}
ENOUGH_TO_TELL = 4096  # bytes of a file; comments may stand before what tells


BOXES = "they are boxes"  # in the warning of characters that no font here has
LARGE = 1000  # a value that has a comma
SHARPER = 2  # how many pixels of a PNG stand where a screen had one


class Picture:
    """A picture that a notebook shows, as PNG: what turns a notebook into LaTeX or PDF takes SVG with Inkscape alone,
    and a notebook that is not trusted shows none. Where no font here has some letters, it is SVG too, for which a
    browser has them.

    svg: the same as SVG, the bytes of a file. draw: makes the picture of a kind, ".svg" or ".png".
    """

    def __init__(self, draw: Callable[[str], bytes]) -> None:
        self.svg = draw(".svg")
        self._draw = draw

    def __repr__(self) -> str:
        return f"<Picture: a notebook shows it; its svg has {len(self.svg):,} bytes>"

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        """The kinds of picture, and the size of the PNG, at which a screen of twice as many pixels shows it sharp."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            png = self._draw(".png")
        width, height = struct.unpack(">II", png[16:24])
        shown: dict[str, Any] = {"image/png": png}
        if any(BOXES in str(each.message) for each in heard):
            # No wider than the page, which else cuts it.
            whole = self.svg.decode().replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)
            shown["image/svg+xml"] = whole
        return shown, {"image/png": {"width": width // SHARPER, "height": height // SHARPER}}


def is_picture(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a picture of the kind that its name says, or as a report of cbpe's. OSError where it
    cannot be read."""
    with open(path, "rb") as file:
        return BEGINNINGS[ending_of(path)].search(file.read(ENOUGH_TO_TELL)) is not None


def picture_of(figure: Any, ending: str) -> bytes:
    """A figure of matplotlib's as a picture of this kind (".svg"): the bytes of a file, which is written as a whole."""
    picture = io.BytesIO()
    dots = {"dpi": SHARPER * figure.dpi} if ending == ".png" else {}
    figure.savefig(picture, format=ending[1:], metadata=PICTURES[ending], **dots)
    return picture.getvalue()


def put_sizes(axes: Any, sizes: Sequence[int]) -> None:
    """The axis of sizes of a vocabulary, by doublings; of a few that lie close together, in equal steps, since there is
    hardly a power of two among them."""
    if max(sizes) < 4 * min(sizes):
        axes.xaxis.get_major_locator().set_params(integer=True, nbins=6)
    else:
        axes.set_xscale("log", base=2)


def put_commas(axes: Any) -> None:
    """Have large values beside an axis with commas, as titles and tables have them."""
    if max(axes.get_ylim()) >= LARGE:
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")


def ending_of(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.fspath(path))[1].lower()


def refuse_picture(path: str | os.PathLike[str], *, use: str, pages: tuple[str, ...] = ()) -> str:
    """Before there is work to lose: ImportError where matplotlib is missing, ValueError for a name that ends like no
    picture that can be drawn, nor like one of the pages. use: what matplotlib is for. Returns the ending."""
    refuse_no_path("path", path)
    refuse_elsewhere(os.fspath(path))
    try:
        import matplotlib.figure  # noqa: F401  whether it is there
    except ImportError as error:
        raise ImportError(f'matplotlib is needed to {use}: pip install "cbpe[plot]"') from error
    if os.path.basename(os.fspath(path)) in ("", os.curdir, os.pardir) or os.path.isdir(path):
        raise ValueError(f"{os.fspath(path)!r} is a folder: name a file in it, as {os.path.join(path, 'curve.svg')}")
    known = (*pages, *PICTURES)
    if ending_of(path) not in known:
        end = shown(os.path.basename(os.fspath(path))[-40:])
        raise ValueError(f"{end} ends like no picture that can be drawn; these are {listed(known, len(known))}")
    return ending_of(path)
