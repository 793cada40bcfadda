"""A damaged file of any format gives what it holds or a ValueError of a line, in little time and memory."""

import contextlib
import gzip
import hashlib
import io
import json
import lzma
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from damage import damaged, damages
from good_files import good_files
from hostile_files import checksummed, file_of
from hypothesis import strategies as st
from small_models import small_tokenizer
from worst_files import forget_peak, memory

import cbpe
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.corpus.sources import Reader
from cbpe.formats.files import format_of_name
from cbpe.tokenizers.description import describe
from store import ModelStore

ALONE = True
SECONDS = 30
# Of one second and 100 MB for each MB: machines are slow and busy, and what is quadratic takes many times as much.
MOST_SECONDS = 5
MOST_BYTES = 100 << 20
LONGEST_MESSAGE = 1500

TEXT = "Line one\r\nline two \u4e2d\u6587 \U0001f609\n" * 3
ROWS = "".join(json.dumps({"text": line, "n": 1}) + "\n" for line in [TEXT, "a b", ""]).encode()


def zstd(data):
    if sys.version_info >= (3, 14):
        from compression.zstd import compress
    else:
        from backports.zstd import compress
    return compress(data)


def parquet():
    written = io.BytesIO()
    pq.write_table(pa.table({"text": [TEXT, "a b", ""] * 20}), written)
    return written.getvalue()


def word_counts():
    with tempfile.TemporaryDirectory() as folder:
        cbpe.count_words(TEXT, workers=1).save(Path(folder, "counts"))
        return Path(folder, "counts").read_bytes()


CORPORA = {
    "a.txt": TEXT.encode(),
    "a.txt.gz": gzip.compress(TEXT.encode(), mtime=0),
    "a.txt.xz": lzma.compress(TEXT.encode()),
    "a.txt.zst": zstd(TEXT.encode()),
    "a.jsonl": ROWS,
    "a.jsonl.gz": gzip.compress(ROWS, mtime=0),
    "a.parquet": parquet(),
}
OTHERS = {
    "word counts": word_counts(),
    "counts.words": word_counts(),
    "counts.tsv": b"the\t3\n cat\t2\r\na\tb\t9223372036854775807\n",
    "a version of a store": file_of(),
    "a packed vocabulary": describe(small_tokenizer(1, 20)).vocabulary,
}
MODELS = good_files()
SEALS = {  # what a hostile writer puts right again
    "word counts": lambda data: data[:-32] + hashlib.sha256(data[:-32]).digest(),
    "counts.words": lambda data: data[:-32] + hashlib.sha256(data[:-32]).digest(),
    "a version of a store": lambda data: data[:-32] + hashlib.sha256(data[:-32]).digest(),
    "a packed vocabulary": lambda data: checksummed(data) if len(data) > 40 else data,
}
cases = st.fixed_dictionaries(
    {"kind": st.sampled_from([*MODELS, *CORPORA, *OTHERS]), "damage": damages, "sealed": st.booleans()}
)


def check(case):
    kind, damage = case["kind"], case["damage"]
    with tempfile.TemporaryDirectory(prefix="cbpe_hostile_") as folder:
        path, work = prepared(Path(folder), kind, lambda data: resealed(kind, damaged(data, damage), case["sealed"]))
        size = path.stat().st_size
        forget_peak()
        before, start = memory("VmRSS"), time.process_time()
        message = None
        try:
            work()
        except ValueError as error:
            message = str(error)
        seconds, taken = time.process_time() - start, memory("VmHWM") - before
    assert message is None or 0 < len(message) < LONGEST_MESSAGE, f"a message of {len(message)} characters"
    megabytes = 1 + size / 1e6
    assert seconds < MOST_SECONDS * megabytes, f"{seconds:.1f} seconds for {size} bytes"
    assert taken < MOST_BYTES * megabytes, f"{taken} bytes of memory for {size} bytes"


def resealed(kind, data, sealed):
    return SEALS[kind](data) if sealed and kind in SEALS else data


def prepared(folder, kind, change):
    """Write the files of a kind, the first of them changed -> its path, and a function that reads it."""
    files = MODELS.get(kind) or {kind: CORPORA.get(kind) or OTHERS[kind]}
    for number, (name, data) in enumerate(files.items()):
        (folder / name).write_bytes(data if number else change(data))
    path = folder / next(iter(files))
    if kind in MODELS:
        return path, lambda: use(load(path))
    if kind in CORPORA:
        return path, lambda: read(path)
    if kind == "word counts":
        return path, lambda: list(cbpe.WordCounts.load(path))
    if kind.startswith("counts."):
        return path, lambda: add_up(path)
    if kind == "a packed vocabulary":
        return path, lambda: Vocabulary.unpack(path.read_bytes()).tokens()
    return path, lambda: import_(path)


def load(path):
    known = format_of_name(path.name)  # None where a format is only read
    return cbpe.load(path, **({} if known is None or known.is_complete else {"pattern": r"\S+|\s+"}))


def use(tok):
    """Whatever was loaded gives the bytes back that it takes, unless it lacks some."""
    for text in ("the cat", "a\n\u4e2d\ud800", ""):
        with contextlib.suppress(KeyError):  # of bytes that have no token
            tok.decode(tok.encode(text, allowed_special="all"))


def read(path):
    for text in Reader(path, **({} if ".txt" in path.name else {"field": "text"})).texts():
        if not isinstance(text, bytes):
            for _ in text:
                pass


def add_up(path):
    """What counting writes of counts can be loaded."""
    out = path.with_name("out.words")
    with contextlib.suppress(OverflowError):  # of occurrences
        cbpe.count_corpus(path, out, counts=path.suffix == ".tsv", workers=1)
        cbpe.WordCounts.load(out)


def import_(path):
    with ModelStore(":memory:") as models:
        version = models.import_(path)
        use(models.load(version))
        assert models.verify().problems == ()
