"""The file of a store while it is open: copied, replaced, overwritten, removed, read through a link and while others
write. What is read is what the file has now, and what was saved is in the file that stands at the path."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from small_models import small_tokenizer
from users import as_nobody, folder_for_all

from store import CannotOpen, Failed, ModelStore, NotAStore, StoreError
from store.database.sqlite import files
from store.database.sqlite.connections import empty_log

posix = pytest.mark.skipif(os.name != "posix", reason="an open file can be replaced as POSIX has it")


@pytest.fixture
def tmp_path():
    with folder_for_all() as folder:
        yield folder


@pytest.fixture
def path(tmp_path):
    """A store with a@1."""
    path = tmp_path / "folder" / "models.db"
    with ModelStore(path) as models:
        models.save(small_tokenizer(1), "a")
    return path


def other_store(path):
    """A store with b@1 and b@2, of another size than that of a@1."""
    with ModelStore(path) as models:
        models.save(small_tokenizer(2, n_merges=2000), "b")
        models.save(small_tokenizer(3), "b")
    return path


def cp(source, target):
    """Copy a file as another program does. (This process would drop its locks on a file that it opens and closes.)"""
    subprocess.run(["cp", source, target], check=True)


def size_of_log(path):
    log = path.with_name(f"{path.name}-wal")
    return log.stat().st_size if log.exists() else 0


def references(path):
    """The versions in a store; all is well with it."""
    with ModelStore(path) as models:
        assert models.verify().problems == ()
        return [str(version) for version in models.versions()]


# ---- Copying


def test_a_copy_of_the_file_of_an_open_store_is_a_whole_store(path, tmp_path):
    with ModelStore(path) as models, ModelStore(path) as others:
        assert others.names() == ["a"]
        changes = [
            lambda: models.save(small_tokenizer(2), "a"),
            lambda: models.set_alias("a", "prod", "a@2"),
            lambda: models.rename("a", "b"),
            lambda: models.delete("b@1"),
            lambda: models.vacuum(),
        ]
        for number, change in enumerate(changes):
            change()
            assert size_of_log(path) == 0
            copy = tmp_path / f"copy {number}.db"
            cp(path, copy)
            with ModelStore(copy) as copied:
                assert copied.versions() == models.versions()
                assert copied.audit_log() == models.audit_log()
                assert copied.verify().problems == ()


def test_a_reader_that_is_in_the_way_of_emptying_the_log_does_not_fail_a_save(path):
    with ModelStore(path) as models, ModelStore(path) as others:
        with others._database.reading() as connection:
            connection.exec_driver_sql("SELECT * FROM names").all()
            started = time.monotonic()
            models.save(small_tokenizer(2), "a")
            assert time.monotonic() - started < 10
            assert size_of_log(path) > 0
        models.save(small_tokenizer(3), "a")
        assert size_of_log(path) == 0


# ---- Other files at the path


@posix
@pytest.mark.parametrize("read_first", [False, True])
def test_a_store_whose_file_is_replaced_goes_on_with_the_new_one(path, tmp_path, read_first):
    other = other_store(tmp_path / "other.db")
    with ModelStore(path) as models, ModelStore(path, read_only=True) as reader:
        assert models.names() == reader.names() == ["a"]
        os.replace(other, path)
        if read_first:
            assert models.names() == reader.names() == ["b"]
        assert models.save(small_tokenizer(4), "b").number == 3
        assert [str(version) for version in reader.versions()] == ["b@1", "b@2", "b@3"]
    assert references(path) == ["b@1", "b@2", "b@3"]


@posix
def test_a_link_that_is_turned_to_another_store_is_followed(path, tmp_path):
    other = other_store(tmp_path / "other.db")
    link = tmp_path / "current.db"
    link.symlink_to(path)
    with ModelStore(link) as models:
        assert models.names() == ["a"]
        (tmp_path / "next").symlink_to(other)
        os.replace(tmp_path / "next", link)
        models.save(small_tokenizer(4), "b")
    assert references(path) == ["a@1"]
    assert references(other) == ["b@1", "b@2", "b@3"]


@pytest.mark.parametrize("write_first", [False, True])
def test_a_store_that_is_copied_over_an_open_one_is_not_overwritten_with_what_was_there(path, tmp_path, write_first):
    other = other_store(tmp_path / "other.db")
    with ModelStore(path) as models:
        models.save(small_tokenizer(5, n_merges=4000), "a")
        cp(other, path)
        if not write_first:
            assert models.names() == ["b"]
        assert models.save(small_tokenizer(4), "b").number == 3
    assert references(path) == ["b@1", "b@2", "b@3"]


def test_nothing_is_written_to_a_file_that_was_copied_over_while_others_have_it_open(path, tmp_path, monkeypatch):
    """SQLite keeps the size of the file in memory that all who have it open share."""
    monkeypatch.setattr("store.database.opening.SECONDS_OF_REPLACING", 0.1)
    other = other_store(tmp_path / "other.db")
    before = other.read_bytes()
    with ModelStore(path) as models, ModelStore(path) as others:
        models.save(small_tokenizer(2), "a")
        assert others.names() == ["a"]
        cp(other, path)
        with pytest.raises(StoreError, match=r"overwritten by another program while it was open|malformed"):
            models.save(small_tokenizer(4), "b")
    assert path.read_bytes() == before
    assert references(path) == ["b@1", "b@2"]


@posix
def test_a_save_that_went_to_a_file_that_was_replaced_meanwhile_is_an_error(path, tmp_path, monkeypatch):
    other = other_store(tmp_path / "other.db")
    with ModelStore(path) as models:

        def put_in_its_place(connection):
            empty_log(connection)
            os.replace(other, path)

        monkeypatch.setattr("store.database.opening.empty_log", put_in_its_place)
        with pytest.raises(Failed, match="another file took the place"):
            models.save(small_tokenizer(4), "a")
    assert references(path) == ["b@1", "b@2"]


@posix
@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_whose_file_is_removed_is_gone_and_not_written_to(path, read_only):
    with ModelStore(path, read_only=read_only) as models:
        assert models.names() == ["a"]
        path.unlink()
        with pytest.raises(CannotOpen, match="cannot be read: No such file"):
            models.load("a")
        if not read_only:
            with pytest.raises(CannotOpen):
                models.save(small_tokenizer(2), "a")
    assert not path.exists()


@posix
def test_opening_a_store_again_keeps_the_locks_of_the_first_time(path):
    """POSIX drops a process's locks on a file when the process closes any descriptor of it. Another process would then
    take the store for unused, and remove the log."""
    leave = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM names').fetchall(); c.close()"
    )
    with ModelStore(path) as models:
        assert models.names() == ["a"]
        for read_only in (False, True):
            ModelStore(path, read_only=read_only).close()
            ModelStore.missing_file(path)
        subprocess.run([sys.executable, "-c", leave, str(path)], check=True)
        assert path.with_name("models.db-wal").exists()
        models.save(small_tokenizer(2), "a")
    assert references(path) == ["a@1", "a@2"]


# ---- Reading where the folder is not writable


def tag_in_the_log(path):
    """A connection that has put a tag on a@1 in the log of a store, and leaves it there."""
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("INSERT INTO tags (version_id, key, value) VALUES (1, 'late', '')")
    writer.commit()
    return contextlib.closing(writer)


@posix
def test_a_link_in_a_folder_that_is_not_writable_leads_to_the_log_of_the_store(path, tmp_path):
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "models.db"
    link.symlink_to(path)

    def look():
        with ModelStore(link, read_only=True) as models:
            assert models.version("a").tags == {"late": ""}

    with tag_in_the_log(path):
        for file in path.parent.iterdir():
            file.chmod(0o444)
        path.parent.chmod(0o555)
        (tmp_path / "links").chmod(0o555)
        try:
            assert as_nobody(look) == ""
        finally:
            path.parent.chmod(0o755)
            (tmp_path / "links").chmod(0o755)


def test_a_file_that_grows_while_it_is_looked_at_is_not_cut_short(path, monkeypatch):
    with ModelStore(path) as models:
        models.save(small_tokenizer(1), "a")
    whole = path.read_bytes()
    path.write_bytes(whole[:-4096])
    with pytest.raises(NotAStore, match="is cut short"):
        files.check_file(str(path), writable=False)
    header_of = files.header_of

    def written_meanwhile(*arguments):
        path.write_bytes(whole)
        return header_of(*arguments)

    monkeypatch.setattr(files, "header_of", written_meanwhile)
    files.check_file(str(path), writable=False)


@posix
def test_a_reader_of_a_folder_that_is_not_writable_sees_what_its_owner_saves(path, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("this takes a second user")
    started, start = os.pipe()
    n_versions = 25

    def look():
        seen = [1]
        with ModelStore(path, read_only=True) as models:
            models.load("a@1")
            os.write(start, b"x")
            end = time.monotonic() + 30
            while seen[-1] < n_versions and time.monotonic() < end:
                seen.append(models.version("a").number)
                assert models.load(f"a@{seen[-1]}").merges == small_tokenizer(seen[-1]).merges
                assert seen[-2] <= seen[-1]
        assert seen[-1] == n_versions, seen[-1]

    said = []
    reader = threading.Thread(target=lambda: said.append(as_nobody(look)))
    reader.start()
    os.read(started, 1)
    with ModelStore(path) as models:
        for number in range(2, 15):
            models.save(small_tokenizer(number), "a")
            time.sleep(0.01)
    for number in range(15, n_versions + 1):  # the log and its index come and go
        with ModelStore(path) as models:
            models.save(small_tokenizer(number), "a")
    reader.join()
    os.close(started)
    os.close(start)
    assert said == [""]


@pytest.mark.parametrize("change", ["export", "import_", "import_folder", "publish", "backup", "restore"])
def test_a_number_is_no_file(models, change):
    """To Python it would be one that is open, such as standard output."""
    arguments = ["a"] if change == "export" else []
    for value in (None, 1, True, 2**70, ["a"]):
        with pytest.raises(TypeError, match=r"must be the name of a (file|folder), a str or a path, not "):
            getattr(models, change)(*arguments, value)
