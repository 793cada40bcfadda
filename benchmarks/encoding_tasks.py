"""Measures encoders: one class for each kind of work, with the figures that it gives.

A task runs in a process of its own, with one peer. measure() yields (figure, value): its figures as they come, and
digests of what the measured calls returned, whose keys begin with "output of". Two tasks that use one key have to
return the same.
"""

import statistics
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from multiprocessing import get_context

import corpora
from encoders import FLAT, NUMPY
from measuring import (
    PATIENCE,
    REPEATED_PASSES,
    Figure,
    digest,
    fastest,
    megabytes,
    resident_memory,
    seconds_of_a_call,
    timed,
)

SENTENCE = "The quick brown fox jumps over the lazy dog, and then it's off to see the 1984 wizard now."
SHORT = 4000  # characters
ROUNDS_AT_ONCE = 15
PASSES_AT_ONCE = 4  # for a short pass, so that handing over the work takes next to none of the time
LONG_ENOUGH = 0.2  # seconds: a pass of more is long enough alone
PIECE_SIZES = {10**5: "100 KB", 10**7: "10 MB"}
PIECES_PER_SIZE = 4
LOADED_SAMPLE = 20_000  # characters, by which encoders that loaded are compared


class EncoderTask:
    """What every task says: which corpora it needs, how many cores it may use, and which peers can do it."""

    corpora: tuple[str, ...] = ()
    cores = 1
    needs = None

    def offered_by(self, peer):
        return self.needs is None or self.needs in peer.offers


class EncodeCorpus(EncoderTask):
    """One long text, to a list or to a numpy array."""

    def __init__(self, corpus, form):
        self.name = f"{corpus}_{form}"
        self.corpora = (corpus,)
        self.form = form
        self.needs = NUMPY if form == NUMPY else None
        title = f"{corpus.capitalize()} to {'a list' if form == 'list' else form}"
        self.figures = {
            "first": Figure(f"{title}, first pass", "MB/s"),
            "repeated": Figure(f"{title}, repeated", "MB/s"),
        }

    def measure(self, peer, materials):
        (corpus,) = self.corpora
        text = materials.text(corpus)
        encoder = peer.load(materials)
        encode = warmed(encoder.to_numpy if self.form == NUMPY else encoder.to_list)
        seconds, ids = timed(encode, text)
        yield "first", megabytes(text) / seconds
        yield f"output of encoding {corpus}", digest(ids)
        del ids
        yield "repeated", megabytes(text) / fastest(encode, [text] * REPEATED_PASSES)


class EncodeDocuments(EncoderTask):
    """The corpus in documents of some 8 KB: a call for each that makes a list, or one call that makes a flat array."""

    def __init__(self, form):
        self.name = f"documents_{form}"
        self.corpora = ("english",)
        self.form = form
        self.needs = FLAT if form == FLAT else None
        title = f"English in 8 KB texts, {'a list for each' if form == 'list' else 'one flat batch'}"
        self.figures = {
            "first": Figure(f"{title}, first pass", "MB/s"),
            "repeated": Figure(f"{title}, repeated", "MB/s"),
        }

    def measure(self, peer, materials):
        text = materials.text("english")
        documents = corpora.documents(text)
        encoder = peer.load(materials)
        encode = encoder.to_flat if self.form == FLAT else lambda texts: [encoder.to_list(text) for text in texts]
        encode(["hello"])
        seconds, batch = timed(encode, documents)
        yield "first", megabytes(text) / seconds
        yield "output of encoding documents", self.digest(encoder, batch)
        del batch
        yield "repeated", megabytes(text) / fastest(encode, [documents] * REPEATED_PASSES)

    def digest(self, encoder, batch):
        if self.form == "list":
            return digest([len(ids) for ids in batch], *batch)
        ids, offsets = encoder.flat_parts(batch)
        return digest([int(end - start) for start, end in pairwise(offsets)], ids)


class ShortCalls(EncoderTask):
    """The time of one call, for texts so short that the call itself is much of it."""

    name = "short"
    corpora = ("english",)

    def __init__(self):
        self.figures = {
            "hello": Figure('"hello world" to a list', "ns"),
            "sentence": Figure(f"a sentence of {len(SENTENCE)} characters to a list", "ns"),
            "text": Figure("a text of 4 KB to a list, again and again", "µs"),
            "decode": Figure("decode a text of 4 KB, again and again", "µs"),
        }

    def measure(self, peer, materials):
        encoder = peer.load(materials)
        text = materials.text("english")[:SHORT]
        ids = list(encoder.to_list(text))
        yield "hello", seconds_of_a_call(encoder.to_list, "hello world") * 1e9
        yield "sentence", seconds_of_a_call(encoder.to_list, SENTENCE) * 1e9
        yield "text", seconds_of_a_call(encoder.to_list, text) * 1e6
        yield "decode", seconds_of_a_call(encoder.decode, ids) * 1e6
        outputs = [encoder.to_list("hello world"), encoder.to_list(SENTENCE), ids, encoder.decode(ids)]
        yield "output of short calls", digest(*outputs)


