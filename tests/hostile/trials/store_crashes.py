"""Whatever happens to a server of PostgreSQL that a store is in, when it is killed or finds no more room for its files:
what was acknowledged is there, what was not is there whole or not at all, and the store goes on."""

import contextlib
import os
import random
import threading
import time

from hypothesis import strategies as st
from small_models import small_tokenizer
from store_backends import EMPTY_FILES, NoServerError, Server, make_store

from cbpe.tokenizers.description import describe
from hostile.runner import CannotTry
from store import ModelStore, StoreError

ALONE = True
SECONDS = 120
# The server of all cases, which runs while one does, and the name of the database of the one store.
PLACE = []
# What the server acknowledges, it has handed to the system; the machine itself goes on.
LASTING = {"synchronous_commit": "on", "full_page_writes": "on"}

cases = st.fixed_dictionaries(
    {
        "way": st.just("kill"),
        "seed": st.integers(0, 2**32 - 1),
        "n": st.integers(1, 3),
        "n_threads": st.integers(1, 4),
    }
) | st.fixed_dictionaries(
    {
        "way": st.just("full"),
        "largest": st.integers(100_000, 3_000_000),  # bytes of a file: the server's log takes 1 MB
        "size": st.integers(0, 200_000),  # of the notes to each version
        "kill": st.booleans(),
    }
)


@contextlib.contextmanager
def resources():
    """A server with a store, which runs in each case alone."""
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        raise CannotTry("the system does not tell the children of a process in /proc")
    try:
        server = Server(**LASTING)
    except NoServerError as why:
        raise CannotTry(str(why)) from why
    try:
        PLACE[:] = [server, server.new_database()]
        make_store(server.url(PLACE[1]))
        server.end()
        yield
    finally:
        server.stop()


def check(case):
    server, database = PLACE
    server.start()
    try:
        with server.connection(database) as connection:
            connection.execute(EMPTY_FILES)
        globals()[f"check_{case['way']}"](server, database, case)
    finally:
        server.end()


def check_all(models, tried, told):
    """All that was told is there, of what was tried nothing is there twice, and all that is there is whole."""
    assert models.verify().problems == ()
    versions = models.versions("a", order="number") if told or models.names() else []
    assert [version.number for version in versions] == list(range(1, len(versions) + 1))
    digests = [version.digest for version in versions]
    right = {describe(small_tokenizer(number)).digest for number in tried}
    assert len(set(digests)) == len(digests)
    assert set(digests) <= right
    for number, version in told.items():
        found = models.version(version.reference)
        assert found.digest == version.digest == describe(small_tokenizer(number)).digest
    for version in versions:
        assert describe(models.load(version)).digest == version.digest
    if versions:
        assert models.version("a@newest").number == len(versions)


# ---- A server that is killed


def check_kill(server, database, case):
    generator = random.Random(case["seed"])
    tried, told = [], {}
    for around in range(case["n"]):
        url, is_over = server.url(database), threading.Event()

        def save(first, url=url, is_over=is_over):
            with contextlib.suppress(StoreError), ModelStore(url, timeout=1) as models:
                for number in range(first, first + 1000):
                    if is_over.is_set():
                        return
                    tried.append(number)
                    told[number] = models.save(small_tokenizer(number), "a", tags={"k": "v"}, aliases=("newest",))

        numbers = [10_000 * around + 1000 * i for i in range(case["n_threads"])]
        threads = [threading.Thread(target=save, args=(first,)) for first in numbers]
        for thread in threads:
            thread.start()
        time.sleep(generator.uniform(0, 0.3))  # seconds: opening, and some saves
        server.kill()
        is_over.set()
        for thread in threads:
            thread.join()
        server.start()
        with ModelStore(server.url(database)) as models:
            check_all(models, tried, told)


# ---- A server without room


def check_full(server, database, case):
    """No file may grow beyond a limit, which is all that the server sees of a full disk. Where the limit is below the
    size of the server's own log, that ends all of its processes."""
    generator = random.Random(case["largest"])
    tried, told = [], {}

    def save(number, models):
        tried.append(number)
        notes = "".join(generator.choices("0123456789abcdefghijklmnopqrstuvwxyz ,.-", k=case["size"]))
        told[number] = models.save(small_tokenizer(number), "a", aliases=("newest",), notes=notes.strip() or None)

    with ModelStore(server.url(database)) as models:
        save(0, models)
    server.end()
    with contextlib.suppress(StoreError, NoServerError):  # it may not even start
        server.start(largest_file=case["largest"])
        with ModelStore(server.url(database), timeout=1) as models:
            for number in range(1, 60):
                save(number, models)
    server.kill() if case["kill"] else server.end()
    server.start()
    with ModelStore(server.url(database)) as models:
        check_all(models, tried, told)
        save(1000, models)
        check_all(models, tried, told)
