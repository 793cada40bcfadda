"""Measures how cbpe's time and memory grow: with the length of a text, and with the number of threads."""

import os
from functools import partial

import corpora
from measuring import (
    PATIENCE,
    REPEATED_PASSES,
    Figure,
    fastest,
    megabytes,
    peak_memory,
    restart_peak_memory,
    seconds_of_a_call,
    timed,
)

SIZES = tuple(10**power for power in range(3, 9))  # bytes
WORKS = {"numpy": "encode to numpy", "list": "encode to a list", "count": "count", "decode": "decode a list"}
TEXT = "text"
KINDS = {TEXT: "English", "a": corpora.PIECES["a"], "letters": corpora.PIECES["letters"], "cjk": corpora.PIECES["cjk"]}
SHORT = 10**5  # bytes: a call with a text of at most so many is measured in a series


class Grow:
    """One work on one text: English, as often as it takes, or a piece that no pattern divides."""

    cores = 1

    def __init__(self, kind, work, size):
        self.kind = kind
        self.work = work
        self.size = size
        self.name = f"{kind}_{work}_{size}"
        self.corpora = ("english",) if kind == TEXT else ()
        self.figures = {
            "seconds": Figure(f"{WORKS[work]}: {KINDS[kind]}, {size:,} bytes", "s"),
            "memory": Figure(f"{WORKS[work]}: {KINDS[kind]}, {size:,} bytes, peak memory", "MB"),
        }

    def offered_by(self, peer):
        return peer.package == "cbpe"

    def measure(self, peer, materials):
        import cbpe

        encoding = cbpe.get_encoding(materials.encoding)
        call = {
            "numpy": encoding.encode_to_numpy,
            "list": encoding.encode_ordinary,
            "count": encoding.count,
            "decode": encoding.decode,
        }[self.work]
        text, short = self.text(materials), "hello"
        decodes = self.work == "decode"
        argument = encoding.encode_ordinary(text) if decodes else text
        call(encoding.encode_ordinary(short) if decodes else short)
        del text
        before = restart_peak_memory()
        seconds, result = timed(call, argument)
        del result
        if before is not None:
            yield "memory", max(0.0, peak_memory() - before)
        if self.size <= SHORT:
            seconds = seconds_of_a_call(call, argument)
        elif seconds < PATIENCE:
            seconds = min(seconds, fastest(call, [argument] * REPEATED_PASSES))
        yield "seconds", seconds

    def text(self, materials):
        if self.kind != TEXT:
            (piece,) = corpora.unbroken_pieces(self.kind, self.size, 1)
            return piece
        corpus = materials.text("english").encode()
        return (corpus * (self.size // len(corpus) + 1))[: self.size].decode(errors="ignore")


class Batch:
    """The native batches of 8 KB documents, with a number of threads: to lists, whose objects one thread
    at a time can make, and to one flat array."""

    corpora = ("english",)
    cores = os.cpu_count() or 1

    def __init__(self, threads):
        self.threads = threads
        self.name = f"threads_{threads}"
        self.figures = {
            "lists": Figure(f"encode_batch, {threads} at once", "MB/s"),
            "flat": Figure(f"encode_batch_flat, {threads} at once", "MB/s"),
        }

    def offered_by(self, peer):
        return peer.package == "cbpe"

    def measure(self, peer, materials):
        import cbpe

        text = materials.text("english")
        documents = corpora.documents(text)
        encoding = cbpe.get_encoding(materials.encoding)
        for figure, batch in (("lists", encoding.encode_batch), ("flat", encoding.encode_batch_flat)):
            encode = partial(batch, num_threads=self.threads)
            yield figure, megabytes(text) / fastest(encode, [documents] * (1 + REPEATED_PASSES))


TASKS = [
    *(Grow(kind, work, size) for kind in KINDS for work in WORKS for size in SIZES),
    *(Batch(threads) for threads in range(1, Batch.cores + 3)),
]
