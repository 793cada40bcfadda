"""Loading without SQLAlchemy: the same tokenizers as ModelStore loads, and none where that is for ModelStore to say."""

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from small_models import small_tokenizer
from sqlalchemy.dialects import sqlite
from unchecked import unchecked

import cbpe
from cbpe.tokenizers.description import describe
from store import ModelStore, StoreError, quick
from store.database.schema import REVISIONS, metadata
from store.records.versions import STORED, referred

TOK = cbpe.train("low lower lowest", 260, special_tokens=["<|end|>"])
BYTES = {bytes([i]): i for i in range(256)}
RANKS = cbpe.Encoding("own", pat_str=".+", mergeable_ranks={**BYTES, b"lo": 300}, special_tokens={})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The path of a store that is closed."""
    path = tmp_path_factory.mktemp("saved") / "models.db"
    with ModelStore(path) as models:
        models.save(TOK, "a", aliases=["prod"], notes="n", tags={"k": "v"})
        models.save(small_tokenizer(1), "a", parent="a@1")
        models.save(RANKS, "b")
        models.save(TOK, "b")
    return path


@pytest.fixture
def path(saved, tmp_path):
    return str(shutil.copy(saved, tmp_path / "models.db"))


def loaded(path, reference):
    """What ModelStore loads; None where it raises."""
    try:
        with ModelStore(path, read_only=True) as models:
            return models.load(reference)
    except (StoreError, ValueError):
        return None


def content(tok):
    if tok is None:
        return None
    model = describe(tok)
    return model.kind, model.name, model.digest, None if tok.training is None else vars(tok.training)


@pytest.mark.parametrize("given", [("name",), ("name", "number"), ("name", "alias"), ("id",)])
def test_it_asks_as_the_store_does(given):
    compiled = str(referred(STORED, given).compile(dialect=sqlite.dialect(paramstyle="named")))
    assert quick.QUERIES[given].split() == compiled.split()


def test_every_kind_of_reference_gives_what_the_store_gives(path):
    digests = [describe(tok).digest for tok in (TOK, RANKS)]
    found = [f"sha256:{digest[:n]}" for digest in digests for n in (12, 64)]
    for reference in ["a", "a@1", "a@2", "a@prod", "b", "b@1", *found]:
        expected = content(loaded(path, reference))
        assert expected is not None
        assert content(quick.load(path, reference)) == expected
    for reference in ["c", "a@3", "a@old", "b@prod", "sha256:" + 64 * "0", "sha256:x", "", "@", "a@1@2", "a\0"]:
        assert loaded(path, reference) is None
        assert quick.load(path, reference) is None


def test_the_store_is_where_modelstore_finds_it(path, tmp_path, monkeypatch):
    monkeypatch.setenv("CBPE_STORE", path)
    assert content(quick.load(None, "a@1")) == content(TOK)
    monkeypatch.chdir(tmp_path)
    assert content(quick.load("models.db", "a@1")) == content(TOK)
    monkeypatch.delenv("CBPE_STORE")
    monkeypatch.setattr("platformdirs.user_data_path", lambda *names, **options: tmp_path)
    assert content(quick.load(None, "a@1")) == content(TOK)
    for other in ("missing.db", "postgresql://localhost/x", f"sqlite:///{path}", ":memory:", "sqlite:models.db", "."):
        assert quick.load(other, "a@1") is None
    assert sorted(file.name for file in tmp_path.iterdir()) == ["models.db"]


def test_it_leaves_the_file_as_it_was(path, tmp_path):
    before = Path(path).read_bytes()
    assert quick.load(path, "a") is not None
    assert [file.name for file in tmp_path.iterdir()] == ["models.db"]
    assert Path(path).read_bytes() == before


def test_an_open_store_may_be_read_and_written_beside_it(path):
    with ModelStore(path) as models:
        models.save(small_tokenizer(5), "a")
        assert content(quick.load(path, "a")) == content(small_tokenizer(5))
        models.save(small_tokenizer(6), "a")
        assert content(quick.load(path, "a")) == content(small_tokenizer(6))


@pytest.mark.parametrize("revision", [*REVISIONS, "99"])
def test_a_schema_that_has_the_same_columns_is_read_and_another_is_left_to_the_store(path, revision):
    expected = content(quick.load(path, "a"))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE store_schema SET version_num = ?", [revision])
    found = quick.load(path, "a")
    assert found is None if revision in "123456" or revision == "99" else content(found) == expected


COLUMNS = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.columns
    if table.name in ("names", "versions", "vocabularies", "training_records", "aliases", "store_meta")
]


@pytest.mark.parametrize("value", ["NULL", "7", "'text'", "x'00ff'", "CAST(x'c328' AS TEXT)"])
def test_what_the_store_does_not_load_it_does_not_either(saved, tmp_path, value):
    path = str(tmp_path / "models.db")
    n_refused = 0
    for table, column in COLUMNS:
        shutil.copy(saved, path)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            with unchecked(connection), contextlib.suppress(sqlite3.DatabaseError):
                connection.execute(f"UPDATE {table} SET {column} = {value}")
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for reference in ("a", "a@prod"):
            expected = content(loaded(path, reference))
            n_refused += expected is None
            assert content(quick.load(path, reference)) in (None, expected), (table, column)
    assert n_refused > 5


def test_a_command_loads_from_a_file_without_sqlalchemy(path, tmp_path):
    (tmp_path / "text").write_text("low lower")
    code = (
        "import sys; from cbpe.cli.app import main; sys.argv[0] = 'cbpe'\n"
        "try: main()\nfinally: print('sqlalchemy' in sys.modules)"
    )
    command = [sys.executable, "-c", code, "count", "-t", "a@prod", "--store", path, str(tmp_path / "text")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "False"
    assert str(TOK.count("low lower")) in done.stdout
