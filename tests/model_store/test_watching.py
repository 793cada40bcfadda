"""Watching: every move of an alias or a newest version is told, whoever moves it, and whatever happens meanwhile."""

import os
import shutil
import subprocess
import sys
import threading
import time

import pytest
from sqlalchemy import create_engine, make_url, text

import cbpe
from store import CannotOpen, Closed, ModelStore
from store.sharing import watching

pytestmark = pytest.mark.ci

TOKS = [cbpe.train("low lower lowest newer wider", size) for size in (257, 258, 259)]
LONG = 20.0  # seconds in which anything is seen, however busy the machine is
INTERVAL = 0.02


@pytest.fixture
def filled(models):
    models.save(TOKS[0], "a", aliases=["prod"])
    models.save(TOKS[1], "a")
    return models


def full_url(models):
    return models._database.url.render_as_string(hide_password=False)


def number(watch):
    return None if watch.version is None else watch.version.number


def watching_of(models, reference, **options):
    return models.watch(reference, interval=INTERVAL, **options)


def test_a_move_of_an_alias_is_told(filled):
    with watching_of(filled, "a@prod") as watch:
        assert number(watch) == 1
        filled.set_alias("a", "prod", "a@2")
        assert watch.wait(LONG)
        assert number(watch) == 2
        assert not watch.wait(0.1)


def test_a_new_version_is_told_to_who_watches_the_name(filled):
    with watching_of(filled, "a") as watch, watching_of(filled, "a@latest") as latest:
        filled.save(TOKS[2], "a")
        assert watch.wait(LONG)
        assert latest.wait(LONG)
        assert number(watch) == number(latest) == 3
        filled.delete("a@3")
        assert watch.wait(LONG)
        assert number(watch) == 2


def test_what_does_not_move_is_not_told(filled):
    with watching_of(filled, "a@prod") as watch:
        filled.save(TOKS[2], "a")
        filled.tag("a@1", ["x"])
        filled.set_alias("a", "other", "a@2")
        filled.set_alias("a", "prod", "a@1")
        assert not watch.wait(0.3)


def test_iterating_gives_each_move(filled):
    seen = []
    with watching_of(filled, "a@prod") as watch:
        for wanted in (2, 1, 2):
            filled.set_alias("a", "prod", f"a@{wanted}")
            seen.append(next(watch).number)
    assert seen == [2, 1, 2]
    assert list(watch) == []


def test_another_store_and_another_process_move_it(filled):
    code = "import sys; from store import ModelStore; ModelStore(sys.argv[1]).set_alias('a', 'prod', 'a@1')"
    with watching_of(filled, "a@prod") as watch, ModelStore(full_url(filled)) as other:
        other.set_alias("a", "prod", "a@2")
        assert watch.wait(LONG)
        subprocess.run([sys.executable, "-c", code, full_url(filled)], check=True)
        assert watch.wait(LONG)
        assert number(watch) == 1


def test_a_reader_may_watch(filled):
    with ModelStore(full_url(filled), read_only=True) as reader, watching_of(reader, "a@prod") as watch:
        filled.set_alias("a", "prod", "a@2")
        assert watch.wait(LONG)


def test_a_move_before_the_watch_is_told_since_the_version_that_one_has(filled):
    loaded = filled.version("a@prod")
    filled.set_alias("a", "prod", "a@2")
    with watching_of(filled, "a@prod", since=loaded) as watch:
        assert watch.version == loaded
        assert watch.wait(0)
        assert number(watch) == 2
    with watching_of(filled, "a@prod", since=filled.version("a@prod")) as watch:
        assert not watch.wait(0)


def test_waiting_no_time_looks_once(filled):
    with ModelStore(full_url(filled)) as other, watching_of(filled, "a@prod") as watch:
        other.set_alias("a", "prod", "a@2")
        deadline = time.monotonic() + LONG
        while not watch.wait(0):  # word of it may be on its way
            assert time.monotonic() < deadline
        assert number(watch) == 2


def test_what_is_not_there_is_none_until_it_is(filled):
    with watching_of(filled, "a@next") as alias, watching_of(filled, "b") as name:
        assert alias.version is name.version is None
        filled.set_alias("a", "next", "a@2")
        assert alias.wait(LONG)
        filled.rename("a", "b")
        assert name.wait(LONG)
        assert name.version.reference == "b@2"
        assert alias.wait(LONG)
        assert alias.version is None


