"""Migrations: a store of each schema that there ever was is brought to the newest, with all that is in it."""

import hashlib
import json
from contextlib import contextmanager
from datetime import datetime, timezone

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from command_line import run
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import make_url

import cbpe
from cbpe.tokenizers.description import canonical_form, describe
from store import ModelStore, Outdated
from store.database.migrating import configuration, upgrade
from store.database.schema import REVISIONS, VERSION_TABLE, metadata
from store.database.sqlite_files import APPLICATION_ID
from store.database.sqlite_making import set_pragmas

TOK = cbpe.train("low lower lowest", 260, special_tokens=["<|end|>"])


@contextmanager
def connection_to(url):
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def of_the_first_schema(url):
    """Make a store as the first schema has it, with one version of everything that it knew, by SQL of that time."""
    if url.startswith("sqlite"):
        set_pragmas(make_url(url).database, f"application_id = {APPLICATION_ID}", "journal_mode = WAL")
    model = describe(TOK)
    values = {
        "vocabulary_digest": model.vocabulary_digest,
        "packed": model.vocabulary,
        "digest": model.digest,
        "content": canonical_form(model).decode(),
        "pattern": TOK.pattern,
        "end": b"<|end|>",
        "saved": "2026-01-02 03:04:05.000006" + ("" if url.startswith("sqlite") else "+00:00"),
    }
    statements = [
        "INSERT INTO vocabularies (id, digest, n_tokens, n_merges, packed) "
        "VALUES (1, :vocabulary_digest, 260, 4, :packed)",
        "INSERT INTO names (id, name, last_number) VALUES (1, 'a', 7)",
        "INSERT INTO versions (id, name_id, number, created_at, digest, content, vocabulary_id, kind, semantics, "
        "pattern, unicode_version, n_special_tokens, notes) "
        "VALUES (1, 1, 7, :saved, :digest, :content, 1, 'RegexTokenizer', 'pairs', :pattern, '16.0.0', 1, 'old')",
        "INSERT INTO special_tokens (version_id, position, id, bytes, text) VALUES (1, 0, 260, :end, '<|end|>')",
        "INSERT INTO tags (version_id, key, value) VALUES (1, 'language', 'en')",
        "INSERT INTO aliases (name_id, alias, version_id) VALUES (1, 'prod', 1)",
        "INSERT INTO alias_history (name_id, alias, number, set_at) VALUES (1, 'prod', 7, :saved)",
    ]
    with connection_to(url) as connection:
        upgrade(connection, "1")
        for statement in statements:
            used = {key: value for key, value in values.items() if f":{key}" in statement}
            connection.execute(text(statement), used)
        token = text("INSERT INTO tokens (vocabulary_id, id, bytes, text) VALUES (1, :id, :bytes, :text)")
        for token_id, spelled in TOK._vocabulary.tokens().items():
            shown = spelled.decode("utf-8", errors="replace")
            shown = shown if shown.isprintable() else f"\\u{ord(shown):04x}"
            connection.execute(token, {"id": token_id, "bytes": spelled, "text": shown})
        merge = text("INSERT INTO merges (vocabulary_id, rank, left_id, right_id, new_id) VALUES (1, :r, :a, :b, :new)")
        for rank, ((left, right), new) in enumerate(TOK.merges.items()):
            connection.execute(merge, {"r": rank, "a": left, "b": right, "new": new})


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_a_store_of_every_schema_is_migrated_with_all_that_is_in_it(store_url, revision):
    of_the_first_schema(store_url)
    with connection_to(store_url) as connection:
        upgrade(connection, revision)
        assert connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}")) == revision
    with ModelStore(store_url) as models:
        version = models.version("a@prod")
        assert (version.number, version.notes, version.tags) == (7, "old", {"language": "en"})
        assert version.time == datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone.utc)
        assert version.metrics == {}
        assert models.load("a").merges == TOK.merges
        assert models.verify().problems == ()
        (change,) = models.audit_log()
        assert (change.action, change.name, change.number, change.time) == ("save", "a", 7, version.time)
        models.set_metrics("a", {"loss": 1.5})
        assert models.save(cbpe.train("low", 257), "a").number == 8
    with ModelStore(store_url, read_only=True) as models:
        assert models.version("a@7").metrics == {"loss": 1.5}


