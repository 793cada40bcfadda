"""Cuts the files of a corpus into tasks: files, and spans of large ones.

A span is a range of row groups (Parquet) or of bytes, which ends with the line that begins in it (JSON Lines that are
not compressed). Other files stay whole. Small neighbours make one task. The cuts depend on the files, their sizes and
task_bytes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cbpe.common.checks import checked_int
from cbpe.common.warning import warn
from cbpe.common.wording import listed, shown
from cbpe.corpus.files import TextFile
from cbpe.tasks.sources import SourceFile

__all__ = ["TASK_BYTES", "Span", "Task", "checked_share", "cut"]

TASK_BYTES = 1 << 28
MANY_TASKS, SMALL_TASK = 500, 1 << 16  # so many tasks of fewer bytes than that are a slip, such as 256 for 256m
MOST_TASKS = 1 << 20  # by far more than machines; with more, a slip such as 1 for 1m takes days
LARGE = 2  # times task_bytes: from there on, who names a size is told of a file that is not cut
FILES_NAMED = 3  # in a message


@dataclass(frozen=True)
class Span:
    """A file of a corpus, or a part of it."""

    source: SourceFile
    part: tuple[int, int] | None  # row groups of Parquet, bytes of JSON Lines; None: the whole file
    size: int  # in bytes, as it is stored

    def open(self, field: str | None, errors: str, missing: str | None = None) -> TextFile:
        """The texts in it. ValueError if the file is no longer what it was when the run began."""
        self.source.refuse_changed()
        return TextFile(self.source.place, field=field, errors=errors, span=self.part, missing=missing)

    def described(self) -> dict[str, object]:
        """The span, as a manifest has it."""
        return {"path": self.source.path, "range": None if self.part is None else list(self.part)}


@dataclass(frozen=True)
class Task:
    """A part of a corpus: consecutive spans. Its number is its place among the tasks of the corpus."""

    number: int
    spans: tuple[Span, ...]

    @property
    def size(self) -> int:
        """Bytes to read, as they are stored."""
        return sum(span.size for span in self.spans)

    def described(self) -> dict[str, object]:
        """What it reads, as its record has it: the spans, and the size and version of the file of each."""
        return {
            "source": [span.described() for span in self.spans],
            "versions": [[span.source.size, span.source.version] for span in self.spans],
        }


def cut(
    sources: Iterable[SourceFile], *, field: str | None, task_bytes: int = TASK_BYTES, within_lines: bool = True
) -> list[Task]:
    """The tasks of a corpus, in its order, each of about task_bytes. within_lines: whether files of JSON Lines may be
    cut, after which nobody knows the numbers of their lines. A UserWarning names large files that cannot be cut,
    and tells of many small tasks; ValueError for a task_bytes that makes far too many."""
    tasks: list[Task] = []
    whole: list[str] = []
    held: list[Span] = []
    held_bytes = 0
    for source in sources:
        for span in spans_of(source, field, task_bytes, within_lines):
            if held and held_bytes + span.size > task_bytes:
                tasks.append(Task(len(tasks), tuple(held)))
                held, held_bytes = [], 0
                if len(tasks) >= MOST_TASKS:
                    raise ValueError(
                        f"task_bytes is {task_bytes}, which cuts the corpus into more than {MOST_TASKS:,} tasks, each "
                        "with files of its own: give more"
                    )
            held.append(span)
            held_bytes += span.size
            if span.part is None and span.size > LARGE * task_bytes:
                whole.append(source.path)
    if held:
        tasks.append(Task(len(tasks), tuple(held)))
    if len(tasks) >= MANY_TASKS and task_bytes < SMALL_TASK:
        warn(
            f"the corpus is cut into {len(tasks):,} tasks, as task_bytes is {task_bytes:,}: each has files of its own, "
            "which takes longer than its work"
        )
    if whole:
        is_one = "is one task" if len(whole) == 1 else "are one task each"
        are_cut = "only .parquet is cut where shards number the lines of .jsonl"
        if within_lines:
            are_cut = "only .parquet, and .jsonl that is not compressed, is cut"
        warn(
            f"{listed(whole, FILES_NAMED)} {is_one}, of more than {LARGE} times task_bytes: {are_cut}; an interrupted "
            "run keeps nothing of a task that is not done"
        )
    return tasks


def spans_of(source: SourceFile, field: str | None, task_bytes: int, within_lines: bool) -> Iterator[Span]:
    """A file in parts of about task_bytes, or whole if it is not larger or cannot be cut."""
    file = TextFile(source.place, field=field, errors="strict")
    if source.size > task_bytes and file.kind == "parquet":
        yield from parquet_spans(source, file, task_bytes)
    elif source.size > task_bytes and file.kind == "jsonl" and not file.compression and within_lines:
        n = -(-source.size // task_bytes)
        edges = [source.size * i // n for i in range(n + 1)]
        for start, stop in pairwise(edges):
            yield Span(source, (start, stop), stop - start)
    else:
        yield Span(source, None, source.size)


def parquet_spans(source: SourceFile, file: TextFile, task_bytes: int) -> Iterator[Span]:
    """A Parquet file in ranges of row groups, by what the groups take of the file."""
    with file.parquet() as (opened, _):
        metadata = opened.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        sizes = [sum(group.column(k).total_compressed_size for k in range(group.num_columns)) for group in groups]
    for start, stop in ranges(sizes, task_bytes):
        yield Span(source, (start, stop), sum(sizes[start:stop]))


def ranges(sizes: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of items, as many in each as together have `most` bytes, and at least one."""
    start = held = 0
    for i, size in enumerate(sizes):
        if i > start and held + size > most:
            yield start, i
            start, held = i, 0
        held += size
    if start < len(sizes):
        yield start, len(sizes)


def checked_share(task: Any, verify: bool) -> tuple[int, int] | None:
    """(i, n) for the i-th of n shares of the tasks. ValueError where it is to be verified: a share has no manifest."""
    if task is None:
        return None
    if verify:
        raise ValueError(
            "verify is for the call that finishes the run, when all shares are done: leave it out beside task"
        )
    if not isinstance(task, tuple) or len(task) != 2:
        raise TypeError(f"task must be a pair of numbers, (i, n) for the i-th of n, not {shown(task)}")
    n = checked_int("the number of shares of tasks", task[1], 1)
    return checked_int("task", task[0], 1, " (tasks are counted from 1)", n), n
