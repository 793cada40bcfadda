"""Whatever happens to the processes, sessions, locks and rows of a store in PostgreSQL: what was acknowledged is there,
what was not is there whole or not at all, and what is loaded is what was saved."""

import contextlib
import random
import signal
import threading
import time

import store_processes
from hypothesis import strategies as st
from small_models import small_tokenizer
from sqlalchemy import create_engine
from store_backends import EMPTY_FILES, END_OTHERS, NoServerError, Server
from unchecked import unchecked

from cbpe.tokenizers.description import describe
from hostile.runner import CannotTry
from store import Busy, ModelStore, StoreError
from store.database.opening import LOCK_OF_UPGRADES

ALONE = True
SECONDS = 60
URL = []  # of the one store that all cases use, one after the other
AT_WORK = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
LOCKS = [
    "SELECT 1 FROM names FOR UPDATE",
    "LOCK TABLE versions IN EXCLUSIVE MODE",
    "LOCK TABLE audit_log IN SHARE MODE",
    f"SELECT pg_advisory_xact_lock({LOCK_OF_UPGRADES})",
]
# What leads to a version, and what it is built from.
LEADING = {
    "names": ("id", "name", "last_number", "newest", "seal"),
    "aliases": ("name_id", "alias", "version_id", "seal"),
    "versions": ("name_id", "number", "digest", "content", "vocabulary_id", "kind", "encoding_name", "seal"),
    "vocabularies": ("digest", "packed"),
}
COLUMNS = [(table, column) for table, columns in LEADING.items() for column in columns]
# What is written: mostly what stands in another row, also in exchange for it; or what no row may have.
OTHERS, EXCHANGE = "that of another row", "an exchange with another row"
VALUES = [
    *["NULL", "0", "1", "2", "3", "7", "-1", "2147483647"],
    *["''", "'x'", "'a'", "'b'", "'{}'", f"'{'0' * 64}'", "'\\x00ff'"],
]

seeds = st.integers(0, 2**32 - 1)
changes = st.tuples(
    st.sampled_from(COLUMNS),
    st.just(OTHERS) | st.just(EXCHANGE) | st.sampled_from(VALUES),
    st.integers(0, 2),
    st.integers(1, 2),
)
rows = st.fixed_dictionaries({"way": st.just("rows"), "changes": st.lists(changes, min_size=20, max_size=100)})
cases = (
    st.fixed_dictionaries({"way": st.just("kill"), "seed": seeds, "n": st.integers(1, 2)})
    | st.fixed_dictionaries(
        {
            "way": st.just("lock"),
            "lock": st.integers(0, len(LOCKS) - 1),
            "held": st.integers(0, 300),
            "timeout": st.integers(0, 300),
        }
    )
    | st.fixed_dictionaries({"way": st.just("cut"), "seed": seeds, "n_cuts": st.integers(1, 6)})
    | st.fixed_dictionaries({"way": st.just("together"), "n_threads": st.integers(2, 64), "n_names": st.integers(1, 4)})
    | rows
    | rows
)


@contextlib.contextmanager
def resources():
    """A server with a store, for as long as the trial runs."""
    try:
        server = Server()
    except NoServerError as why:
        raise CannotTry(str(why)) from why
    try:
        with server.store() as url:
            URL[:] = [url]
            yield
    finally:
        server.stop()


