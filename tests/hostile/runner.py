"""Runs one trial: draws cases until the time is over, survives what a case does to its process, shrinks and keeps what
it finds.

Hypothesis draws the cases and shrinks them. The trial runs in a child process, which announces each case before it
checks it. If the child dies or hangs, the case that was announced last is the finding; the cases around it are tried
again, each in a process of its own, so that this finding is shrunk as well.
"""

import faulthandler
import hashlib
import importlib
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
import traceback
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import UnsatisfiedAssumption

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
CASES_OF_A_ROUND = 100  # Hypothesis tries small cases first in each round, and varies those that it had
SHRINKING_SECONDS = 60
WAITING = 5  # times as long by the clock, a case that needs no processor may take
CASE_SECONDS = 60  # of a processor; what takes longer hangs; a trial may say so of its own cases
MEMORY = 4 << 30  # bytes that the child may add to its address space


@dataclass
class Finding:
    """A case that a trial fails on."""

    trial: str
    case: object
    message: str  # the end of the traceback, or how the process ended

    def report(self):
        return f"{self.message}\n{json.dumps(self.case)[:10_000]}"


class CannotTry(Exception):  # noqa: N818  (it is named for what it says)
    """Why a trial cannot run on this machine."""


class TimeIsOver(BaseException):
    """Leaves Hypothesis at once: it would take an Exception for a failure of the case."""


def names():
    return sorted(path.stem for path in (HERE / "trials").glob("[!_]*.py"))


def trial_named(name):
    return importlib.import_module(f"hostile.trials.{name}")


def file_name(finding):
    """The name of its file, which tells its trial, and its case apart from all others."""
    case = json.dumps(finding.case, sort_keys=True)
    return f"{finding.trial}-{hashlib.sha256(case.encode()).hexdigest()[:12]}.json"


def keep(finding, folder=CASES):
    """Write a finding to a file -> its path. Of its message the last line is kept: the others name files of this
    machine."""
    path = folder / file_name(finding)
    folder.mkdir(parents=True, exist_ok=True)
    last_line = (finding.message.strip().splitlines() or [""])[-1]
    path.write_text(json.dumps({**asdict(finding), "message": last_line}, indent=1) + "\n", encoding="utf-8")
    return path


