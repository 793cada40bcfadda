"""Constraints: a value that no store has is refused by the database itself, whoever writes it."""

import re

import pytest
from small_models import small_tokenizer
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError
from unchecked import unchecked

import cbpe
from cbpe.tokenizers.kinds import KINDS
from store import CannotOpen, Damaged, ModelStore
from store.database import opening
from store.database.migrating import upgrade
from store.database.migrations.versions import revision_9
from store.database.schema import metadata
from store.database.sqlite.files import APPLICATION_ID
from store.database.sqlite.making import set_pragmas
from store.keeping import copy_rows

pytestmark = pytest.mark.ci

TOO_LARGE = 2**31
LONG = f"'{'x' * 256}'"
# What the constraint of each column refuses, beyond what its type does.
WRONG = {
    ("store_schema", "version_num"): ["''", f"'{'9' * 33}'"],
    ("store_meta", "key"): ["''", f"'{'x' * 65}'"],
    ("names", "name"): ["''", LONG, "'a@b'"],
    ("names", "last_number"): ["-1", "0", TOO_LARGE],  # 0 is behind the newest
    ("names", "newest"): ["0", "-1", "3"],  # it has two
    ("names", "seal"): ["''", f"'{'a' * 63}'", f"'{'G' * 64}'"],
    ("vocabularies", "digest"): ["'x'", f"'{'A' * 64}'", f"'{'0' * 65}'"],
    ("vocabularies", "n_tokens"): ["-1"],
    ("vocabularies", "n_merges"): ["-1", "100000"],
    ("vocabularies", "packed"): ["{empty}"],
    ("token_places", "bucket"): ["0", "-1"],
    ("token_places", "entries"): ["{empty}"],
    ("tokens", "id"): ["-1"],
    ("tokens", "bytes"): ["{empty}"],
    ("merges", "new_id"): ["-1"],
    ("merges", "rank"): ["-1"],
    ("merges", "left_id"): ["-257"],
    ("merges", "right_id"): ["-257"],
    ("versions", "number"): ["0", "-1", TOO_LARGE],
    ("versions", "digest"): ["''", f"'{'0' * 63}'", f"'{'x' * 64}'"],
    ("versions", "content"): ["''", "'[]'", "'{'"],
    ("versions", "kind"): ["''", "'Thing'", "'regextokenizer'"],
    ("versions", "semantics"): ["''", "'pair'"],
    ("versions", "unicode_version"): ["''", f"'{'1' * 33}'"],
    ("versions", "n_special_tokens"): ["-1"],
    ("versions", "parent_id"): ["2"],  # itself
    ("versions", "parent_digest"): ["NULL", "'x'"],
    ("versions", "seal"): ["''", f"'{'a' * 65}'"],
    ("special_tokens", "position"): ["-1"],
    ("special_tokens", "id"): ["-1"],
    ("special_tokens", "bytes"): ["{empty}"],
    ("training_records", "record"): ["''", "'null'", "'{'"],
    ("tags", "key"): ["''", LONG],
    ("aliases", "alias"): ["''", LONG, "'a@b'"],
    ("aliases", "seal"): ["''", "'0'"],
    ("alias_history", "alias"): ["''", LONG, "'a@b'"],
    ("alias_history", "number"): ["0", "-1"],
    ("metrics", "metric"): ["''", LONG],
    ("metrics", "value"): ["{infinity}", "-{infinity}"],
    ("audit_log", "action"): ["''", f"'{'x' * 33}'"],
    ("audit_log", "name"): ["''", LONG],
    ("audit_log", "number"): ["0"],
    ("audit_log", "details"): ["''", "'{'", "'null'"],
    ("audit_log", "operation"): ["''", f"'{'A' * 32}'", f"'{'0' * 31}'"],
}
ONLY_IN_SQLITE = {
    ("vocabularies", "has_rows"): ["2", "-1"],
    ("versions", "created_at"): ["''", "'now'", "'2026-13-01 00:00:00.000000'", "'2026-01-01'"],
    ("alias_history", "set_at"): ["''", "'2026-01-01 25:00:00.000000'"],
    ("audit_log", "time"): ["''", "'yesterday'"],
}
# What a STRICT table refuses, by the type of a column.
OTHER_TYPES = {"INTEGER": "'x'", "TEXT": "x'00'", "BLOB": "'text'", "REAL": "'x'"}
JSON = [("versions", "content"), ("training_records", "record"), ("audit_log", "details")]


def fill(models):
    """A row in each table."""
    tok = cbpe.train("low lower lowest", 260, special_tokens=["<|end|>"])
    models.save(tok, "a", tags={"k": "v"}, aliases=["prod"], metrics={"loss": 1.5})
    models.save(cbpe.train("low lower", 258), "a", parent="a@1")
    models.write_rows("a@1")


@pytest.fixture(scope="module")
def filled(shared_store):
    with ModelStore(shared_store) as models:
        fill(models)
        with models._database.reading() as connection:
            for table in metadata.sorted_tables:
                assert connection.execute(table.select().with_only_columns(*table.primary_key)).first(), table.name
        yield models


