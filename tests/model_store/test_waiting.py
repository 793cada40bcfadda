"""Waiting for others who have the store locked: as long as the program says, in turn, and then an error."""

import threading
import time
from contextlib import ExitStack

import pytest
from small_models import small_tokenizer
from sqlalchemy import text

from store import Busy, Damaged, Failed, ModelStore
from store.database.waiting import NoTurn, Turns

pytestmark = pytest.mark.ci

SECONDS = 0.3


@pytest.fixture
def locked(empty_store_url):
    """A store in which somebody else is changing the name "a" all the time."""
    with ModelStore(empty_store_url) as models:
        models.save(small_tokenizer(1), "a")
        with models._database._writer.begin() as connection:
            connection.execute(text("UPDATE names SET last_number = 1 WHERE name = 'a'"))
            yield empty_store_url


def test_a_change_waits_as_long_as_it_is_told_to(locked):
    with ModelStore(locked, timeout=SECONDS) as models:
        for change in (lambda: models.save(small_tokenizer(2), "a"), lambda: models.tag("a", ["x"])):
            start = time.monotonic()
            with pytest.raises(Busy, match="is kept busy by others"):
                change()
            assert SECONDS <= time.monotonic() - start < SECONDS + 5
        assert models.version("a").tags == {}
        assert models.load("a").merges == small_tokenizer(1).merges


def test_threads_of_one_store_wait_no_longer(locked):
    found = []

    def save(models):
        start = time.monotonic()
        with pytest.raises(Busy):
            models.save(small_tokenizer(2), "a")
        found.append(time.monotonic() - start)

    with ModelStore(locked, timeout=SECONDS) as models:
        threads = [threading.Thread(target=save, args=(models,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 4
    assert max(found) < SECONDS + 5


def test_a_change_is_made_when_the_others_have_ended(empty_store_url):
    with ModelStore(empty_store_url) as models, ModelStore(empty_store_url) as other:
        models.save(small_tokenizer(1), "a")
        with models._database._writer.begin() as connection:
            connection.execute(text("UPDATE names SET last_number = 1 WHERE name = 'a'"))
            waiting = threading.Thread(target=other.tag, args=("a", ["x"]))
            waiting.start()
            time.sleep(0.1)
            assert models.version("a").tags == {}
        waiting.join()
        assert models.version("a").tags == {"x": ""}


def test_a_store_is_in_use_by_more_threads_than_it_has_connections(postgresql_url):
    with ModelStore(postgresql_url, timeout=SECONDS) as models:
        with ExitStack() as held:
            for _ in range(15):
                held.enter_context(models._database.reading())
            for use in (models.names, models.vacuum, lambda: models.save(small_tokenizer(1), "a")):
                with pytest.raises(Busy, match="kept busy by others"):
                    use()
        assert models.names() == []


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), 10**7])
def test_a_timeout_that_is_none_is_refused(tmp_path, timeout):
    with pytest.raises(ValueError, match="timeout is 0 to 1000000 seconds"):
        ModelStore(tmp_path / "models.db", timeout=timeout)
    with pytest.raises(TypeError, match="timeout is a number of seconds, not str"):
        ModelStore(tmp_path / "models.db", timeout="30")
    assert not (tmp_path / "models.db").exists()


def test_what_the_database_says_of_rows_is_an_error_of_the_store(models):
    models.save(small_tokenizer(1), "a")
    with models._database._writer.begin() as connection:
        connection.execute(text("ALTER TABLE merges RENAME TO elsewhere"))
    with pytest.raises((Failed, Damaged), match=r"could not do it, and is as before|is damaged: no such table: merges"):
        models.write_rows()
    with models._database.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM tokens")) == 0
    with models._database._writer.begin() as connection:
        connection.execute(text("ALTER TABLE elsewhere RENAME TO merges"))


def test_turns_come_in_the_order_of_those_who_wait():
    turns, order, n_threads = Turns(), [], 20

    def take(number):
        with turns.turn(time.monotonic() + 60):
            order.append(number)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(n_threads)]
    with turns.turn(time.monotonic()):
        for number, thread in enumerate(threads):
            thread.start()
            while len(turns._waiting) <= number:
                time.sleep(0.001)
        with pytest.raises(NoTurn), turns.turn(time.monotonic() + 0.01):
            order.append("nobody")
    for thread in threads:
        thread.join()
    assert order == list(range(n_threads))
    with turns.turn(time.monotonic()):
        order.append(n_threads)
    assert order[-1] == n_threads
