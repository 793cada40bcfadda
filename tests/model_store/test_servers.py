"""Connections to a server: one that the server has ended is made again, and who asks does not notice."""

import pytest
from sqlalchemy import create_engine, text

import cbpe
from store import ModelStore
from store.database import postgresql

TOK = cbpe.train("low lower lowest", 260)
END_OTHERS = text(
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def end_sessions(postgresql_store_url):
    """A function that ends all other sessions in the database."""
    engine = create_engine(postgresql_store_url)

    def end():
        with engine.connect() as connection:
            assert connection.execute(END_OTHERS).all()

    yield end
    engine.dispose()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_connection_that_the_server_has_ended_is_made_again(postgresql_store_url, end_sessions, read_only):
    with ModelStore(postgresql_store_url) as owner:
        owner.save(TOK, "a")
    with ModelStore(postgresql_store_url, read_only=read_only) as models:
        for _ in range(3):
            end_sessions()
            assert models.load("a").merges == TOK.merges
        if not read_only:
            end_sessions()
            assert models.set_alias("a", "prod", "a@1").aliases == ("prod",)


def test_all_idle_connections_may_be_ended(postgresql_store_url, end_sessions):
    with ModelStore(postgresql_store_url) as models:
        models.save(TOK, "a")
        with models._database.reading(), models._database.reading(), models._database.reading():
            pass
        end_sessions()
        for _ in range(4):
            assert models.names() == ["a"]


def test_the_server_is_asked_only_after_a_while_whether_it_is_there(postgresql_store_url, monkeypatch):
    asked = []
    with ModelStore(postgresql_store_url) as models:
        dialect = models._database._engine.dialect
        ping = dialect.do_ping
        monkeypatch.setattr(dialect, "do_ping", lambda driver: asked.append(driver) or ping(driver))
        assert models.names() == models.names() == []
        assert asked == []
        monkeypatch.setattr(postgresql, "SECONDS_UNSEEN", 0)
        assert models.names() == []
        assert len(asked) == 1
