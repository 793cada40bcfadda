"""A curve as a small picture within HTML, without a library."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cbpe.views.html import escaped

__all__ = ["curve"]

WIDTH, HEIGHT = 320, 90
MOST_POINTS = 160


def curve(values: Sequence[float], said: str) -> str:
    """A line through some of the values, in the order in which they are; nothing where there are no two numbers."""
    step = max(len(values) // MOST_POINTS, 1)
    points = [(i, values[i]) for i in [*range(0, len(values) - 1, step), len(values) - 1] if math.isfinite(values[i])]
    if len(points) < 2:
        return ""
    least, most = min(y for _, y in points), max(y for _, y in points)
    height = (most - least) or 1.0
    drawn = " ".join(
        f"{WIDTH * i / points[-1][0]:.1f},{HEIGHT - 4 - (HEIGHT - 8) * (y - least) / height:.1f}" for i, y in points
    )
    label = f"{said}: from {points[0][1]:,.2f} to {points[-1][1]:,.2f}"
    return (
        f'<svg role="img" aria-label="{escaped(label)}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}"><polyline points="{drawn}" fill="none" stroke="currentColor" stroke-width="2"/></svg>'
        f'<div class="dim">{escaped(label)}</div>'
    )
