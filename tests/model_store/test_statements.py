"""Compiled statements: all stores of a process share them where their databases are alike, and only there."""

from types import SimpleNamespace

import pytest
from small_models import small_tokenizer
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.sql.compiler import SQLCompiler

from store import ModelStore
from store.database import statements


@pytest.fixture
def compiled(monkeypatch):
    """The backends that statements are compiled for, while none is kept from before: one name for each statement. Those
    with ON CONFLICT do not count, which SQLAlchemy 2.0 never keeps."""
    backends = []
    compile_one = SQLCompiler.__init__

    def noted(self, dialect, statement, *args, **options):
        if getattr(statement, "_post_values_clause", None) is None:
            backends.append(dialect.name)
        compile_one(self, dialect, statement, *args, **options)

    monkeypatch.setattr(statements._compiled, "_data", {})
    monkeypatch.setattr(SQLCompiler, "__init__", noted)
    return backends


def use(url, number):
    """Open an empty store, save, change, ask and load."""
    tokenizer = small_tokenizer(number)
    with ModelStore(url) as models:
        models.save(tokenizer, "letters", tags={"size": "small"}, metrics={"loss": 0.5})
        models.set_alias("letters", "prod", "letters@1")
        assert models.load("letters@prod").merges == tokenizer.merges
        assert [each.number for each in models.versions(tag="size", metric=("loss", 0.5))] == [1]
        assert models.verify().ok
    with ModelStore(url, read_only=True) as models:
        assert models.load("letters").merges == tokenizer.merges


def test_a_second_file_compiles_nothing(tmp_path, empty_store, compiled):
    use(tmp_path / "one.db", 1)
    assert len(compiled) > 10
    compiled.clear()
    for name in ("two.db", "three.db"):
        (tmp_path / name).write_bytes(empty_store.read_bytes())
        use(tmp_path / name, 2)
    assert compiled == []


def test_a_second_database_in_postgresql_compiles_nothing(postgresql_server, compiled):
    with postgresql_server.store() as one, postgresql_server.store() as two:
        compiled.clear()
        use(one, 1)
        assert len(compiled) > 10
        compiled.clear()
        use(two, 2)
    assert compiled == []


def test_postgresql_compiles_its_own_after_sqlite(postgresql_store_url, compiled, tmp_path):
    use(tmp_path / "one.db", 1)
    compiled.clear()
    use(postgresql_store_url, 2)
    assert set(compiled) == {"postgresql"}


# ---- Which dialects are alike


class Other(statements.SQLite):
    supports_statement_cache = True


def dialect(kind=statements.SQLite, version=(3, 40, 1), schema="main", connected=True):
    """A dialect that has found this."""
    made = kind()
    if connected:
        found = {"_get_server_version_info": lambda _: version, "_get_default_schema_name": lambda _: schema}
        vars(made).update(found)
        made.get_default_isolation_level = lambda _: "SERIALIZABLE"
        made.initialize(SimpleNamespace(connection=SimpleNamespace(dbapi_connection=None)))
    return made


def test_dialects_that_have_found_the_same_are_equal():
    assert dialect() == dialect()
    assert hash(dialect()) == hash(dialect()) == hash(dialect(connected=False))


@pytest.mark.parametrize(
    "other",
    [
        {"version": (3, 40, 2)},
        {"schema": "other"},
        {"kind": Other},
        {"connected": False},
    ],
    ids=str,
)
def test_dialects_that_have_found_something_else_are_not(other):
    assert dialect() != dialect(**other)


def test_a_dialect_that_has_found_nothing_is_equal_to_itself_alone():
    one = dialect(connected=False)
    assert one == one
    assert one != dialect(connected=False)
    assert one != DefaultDialect()
