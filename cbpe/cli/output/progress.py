"""How far a run is, as lines of JSON."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from cbpe.cli.output.printing import print_line_of_json

if TYPE_CHECKING:
    from cbpe.tasks.progress import Progress

__all__ = ["print_progress"]

SECONDS_BETWEEN_LINES = 1.0


def print_progress() -> Any:
    """What prints a line of JSON for each second of a run, and one where a stage ends."""
    due = 0.0

    def listen(progress: Progress) -> None:
        nonlocal due
        moment = time.monotonic()
        if moment >= due or progress.tasks == progress.total_tasks:
            due = moment + SECONDS_BETWEEN_LINES
            left = progress.seconds_left
            print_line_of_json({"event": "progress", **progress._asdict(), "seconds_left": left})

    return listen
