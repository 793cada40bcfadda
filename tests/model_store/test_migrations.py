"""Migrations: a store of each schema that there ever was is read as it is, and brought to the newest when somebody asks
for it, with all that is in it."""

import hashlib
import json
import threading
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from command_line import error_of, run
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import make_url

import cbpe
from cbpe.tokenizers.description import canonical_form, describe
from store import Failed, ModelStore, NotAStore, Outdated, ReadOnly, Refused
from store.database.migrating import configuration, upgrade
from store.database.schema import REVISIONS, VERSION_TABLE, metadata
from store.database.sqlite.files import APPLICATION_ID
from store.database.sqlite.making import set_pragmas

pytestmark = pytest.mark.ci

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
        rows = []
        for token_id, spelled in TOK._vocabulary.tokens().items():
            shown = spelled.decode("utf-8", errors="replace")
            shown = shown if shown.isprintable() else f"\\u{ord(shown):04x}"
            rows.append({"id": token_id, "bytes": spelled, "text": shown})
        connection.execute(token, rows)
        merge = text("INSERT INTO merges (vocabulary_id, rank, left_id, right_id, new_id) VALUES (1, :r, :a, :b, :new)")
        for rank, ((left, right), new) in enumerate(TOK.merges.items()):
            connection.execute(merge, {"r": rank, "a": left, "b": right, "new": new})


def revision_in(url):
    with connection_to(url) as connection:
        return connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))


FILES = {}  # of each revision, in SQLite


def of_revision(url, revision):
    database = make_url(url).database
    if revision in FILES and url.startswith("sqlite"):
        Path(database).write_bytes(FILES[revision])
        return
    older = [each for each in REVISIONS[: REVISIONS.index(revision)] if each in FILES]
    if older and url.startswith("sqlite"):
        Path(database).write_bytes(FILES[older[-1]])
    else:
        of_the_first_schema(url)
    with connection_to(url) as connection:
        upgrade(connection, revision)
    assert revision_in(url) == revision
    if url.startswith("sqlite"):
        FILES[revision] = Path(database).read_bytes()


def check_what_is_in_it(models):
    """All that can be asked, as of_the_first_schema has written it."""
    version = models.version("a@prod")
    assert (version.number, version.notes, version.tags) == (7, "old", {"language": "en"})
    assert version.time == datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone.utc)
    assert version.metrics == {}
    for reference in ("a", "a@7", "a@prod", f"sha256:{version.digest[:9]}"):
        assert models.load(reference).merges == TOK.merges
    assert models.names() == ["a"]
    assert models.versions(has_token="lo") == models.versions(has_token="<|end|>") == models.history("a") == [version]
    assert models.versions(has_token="nothing") == []
    assert [place[1:] for token in ("lo", "a", "<|end|>") for place in models.find_token(token)] == [
        (256, 0),
        (97, None),
        (260, None),
    ]
    assert not models.diff("a", TOK)
    assert [move.number for move in models.alias_history("a")] == [7]
    (change,) = models.audit_log()
    assert (change.action, change.name, change.number, change.time) == ("save", "a", 7, version.time)
    assert models.verify().problems == models.verify("a").problems == ()


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_a_store_of_every_schema_is_read_as_it_is(store_url, revision, tmp_path):
    of_revision(store_url, revision)
    for read_only in (True, False):
        check_that_it_is_read(store_url, revision, read_only, tmp_path / f"{read_only}.cbpe-model")
        assert revision_in(store_url) == revision


def check_that_it_is_read(url, revision, read_only, exported):
    with ModelStore(url, read_only=read_only) as models:
        assert models.revision == revision
        check_what_is_in_it(models)
        models.export("a", exported)
        with ModelStore(exported.with_suffix(".db")) as other:
            models.copy("a@prod", other)
            other.import_(exported, "b")
            assert other.load("a").merges == other.load("b").merges == TOK.merges
        for change in (lambda: models.save(TOK, "b"), lambda: models.delete("a", force=True), models.vacuum):
            with pytest.raises(ReadOnly if read_only else Outdated):
                change()


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_a_store_of_every_schema_is_migrated_after_a_backup_of_it(store_url, revision, tmp_path):
    of_revision(store_url, revision)
    with ModelStore(store_url) as models, ModelStore(store_url, read_only=True) as others:
        assert others.revision == revision
        assert models.migrate(tmp_path / "backup.db") == str(tmp_path / "backup.db")
        assert models.revision == revision_in(store_url) == REVISIONS[-1]
        assert models.migrate() is None
        for each in (models, others):
            check_what_is_in_it(each)
        models.set_metrics("a", {"loss": 1.5})
        assert models.save(cbpe.train("low", 257), "a").number == 8
        assert models.verify().problems == ()
    with ModelStore(store_url, read_only=True) as models:
        assert models.version("a@7").metrics == {"loss": 1.5}
    with ModelStore(tmp_path / "backup.db") as before:
        assert before.revision == revision
        check_what_is_in_it(before)


def test_the_backup_before_a_migration_stands_beside_the_file_and_replaces_none(tmp_path):
    url = f"sqlite:///{tmp_path / 'models.db'}"
    of_revision(url, "4")
    (tmp_path / "models.db.revision-4").write_text("mine")
    with ModelStore(url) as models:
        with pytest.raises(Refused, match="revision-4 is there already"):
            models.migrate()
        assert models.revision == revision_in(url) == "4"
        (tmp_path / "models.db.revision-4").unlink()
        assert models.migrate() == str(tmp_path / "models.db.revision-4")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["models.db", "models.db.revision-4"]


