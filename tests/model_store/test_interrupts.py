"""Ctrl-C while a store is changed: the change is made or not, and nothing is left that keeps others waiting."""

import time

import pytest
from small_models import small_tokenizer

from store import ModelStore, NotFound
from store.database.waiting import Turns


@pytest.fixture
def interrupting(monkeypatch):
    """A function that calls another one with Ctrl-C after each of its statements in turn, and gives the number of the
    statement each time. It keeps the errors, as whoever looks at a traceback does, with all that the call had in
    hand."""
    kept = []

    def each(models, work):
        dialect = models._database._engine.dialect
        execute = dialect.do_execute
        left = 0

        def interrupted(cursor, *arguments, **options):
            nonlocal left
            execute(cursor, *arguments, **options)
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

        for number in range(1, 100):
            left = number
            monkeypatch.setattr(dialect, "do_execute", interrupted)
            try:
                work(number)
            except KeyboardInterrupt as error:
                kept.append(error)
            else:
                return
            finally:
                monkeypatch.setattr(dialect, "do_execute", execute)
            yield number

    return each


def test_after_ctrl_c_at_any_statement_others_and_the_store_itself_go_on(empty_store_url, interrupting):
    with ModelStore(empty_store_url, timeout=1) as models, ModelStore(empty_store_url, timeout=1) as others:
        models.save(small_tokenizer(1), "b")
        for number in interrupting(models, lambda number: models.save(small_tokenizer(number), "a", aliases=["prod"])):
            others.set_notes("b", f"theirs {number}")
            models.tag("b", {"mine": str(number)})
        assert number > 10
        assert others.version("a@prod").number == 1  # the last call, which was not interrupted
        assert others.verify().problems == ()


def test_ctrl_c_while_rows_are_copied_is_no_other_error(postgresql_store_url, monkeypatch):
    from psycopg import Copy

    def interrupted(copy, row):
        raise KeyboardInterrupt

    with ModelStore(postgresql_store_url, timeout=1) as models:
        with monkeypatch.context() as patched:
            patched.setattr(Copy, "write_row", interrupted)
            with pytest.raises(KeyboardInterrupt):
                models.save(small_tokenizer(1), "a")
        assert models.names() == []
        assert models.save(small_tokenizer(1), "a").number == 1


def test_after_ctrl_c_a_store_in_memory_has_what_was_saved(interrupting):
    with ModelStore(":memory:", timeout=1) as models:
        models.save(small_tokenizer(1), "b")
        for _ in interrupting(models, lambda number: models.save(small_tokenizer(number), "a")):
            assert models.version("b").number == 1
        assert models.names() == ["a", "b"]
        assert models.verify().problems == ()


def test_a_store_in_memory_is_gone_when_it_is_closed():
    with ModelStore(":memory:") as models:
        models.save(small_tokenizer(1), "b")
    with ModelStore(":memory:") as models, pytest.raises(NotFound):
        models.version("b")


def test_who_is_interrupted_when_it_is_his_turn_passes_it_on(monkeypatch):
    turns = Turns()
    wait = turns._wait

    def interrupted(*arguments):
        wait(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(turns, "_wait", interrupted)
        with pytest.raises(KeyboardInterrupt), turns.turn(time.monotonic()):
            pass
    with turns.turn(time.monotonic()):
        pass