@pytest.mark.parametrize("how", ["remove alias", "delete"])
def test_what_is_removed_is_told_as_none(filled, how):
    with watching_of(filled, "a@prod") as watch:
        if how == "delete":
            filled.delete("a@1", force=True)
        else:
            filled.remove_alias("a", "prod")
        assert next(watch) is None
        filled.set_alias("a", "prod", "a@2")
        assert next(watch).number == 2


def test_closing_the_watch_ends_who_waits(filled):
    ended = []
    watch = watching_of(filled, "a@prod")
    thread = threading.Thread(target=lambda: ended.append(list(watch)))
    thread.start()
    time.sleep(0.1)
    watch.close()
    thread.join(LONG)
    assert ended == [[]]
    watch.close()
    assert not watch.wait(LONG)


def test_closing_the_store_raises(filled):
    errors = []
    with ModelStore(full_url(filled)) as other:
        watch = watching_of(other, "a@prod")

        def wait():
            try:
                watch.wait()
            except Closed as error:
                errors.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.1)
    thread.join(LONG)
    assert len(errors) == 1
    watch.close()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"reference": "a@1"}, ValueError, "never means another version"),
        ({"reference": "sha256:abcdefab"}, ValueError, "never means another version"),
        ({"reference": "a@b@c"}, ValueError, "no alias"),
        ({"reference": 7}, TypeError, "not int"),
        ({"since": "a@1"}, TypeError, "since is a Version or None, not str"),
        ({"interval": 0}, ValueError, "interval is 0.01 to 3600"),
        ({"interval": float("nan")}, ValueError, "interval is 0.01 to 3600"),
        ({"interval": "1"}, TypeError, "not str"),
    ],
)
def test_what_cannot_be_watched_is_refused(filled, arguments, error, message):
    with pytest.raises(error, match=message):
        filled.watch(**{"reference": "a", **arguments})
    with pytest.raises(TypeError, match="always is the same"):
        filled.watch(filled.version("a"))