def test_a_migration_whose_backup_fails_changes_nothing(store_url, tmp_path):
    of_revision(store_url, "4")
    with ModelStore(store_url) as models:
        with pytest.raises(Failed, match="no backup of the store"):
            models.migrate(tmp_path / "no folder" / "backup.db")
        assert models.revision == revision_in(store_url) == "4"
        check_what_is_in_it(models)


def test_a_migration_in_postgresql_takes_the_name_of_a_file(postgresql_url):
    of_revision(postgresql_url, "4")
    with ModelStore(postgresql_url) as models, pytest.raises(Refused, match="name a file for the backup"):
        models.migrate()
    assert revision_in(postgresql_url) == "4"


def test_those_who_migrate_at_once_migrate_once(store_url, tmp_path):
    of_revision(store_url, "4")
    begin, made, failures = threading.Barrier(4), [], []

    def work(number):
        try:
            with ModelStore(store_url) as models:
                begin.wait()
                made.append(models.migrate(tmp_path / f"backup {number}.db"))
                check_what_is_in_it(models)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len([path for path in made if path]) == len(list(tmp_path.glob("backup*"))) == 1


def test_a_store_that_others_have_migrated_to_a_newer_schema_is_not_written_to(store_url):
    with ModelStore(store_url) as models:
        models.save(TOK, "a")
        with connection_to(store_url) as connection:
            connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '99'"))
            connection.execute(text("UPDATE store_meta SET value = '77.1'"))
        with pytest.raises(NotAStore, match=r"revision 99, which cbpe 77\.1 or newer reads"):
            models.save(TOK, "b")
        assert models.names() == ["a"]
        with connection_to(store_url) as connection:  # as before a release, where the version is still the same
            connection.execute(text("UPDATE store_meta SET value = :version"), {"version": cbpe.__version__})
        with pytest.raises(NotAStore, match="revision 99, which a newer cbpe reads; this is cbpe"):
            models.save(TOK, "b")


def test_what_is_read_of_tokens_is_the_same_after_a_migration(store_url, tmp_path):
    of_the_first_schema(store_url)
    query = text("SELECT id, bytes, text, length FROM tokens ORDER BY id")
    with connection_to(store_url) as connection:
        before = connection.execute(query).all()
    with ModelStore(store_url) as models, connection_to(store_url) as connection:
        models.migrate(tmp_path / "backup.db")
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
        upgrade(connection, "8")
        kept = (
            connection.execute(text("SELECT details FROM audit_log WHERE name = 'b' ORDER BY number")).scalars().all()
        )
    digest = hashlib.sha256(b"old").hexdigest()
    assert json.loads(kept[0]) == {"notes": {"sha256": digest, "bytes": 3}, "x": 1}
    assert kept[1:] == ['{"notes": null}', '{"tags": {"notes": "x"}}', "{"]


def test_a_store_of_an_older_schema_is_read_and_migrated_on_the_command_line(store_url, tmp_path):
    of_revision(store_url, "4")
    here = ["--store", store_url]
    assert "a@7" in run("models", "ls", *here).stdout
    assert run("count", "-t", "a", *here, stdin=b"low lower").stdout
    assert "all is well" in run("models", "verify", *here).stdout
    assert "changed after `cbpe models migrate`" in error_of("models", "tag", "a", "x", *here)
    (tmp_path / "text").write_text("low lower")
    error = error_of("train", tmp_path / "text", "--vocab-size", 257, "--save", "b", *here)
    assert "changed after `cbpe models migrate`" in error
    assert revision_in(store_url) == "4"
    assert "migrated from revision 4" in run("models", "migrate", "--backup", tmp_path / "backup.db", *here).stdout
    assert "newest revision already" in run("models", "migrate", *here).stdout
    assert "a@7" in run("models", "tag", "a", "x", *here).stdout


def test_a_migration_that_fails_leaves_the_store_as_it_was(store_url, tmp_path):
    of_the_first_schema(store_url)
    with connection_to(store_url) as connection:
        connection.execute(text("CREATE TABLE audit_log (in_the_way INTEGER)"))
    with ModelStore(store_url) as models:
        with pytest.raises(Exception, match="audit_log"):
            models.migrate(tmp_path / "backup.db")
        assert models.revision == "1"
    with connection_to(store_url) as connection:
        assert not inspect(connection).has_table("metrics")
        assert connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}")) == "1"
        connection.execute(text("DROP TABLE audit_log"))
    (tmp_path / "backup.db").unlink(missing_ok=True)  # in PostgreSQL, it failed before
    with ModelStore(store_url) as models:
        models.migrate(tmp_path / "backup.db")
        assert models.verify().ok


# What stands for a type in a STRICT table.
STRICT_TYPES = {"VARCHAR": "TEXT", "DATETIME": "TEXT", "BIGINT": "INTEGER", "BOOLEAN": "INTEGER", "FLOAT": "REAL"}


def is_another_type(context, _, column, found, wanted):
    if context.dialect.name != "sqlite":
        return None  # Alembic compares
    named = wanted.compile(context.dialect).partition("(")[0]
    return str(found) != STRICT_TYPES.get(named, named)


def test_the_migrations_lead_to_the_tables_that_queries_use(models):
    with models._database.reading() as connection:
        options = {"version_table": VERSION_TABLE, "compare_type": is_another_type}
        context = MigrationContext.configure(connection, opts=options)
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