def check(case):
    engine = create_engine(URL[0], isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(END_OTHERS)
        connection.exec_driver_sql(EMPTY_FILES)
        globals()[f"check_{case['way']}"](connection, case)
    engine.dispose()


def saved(models, number, name="a"):
    return models.save(small_tokenizer(number), name, tags={"k": "v"}, aliases=("prod",), notes="n")


def digest_of(number):
    return describe(small_tokenizer(number)).digest


def check_all(models):
    """All that is there is whole."""
    assert models.verify().problems == ()
    for version in models.versions():
        assert describe(models.load(version)).digest == version.digest


# ---- Processes that are killed


def check_kill(connection, case):
    generator = random.Random(case["seed"])
    for number in range(1, case["n"] + 1):
        child, reading = store_processes.forked(save_for_ever, URL[0], number)
        lines = store_processes.watched(child, reading, generator, 0.05)  # seconds: some saves
        acknowledged = [line[1:] for line in lines if line[0] == "saved"]
        until = time.monotonic() + 30
        while connection.exec_driver_sql(AT_WORK).scalar():  # the server may still do what it was told
            assert time.monotonic() < until, "a session of a killed process does not end"
            time.sleep(0.01)
        with ModelStore(URL[0]) as models:
            check_all(models)
            versions = models.versions(f"round {number}", order="number")
            kept = [[version.number, version.digest] for version in versions]
            assert kept[: len(acknowledged)] == acknowledged
            assert len(kept) <= len(acknowledged) + 1
            if kept:
                assert models.version(f"round {number}@newest").number == len(kept)


def save_for_ever(pipe, url, number):
    with ModelStore(url) as models:
        for i in range(1000):
            store_processes.report(pipe, ["saves"])
            version = models.save(small_tokenizer(number * 1000 + i), f"round {number}", aliases=("newest",))
            store_processes.report(pipe, ["saved", version.number, version.digest])
        signal.pause()


# ---- A lock that another session holds


def check_lock(connection, case):
    with ModelStore(URL[0]) as models:
        saved(models, 1)
    other = create_engine(URL[0]).connect()
    other.exec_driver_sql(LOCKS[case["lock"]])
    timer = threading.Timer(case["held"] / 1000, other.close)
    timer.start()
    version = None
    start = time.monotonic()
    try:
        with ModelStore(URL[0], timeout=case["timeout"] / 1000) as models:
            assert describe(models.load("a")).digest == digest_of(1)  # reading waits for nobody
            version = saved(models, 2)
    except Busy:
        pass
    assert time.monotonic() - start < 10
    timer.join()
    with ModelStore(URL[0]) as models:
        check_all(models)
        assert len(models.versions()) == (1 if version is None else 2)
        if version is not None:
            assert describe(models.load("a@2")).digest == version.digest == digest_of(2)


# ---- Sessions that the server ends


def check_cut(connection, case):
    """While saves go on. Each is told of as done, or raises and was done once at most."""
    generator = random.Random(case["seed"])
    is_over = threading.Event()

    def cut():
        with create_engine(URL[0], isolation_level="AUTOCOMMIT").connect() as own:
            for _ in range(case["n_cuts"]):
                time.sleep(generator.uniform(0, 0.05))
                own.exec_driver_sql(f"{END_OTHERS} AND pid <> {spared}")
        is_over.set()

    spared = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
    thread = threading.Thread(target=cut)
    thread.start()
    told = {}
    number = 0
    with contextlib.suppress(StoreError), ModelStore(URL[0]) as models:
        while not is_over.is_set() or number < 2:
            number += 1
            with contextlib.suppress(StoreError):
                told[number] = models.save(small_tokenizer(number), "a")
    thread.join()
    with ModelStore(URL[0]) as models:
        check_all(models)
        digests = [version.digest for version in models.versions("a", order="number")]
        assert len(set(digests)) == len(digests) <= number  # none was done twice
        for tried, version in told.items():
            assert version.digest == digest_of(tried) == models.version(version.reference).digest


# ---- Many that save at once


def check_together(connection, case):
    made, failures = [], []

    def work(number, models):
        try:
            made.append(models.save(small_tokenizer(number), f"name {number % case['n_names']}"))
        except Exception as error:
            failures.append(error)

    with ModelStore(URL[0]) as models:
        threads = [threading.Thread(target=work, args=(n, models)) for n in range(case["n_threads"])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        check_all(models)
        assert len({version.reference for version in made}) == case["n_threads"] == len(models.versions())


# ---- A row that is not as it was written


def check_rows(connection, case):
    """An error of the store's, or the version that was saved."""
    right = {}
    with ModelStore(URL[0]) as models:
        for number, (name, alias) in enumerate([("a", "old"), ("a", "prod"), ("b", "prod")], 1):
            version = models.save(small_tokenizer(number), name, aliases=(alias,))
            right |= dict.fromkeys([version.reference, name, f"{name}@{alias}"], digest_of(number))
            right[f"sha256:{digest_of(number)}"] = digest_of(number)
    # Rows may be missed where others refer to them.
    connection.exec_driver_sql("SET session_replication_role = replica")
    with unchecked(connection), ModelStore(URL[0], read_only=True) as models:
        for table in LEADING:
            connection.exec_driver_sql(f"CREATE TEMP TABLE kept_{table} AS TABLE {table}")
        for (table, column), value, row, further in case["changes"]:
            try:  # it may be of another type, or stand in two rows
                change(connection, table, column, value, row, further)
            except connection.dialect.dbapi.Error:
                continue
            look(models, right, (table, column, value, row, further))
            put(connection, table, f"kept_{table}")
        assert models.verify().problems == ()


def change(connection, table, column, value, row, further):
    """Put rows in place of those of a table that have another value in one or two of them."""
    kept = f"kept_{table}"
    places = connection.exec_driver_sql(f"SELECT CAST(ctid AS text) FROM {kept} ORDER BY ctid").scalars().all()
    first, second = places[row % len(places)], places[(row + further) % len(places)]
    written = {
        first: f"(SELECT {column} FROM {kept} WHERE ctid = '{second}')" if value in (OTHERS, EXCHANGE) else value
    }
    if value == EXCHANGE:
        written[second] = f"(SELECT {column} FROM {kept} WHERE ctid = '{first}')"
    cases = " ".join(f"WHEN ctid = '{place}' THEN {new}" for place, new in written.items())
    columns = connection.exec_driver_sql(f"SELECT * FROM {kept} LIMIT 0").keys()
    chosen = [f"CASE {cases} ELSE {name} END" if name == column else name for name in columns]
    put(connection, table, f"(SELECT {', '.join(chosen)} FROM {kept}) AS changed")


def put(connection, table, rows):
    """Have a table hold these rows and no others; if it cannot have them, nothing is changed."""
    connection.connection.driver_connection.execute(f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM {rows}")


def look(models, right, changed):
    """No reference leads to another version, whatever was changed."""
    for reference, digest in right.items():
        with contextlib.suppress(StoreError):
            assert describe(models.load(reference)).digest == digest, (*changed, reference)
