"""Runs one task with one peer in a fresh Python process, pinned to one core.

The child is this file run as a script; it prints a line of JSON for each thing that it found, so that what was found
before a timeout counts.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass

from peers import PEERS
from tasks import Job, all_tasks

MARK = "found: "
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@dataclass
class Outcome:
    """What a process found, and in one line why it found no more."""

    found: dict
    failure: str | None = None


def find_output(task, peer, job, timeout):
    """Run the task without measuring, for what it makes: the outcome holds "output"."""
    return run(task, peer, job, "output", timeout)


def measure(task, peer, job, timeout):
    """Run the task for its figures."""
    return run(task, peer, job, "measure", timeout)


def run(task, peer, job, action, timeout):
    order = json.dumps({"task": task.name, "peer": peer, "job": asdict(job), "action": action})
    child = subprocess.Popen(
        [sys.executable, __file__, order],
        env={**os.environ, **ONE_THREAD},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        stdout, stderr = child.communicate(timeout=timeout)
        failure = None if child.returncode == 0 else last_line(stderr) or f"exit code {child.returncode}"
    except subprocess.TimeoutExpired:
        child.kill()
        stdout, _ = child.communicate()
        failure = f"not done after {timeout:.0f} s"
    found = {}
    for line in stdout.splitlines():
        if line.startswith(MARK):
            found.update(json.loads(line.removeprefix(MARK)))
    return Outcome(found, failure)


def last_line(text):
    return text.strip().rpartition("\n")[2]


def pin_to_one_core():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main():
    order = json.loads(sys.argv[1])
    pin_to_one_core()
    task = all_tasks(Job(**order["job"]))[order["task"]]
    peer = PEERS[order["peer"]]()
    found = task.measure(peer) if order["action"] == "measure" else [("output", task.output(peer))]
    for key, value in found:
        print(MARK + json.dumps({key: value}), flush=True)


if __name__ == "__main__":
    main()
