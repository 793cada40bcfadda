"""A bar on stderr for a run: documents, tokens, bytes a second, and the time that is left."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from cbpe.common.wording import shown
from cbpe.tasks.progress import Progress, ProgressListener

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["RunBar", "listening"]

BAR_WIDTHS = 20, 10


class RunBar:
    """A context whose value draws what it is called with; a bar for each stage."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, TextColumn

        from cbpe.common.bars import FittingBars, ShorteningColumn

        stage = TextColumn("{task.description}")
        said = ShorteningColumn(lambda task, room: in_words(task.fields["progress"], room))
        self.bars = FittingBars(*([stage, BarColumn(width), said] for width in BAR_WIDTHS), [stage, said])
        self.stages: dict[str, Any] = {}

    def __enter__(self) -> ProgressListener:
        self.bars.start()
        return self.show

    def __exit__(self, *exception: object) -> None:
        self.bars.stop()

    def show(self, progress: Progress) -> None:
        if progress.stage not in self.stages:
            self.stages[progress.stage] = self.bars.add_task(progress.stage, progress=progress)
        total = progress.total_bytes
        task = self.stages[progress.stage]
        self.bars.update(task, completed=min(progress.bytes, total), total=total, progress=progress)


def in_words(progress: Progress, room: int = sys.maxsize) -> str:
    """What stands beside the bar: "52,398 documents, 84.1 M tokens, 61.3 MB/s, 0:12 left". What counts nothing of these
    does not speak of them. Where that takes more columns than the room, the first of them are left out."""
    left = progress.seconds_left
    minutes, seconds = divmod(round(left or 0), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    documents = f"{progress.documents:,} document{'' if progress.documents == 1 else 's'}"
    parts = [documents] if progress.documents else []
    parts += [f"{progress.tokens / 1e6:,.1f} M tokens"] if progress.tokens else []
    parts += [f"{progress.bytes_per_second / 1e6:,.1f} MB/s"] if progress.new_bytes else []
    parts += [] if left is None else [f"{clock} left"]
    while len(parts) > 1 and len(", ".join(parts)) > room:
        del parts[0]
    return ", ".join(parts)


def listening(progress: bool | ProgressListener | None) -> AbstractContextManager[ProgressListener | None]:
    """Who hears of the progress, as a context."""
    if progress is True:
        return RunBar()
    if progress is None or progress is False or callable(progress):
        return nullcontext(progress or None)
    raise TypeError(f"progress must be True, False or a function, not {type(progress).__name__}: {shown(progress)}")
