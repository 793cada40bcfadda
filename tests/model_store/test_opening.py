"""Opening: where a store is, what is made, what is refused, and that what is refused stays as it was."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from small_models import small_tokenizer
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from users import as_nobody, folder_for_all

import cbpe
import store
from store import Busy, CannotOpen, Closed, ModelStore, NotAStore, ReadOnly, StoreError
from store.database.failures import not_opened
from store.database.migrating import upgrade
from store.database.sqlite import connections

TOK = cbpe.train("low lower lowest", 260)


@pytest.fixture
def tmp_path():
    with folder_for_all() as folder:
        yield folder


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "models.db"


def filled(path):
    with ModelStore(path) as models:
        models.save(TOK, "a", aliases=["prod"])
    return path


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def test_the_file_that_opening_would_make_is_told_and_not_made(path, monkeypatch):
    assert ModelStore.missing_file(path) == ModelStore.missing_file(f"sqlite:///{path}") == str(path)
    monkeypatch.setenv("CBPE_STORE", str(path))
    assert ModelStore.missing_file() == str(path)
    assert not path.parent.exists()
    filled(path)
    assert ModelStore.missing_file(path) is ModelStore.missing_file() is None
    assert ModelStore.missing_file(":memory:") is ModelStore.missing_file("postgresql://localhost/models") is None
    with pytest.raises(CannotOpen):
        ModelStore.missing_file("mysql://localhost/models")


@pytest.mark.parametrize("given", [str, Path, "sqlite:///{}".format, "sqlite+pysqlite:///{}".format])
def test_a_store_is_made_on_first_use_folders_included(path, given):
    with ModelStore(given(path)) as models:
        assert models.names() == []
        models.save(TOK, "a")
    assert list(files(path.parent)) == ["models.db"]
    with ModelStore(given(path)) as models:
        assert models.load("a").merges == TOK.merges
        assert models.url == f"sqlite:///{path}"


def test_the_environment_says_where_the_store_is(path, monkeypatch):
    monkeypatch.setenv("CBPE_STORE", str(path))
    ModelStore().close()
    monkeypatch.setenv("CBPE_STORE", f"sqlite:///{path}2")
    ModelStore().close()
    assert sorted(files(path.parent)) == ["models.db", "models.db2"]


def test_without_it_the_store_is_in_the_users_data_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CBPE_STORE", raising=False)
    monkeypatch.setattr("platformdirs.user_data_path", lambda *names, **options: tmp_path / "data" / names[0])
    with ModelStore() as models:
        assert models.url == f"sqlite:///{tmp_path / 'data' / 'cbpe' / 'models.db'}"


def test_a_store_in_memory_is_its_own():
    with ModelStore("sqlite://") as first, ModelStore(":memory:") as second:
        first.save(TOK, "a")
        assert (first.names(), second.names()) == (["a"], [])
        assert first.load("a").merges == TOK.merges


@pytest.mark.parametrize(
    "given",
    [
        "mysql://somewhere/else",
        "sqlite:///x.db?mode=ro",
        "://",
        "postgresql+nodriver://x/y",
        "",
        "a\0b",
        b"x",
        "\ud800",
    ],
)
def test_what_names_no_store_is_refused(given):
    with pytest.raises(CannotOpen):
        ModelStore(given)


def test_postgresql_may_be_spelled_as_services_do(postgresql_url):
    with ModelStore(postgresql_url.replace("postgresql+psycopg://", "postgres://")) as models:
        models.save(TOK, "a")
    with ModelStore(postgresql_url.replace("postgresql+psycopg://", "postgresql://")) as models:
        assert models.names() == ["a"]


def test_a_password_is_not_shown():
    with pytest.raises(StoreError) as error:
        ModelStore("postgresql+psycopg://someone:secret@127.0.0.1:1/none?connect_timeout=1")
    assert "secret" not in str(error.value)


def empty(path):
    path.write_bytes(b"")


def no_database(path):
    path.write_bytes(b"name: this is a text that is longer than the header of a database\n" * 9)


def too_short(path):
    path.write_bytes(path.read_bytes()[:60])


def of_another_program(path):
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE versions (id INTEGER)")


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-4096])


def with_a_schema_of_zeros(path):
    data = path.read_bytes()
    path.write_bytes(data[:100] + bytes(3996) + data[4096:])


def with_a_schema_that_is_no_text(path):
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE ", b"CREATE TABL\xdf "))


def of_a_newer_version(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE store_schema SET version_num = '99'")
        connection.execute("UPDATE store_meta SET value = '77.1' WHERE key = 'cbpe_version'")
        connection.commit()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (empty, "is empty"),
        (no_database, "no SQLite database"),
        (too_short, "no SQLite database"),
        (of_another_program, "another program"),
        (cut_short, r"cut short: it has [\d,]+ bytes of [\d,]+\. Move the file away, and restore a backup to its path"),
        (with_a_schema_of_zeros, r"no whole store: .*\. Move the file away, and restore a backup to its path"),
        (with_a_schema_that_is_no_text, r"no whole store: .*\. Move the file away, and restore a backup to its path"),
        (of_a_newer_version, r"revision 99, which cbpe 77\.1 or newer reads"),
    ],
)
def test_a_file_that_is_no_whole_store_is_refused_and_untouched(path, spoil, message, read_only):
    spoil(filled(path))
    before = path.read_bytes()
    with pytest.raises(NotAStore, match=message):
        ModelStore(path, read_only=read_only)
    assert path.read_bytes() == before


def test_a_directory_is_no_store(tmp_path):
    with pytest.raises(CannotOpen, match="is a directory"):
        ModelStore(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_no_store_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for read_only in (False, True):
        with pytest.raises(CannotOpen, match="is a pipe or a device"):
            ModelStore(tmp_path / "pipe", read_only=read_only)


@pytest.mark.parametrize("name", ["a?b#c%20 '\".db", "\u540d\u524d", b"\xff\xfe".decode(errors="surrogateescape")])
def test_a_store_may_have_any_name_that_a_file_has(tmp_path, name):
    if sys.platform == "darwin" and not name.isprintable():
        pytest.skip("names of files are UTF-8 here")
    filled(tmp_path / name)
    for read_only in (False, True):
        with ModelStore(tmp_path / name, read_only=read_only) as models:
            assert models.load("a").merges == TOK.merges
    assert os.listdir(tmp_path) == [name]


def test_a_store_cannot_be_made_where_no_file_can(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CannotOpen, match="no store can be made"):
        ModelStore(tmp_path / "file" / "models.db")
    assert (tmp_path / "file").read_text() == "x"


def test_nothing_is_made_in_order_to_read_it(tmp_path):
    with pytest.raises(CannotOpen, match="there is no store"):
        ModelStore(tmp_path / "models.db", read_only=True)
    assert files(tmp_path) == {}


def test_a_store_that_is_read_cannot_be_changed(empty_store_url, tmp_path):
    filled(empty_store_url)
    with ModelStore(empty_store_url, read_only=True) as models:
        assert models.read_only
        assert models.load("a@prod").merges == TOK.merges
        assert models.verify().ok
        changes = [
            lambda: models.save(TOK, "b"),
            lambda: models.set_alias("a", "x", "a@1"),
            lambda: models.remove_alias("a", "prod"),
            lambda: models.tag("a", ["x"]),
            lambda: models.untag("a", ["x"]),
            lambda: models.set_notes("a", "x"),
            lambda: models.set_metrics("a", {"x": 1}),
            lambda: models.set_parent("a", None),
            lambda: models.set_training("a", None),
            lambda: models.rename("a", "b"),
            lambda: models.delete("a", force=True),
            lambda: models.vacuum(),
            lambda: models.write_rows(),
            lambda: models.remove_rows(),
        ]
        for change in changes:
            with pytest.raises(ReadOnly, match="opened for reading alone"):
                change()
        models.export("a", tmp_path / "a.cbpe")
        with pytest.raises(ReadOnly):
            models.import_(tmp_path / "a.cbpe", "b")


def test_an_empty_database_is_not_made_a_store_in_order_to_read_it(postgresql_url):
    with pytest.raises(CannotOpen, match="there is nothing to be read"):
        ModelStore(postgresql_url, read_only=True)
    with ModelStore(postgresql_url) as models:
        assert models.names() == []


@pytest.fixture
def locked_folder(tmp_path):
    """A store in a folder in which nobody but root can write."""
    filled(tmp_path / "folder" / "models.db")
    (tmp_path / "folder" / "models.db").chmod(0o444)
    (tmp_path / "folder").chmod(0o555)
    yield tmp_path / "folder" / "models.db"
    (tmp_path / "folder").chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_what_is_not_writable_is_refused_but_can_be_read(locked_folder):
    def write():
        ModelStore(locked_folder)

    def read():
        with ModelStore(locked_folder, read_only=True) as models:
            assert models.load("a").merges == TOK.merges
            assert models.verify().ok

    before = files(locked_folder.parent)
    assert "not writable: it can only be read" in as_nobody(write)
    assert as_nobody(read) == ""
    assert files(locked_folder.parent) == before


def test_reading_leaves_nothing_behind_and_changes_nothing(path):
    before = filled(path).read_bytes()
    with ModelStore(path, read_only=True) as models:
        assert models.load("a").merges == TOK.merges
        with pytest.raises(StoreError, match="readonly"), models._database.reading() as connection:
            connection.execute(text("DELETE FROM aliases"))
    assert files(path.parent) == {path.name: before}


def test_reading_finds_what_a_killed_writer_has_left_in_the_log(path):
    with contextlib.closing(sqlite3.connect(filled(path))) as writer:
        writer.execute("INSERT INTO tags (version_id, key, value) VALUES (1, 'late', '')")
        writer.commit()
        left = {name: data for name, data in files(path.parent).items() if not name.endswith("-shm")}
    assert len(left[f"{path.name}-wal"]) > 0
    for name, data in left.items():
        (path.parent / name).write_bytes(data)
    for _ in range(2):
        with ModelStore(path, read_only=True) as models:
            assert models.version("a").tags == {"late": ""}
    assert list(files(path.parent)) == [path.name]


def test_those_who_make_the_same_store_at_once_share_it(store_url):
    begin, failures = threading.Barrier(5), []

    def work(number):
        try:
            begin.wait()
            with ModelStore(store_url) as models:
                models.save(TOK, f"thread {number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with ModelStore(store_url) as models:
        assert len(models.names()) == 5


def test_a_store_whose_making_was_interrupted_leaves_none(path, monkeypatch):
    def interrupted(connection, revision):
        raise KeyboardInterrupt

    monkeypatch.setattr("store.database.sqlite.making._empty", None)
    monkeypatch.setattr("store.database.sqlite.making.upgrade", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ModelStore(path)
    assert files(path.parent) == {}


def test_a_process_makes_a_file_by_migrations_once_and_the_same_file_again(tmp_path, monkeypatch):
    monkeypatch.setattr("store.database.sqlite.making._empty", None)
    migrations = []

    def counted(connection, revision):
        migrations.append(revision)
        upgrade(connection, revision)

    monkeypatch.setattr("store.database.sqlite.making.upgrade", counted)
    paths = [tmp_path / f"{number}.db" for number in range(3)]
    for path in paths:
        ModelStore(path).close()
    assert migrations == ["head"]
    assert len({path.read_bytes() for path in paths}) == 1
    with ModelStore(paths[2]) as models:
        assert models.save(small_tokenizer(1), "a").number == 1
        assert models.verify().problems == ()
    with ModelStore(paths[1]) as models:
        assert models.names() == []


def test_what_fails_in_a_transaction_changes_nothing(models):
    models.save(TOK, "a")

    def half(connection):
        connection.execute(text("DELETE FROM tokens"))
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        models._database.write(half)
    assert models.verify().ok


def test_a_store_that_was_closed_is_not_used_again(empty_store_url):
    with ModelStore(empty_store_url) as models:
        models.save(TOK, "a")
    models.close()
    for use in (models.names, models.verify, models.vacuum, lambda: models.load("a"), lambda: models.save(TOK, "b")):
        with pytest.raises(Closed, match="open it again"):
            use()
    with ModelStore(empty_store_url) as again:
        assert again.names() == ["a"]


def test_threads_that_get_no_connection_are_told_that_the_store_is_busy(monkeypatch):
    with ModelStore(":memory:") as models:  # which has one connection
        monkeypatch.setattr(models._database._engine.pool, "_timeout", 0.01)
        with models._database.reading():
            for use in (models.names, lambda: models.save(TOK, "a")):
                with pytest.raises(Busy, match="kept busy by others"):
                    use()
        assert models.names() == []


def test_commits_reach_the_disk(path, monkeypatch, no_wait_for_the_disk):
    monkeypatch.setattr(connections, "prepare", no_wait_for_the_disk)
    with ModelStore(path) as models, models._database.reading() as connection:
        names = ("journal_mode", "synchronous", "fullfsync", "checkpoint_fullfsync")  # of these, two are for macOS
        pragmas = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]
    assert pragmas == ["wal", 2, 1, 1]


def test_cbpe_does_not_import_the_store():
    code = "import sys, cbpe; cbpe.get_encoding('r50k_base'); assert not {'store', 'sqlalchemy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", store.__all__)
def test_every_public_name_is_documented(name):
    assert getattr(store, name).__doc__


@pytest.mark.parametrize(("free", "is_told"), [(0, True), (4096, True), (1 << 30, False)])
def test_a_store_on_a_full_disk_is_said_to_be_on_one(tmp_path, monkeypatch, free, is_told):
    """SQLite makes the index of its log, even to read, and says that there was a disk I/O error."""
    error = OperationalError("SELECT 1", {}, sqlite3.OperationalError("disk I/O error"))
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr("store.database.failures.shutil.disk_usage", lambda _: usage)
    told = str(not_opened("a.db", error, str(tmp_path / "a.db")))
    assert told.startswith("the store a.db cannot be opened: disk I/O error")
    assert told.endswith("(its disk is full, and SQLite takes some of it for reading, too: make room)") == is_told


@pytest.mark.parametrize("below", ["x.db", "deeper/x.db"])
def test_a_file_in_the_place_of_a_folder_is_named(tmp_path, below):
    (tmp_path / "file.txt").write_text("text")
    with pytest.raises(CannotOpen, match=r"no store can be made at .*: \S+file\.txt is a file, and no folder"):
        ModelStore(tmp_path / "file.txt" / below)
