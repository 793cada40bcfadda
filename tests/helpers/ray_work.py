"""What is done on a cluster in tests: tasks that take their time, and whose process or machine is lost."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from cbpe.counting.tasks import CountTask
from cbpe.shards.encoding import EncodeTask
from cbpe.tasks.on_ray import on_ray


def first_time(folder, name):
    """Whether this is asked for the first time."""
    try:
        Path(folder, name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def lose(folder, number):
    """End this process without a word: for every third task before the work, for every other third after it."""
    if first_time(folder, str(number)):
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class LostCountTask(CountTask):
    """Counts, in a process that is killed at the first attempt of some tasks, before or after the work."""

    def __call__(self, task, threads, tell):
        folder = os.environ["CBPE_TEST_LOST"]
        if task.number % 3 == 0:
            lose(folder, task.number)
        record = super().__call__(task, threads, tell)
        if task.number % 3 == 1:
            lose(folder, task.number)
        return record


@dataclass(frozen=True)
class SlowEncodeTask(EncodeTask):
    """Encodes, and takes its time."""

    def __call__(self, task, threads, tell):
        time.sleep(0.2)
        return super().__call__(task, threads, tell)


def twice(work, tasks, workers, tally):
    """Has every task done by two at the same time, which all begin anew."""
    on_ray(work, [task for task in tasks for _ in range(2)], workers, tally)
