"""What is measured: one class for each kind of work, with the figures that come out of it.

A task runs in a process of its own, with one peer. measure() yields its figures as they come; output() gives what the
peer made of the same input, in a form that can be compared between peers and carried as JSON. `work` is the word by
which a peer says that it offers this kind of work.
"""

import gc
import hashlib
import time
from array import array
from dataclasses import dataclass
from pathlib import Path

import corpus


@dataclass(frozen=True)
class Job:
    """What the user asked for: the same for every process of a run."""

    file: str
    megabytes: float | None
    encoding: str
    vocab_size: int

    def text(self):
        return corpus.read(self.file, self.megabytes)


@dataclass(frozen=True)
class Figure:
    """One line of the table: its title, and the unit, which says whether more is better."""

    title: str
    unit: str

    @property
    def more_is_better(self):
        return self.unit == "MB/s"


REPEATED_PASSES = 3
UNBROKEN = {"a": 'one piece of "a"', "letters": "one piece of random letters", "spaces": "one piece of spaces"}
UNBROKEN_LENGTHS = (10**4, 10**5, 10**6)


class EncodeToList:
    name = work = "encode_list"

    def __init__(self, job):
        self.job = job
        self.figures = {
            "first": Figure("encode to a list, first pass", "MB/s"),
            "repeated": Figure("encode to a list, repeated", "MB/s"),
        }

    def measure(self, peer):
        text = self.job.text()
        first, *repeated = seconds_of_calls(self.function(peer), text, 1 + REPEATED_PASSES)
        yield "first", megabytes(text) / first
        yield "repeated", megabytes(text) / min(repeated)

    def output(self, peer):
        return digest(self.function(peer)(self.job.text()))

    def function(self, peer):
        return ready(peer.load(self.job.encoding).to_list)


class EncodeToNumpy(EncodeToList):
    name = work = "encode_numpy"

    def __init__(self, job):
        self.job = job
        self.figures = {
            "first": Figure("encode to numpy, first pass", "MB/s"),
            "repeated": Figure("encode to numpy, repeated", "MB/s"),
        }

    def function(self, peer):
        return ready(peer.load(self.job.encoding).to_numpy)


class Decode:
    name = work = "decode"

    def __init__(self, job):
        self.job = job
        self.figures = {"speed": Figure("decode a list to str", "MB/s")}

    def measure(self, peer):
        text = self.job.text()
        encoder = peer.load(self.job.encoding)
        ids = list(encoder.to_list(text))
        yield "speed", megabytes(text) / min(seconds_of_calls(encoder.decode, ids, 1 + REPEATED_PASSES))

    def output(self, peer):
        encoder = peer.load(self.job.encoding)
        return digest(encoder.decode(list(encoder.to_list(self.job.text()))).encode())


class EncodeUnbroken:
    """How the time to encode one piece grows with its length, after a long one: what is made once does not count."""

    work = "encode_list"

    def __init__(self, job, kind):
        self.job = job
        self.kind = kind
        self.name = f"unbroken_{kind}"
        self.figures = {str(n): Figure(f"{UNBROKEN[kind]}, {n:,}", "ms") for n in UNBROKEN_LENGTHS}

    def measure(self, peer):
        encode = ready(peer.load(self.job.encoding).to_list)
        encode("x" * max(UNBROKEN_LENGTHS))
        for length in UNBROKEN_LENGTHS:
            (seconds,) = seconds_of_calls(encode, corpus.unbroken_piece(self.kind, length), 1)
            yield str(length), seconds * 1e3

    def output(self, peer):
        encode = peer.load(self.job.encoding).to_list
        return [digest(encode(corpus.unbroken_piece(self.kind, length))) for length in UNBROKEN_LENGTHS]


class Train:
    name = work = "train"

    def __init__(self, job):
        self.job = job
        self.figures = training_figures(f"train to {job.vocab_size:,}")

    def measure(self, peer):
        documents = corpus.documents(self.job.text())
        yield from measure_training(lambda: peer.train(documents, self.job.vocab_size))

    def output(self, peer):
        trained = peer.train(corpus.documents(self.job.text()), self.job.vocab_size)
        return [token.hex() for token in peer.learned_tokens(trained)]


class TrainUnsplit:
    """One sequence that no pattern divides, at most 1 MB of it: what minbpe's BasicTokenizer does."""

    name = work = "train_unsplit"
    vocab_size = 1256

    def __init__(self, job):
        self.job = job
        self.figures = training_figures(f"train without splitting, 1 MB to {self.vocab_size:,}")

    def measure(self, peer):
        text = self.text()
        yield from measure_training(lambda: peer.train_unsplit(text, self.vocab_size))

    def output(self, peer):
        return [token.hex() for token in peer.learned_tokens(peer.train_unsplit(self.text(), self.vocab_size))]

    def text(self):
        return corpus.read(self.job.file, min(self.job.megabytes or 1, 1))


def all_tasks(job):
    """Every task, by its name, in the order of the table."""
    unbroken = [EncodeUnbroken(job, kind) for kind in UNBROKEN]
    tasks = [EncodeToList(job), EncodeToNumpy(job), Decode(job), Train(job), TrainUnsplit(job), *unbroken]
    return {task.name: task for task in tasks}


def training_figures(title):
    return {"seconds": Figure(title, "s"), "memory": Figure(f"{title}, peak memory", "MB")}


def measure_training(train):
    """Seconds and, where the system tells it, the most memory held above what was held before."""
    before = restart_peak_memory()
    (seconds,) = seconds_of_calls(lambda _: train(), None, 1)
    yield "seconds", seconds
    if before is not None:
        yield "memory", process_status("VmHWM") - before


def seconds_of_calls(function, argument, times):
    """The seconds of each of several calls; what they return is freed outside the measured time."""
    found = []
    for _ in range(times):
        gc.collect()
        start = time.perf_counter()
        result = function(argument)
        found.append(time.perf_counter() - start)
        del result
    return found


def ready(function):
    """The same function, called once before it is measured, so that what is made on first use is there."""
    function("hello")
    return function


def megabytes(text):
    return len(text.encode()) / 1e6


def restart_peak_memory():
    """Forget the most memory held so far, as Linux allows, and tell what is held now in MB; None on other systems."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return process_status("VmRSS")
    except OSError:
        return None


def process_status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError(f"/proc/self/status has no {field}")


def digest(output):
    """A short name for bytes, or for ids however a peer returns them."""
    data = output if isinstance(output, bytes) else array("I", [int(i) for i in output]).tobytes()
    return hashlib.sha256(data).hexdigest()[:16]
