"""Many processes and threads that share a store, and processes that are killed while they save."""

import os
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import pytest
import store_processes
from small_models import small_tokenizer
from sqlalchemy import create_engine, text

from cbpe.tokenizers.description import describe
from store import ModelStore

pytestmark = pytest.mark.ci


@pytest.mark.slow
def test_eight_processes_that_save_at_once_leave_no_number_out_and_give_none_twice(empty_store_url):
    found = store_processes.save_together(empty_store_url, n_writers=8, n_saves=5, n_names=5)
    numbers = defaultdict(list)
    for name, number, _ in found["saved"]:
        numbers[name].append(number)
    assert {name: sorted(given) for name, given in numbers.items()} == {
        f"name {i}": list(range(1, 9)) for i in range(5)
    }
    assert min(found["looks"]) > 0
    with ModelStore(empty_store_url) as models:
        kept = sorted([version.name, version.number, version.digest] for version in models.versions())
        assert kept == sorted(found["saved"])
        assert {digest for _, _, digest in kept} == {describe(small_tokenizer(i)).digest for i in range(40)}
        assert models.verify().problems == ()


@pytest.mark.slow
def test_of_a_killed_process_each_save_that_returned_is_there_and_none_is_half_there(empty_store_url):
    with ModelStore(empty_store_url):
        pass
    n_kills = 24
    rounds = store_processes.kill_savers(empty_store_url, n_kills, seed=5)
    with ModelStore(empty_store_url) as models:
        assert models.verify().problems == ()
        n_unreported = 0
        for number, (saved, was_saving) in enumerate(rounds, 1):
            kept = [[version.number, version.digest] for version in models.versions(f"round {number}", order="number")]
            assert kept[: len(saved)] == saved
            assert len(kept) - len(saved) in ((0, 1) if was_saving else (0,))
            n_unreported += len(kept) - len(saved)
            if kept:
                assert models.version(f"round {number}@newest").number == len(kept)
        # That the kills went where they should: within saves, most of them before the end.
        n_saving = sum(was_saving for _, was_saving in rounds)
        assert n_saving > n_kills / 4
        assert n_unreported < n_saving
        n_kept = len(models.versions())
    engine = create_engine(empty_store_url)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM audit_log WHERE action = 'save'")) == n_kept
    engine.dispose()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_store_that_is_open_can_be_used_in_a_child_process(empty_store_url):
    saved = store_processes.save_in_children(empty_store_url, n_children=3, n_saves=5)
    assert sorted(saved) == [[f"child {child}", number] for child in range(3) for number in range(1, 6)]
    with ModelStore(empty_store_url) as models:
        assert models.names() == ["child 0", "child 1", "child 2", "parent"]
        assert len(models.versions("parent")) == 6
        assert models.verify().problems == ()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_store_that_is_closed_leaves_the_log_of_a_child_that_was_forked_from_it(tmp_path):
    beside = store_processes.close_beside_a_child(f"sqlite:///{tmp_path}/models.db")
    assert beside == ["models.db", "models.db-shm", "models.db-wal"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_that_was_forked_while_the_file_was_in_use_is_refused(tmp_path):
    [[raised, message]] = store_processes.fork_in_use(f"sqlite:///{tmp_path}/models.db")
    assert raised == "Busy"
    assert "forked while another thread used the store" in message


def test_threads_share_one_store(empty_store_url):
    names = ["a", "b", "c"]
    with ModelStore(empty_store_url) as models, ThreadPoolExecutor(8) as threads:

        def work(thread):
            for i in range(5):
                tok = small_tokenizer(thread * 5 + i)
                version = models.save(tok, names[i % 3], tags={"thread": str(thread)})
                loaded = models.load(f"{version.name}@{version.number}")
                assert describe(loaded).digest == version.digest == describe(tok).digest
                numbers = sorted(other.number for other in models.versions(version.name))
                assert numbers == list(range(1, len(numbers) + 1))

        list(threads.map(work, range(8)))
        assert models.verify().problems == ()
        assert {name: len(list(models.versions(name))) for name in names} == {"a": 16, "b": 16, "c": 8}
