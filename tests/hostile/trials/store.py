"""Whatever happens to the process, the file, the disk or the lock of a store in SQLite: what was acknowledged is there,
what was not is there whole or not at all, and what is loaded is what was saved."""

import os
import random
import resource
import signal
import sqlite3
import tempfile
import threading
from functools import cache
from pathlib import Path

import store_processes
from damage import damaged, damages
from hypothesis import strategies as st
from small_models import small_tokenizer

from cbpe.tokenizers.description import describe
from store import Busy, Failed, ModelStore, StoreError

ALONE = True
SECONDS = 60
# Only processes die here, not the machine: what they wrote is there, and no case waits for a disk.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

damage = st.fixed_dictionaries({"way": st.just("damage"), "damage": damages, "of": st.integers(0, 2)})
cases = (
    damage
    | damage
    | st.fixed_dictionaries({"way": st.just("kill"), "seed": st.integers(0, 2**32 - 1), "n": st.integers(1, 3)})
    | st.fixed_dictionaries({"way": st.just("full"), "room": st.integers(0, 400_000), "n_merges": st.integers(1, 3000)})
    | st.fixed_dictionaries({"way": st.just("lock"), "held": st.integers(0, 300), "timeout": st.integers(0, 300)})
)


def check(case):
    with tempfile.TemporaryDirectory(prefix="cbpe_hostile_", dir=IN_MEMORY) as folder:
        globals()[f"check_{case['way']}"](Path(folder) / "models.db", case)


def digest_of(number, n_merges=4):
    return describe(small_tokenizer(number, n_merges)).digest


def listing(models):
    return sorted((version.reference, version.digest, tuple(version.aliases)) for version in models.versions())


# ---- A damaged file

SAVED = {"a@1": (1, 4), "a@2": (2, 300), "b@1": (3, 1500)}


@cache
def whole():
    """The bytes of a store with some versions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "models.db"
        with ModelStore(path) as models:
            for reference, made in SAVED.items():
                models.save(
                    small_tokenizer(*made), reference[0], tags={"k": "v"}, aliases=(f"of {reference[0]}",), notes="n"
                )
        return path.read_bytes()


whole()  # now, and not in the process of each case


def check_damage(path, case):
    """An error of the store's, or the version that was saved."""
    path.write_bytes(damaged(whole(), case["damage"]))
    reference = sorted(SAVED)[case["of"]]
    try:
        with ModelStore(path) as models:
            problems = models.verify().problems
            loaded = describe(models.load(reference)).digest
    except StoreError:
        return
    assert loaded == digest_of(*SAVED[reference]), (reference, problems)


# ---- A process that is killed


def check_kill(path, case):
    ModelStore(path).close()
    generator = random.Random(case["seed"])
    for number in range(1, case["n"] + 1):
        child, reading = store_processes.forked(save_for_ever, path, number)
        lines = store_processes.watched(child, reading, generator, 0.05)  # seconds: some saves
        acknowledged = [line[1:] for line in lines if line[0] == "saved"]
        with ModelStore(path) as models:
            assert models.verify().problems == ()
            versions = models.versions(f"round {number}", order="number") if acknowledged or lines else []
            kept = [[version.number, version.digest] for version in versions]
            assert kept[: len(acknowledged)] == acknowledged
            assert len(kept) <= len(acknowledged) + 1
            for version in versions:
                assert describe(models.load(version)).digest == version.digest
            if kept:
                assert models.version(f"round {number}@newest").number == len(kept)


def save_for_ever(pipe, path, number):
    with ModelStore(path) as models:
        for i in range(1000):
            store_processes.report(pipe, ["saves"])
            tok = small_tokenizer(number * 1000 + i)
            version = models.save(tok, f"round {number}", tags={"i": str(i)}, aliases=("newest",))
            store_processes.report(pipe, ["saved", version.number, version.digest])
        signal.pause()


# ---- A full disk


def check_full(path, case):
    """No file may grow beyond a limit, which is all that the store sees of a full disk."""
    with ModelStore(path) as models:
        models.save(small_tokenizer(1), "a", aliases=("prod",))
        before = listing(models)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    saved = None
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + case["room"], most))
    try:
        with ModelStore(path) as models:
            saved = models.save(small_tokenizer(2, case["n_merges"]), "a", aliases=("prod", "large"))
    except StoreError:
        pass
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    with ModelStore(path) as models:
        assert models.verify().problems == ()
        if saved is None:
            assert listing(models) == before
        else:
            assert describe(models.load("a@large")).digest == saved.digest == digest_of(2, case["n_merges"])


# ---- A lock


def check_lock(path, case):
    """Another program holds the lock for a time."""
    with ModelStore(path) as models:
        models.save(small_tokenizer(1), "a")
        before = listing(models)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(case["held"] / 1000, lambda: other.execute("ROLLBACK"))
    timer.start()
    saved = None
    try:
        with ModelStore(path, timeout=case["timeout"] / 1000) as models:
            assert describe(models.load("a")).digest == digest_of(1)  # reading waits for nobody
            saved = models.save(small_tokenizer(2), "a")
    except (Busy, Failed):
        pass
    timer.join()
    other.close()
    with ModelStore(path) as models:
        assert models.verify().problems == ()
        if saved is None:
            assert listing(models) == before
        else:
            assert describe(models.load("a@2")).digest == saved.digest == digest_of(2)
