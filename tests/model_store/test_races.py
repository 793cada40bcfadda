"""Two who change the same things at once: one of them waits, and then sees what the other has done."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from small_models import small_tokenizer

from store import NotFound, Refused, changing
from store.records import labels

SECONDS = 0.3  # for which the first waits for the second, who waits for the first if all is well


@pytest.fixture
def filled(models):
    models.save(small_tokenizer(1), "a", aliases=["prod"])
    models.save(small_tokenizer(2), "b")
    return models


def both(monkeypatch, module, function, first, second):
    """The errors of two calls, None for none. The first has begun to write, in this function of a module, when the
    second starts, and goes on when that is done or has to wait."""
    has_begun, is_done = threading.Event(), threading.Event()
    written = getattr(module, function)

    def waiting(*arguments):
        if not has_begun.is_set():
            has_begun.set()
            is_done.wait(SECONDS)
        return written(*arguments)

    def then():
        assert has_begun.wait(20)
        try:
            second()
        finally:
            is_done.set()

    monkeypatch.setattr(module, function, waiting)
    with ThreadPoolExecutor(2) as pool:
        calls = pool.submit(first), pool.submit(then)
        return [call.exception() for call in calls]


def test_a_name_is_renamed_while_its_alias_is_removed(filled, monkeypatch):
    remove, rename = lambda: filled.remove_alias("a", "prod"), lambda: filled.rename("a", "c")
    assert both(monkeypatch, changing, "drop_aliases", remove, rename) == [None, None]
    assert [change.name for change in filled.audit_log() if change.action == "remove alias"] == ["a"]
    assert filled.version("c").aliases == ()
    assert filled.verify().problems == ()


def test_an_alias_that_two_remove_is_removed_once(filled, monkeypatch):
    remove = lambda: filled.remove_alias("a", "prod")  # noqa: E731
    first, second = both(monkeypatch, changing, "drop_aliases", remove, remove)
    assert first is None
    assert isinstance(second, NotFound)
    assert [move.number for move in filled.alias_history("a")] == [1, None]


@pytest.mark.parametrize("again", [False, True])
def test_two_versions_do_not_become_the_parents_of_each_other(filled, monkeypatch, again):
    def set_parent():
        if again:  # a second save of what is there says so too
            filled.save(small_tokenizer(1), "a", parent="b@1")
        else:
            filled.set_parent("a@1", "b@1")

    first, second = both(monkeypatch, labels, "set_parent", set_parent, lambda: filled.set_parent("b@1", "a@1"))
    assert first is None
    assert isinstance(second, Refused)
    assert [(str(version), version.parent) for version in filled.versions()] == [("a@1", "b@1"), ("b@1", None)]