class Decode(EncoderTask):
    name = "decode"
    corpora = ("english",)

    def __init__(self):
        self.figures = {"speed": Figure("decode a list to str, the whole of English", "MB/s")}

    def measure(self, peer, materials):
        text = materials.text("english")
        encoder = peer.load(materials)
        ids = list(encoder.to_list(text))
        seconds, decoded = timed(encoder.decode, ids)
        yield "output of decoding english", digest(decoded)
        del decoded
        yield "speed", megabytes(text) / min(seconds, fastest(encoder.decode, [ids] * REPEATED_PASSES))


class Load(EncoderTask):
    """From before the import to the first tokens, in a process that has imported none of it."""

    name = "load"
    corpora = ("multilingual",)

    def __init__(self):
        self.figures = {
            "seconds": Figure("import and load", "ms"),
            "memory": Figure("import and load, memory held", "MB"),
        }

    def measure(self, peer, materials):
        before = resident_memory()
        start = time.perf_counter()
        encoder = peer.load(materials)
        encoder.to_list("hello world")
        yield "seconds", (time.perf_counter() - start) * 1e3
        if before is not None:
            yield "memory", resident_memory() - before
        yield "output once loaded", digest(encoder.to_list(materials.text("multilingual")[:LOADED_SAMPLE]))


class EncodePiece(EncoderTask):
    """Pieces that the pattern does not divide."""

    def __init__(self, kind):
        self.kind = kind
        self.name = f"piece_{kind}"
        self.figures = {
            str(size): Figure(f"one piece of {corpora.PIECES[kind]}, {shown}", "ms")
            for size, shown in PIECE_SIZES.items()
        }

    def measure(self, peer, materials):
        encode = warmed(peer.load(materials).to_list)
        for size in PIECE_SIZES:
            first, *others = corpora.unbroken_pieces(self.kind, size, PIECES_PER_SIZE)
            seconds, ids = timed(encode, first)
            yield str(size), seconds * 1e3  # counts if the peer is too slow for more
            yield f"output of a piece of {size} {self.kind}", digest(ids)
            del ids
            yield str(size), min(seconds, fastest(encode, others)) * 1e3


class TwoThreads(EncoderTask):
    """Two halves of a text, one after the other and at once: by threads with the same encoder, and by processes.

    Processes share nothing, so they gain what the machine can give. (Two processors of a virtual machine may be one
    core, or wait for memory together.) Threads and processes take turns, so that other work falls on both alike; the
    figures are medians over the rounds. A peer with threads of its own may use both cores for one half; its ratios then
    say nothing.
    """

    name = "threads"
    corpora = ("english",)
    cores = 2
    needs = NUMPY

    def __init__(self):
        self.figures = {
            "one": Figure("two halves of English, one after the other", "MB/s"),
            "two": Figure("two halves of English, in two threads at once", "MB/s"),
            "gain": Figure("two threads against one", "times"),
            "processes": Figure("two processes against one", "times"),
        }

    def measure(self, peer, materials):
        halves = halves_of_english(materials)
        encode = peer.load(materials).to_numpy
        yield "output of two halves", digest(*map(encode, halves))
        passes = 1 if timed(encode, halves[0])[0] > LONG_ENOUGH else PASSES_AT_ONCE
        own = [ProcessPoolExecutor(1, get_context("spawn")) for _ in halves]
        with ThreadPoolExecutor(2) as threads, own[0], own[1]:
            by_threads = [partial(threads.submit, encode_again, encode, half, passes) for half in halves]
            by_processes = [partial(own[i].submit, encode_half, type(peer), materials, i, passes) for i in range(2)]
            for start in by_threads + by_processes:
                start().result()
            seconds = []
            stop = time.monotonic() + PATIENCE
            while len(seconds) < ROUNDS_AT_ONCE and (not seconds or time.monotonic() < stop):
                seconds.append(gain_at_once(by_threads) + gain_at_once(by_processes))
        one, two, gain, _, _, processes = map(statistics.median, zip(*seconds, strict=True))
        yield "one", passes * megabytes("".join(halves)) / one
        yield "two", passes * megabytes("".join(halves)) / two
        yield "gain", gain
        yield "processes", processes


def halves_of_english(materials):
    text = materials.text("english")
    half = text.find("\n", len(text) // 2) + 1
    return text[:half], text[half:]


def encode_again(encode, text, passes):
    for _ in range(passes):
        encode(text)


@cache
def half_and_encode(peer, materials, number):
    """The text of a half and the call that encodes it, for a process of its own, which keeps them."""
    return halves_of_english(materials)[number], peer().load(materials).to_numpy


def encode_half(peer, materials, number, passes):
    half, encode = half_and_encode(peer, materials, number)
    encode_again(encode, half, passes)


def gain_at_once(starts):
    """Each of the starts makes a future. The seconds of one after the other, of all at once, and their ratio."""
    one, _ = timed(lambda starts: [start().result() for start in starts], starts)
    two, _ = timed(lambda starts: [future.result() for future in [start() for start in starts]], starts)
    return one, two, one / two


def warmed(function):
    """The same function, after a first call that makes what it makes on first use."""
    function("hello")
    return function


TASKS = [
    *(EncodeCorpus(corpus, NUMPY) for corpus in corpora.CORPORA),
    EncodeCorpus("english", "list"),
    EncodeDocuments("list"),
    EncodeDocuments(FLAT),
    ShortCalls(),
    Decode(),
    Load(),
    *(EncodePiece(kind) for kind in corpora.PIECES),
    TwoThreads(),
]