def refusal(connection, table, column, value):
    """What the database says when a row that it has is written with this value, which is undone; None: it takes it."""
    is_sqlite = connection.dialect.name == "sqlite"
    value = str(value).replace("{empty}", "x''" if is_sqlite else "''")
    value = value.replace("{infinity}", "9e999" if is_sqlite else "CAST('Infinity' AS float8)")
    which = {"versions": "id = 2", "alias_history": "id = 1"}.get(table, "1 = 1")
    transaction = connection.begin_nested()
    try:
        assert connection.exec_driver_sql(f"UPDATE {table} SET {column} = {value} WHERE {which}").rowcount > 0
    except DBAPIError as error:
        return str(error.orig)
    finally:
        transaction.rollback()
    return None


def test_each_constraint_refuses_a_wrong_value(filled):
    with filled._database._writer.connect() as connection:
        dialect = connection.dialect.name
        wrong = WRONG | (ONLY_IN_SQLITE if dialect == "sqlite" else {})
        constraints = revision_9.constraints_of(dialect)
        assert set(wrong) == {(table, column) for table, columns in constraints.items() for column in columns}
        for (table, column), values in wrong.items():
            for value in values:
                said = refusal(connection, table, column, value)
                assert said is not None, (table, column, value)
                if (table, column) == ("names", "last_number") and value == "0":
                    column_said = "newest"
                elif (table, column) == ("versions", "parent_digest") and value == "NULL":
                    column_said = "parent_id"
                elif (table, column) == ("vocabularies", "n_tokens"):
                    column_said = "n_"
                else:
                    column_said = column
                too_long = "value too long" in said or "out of range" in said  # for the type, in PostgreSQL
                no_json = (table, column) in JSON and "type json" in said
                assert too_long or no_json or f"{table}_{column_said}" in said, (table, column, value, said)


def test_a_strict_table_refuses_another_type(filled):
    with filled._database._writer.connect() as connection:
        if connection.dialect.name != "sqlite":
            pytest.skip("PostgreSQL has types without it")
        for table, (columns, _) in revision_9.TABLES.items():
            for column, said in columns.items():
                if "GENERATED" not in said:
                    assert re.search(
                        "cannot store|datatype mismatch",
                        refusal(connection, table, column, OTHER_TYPES[said.split()[0]]),
                    )
        options = connection.exec_driver_sql("PRAGMA table_list").all()
        assert {name for _, name, *_, strict in options if strict} == set(revision_9.TABLES)


def test_whatever_the_store_itself_writes_holds_them(filled):
    """And the refusals above are of the wrong value: the right one is taken."""
    assert filled.verify().problems == ()
    with filled._database._writer.connect() as connection:
        for table, columns in revision_9.constraints_of(connection.dialect.name).items():
            for column in columns:
                assert refusal(connection, table, column, column) is None


def test_the_known_classes_are_those_that_the_database_takes():
    assert set(revision_9.KINDS) == set(KINDS)


def test_a_training_record_that_json_cannot_hold_is_refused_by_name(models):
    tok = small_tokenizer(1)
    record = cbpe.train("low lower", 258).training
    object.__setattr__(record, "merging_seconds", float("nan"))
    models.save(tok, "a")
    with pytest.raises(ValueError, match="the merging_seconds of a training record is nan"):
        models.set_training("a", record)
    assert models.training("a") is None


# ---- Rows of an older store


@pytest.fixture
def older(store_url):
    """The URL of a store of the schema before, and the store's digests by reference."""
    if store_url.startswith("sqlite"):
        set_pragmas(store_url.removeprefix("sqlite:///"), f"application_id = {APPLICATION_ID}", "journal_mode = WAL")
    engine = create_engine(store_url)
    with ModelStore(":memory:") as newest, engine.begin() as connection:
        fill(newest)
        upgrade(connection, "8")
        newest._database.read(copy_rows, connection)
        digests = {version.reference: version.digest for version in newest.versions()}
    engine.dispose()
    return store_url, digests


# What breaks a row, what mends it, and what is said of it.
BROKEN = [
    (
        "UPDATE versions SET kind = 'Thing' WHERE id = 2",
        "UPDATE versions SET kind = 'RegexTokenizer' WHERE id = 2",
        "versions, id 2: its kind is 'Thing', and breaks the constraint kind IN ('Tokenizer', ",
    ),
    (
        "UPDATE names SET last_number = 1",
        "UPDATE names SET last_number = 2",
        "names, id 1: its newest is '2', and breaks the constraint newest BETWEEN 1 AND last_number",
    ),
    (
        "UPDATE audit_log SET action = '' WHERE id = 2",
        "UPDATE audit_log SET action = 'save' WHERE id = 2",
        "audit_log, id 2: its action is '', and breaks",
    ),
    ("UPDATE tags SET key = ''", "UPDATE tags SET key = 'k'", "tags, version_id 1, key '': its key is '', and breaks"),
]
BROKEN_IN_SQLITE = [
    (
        "UPDATE names SET last_number = '2nd'",
        "UPDATE names SET last_number = 2",
        "names, id 1: its last_number is '2nd', and breaks the constraint typeof(last_number) IN ('integer')",
    ),
    (
        "UPDATE tags SET value = x'c328'",
        "UPDATE tags SET value = 'v'",
        r"tags, version_id 1, key 'k': its value is '\\xc3(', and breaks",
    ),
    (
        "UPDATE versions SET vocabulary_id = 9 WHERE id = 2",
        "UPDATE versions SET vocabulary_id = 2 WHERE id = 2",
        "versions, row 2: it refers to a row of vocabularies that is not there",
    ),
]
BROKEN_IN_POSTGRESQL = [
    (
        "UPDATE audit_log SET details = '{' WHERE id = 2",
        "UPDATE audit_log SET details = '{}' WHERE id = 2",
        "audit_log, id 2: its details is '{', and breaks the constraint json_typeof(CAST(details",
    ),
]


