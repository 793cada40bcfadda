"""Pictures of a training, drawn by matplotlib, which is imported when one is wanted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cbpe.common.checks import N_BYTES

if TYPE_CHECKING:
    from cbpe.training.record import TrainingRecord

__all__ = ["plot_compression"]

MOST_POINTS = 2000  # more would make the file large and the curve no better


def plot_compression(record: TrainingRecord, path: str | os.PathLike[str]) -> None:
    """Draw the compression curve of a training to a file. Errors are those of TrainingRecord.plot."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('matplotlib is needed to plot a training: pip install "cbpe[plot]"') from error
    if not record.tokens_at_start:
        raise ValueError("there is nothing to plot: the training's text has no token")
    curve = record.compression_curve()
    sizes = sorted({*range(0, len(curve), len(curve) // MOST_POINTS + 1), len(curve) - 1})
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([N_BYTES + size for size in sizes], [curve[size] for size in sizes])
    if record.merges_before:
        axes.axvline(N_BYTES + record.merges_before, color="grey", linestyle=":", label="learned from here on")
        axes.legend()
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("tokens in the vocabulary")
    axes.set_ylabel("bytes of text per token")
    axes.set_title(f"{record.text_bytes:,} bytes: {record.compression():.2f} bytes per token")
    axes.grid(alpha=0.3)
    # The same picture of the same training is the same file: no date in it, no random names.
    metadata = {"Date": None} if os.fspath(path).endswith(".svg") else {}
    with matplotlib.rc_context({"svg.hashsalt": "cbpe", "svg.fonttype": "none"}):
        figure.savefig(path, metadata=metadata)
