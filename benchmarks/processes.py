"""Runs one task with one peer in a fresh Python process, on as many cores as the task is allowed.

The child is this file run as a script. It prints a line of JSON for each thing that it found, so that what it found
before a timeout counts.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass

import suites
from materials import Materials

MARK = "found: "


@dataclass
class Outcome:
    """What a process found and, in a few words, why it found no more."""

    found: dict
    failure: str | None = None


def run(suite, task, peer, materials, timeout):
    """The Outcome of a task by a peer, both by name, in at most so many seconds."""
    order = json.dumps({"suite": suite.name, "task": task, "peer": peer, "materials": asdict(materials)})
    child = subprocess.Popen(
        [sys.executable, __file__, order],
        env={**os.environ, **environment(suite.tasks[task].cores, materials)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        stdout, stderr = child.communicate(timeout=timeout)
        failure = None if child.returncode == 0 else last_line(stderr) or how_it_ended(child.returncode)
    except subprocess.TimeoutExpired:
        kill(child)
        stdout, _ = child.communicate()
        failure = f"over {timeout:g} s"
    except BaseException:
        kill(child)
        raise
    found = {}
    for line in stdout.splitlines():
        if line.startswith(MARK):
            found.update(json.loads(line.removeprefix(MARK)))
    return Outcome(found, failure)


def environment(cores, materials):
    """Environment variables: they keep the peers' own threads to the cores, and tell tiktoken where the file is that it
    would download."""
    return {
        "RAYON_NUM_THREADS": str(cores),
        "TOKENIZERS_PARALLELISM": "true" if cores > 1 else "false",
        "TIKTOKEN_CACHE_DIR": materials.folder,
    }


def kill(child):
    """End a process and those that it has started, which would keep its output open."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()


def last_line(text):
    return text.strip().rpartition("\n")[2]


def how_it_ended(code):
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def keep_to_cores(number):
    """Let this process run on so many of its cores, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-number:])


def main():
    order = json.loads(sys.argv[1])
    suite = suites.SUITES[order["suite"]]
    task = suite.tasks[order["task"]]
    keep_to_cores(task.cores)
    peer = suite.peers[order["peer"]]()
    for key, value in task.measure(peer, Materials(**order["materials"])):
        print(MARK + json.dumps({key: value}), flush=True)


if __name__ == "__main__":
    main()