def test_a_timeout_that_is_none_is_refused(filled):
    with watching_of(filled, "a") as watch:
        for timeout, error in ((-1, ValueError), (float("nan"), ValueError), ("1", TypeError)):
            with pytest.raises(error, match="timeout is"):
                watch.wait(timeout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_watch_goes_on_in_a_forked_child_and_here(filled):
    with watching_of(filled, "a@prod") as watch:
        child = os.fork()
        if not child:
            status = 1
            try:
                status = 0 if watch.wait(LONG) and number(watch) == 2 else 2
                watch.close()
            finally:
                os._exit(status)
        filled.set_alias("a", "prod", "a@2")
        assert watch.wait(LONG)
        assert os.waitpid(child, 0)[1] == 0
        filled.set_alias("a", "prod", "a@1")
        assert watch.wait(LONG)


# ---- SQLite


@pytest.fixture
def in_file(empty_store, tmp_path):
    with ModelStore(shutil.copy(empty_store, tmp_path / "models.db")) as models:
        models.save(TOKS[0], "a", aliases=["prod"])
        yield models


def test_a_file_that_nobody_writes_to_is_looked_at_and_not_asked(in_file, tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "SECONDS_TO_SETTLE", -1.0)
    with watching_of(in_file, "a@prod") as watch:
        watch.wait(0.1)  # the first reading may leave a log beside the file
        asked = []
        monkeypatch.setattr(watch, "_ask", lambda: asked.append(1))
        assert not watch.wait(0.3)
    assert asked == []


def test_a_change_within_the_same_tick_of_the_clock_is_not_missed(in_file, tmp_path):
    """The times of the files are set back to what they were: so it is with file systems that count in seconds."""
    path = tmp_path / "models.db"
    with watching_of(in_file, "a@prod") as watch:
        before = os.stat(path)
        in_file.save(TOKS[1], "a", aliases=["prod"])
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert watch.wait(LONG)


def test_the_store_is_asked_without_a_sign_now_and_then(filled, monkeypatch):
    with watching_of(filled, "a@prod") as watch:
        monkeypatch.setattr(watch._sign, "seen", lambda seconds: bool(time.sleep(0.01)))
        filled.set_alias("a", "prod", "a@2")
        monkeypatch.setattr(watching, "SECONDS_TO_ASK_ANYWAY", 1e6)
        watch._is_due = False
        assert not watch.wait(0.1)
        monkeypatch.setattr(watching, "SECONDS_TO_ASK_ANYWAY", 0.05)
        assert watch.wait(LONG)


def test_a_store_that_is_replaced_is_watched_in_its_new_file(in_file, empty_store, tmp_path):
    with ModelStore(shutil.copy(empty_store, tmp_path / "new.db")) as other:
        other.save(TOKS[2], "a", aliases=["prod"])
    with watching_of(in_file, "a@prod") as watch:
        before = watch.version
        os.replace(tmp_path / "new.db", tmp_path / "models.db")
        assert watch.wait(LONG)
        assert (watch.version.reference, before.reference) == ("a@1", "a@1")
        assert watch.version.digest != before.digest


def test_a_file_that_is_gone_is_an_error_only_when_the_time_is_over(in_file, tmp_path):
    path, aside = tmp_path / "models.db", tmp_path / "aside.db"
    with watching_of(in_file, "a@prod") as watch:
        os.rename(path, aside)
        with pytest.raises(CannotOpen):
            watch.wait(1)
        assert isinstance(watch.error, CannotOpen)
        os.rename(aside, path)
        assert not watch.wait(0.5)
        assert watch.error is None
        in_file.save(TOKS[1], "a", aliases=["prod"])
        assert watch.wait(LONG)


def test_a_store_in_memory_is_watched_within_its_process():
    with ModelStore(":memory:") as models:
        models.save(TOKS[0], "a")
        with watching_of(models, "a") as watch:
            thread = threading.Timer(0.1, lambda: models.save(TOKS[1], "a"))
            thread.start()
            assert watch.wait(LONG)
            thread.join()


# ---- PostgreSQL


def end_connections(url):
    """As an administrator does, or a server that starts again."""
    engine = create_engine(make_url(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    engine.dispose()


@pytest.fixture
def on_server(postgresql_server):
    with postgresql_server.store() as url, ModelStore(url) as models:
        models.save(TOKS[0], "a", aliases=["prod"])
        models.save(TOKS[1], "a")
        yield models


def test_a_server_tells_a_move_before_any_interval_is_over(on_server):
    with on_server.watch("a@prod", interval=3600) as watch:
        on_server.set_alias("a", "prod", "a@2")
        assert watch.wait(LONG)


def test_what_is_rolled_back_is_not_told(on_server, monkeypatch):
    with on_server.watch("a@prod") as watch:
        assert not watch.wait(0)
        asked = []
        monkeypatch.setattr(watch, "_ask", lambda: asked.append(1))
        with pytest.raises(ZeroDivisionError):
            on_server._database.write(move_and_fail)
        assert not watch.wait(0.5)
        assert asked == []


def move_and_fail(connection):
    from store.records.audit import announce_move

    announce_move(connection)
    raise ZeroDivisionError


def test_a_lost_connection_is_made_again_and_what_moved_meanwhile_is_told(on_server):
    url = full_url(on_server)
    with on_server.watch("a@prod", interval=3600) as watch, ModelStore(url) as other:
        other.set_alias("a", "prod", "a@2")
        end_connections(url)
        assert watch.wait(LONG)
        assert number(watch) == 2
        end_connections(url)
        assert not watch.wait(1)
        with ModelStore(url) as third:
            third.set_alias("a", "prod", "a@1")
        assert watch.wait(LONG)  # it listens again


def test_a_server_that_is_away_is_an_error_only_when_the_time_is_over(on_server):
    from cut_connections import Proxy

    proxy = Proxy(full_url(on_server))
    with ModelStore(proxy.url) as models, watching_of(models, "a@prod") as watch:
        proxy.down = True
        end_connections(full_url(on_server))
        on_server.set_alias("a", "prod", "a@2")
        with pytest.raises(watching.MAY_PASS):
            watch.wait(1)
        proxy.down = False
        assert watch.wait(LONG)
        assert number(watch) == 2
    proxy.close()


def test_a_watch_leaves_no_connection_and_takes_none_of_the_pool(on_server):
    watches = [on_server.watch("a") for _ in range(20)]  # more than a pool has
    assert count_listening(on_server) == 20
    for watch in watches:
        watch.close()
    deadline = time.monotonic() + LONG
    while count_listening(on_server):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def count_listening(models):
    found = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    return models._database.read(lambda connection: connection.scalar(text(found)))


def test_where_no_one_can_listen_the_store_is_asked_in_each_interval(on_server, monkeypatch):
    monkeypatch.setattr(watching, "CHANNEL", "a channel that is no name")
    with ModelStore(full_url(on_server)) as other, watching_of(other, "a@prod") as watch:
        on_server.set_alias("a", "prod", "a@2")
        assert watch.wait(LONG)
