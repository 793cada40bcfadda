"""The measures that tasks share: seconds, memory, and digests of what calls return."""

import gc
import hashlib
import time
import timeit
from array import array
from dataclasses import dataclass
from pathlib import Path

REPEATED_PASSES = 3
PATIENCE = 20  # seconds, after which a slow peer's passes are not repeated further
CALLS_FOR = 0.05  # seconds that a series of short calls lasts


@dataclass(frozen=True)
class Figure:
    """One line of a table: its title, and the unit, which says whether more is better."""

    title: str
    unit: str

    @property
    def more_is_better(self):
        return self.unit in ("MB/s", "times")


def timed(function, argument):
    """The seconds of one call, and what it returned. The caller frees that, outside the measured time."""
    gc.collect()
    start = time.perf_counter()
    result = function(argument)
    return time.perf_counter() - start, result


def fastest(function, arguments):
    """The fewest seconds of a call with each of the arguments in turn. Slow calls leave out the later arguments."""
    found = []
    for argument in arguments:
        found.append(timed(function, argument)[0])
        if sum(found) > PATIENCE:
            break
    return min(found)


def seconds_of_a_call(function, argument):
    """The seconds of a call in the fastest of several long series."""
    timer = timeit.Timer(lambda: function(argument))
    number, seconds = timer.autorange()
    number = max(1, round(number * CALLS_FOR / seconds))
    return min(timer.repeat(5, number)) / number


def megabytes(text):
    return len(text.encode()) / 1e6


def resident_memory():
    """MB that the process holds; None where the system does not tell it as Linux does."""
    return process_status("VmRSS")


def restart_peak_memory():
    """Forget the most memory held so far, and return the MB held now; None on other systems than Linux."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return resident_memory()


def peak_memory():
    """The most MB that the process held since restart_peak_memory()."""
    return process_status("VmHWM")


def process_status(field):
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 / 1e6 for line in status.splitlines() if line.startswith(field)), None)


def digest(*outputs):
    """A digest of texts, or of ids however a peer returns them."""
    found = hashlib.sha256()
    for output in outputs:
        found.update(output.encode() if isinstance(output, str) else ids_as_bytes(output))
    return found.hexdigest()[:16]


def ids_as_bytes(ids):
    return ids.astype("uint32").tobytes() if hasattr(ids, "astype") else array("I", ids).tobytes()
