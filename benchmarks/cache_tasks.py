"""Measures the caches of pieces: more threads than cores, several sizes, and text that never comes twice."""

import os
import random
import re
import time
from functools import partial

import corpora
from measuring import Figure, megabytes, timed

CORPORA = ("english", "code", "multilingual")
DOCUMENT_SIZE = 4096  # characters
ROUNDS = 5
CACHES = {"64 MB": 64 << 20, "4 MB": 4 << 20, "1 MB": 1 << 20}
CROWDS = (2, 64)  # threads
PASSES = ("first", "repeated")
PARTS = 10  # of an endless text
NEW_WORDS = 100_000  # made at a time


class CacheTask:
    """What cbpe does with one corpus, in one process."""

    def offered_by(self, peer):
        return peer.package == "cbpe"

    def encoding(self, materials, cache_bytes=CACHES["64 MB"]):
        """A new one, which has seen a few words."""
        import cbpe

        encoding = cbpe.get_encoding(materials.encoding, cache_bytes=cache_bytes)
        encoding.encode_to_numpy("hello world")
        return encoding


class Crowd(CacheTask):
    """Flat batches of 4 KB texts by two threads and by many, in turns, each with encodings of its own."""

    cores = os.cpu_count() or 1

    def __init__(self, corpus):
        self.corpus = corpus
        self.corpora = (corpus,)
        self.name = f"crowd_{corpus}"
        self.figures = {
            f"{kind} {threads}": Figure(f"{corpus}, {threads} threads, {kind} pass", "MB/s")
            for kind in PASSES
            for threads in CROWDS
        }

    def measure(self, peer, materials):
        text = materials.text(self.corpus)
        documents = corpora.documents(text, DOCUMENT_SIZE)
        fewest = dict.fromkeys(self.figures, float("inf"))
        for _ in range(ROUNDS):
            for threads in CROWDS:
                encode = partial(self.encoding(materials).encode_batch_flat, num_threads=threads)
                for kind in (PASSES[0], *PASSES[1:] * 3):
                    seconds, _ = timed(encode, documents)
                    fewest[f"{kind} {threads}"] = min(fewest[f"{kind} {threads}"], seconds)
        for figure, seconds in fewest.items():
            yield figure, megabytes(text) / seconds


class Sizes(CacheTask):
    """One thread that encodes again what it has met, with caches of several sizes in turns."""

    cores = 1

    def __init__(self, corpus):
        self.corpus = corpus
        self.corpora = (corpus,)
        self.name = f"cache_{corpus}"
        self.figures = {size: Figure(f"{corpus} again, a cache of {size}", "MB/s") for size in CACHES}

    def measure(self, peer, materials):
        text = materials.text(self.corpus)
        encodings = {size: self.encoding(materials, number) for size, number in CACHES.items()}
        fewest = dict.fromkeys(CACHES, float("inf"))
        for encoding in encodings.values():
            encoding.encode_to_numpy(text)
        for _ in range(ROUNDS):
            for size, encoding in encodings.items():
                before = time.process_time()
                encoding.encode_to_numpy(text)
                fewest[size] = min(fewest[size], time.process_time() - before)
        for size, seconds in fewest.items():
            yield size, megabytes(text) / seconds


class Endless(CacheTask):
    """Texts of 8 KB, half of whose words are made of the halves of two words and were hardly ever met."""

    cores = 1
    corpora = ("english",)

    def __init__(self, size):
        self.size = size
        self.name = f"endless_{size}"
        self.figures = {
            part: Figure(f"{size:,} bytes of new words, {part} tenth", "MB/s") for part in ("second", "last")
        }

    def measure(self, peer, materials):
        encoding = self.encoding(materials)
        words = re.findall("[A-Za-z]+", materials.text("english"))
        distinct = sorted(set(words))
        halves = [word[: len(word) // 2] for word in distinct], [word[len(word) // 2 :] for word in distinct]
        rng = random.Random(1)
        speeds, done, seconds = [], 0, 0.0
        while len(speeds) < PARTS:
            new = map("".join, zip(*(rng.choices(half, k=NEW_WORDS) for half in halves), strict=True))
            text = " ".join(word for pair in zip(new, rng.choices(words, k=NEW_WORDS), strict=True) for word in pair)
            for start in range(0, len(text), corpora.DOCUMENT_SIZE):
                document = text[start : start + corpora.DOCUMENT_SIZE]
                before = time.process_time()
                encoding.encode_to_numpy(document)
                seconds += time.process_time() - before
            done += len(text)
            if done >= self.size / PARTS:
                speeds.append(done / seconds / 1e6)
                done, seconds = 0, 0.0
        yield "second", speeds[1]
        yield "last", speeds[-1]


TASKS = [
    *(Crowd(corpus) for corpus in CORPORA),
    *(Sizes(corpus) for corpus in CORPORA),
    *(Endless(size) for size in (10**8, 2 * 10**9)),
]
