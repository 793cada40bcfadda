"""Tasks on a cluster of Ray's: a thin map over them. Ray places them, and does them again where a machine is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cbpe.tasks.cutting import Task
from cbpe.tasks.executors import Work
from cbpe.tasks.progress import Tally

__all__ = ["connected", "imported", "on_ray"]

RETRIES = 5  # of a task whose process or machine is gone
WAITING_PER_CORE = 2  # tasks that are handed over: a core that is free has the next one
SECONDS_TO_END = 30.0  # for tasks that are handed over when another one has failed

held_here: dict[str, Work] = {}  # in a process of the cluster: the work of the last run, by Ray's name for it


def on_ray(work: Work, tasks: Sequence[Task], workers: int | None, tally: Tally) -> None:
    """Have processes of the cluster do the tasks, each on one core; `workers` at once, or as many as there are cores.

    The folder of the run and the sources have to be there under the same names on every machine, and so has the folder
    that this process works in.
    """
    ray = imported()
    with connected(ray):
        shared = [ray.put(work)]  # in a list, Ray hands the reference over, and not a copy for each task
        do_remotely = ray.remote(done_here).options(num_cpus=1, max_retries=RETRIES)
        waiting = list(reversed(tasks))
        handed_over: dict[Any, Task] = {}
        try:
            while waiting or handed_over:
                while waiting and len(handed_over) < (workers or most_at_once(ray)):
                    task = waiting.pop()
                    handed_over[do_remotely.remote(shared, task, os.getcwd())] = task
                ready, _ = ray.wait(list(handed_over), num_returns=1)
                documents, tokens = result(ray, ready[0])
                task = handed_over.pop(ready[0])
                tally.add(documents, tokens, task.size)
                tally.task_done()
        except BaseException:
            # They are waited for and not cancelled: where a task ends while it is cancelled, Ray ends this process.
            if handed_over:
                ray.wait(list(handed_over), num_returns=len(handed_over), timeout=SECONDS_TO_END)
            raise


def done_here(shared: list[Any], task: Task, folder: str) -> tuple[int, int]:
    """Do a task in a process of the cluster. Returns the documents and the tokens in it."""
    os.chdir(folder)  # names of files may be relative
    record = work_of(shared[0])(task, 1, ignore)
    return record.get("documents", 0), record.get("tokens", 0)


def work_of(reference: Any) -> Work:
    """The work, which a process of the cluster keeps for the next task of the run: a tokenizer knows by then the pieces
    that it has met."""
    name = reference.hex()
    if name not in held_here:
        held_here.clear()
        held_here[name] = imported().get(reference)
    return held_here[name]


def ignore(documents: int, tokens: int, n_bytes: int) -> None:
    """Nobody listens, where the task is done: what it did is told when it is finished."""


def most_at_once(ray: Any) -> int:
    return WAITING_PER_CORE * max(1, int(ray.cluster_resources().get("CPU", 1)))


def result(ray: Any, reference: Any) -> Any:
    """What a task returned. What it raised is raised here, and RuntimeError where Ray could not do it."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = str(error).strip().partition("\n")[0]
        raise RuntimeError(f"Ray gave a task up after {RETRIES} more attempts, or lost it: {reason}") from error


@contextmanager
def connected(ray: Any) -> Iterator[None]:
    """Be connected with the cluster that this process is connected with, or that RAY_ADDRESS or this machine's last
    `ray start` names; or else with one that is this machine alone, until the end."""
    if ray.is_initialized():
        yield
        return
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        if os.environ.get("RAY_ADDRESS"):
            raise
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address="local", include_dashboard=False, **quiet)
    try:
        yield
    finally:
        ray.shutdown()


def imported() -> Any:
    """Ray. ImportError where it is missing."""
    try:
        import ray
    except ImportError as error:
        raise ImportError('the executor "ray" takes Ray: pip install "cbpe[ray]"') from error
    return ray