def kept(folder=CASES):
    """The findings in a folder."""
    return [Finding(**json.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.json"))]


# ---- A trial, in a child process


def run(name, seconds, seed, trial=None):
    """Run a trial for some seconds -> the number of cases, and a Finding or None. A trial that is given stands for the
    module of that name. Raises CannotTry where the machine lacks what the trial needs."""
    with resources(trial or trial_named(name)), tempfile.TemporaryDirectory(prefix="cbpe_hostile_") as folder:
        diary = Diary(Path(folder))
        child = forked(lambda: search(name, trial, diary, seed, time.monotonic() + seconds))
        ended = watch(child, diary, trial)
        result = diary.result()
        if result is None:
            result = look_again(name, trial, diary, seed, ended)
    n_cases, case, message = result
    return n_cases, Finding(name, case, message) if message else None


def resources(trial):
    """What a trial needs around all of its cases, as a context."""
    return getattr(trial, "resources", nullcontext)()


class Diary:
    """What a child tells before it dies: the number of its cases, the case at hand, and the result if there is one."""

    def __init__(self, folder):
        self.folder = folder
        self.announced = folder / "announced"
        self.n_cases = 0

    def announce(self, number, case):
        """Write the case at hand and the round that it is of. What the file holds was written whole, as only the
        process dies, and not the machine."""
        self.n_cases += 1
        self.announced.write_text(json.dumps([self.n_cases, number, case]))

    def last(self):
        """The number of cases, the round and the case that was announced last."""
        try:
            return json.loads(self.announced.read_text())
        except (OSError, ValueError):  # nothing yet, or it is being written
            return [0, 0, None]

    def finish(self, case, message):
        (self.folder / "result").write_text(json.dumps([self.n_cases, case, message]))

    def result(self):
        path = self.folder / "result"
        return json.loads(path.read_text()) if path.exists() else None


def forked(work):
    """The id of a child process that does some work."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        faulthandler.enable(sys.__stderr__)
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def longest(trial):
    """The seconds that a case may take."""
    return getattr(trial, "SECONDS", CASE_SECONDS)


class Patience:
    """Tells when a process hangs: it has had so many seconds of a processor, or waits for something far longer. The
    time by the clock says little where a machine is busy."""

    def __init__(self, child, seconds):
        self.child, self.seconds = child, seconds
        self.since, self.used = time.monotonic(), processor_seconds(child)

    def ends(self):
        by_clock = time.monotonic() - self.since
        if by_clock <= self.seconds or self.used is None:
            return by_clock > self.seconds
        used = processor_seconds(self.child)
        return used is None or used - self.used > self.seconds or by_clock > WAITING * self.seconds


def processor_seconds(child):
    """What a process has had of the processor, in seconds; None where the system does not say."""
    try:
        numbers = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def watch(child, diary, trial):
    """Wait for a child, and end it when it hangs. Returns how it ended."""
    told, patience = None, Patience(child, longest(trial) + SHRINKING_SECONDS)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return how(status)
        try:
            tells = os.stat(diary.announced).st_mtime_ns
        except OSError:
            tells = None
        if tells != told:
            told, patience = tells, Patience(child, longest(trial))
        if patience.ends():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"it took longer than {longest(trial)} seconds"
        time.sleep(0.02)


def how(status):
    """How a process ended, by what waitpid returns."""
    if os.WIFSIGNALED(status):
        return f"the process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"the process ended with status {os.WEXITSTATUS(status)}"


def look_again(name, trial, diary, seed, ended):
    """Shrink what ended a child: its last round once more, each case in a process of its own."""
    n_cases, number, case = diary.last()
    again = Diary(diary.folder)
    until = time.monotonic() + 2 * longest(trial) + SHRINKING_SECONDS
    os.waitpid(forked(lambda: search(name, trial, again, seed, until, rounds=[number], alone=True)), 0)
    found = again.result()
    return [n_cases, *found[1:]] if found and found[2] else [n_cases, case, ended]


# ---- In the child


def search(name, trial, diary, seed, until, rounds=None, alone=False):
    """Try the cases of one round after the other, until one fails or the time is over; write what came of it."""
    trial = trial or trial_named(name)
    limit_memory(getattr(trial, "MEMORY", MEMORY))
    alone = alone or getattr(trial, "ALONE", False)
    found = []
    for number in rounds or range(1 << 62):
        try_round(trial, number, diary, f"{seed} {name} {number}", until, alone, found)
        if found or time.monotonic() > until:
            break
    diary.finish(*(found[-1] if found else (None, None)))


def limit_memory(n_bytes):
    """Have the child take so many bytes of addresses beside those that it was born with: a fault ends the child, and
    not the machine. A sanitizer takes terabytes of addresses, and no memory."""
    if any(name in os.environ.get("LD_PRELOAD", "") for name in ("libasan", "libtsan")):
        return
    import resource

    n_bytes += addresses_taken()
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))


def addresses_taken():
    """The bytes of this process's address space that are in use; 0 where the system does not say."""
    try:
        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return n_pages * os.sysconf("SC_PAGE_SIZE")


def try_round(trial, number, diary, seed, until, alone, found):
    """Have Hypothesis draw a round of cases, and shrink one that fails. What fails is appended to `found`, the smallest
    one last."""
    stop = [until]

    def try_case(case):
        if diary.n_cases and time.monotonic() > stop[0]:  # at least one, however long drawing it took
            raise TimeIsOver
        diary.announce(number, case)
        try:
            check_alone(trial, case) if alone else trial.check(case)
        except UnsatisfiedAssumption:
            raise
        except Exception:
            if not found:
                stop[0] = time.monotonic() + SHRINKING_SECONDS
            found.append((case, traceback.format_exc()[-3000:]))
            raise

    options = settings(
        max_examples=CASES_OF_A_ROUND,
        phases=[Phase.generate, Phase.shrink],
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    try:
        seeded(random.Random(seed).getrandbits(64))(options(given(trial.cases)(try_case)))()
    except TimeIsOver:
        pass
    except Exception:
        if not found:  # it is the trial that is wrong
            found.append((None, traceback.format_exc()[-3000:]))


def check_alone(trial, case):
    """Check a case in a process of its own. AssertionError with what it raised, or how it ended."""
    reading, writing = os.pipe()
    child = forked(lambda: tell(writing, trial, case))
    os.close(writing)
    patience = Patience(child, longest(trial))
    with open(reading, "rb") as pipe:
        while not select.select([pipe], [], [], min(longest(trial), 1))[0]:
            if patience.ends():
                os.kill(child, signal.SIGKILL)
                break
        said = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    if status:
        raise AssertionError(said or how(status))


def tell(pipe, trial, case):
    """Check a case; write what it raises to a pipe, and leave with a status that says so."""
    try:
        trial.check(case)
    except BaseException:
        os.write(pipe, traceback.format_exc()[-3000:].encode("utf-8", "replace"))
        os._exit(1)
