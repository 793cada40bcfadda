"""A COMMIT whose answer is lost: the change is done once, and what a call returns or raises is true."""

import itertools
import threading

import pytest
from cut_connections import Proxy
from small_models import small_tokenizer

from store import Failed, ModelStore, Uncertain
from store.database.operations import OPERATION, Operation
from store.records import audit

CHANGES = {
    "save": lambda models: models.save(small_tokenizer(7), "a", aliases=["new"]),
    "delete": lambda models: models.delete("a@3"),
    "set_alias": lambda models: models.set_alias("a", "old", "a@1"),
    "remove_alias": lambda models: models.remove_alias("a", "prod"),
    "rename": lambda models: models.rename("a", "b"),
    "tag": lambda models: models.tag("a", {"k": "v"}),
    "set_notes": lambda models: models.set_notes("a", "n"),
    "vacuum": lambda models: models.vacuum(),
}


@pytest.fixture
def proxy(postgresql_store_url):
    proxy = Proxy(postgresql_store_url)
    with ModelStore(postgresql_store_url) as models:
        for number in range(3):
            models.save(small_tokenizer(number), "a")
        models.set_alias("a", "prod", "a@2")
    yield proxy
    proxy.close()


def state(models):
    return models.versions(), [(change.action, change.name, change.number) for change in models.audit_log()]


@pytest.mark.parametrize("answers_only", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_whose_commit_or_answer_is_lost_is_done_once(proxy, postgresql_store_url, change, answers_only):
    with ModelStore(proxy.url) as models, ModelStore(postgresql_store_url) as others:
        _, log = state(others)
        proxy.lose, proxy.answers_only = 1, answers_only
        result = CHANGES[change](models)
        assert proxy.lose == 0
        versions, log_after = state(others)
        assert len(log_after) == len(log) + 1
        assert len(versions) == {"save": 4, "delete": 2}.get(change, 3)
        if change == "save":
            assert (result.number, result.created, result.aliases) == (4, True, ("new",))
        if change == "delete":
            assert result.reference == "a@3"
        assert others.verify().problems == ()
        assert models.versions() == versions


def test_an_answer_that_is_lost_again_and_again_is_found_out_in_the_end(proxy, postgresql_store_url):
    with ModelStore(proxy.url) as models, ModelStore(postgresql_store_url) as others:
        proxy.lose, proxy.answers_only = 3, False
        assert models.delete("a@3").reference == "a@3"
        assert proxy.lose == 0
        assert [version.number for version in others.versions()] == [1, 2]


@pytest.mark.parametrize("answers_only", [True, False])
def test_what_cannot_be_found_out_is_said_to_be_uncertain(proxy, postgresql_store_url, answers_only, monkeypatch):
    monkeypatch.setattr("store.database.opening.SECONDS_TO_FIND_OUT", 0.5)
    with ModelStore(proxy.url) as models, ModelStore(postgresql_store_url) as others:
        proxy.lose, proxy.answers_only, proxy.down_after = 1, answers_only, True
        with pytest.raises(Uncertain, match="it may have been done: ask was_done") as error:
            models.delete("a@3")
        assert isinstance(error.value, Failed)
        assert error.value.operation in str(error.value)
        with pytest.raises(Failed):
            models.was_done(error.value.operation)
        proxy.down = False
        assert models.was_done(error.value.operation) is answers_only
        with ModelStore(postgresql_store_url, read_only=True) as reader:
            assert reader.was_done(error.value.operation) is answers_only
        if not models.was_done(error.value.operation):
            models.delete("a@3")
        assert [version.number for version in others.versions()] == [1, 2]


def test_a_change_that_is_only_now_being_committed_is_waited_for(models):
    """The first transaction of a call may be on its way still, while the call asks what became of it."""
    if models.url.startswith("sqlite"):
        pytest.skip("SQLite has one transaction that writes at a time")
    models.save(small_tokenizer(1), "a")
    asked, answers = threading.Event(), []
    token = "0" * 32

    def ask():
        asked.set()
        answers.append(models.was_done(token))

    for commits in (False, True):
        with models._database._writer.connect().execution_options(**{OPERATION: Operation(token)}) as connection:
            transaction = connection.begin()
            audit.record(connection, "notes", "a", 1, notes="n")
            asking = threading.Thread(target=ask)
            asking.start()
            asked.wait()
            asking.join(0.2)
            assert asking.is_alive()
            (transaction.commit if commits else transaction.rollback)()
        asking.join()
        asked.clear()
    assert answers == [False, True]


def test_every_change_has_a_token_of_its_own(models):
    models.save(small_tokenizer(1), "a", aliases=["prod"])
    for name in ("save", "set_alias", "tag", "set_notes", "remove_alias", "rename", "vacuum"):
        CHANGES[name](models)
    with models._database.reading() as connection:
        tokens = connection.exec_driver_sql("SELECT operation FROM audit_log").scalars().all()
    assert len(set(tokens)) == len(tokens) == 8
    assert all(len(token) == 32 and models.was_done(token) for token in tokens)
    assert not models.was_done("0" * 32)


def test_a_commit_that_fails_in_a_file_is_looked_for_there(tmp_path, monkeypatch):
    """As where the disk gives an error after all was written: what the call says is what is in the file."""
    path = tmp_path / "models.db"
    with ModelStore(path) as models:
        models.save(small_tokenizer(1), "a")
        for is_written, n_versions in ((True, 2), (False, 2)):
            transactions = itertools.count()
            real = type(models._database._engine.dialect).do_commit

            def do_commit(self, connection, is_written=is_written, transactions=transactions, real=real):
                if next(transactions):
                    return real(self, connection)
                if is_written:
                    real(self, connection)
                raise connection.OperationalError("disk I/O error")

            with monkeypatch.context() as patch:
                patch.setattr(type(models._database._engine.dialect), "do_commit", do_commit)
                if is_written:
                    assert models.save(small_tokenizer(2), "a").number == 2
                else:
                    with pytest.raises(Failed, match="is as before: disk I/O error"):
                        models.save(small_tokenizer(3), "a")
            assert len(models.versions()) == n_versions
        assert models.verify().problems == ()


def test_what_is_no_token_is_refused(models):
    with pytest.raises(TypeError, match="an operation is a str, not NoneType"):
        models.was_done(None)
    assert not models.was_done("")