def test_what_is_read_of_tokens_is_the_same_after_a_migration(store_url):
    of_the_first_schema(store_url)
    query = text("SELECT id, bytes, text, length FROM tokens ORDER BY id")
    with connection_to(store_url) as connection:
        before = connection.execute(query).all()
    with ModelStore(store_url), connection_to(store_url) as connection:
        after = connection.execute(query).all()
    assert before == after
    assert [row.text for row in after if row.id in (0, 97, 200, 256)] == ["\\u0000", "a", "\ufffd", "lo"]


def test_notes_in_the_log_become_digests(store_url):
    of_the_first_schema(store_url)
    with connection_to(store_url) as connection:
        upgrade(connection, "7")
        for number, details in enumerate(
            ('{"notes": "old", "x": 1}', '{"notes": null}', '{"tags": {"notes": "x"}}', "{")
        ):
            statement = "INSERT INTO audit_log (time, action, name, number, details) VALUES (:t, 'notes', 'b', :n, :d)"
            saved = datetime(2026, 1, 2, tzinfo=timezone.utc)
            connection.execute(text(statement), {"t": saved, "n": number, "d": details})
        upgrade(connection)
        kept = (
            connection.execute(text("SELECT details FROM audit_log WHERE name = 'b' ORDER BY number")).scalars().all()
        )
    digest = hashlib.sha256(b"old").hexdigest()
    assert json.loads(kept[0]) == {"notes": {"sha256": digest, "bytes": 3}, "x": 1}
    assert kept[1:] == ['{"notes": null}', '{"tags": {"notes": "x"}}', "{"]


def test_a_store_of_an_older_schema_is_not_migrated_in_order_to_read_it(store_url):
    of_the_first_schema(store_url)
    with pytest.raises(Outdated, match="older schema: open it once for writing"):
        ModelStore(store_url, read_only=True)
    with connection_to(store_url) as connection:
        assert connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}")) == "1"


def test_a_store_of_an_older_schema_is_migrated_on_the_command_line(store_url):
    of_the_first_schema(store_url)
    assert "a@7" in run("models", "ls", "--store", store_url).stdout
    assert "all is well" in run("models", "verify", "--store", store_url).stdout


def test_a_migration_that_fails_leaves_the_store_as_it_was(store_url, monkeypatch):
    of_the_first_schema(store_url)
    with connection_to(store_url) as connection:
        connection.execute(text("CREATE TABLE audit_log (in_the_way INTEGER)"))
    with pytest.raises(Exception, match="audit_log"):
        ModelStore(store_url)
    with connection_to(store_url) as connection:
        assert not inspect(connection).has_table("metrics")
        assert connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}")) == "1"
        connection.execute(text("DROP TABLE audit_log"))
    with ModelStore(store_url) as models:
        assert models.verify().ok


def test_the_migrations_lead_to_the_tables_that_queries_use(models):
    with models._database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        differences = compare_metadata(context, metadata)
        if connection.dialect.name == "sqlite":  # where text is computed, from a column that no query needs
            (changed,), removed = differences
            assert (removed[0], removed[2], removed[3].name) == ("remove_column", "tokens", "shown")
            assert changed[:4] == ("modify_nullable", None, "tokens", "text")
        else:
            assert differences == []


def test_the_store_says_which_version_of_cbpe_reads_it(models):
    with models._database.reading() as connection:
        said = dict(connection.execute(text("SELECT key, value FROM store_meta")).all())
    assert said == {"cbpe_version": cbpe.__version__}


def test_every_migration_is_known():
    with connection_to("sqlite://") as connection:
        scripts = ScriptDirectory.from_config(configuration(connection))
    assert tuple(script.revision for script in scripts.walk_revisions())[::-1] == REVISIONS
