"""Who does the tasks: threads of this process, or what is registered under another name.

An executor is a function of the work, the tasks and what hears of progress. It has each task done, in any order, and
more than once where it must: a task is idempotent. What the work raises ends the run, when the tasks that are being
done have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

from cbpe._core.calls.parallel import checked_workers, run_in_threads
from cbpe.common.wording import shown
from cbpe.tasks.cutting import Task
from cbpe.tasks.progress import Tally

__all__ = ["EXECUTORS", "Work", "executor_of", "local"]


class Work(Protocol):
    """What is done with a task: pickled, it does the same elsewhere. It leaves the task's outputs and record under the
    run, and returns the record. threads: how many may share the task. tell: hears of it with (documents, tokens,
    bytes as stored) since the last time, where somebody listens."""

    def __call__(self, task: Task, threads: int, tell: Callable[[int, int, int], None]) -> dict[str, Any]: ...


Executor = Callable[[Work, Sequence[Task], "int | None", Tally], None]


class StoppedError(Exception):
    """Another task failed, or Ctrl-C interrupted the run."""


def local(work: Work, tasks: Sequence[Task], workers: int | None, tally: Tally) -> None:
    """Have threads of this process do the tasks: the work releases the GIL for most of its time."""
    n = checked_workers(workers)
    at_once = max(1, min(n, len(tasks)))
    waiting = list(reversed(tasks))
    stopped: list[bool] = []

    def tell(documents: int, tokens: int, n_bytes: int) -> None:
        if stopped:
            raise StoppedError
        tally.add(documents, tokens, n_bytes)

    def work_on() -> None:
        while not stopped:
            try:
                task = waiting.pop()
            except IndexError:
                return
            work(task, max(1, n // at_once), tell)
            tally.task_done()

    run_in_threads(work_on, at_once, lambda: stopped.append(True))


# Name -> where the function is. A module is imported when it is asked for.
EXECUTORS = {"local": "cbpe.tasks.executors:local", "ray": "cbpe.tasks.on_ray:on_ray"}


def executor_of(name: str) -> Executor:
    """The executor of this name. ValueError for another name. ImportError where its module has a function `imported`
    that finds a library missing: a run that cannot be done is not begun."""
    if not isinstance(name, str) or name not in EXECUTORS:
        raise ValueError(f"executor is {shown(name)}; it must be one of {', '.join(map(repr, EXECUTORS))}")
    place, _, function = EXECUTORS[name].partition(":")
    module = import_module(place)
    if hasattr(module, "imported"):
        module.imported()
    found: Executor = getattr(module, function)
    return found