def run(engine, statement):
    with engine.begin() as connection:
        assert connection.exec_driver_sql(statement).rowcount > 0


def test_a_row_that_breaks_a_constraint_stops_the_migration_and_is_named(older, tmp_path):
    url, digests = older
    is_sqlite = url.startswith("sqlite")
    engine = create_engine(url)
    for broken, mended, told in BROKEN + (BROKEN_IN_SQLITE if is_sqlite else BROKEN_IN_POSTGRESQL):
        run(engine, broken)
        with ModelStore(url) as models:
            with pytest.raises(Damaged, match=re.escape(told)) as error:
                models.migrate(tmp_path / "backup.db")
            assert "is left as it was" in str(error.value)
            assert "cbpe models verify" in str(error.value)
            assert models.revision == "8"
            assert [problem for problem in models.verify().problems if told in problem]
        assert not list(tmp_path.glob("backup.db*"))
        run(engine, mended)
    engine.dispose()
    with ModelStore(url) as models:
        models.migrate(tmp_path / "backup.db")
        assert {version.reference: version.digest for version in models.versions()} == digests
        assert models.verify().problems == ()


def test_a_migration_names_some_of_many_broken_rows(older, tmp_path):
    url, _ = older
    engine = create_engine(url)
    with engine.begin() as connection:
        for i in range(20):
            connection.execute(text("INSERT INTO tags (version_id, key, value) VALUES (2, :key, '')"), {"key": "x" * i})
        connection.execute(text("UPDATE merges SET rank = -1 - rank"))
        connection.execute(text("UPDATE versions SET semantics = 'x', kind = 'x', n_special_tokens = -1"))
    engine.dispose()
    with ModelStore(url) as models, pytest.raises(Damaged) as error:
        models.migrate(tmp_path / "backup.db")
    assert str(error.value).count("breaks the constraint") == revision_9.MOST_TOLD
    assert "; and more" in str(error.value)


def test_indexes_references_and_the_views_of_others_are_kept(older, tmp_path):
    url, _ = older
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE VIEW mine AS SELECT name, number FROM names JOIN versions ON name_id = names.id"
        )
        connection.exec_driver_sql("CREATE INDEX by_tag ON tags (value)")
        before = schema_of(connection)
    with ModelStore(url) as models:
        models.migrate(tmp_path / "backup.db")
        with engine.connect() as connection:
            assert schema_of(connection) == before
            assert len(connection.exec_driver_sql("SELECT * FROM mine").all()) == 2
        with ModelStore(tmp_path / "new.db") as new, new._database.reading() as connection:
            if url.startswith("sqlite"):
                del before["tags"]
                assert {name: what for name, what in schema_of(connection).items() if name != "tags"} == before
        models.delete("a@1", force=True)  # with all that refers to it
        assert models.verify().problems == ()
        with models._database.reading() as connection:
            assert connection.execute(text("SELECT count(*) FROM tags")).scalar() == 0
    engine.dispose()


def schema_of(connection):
    """The indexes, references and keys of each table."""
    there = inspect(connection)
    return {
        table: (
            sorted((each["name"], each["unique"], *each["column_names"]) for each in there.get_indexes(table)),
            sorted(map(str, there.get_foreign_keys(table))),
            sorted(map(str, there.get_unique_constraints(table))),
            there.get_pk_constraint(table)["constrained_columns"],
        )
        for table in there.get_table_names()
    }


def test_a_damaged_row_of_the_newest_schema_is_named_by_verify(models):
    models.save(small_tokenizer(1), "a", tags=["k"])
    with models._database._writer.begin() as connection, unchecked(connection):
        connection.exec_driver_sql("UPDATE tags SET key = ''")
    if models._database.path is not None:
        problems = models.verify().problems
        assert "the database: CHECK constraint failed in tags" in problems
        assert (
            "tags, version_id 1, key '': its key is '', and breaks the constraint length(key) BETWEEN 1 AND 255"
            in problems
        )


def test_an_sqlite_without_strict_tables_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(opening.sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(opening.sqlite3, "sqlite_version", "3.34.1")
    with pytest.raises(CannotOpen, match=r"takes SQLite 3\.37\.0 or newer.* has 3\.34\.1"):
        ModelStore(tmp_path / "models.db")
    assert not list(tmp_path.iterdir())
