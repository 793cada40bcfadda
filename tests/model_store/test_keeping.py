"""Backups and restoring: all that is in a store comes back, while others use it; and what would lose something is
refused, with the store and the older backup as they were."""

import dataclasses
import json
import lzma
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from command_line import error_of, run
from project import ROOT
from small_models import small_tokenizer
from unchecked import unchecked

import cbpe
from store import CannotOpen, Damaged, Failed, ModelStore, NotAStore, ReadOnly, Refused

pytestmark = pytest.mark.ci

BYTES = {bytes([i]): i for i in range(256)}
RANKS = cbpe.Encoding("own", pat_str=".+", mergeable_ranks={**BYTES, b"lo": 300}, special_tokens={})
TOK = cbpe.train("low lower lowest newer wider", 262, special_tokens=["<|end|>"])


def fill(models):
    """Something of everything."""
    models.save(TOK, "a", tags={"language": "en"}, notes="n", metrics={"loss": 1.5}, aliases=["prod"])
    models.save(small_tokenizer(1), "a")
    models.set_parent("a@1", "a@2")
    models.save(RANKS, "gpt")
    models.rename("gpt", "ranks")
    models.save(small_tokenizer(2), "b")
    models.delete("b")
    models.set_alias("a", "prod", "a@2")


def everything(models):
    assert models.verify().problems == ()
    records = [models.training(version) for version in models.versions()]
    records = [record and dataclasses.asdict(record) for record in records]
    return models.versions(order="time"), models.audit_log(), models.alias_history("a"), records


@pytest.fixture
def filled(models):
    fill(models)
    return models


def test_a_store_in_memory_is_backed_up_and_the_backup_is_a_store(tmp_path):
    with ModelStore(":memory:") as models:
        fill(models)
        expected = everything(models)
        models.backup(tmp_path / "backup.db")
    with ModelStore(tmp_path / "backup.db") as backup:
        assert everything(backup) == expected


def test_a_backup_has_all_that_is_in_a_store_and_is_one(filled, tmp_path):
    path = tmp_path / "backup.db"
    filled.backup(path)
    assert {name for name in os.listdir(tmp_path) if name.startswith("backup")} == {"backup.db"}
    with ModelStore(path) as copy:
        assert everything(copy) == everything(filled)
        assert copy.load("a@prod").merges == small_tokenizer(1).merges
        assert copy.find_token(" low")[0].version.reference
        assert copy.save(small_tokenizer(3), "b").number == 2
        assert copy.write_rows() == 4
        assert copy.verify().problems == ()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_backup_replaces_an_older_one_and_nothing_else(empty_store_url, tmp_path, read_only):
    folder = tmp_path / "backups"
    folder.mkdir()
    with ModelStore(empty_store_url) as models:
        models.save(TOK, "a")
        models.backup(folder / "backup.db")
        models.save(small_tokenizer(1), "a")
    (folder / "text").write_text("mine")
    (folder / "folder").mkdir()
    with ModelStore(empty_store_url, read_only=read_only) as models:
        models.backup(folder / "backup.db")
        with pytest.raises(Refused, match="is there already, and is no backup"):
            models.backup(folder / "text")
        with pytest.raises(Refused, match="is a folder: name a file in it"):
            models.backup(folder / "folder")
    assert sorted(os.listdir(folder)) == ["backup.db", "folder", "text"]
    assert (folder / "text").read_text() == "mine"
    with ModelStore(folder / "backup.db") as copy:
        assert len(copy.versions()) == 2


def test_a_backup_replaces_no_store_with_anything_that_this_one_lacks(empty_store_url, tmp_path):
    target = tmp_path / "other.db"
    with ModelStore(empty_store_url) as models, ModelStore(target) as other:
        models.save(TOK, "a")
        other.save(TOK, "a")  # the same content under the same name and number, by another change
        lacks = (
            r"is no older backup of the store .* \(the last one: save a, .* UTC\), .*: name another file .*, or delete"
        )
        with pytest.raises(Refused, match=lacks):
            models.backup(target)
        assert len(other.versions()) == 1
        other.restore(copied(models, tmp_path), force=True)
        other.tag("a", ["mine"])  # a backup that somebody went on with
        with pytest.raises(Refused, match=r"the last one: tag a, "):
            models.backup(target)
        assert other.version("a").tags == {"mine": ""}


def copied(models, folder):
    models.backup(folder / "copy.db")
    return folder / "copy.db"


def test_a_backup_replaces_an_older_one_with_what_the_store_has_no_more(empty_store_url, tmp_path):
    target = tmp_path / "backup.db"
    with ModelStore(empty_store_url) as models:
        models.backup(target)  # of a store without anything
        fill(models)
        models.backup(target)
        models.delete("a@1")
        models.rename("ranks", "other")
        models.vacuum()
        models.backup(target)
        models.restore(target, force=True)
        models.backup(target)
        with ModelStore(target) as backup:
            assert everything(backup) == everything(models)
        models.backup(tmp_path / "older.db")
        models.tag("a", ["later"])
        models.backup(target)
        models.restore(tmp_path / "older.db", force=True)
        with pytest.raises(Refused, match="the last one: tag a, "):  # the tag is in this backup alone
            models.backup(target)


def test_a_backup_replaces_one_of_an_older_schema(tmp_path):
    path, target = tmp_path / "models.db", tmp_path / "backup.db"
    stored = lzma.decompress((ROOT / "tests" / "project" / "stored" / "models.db.xz").read_bytes())
    path.write_bytes(stored)
    with ModelStore(path) as models:
        models.backup(target)
        models.backup(target)
        models.migrate()
        models.backup(target)
        with ModelStore(target) as backup:
            assert (backup.revision, backup.versions()) == (models.revision, models.versions())


@pytest.mark.parametrize("what", ["versions without a log", "damage"])
def test_a_backup_replaces_no_store_that_does_not_tell_its_changes(tmp_path, what):
    target = tmp_path / "other.db"
    with ModelStore(target) as other:
        other.save(TOK, "a")
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("DELETE FROM audit_log" if what != "damage" else "DROP TABLE audit_log")
        connection.commit()
    before = target.read_bytes()
    with ModelStore(tmp_path / "models.db") as models:
        models.save(TOK, "a")
        problem = "holds versions without a log" if what != "damage" else "is no backup that another could replace"
        with pytest.raises(Refused, match=problem):
            models.backup(target)
    assert target.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="permissions are others on Windows")
def test_a_backup_may_be_read_by_whom_the_store_or_the_backup_before_may(store_url, tmp_path):
    target = tmp_path / "backup.db"
    modes = []
    with ModelStore(store_url) as models:
        models.save(TOK, "a")
        if store_url.startswith("sqlite"):
            (tmp_path / "models.db").chmod(0o600)
            models.backup(target)
            modes.append(target.stat().st_mode & 0o777)
        else:
            models.backup(target)
            modes.append(0o600)
        target.chmod(0o640)
        models.backup(target)
        modes.append(target.stat().st_mode & 0o777)
    assert modes == [0o600, 0o640]
    with ModelStore(target) as backup:
        assert backup.load("a").merges == TOK.merges


def test_a_store_is_no_backup_of_itself(tmp_path):
    path = tmp_path / "models.db"
    (tmp_path / "link").symlink_to(path)
    with ModelStore(path) as models:
        models.save(TOK, "a")
        for target in (path, tmp_path / "link", tmp_path / "models.db-wal"):
            with pytest.raises(Refused, match="is the store itself"):
                models.backup(target)
        for source in (path, tmp_path / "link"):
            with pytest.raises(Refused, match="is the store itself"):
                models.restore(source)
        assert models.names() == ["a"]


def test_restoring_brings_back_what_was_there_while_others_have_the_store_open(empty_store_url, tmp_path):
    with ModelStore(empty_store_url) as models, ModelStore(empty_store_url) as others:
        fill(models)
        before = everything(models)
        models.backup(tmp_path / "backup.db")
        models.delete("a@1")
        models.rename("ranks", "other")
        models.save(small_tokenizer(7, n_merges=3000), "large")
        assert "other" in others.names()
        models.restore(tmp_path / "backup.db", backup=tmp_path / "before.db")
        for each in (models, others):
            versions, log, *rest = everything(each)
            assert (versions, log[1:], *rest) == before
            assert (log[0].action, log[0].details) == ("restore", {"source": str(tmp_path / "backup.db")})
        assert others.save(small_tokenizer(3), "b").number == 2
        assert others.save(small_tokenizer(4), "new").number == 1
        assert models.verify().problems == ()


def test_a_store_that_is_replaced_by_a_backup_is_kept_itself(tmp_path):
    path = tmp_path / "models.db"
    with ModelStore(tmp_path / "backup.db") as models:
        models.save(TOK, "a")
    with ModelStore(path) as models:
        assert models.restore(tmp_path / "backup.db") is None  # nothing was there
        models.save(small_tokenizer(1), "mine")
        kept = models.restore(tmp_path / "backup.db")
        assert kept == f"{path}.before-restore"
        assert models.names() == ["a"]
        with ModelStore(kept) as before:
            assert before.names() == ["a", "mine"]
        assert models.restore(tmp_path / "backup.db") == f"{kept}-2"
        with pytest.raises(Refused, match="is there already: name another file for the backup of the store as it is"):
            models.restore(tmp_path / "backup.db", backup=kept)
        with ModelStore(kept) as before:
            assert before.names() == ["a", "mine"]


def test_a_damaged_store_is_restored_when_that_is_forced(tmp_path):
    path = tmp_path / "models.db"
    with ModelStore(path) as models:
        models.save(cbpe.get_encoding("r50k_base"), "a")
        models.backup(tmp_path / "backup.db")
        models.save(small_tokenizer(1), "b")
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size - 4096)
        file.write(b"x" * 4096)
    with ModelStore(path) as models:
        with pytest.raises(Damaged, match=", or set force to restore without that backup"):
            models.restore(tmp_path / "backup.db")
        with pytest.raises(ValueError, match=r"force is set, .* no backup can be made in '.*before\.db'"):
            models.restore(tmp_path / "backup.db", backup=tmp_path / "before.db", force=True)
        models.restore(tmp_path / "backup.db", force=True)
        assert models.verify().ok


def test_a_store_moves_from_one_database_to_the_other(tmp_path, postgresql_url):
    with ModelStore(tmp_path / "a.db") as models, ModelStore(postgresql_url) as server:
        fill(models)
        models.write_rows()
        models.backup(tmp_path / "backup.db")
        server.save(small_tokenizer(9), "gone")
        with pytest.raises(Refused, match=r"holds versions: name a file for the backup .*, or set force to restore"):
            server.restore(tmp_path / "backup.db")
        assert server.restore(tmp_path / "backup.db", force=True) is None
        server.backup(tmp_path / "again.db")
        before, after = everything(models), everything(server)
        assert (after[0], after[1][1:], *after[2:]) == (before[0], before[1], *before[2:])
        with ModelStore(tmp_path / "again.db") as again:
            assert everything(again) == after


def test_a_backup_of_an_older_schema_is_restored(store_url, tmp_path):
    older = tmp_path / "older.db"  # which cbpe 0.1.0 wrote
    older.write_bytes(lzma.decompress((ROOT / "tests" / "project" / "stored" / "models.db.xz").read_bytes()))
    with ModelStore(older, read_only=True) as models:
        (name, *_), revision, before = models.names(), models.revision, models.versions()
    with ModelStore(store_url) as models:
        models.restore(older)
        if store_url.startswith("sqlite"):  # a file is as it was; a server keeps its schema
            assert models.revision == revision == "4"
            models.migrate(tmp_path / "before.db")
        assert models.versions() == before
        assert models.verify().problems == ()
        assert models.save(small_tokenizer(1), name).created


def damage(path):
    with closing(sqlite3.connect(path)) as connection:
        with unchecked(connection):
            connection.execute("UPDATE versions SET digest = 'x' WHERE id = 1")
        connection.commit()


def test_what_is_no_whole_backup_is_not_restored(empty_store_url, tmp_path):
    with ModelStore(empty_store_url) as models:
        models.save(TOK, "a")
        models.backup(tmp_path / "damaged.db")
        damage(tmp_path / "damaged.db")
        (tmp_path / "text").write_text("x" * 5000)
        (tmp_path / "short.db").write_bytes((tmp_path / "damaged.db").read_bytes()[:-4096])
        before = everything(models)
        for name, error in (
            ("damaged.db", Damaged),
            ("text", NotAStore),
            ("short.db", NotAStore),
            ("none", CannotOpen),
        ):
            with pytest.raises(error):
                models.restore(tmp_path / name)
            assert everything(models) == before
    with ModelStore(empty_store_url, read_only=True) as models, pytest.raises((ReadOnly, Damaged)):
        models.restore(tmp_path / "damaged.db")


def test_no_backup_is_made_of_pages_that_cannot_be_read(tmp_path):
    path = tmp_path / "models.db"
    with ModelStore(path) as models:
        models.save(cbpe.get_encoding("r50k_base"), "a")
        models.backup(tmp_path / "backup.db")
    good = (tmp_path / "backup.db").read_bytes()
    data = path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'audit_log'").fetchone()
    path.write_bytes(data[: (page - 1) * 4096] + bytes(4096) + data[page * 4096 :])
    with ModelStore(path) as models, pytest.raises(Damaged, match="no backup of it is made"):
        models.backup(tmp_path / "backup.db")
    assert (tmp_path / "backup.db").read_bytes() == good
    assert sorted(os.listdir(tmp_path)) == ["backup.db", "models.db"]


@pytest.mark.parametrize("what", ["vocabularies", "versions"])
def test_a_store_whose_content_is_damaged_replaces_no_backup_and_gives_a_new_one_with_a_warning(models, tmp_path, what):
    models.save(TOK, "a")
    models.backup(tmp_path / "backup.db")
    good = (tmp_path / "backup.db").read_bytes()
    column, value = ("packed", "substr(packed, 2)") if what == "vocabularies" else ("digest", f"'{'0' * 64}'")
    with models._database._writer.begin() as connection, unchecked(connection):
        connection.exec_driver_sql(f"UPDATE {what} SET {column} = {value}")
    problem = "packed form does not have its digest" if what == "vocabularies" else "its digest"
    refused = (
        rf"no backup of it takes the place of .*backup\.db, .*{problem}.*\. To keep the store as it is, name a file"
    )
    with pytest.raises(Damaged, match=refused):
        models.backup(tmp_path / "backup.db")
    assert (tmp_path / "backup.db").read_bytes() == good
    with pytest.warns(UserWarning, match=rf"is damaged, and so is the backup .*new\.db: .*{problem}") as caught:
        models.backup(tmp_path / "new.db")
    assert (len(caught), caught[0].filename) == (1, __file__)
    with ModelStore(tmp_path / "new.db", read_only=True) as copy:
        assert copy.verify().problems
    models.restore(tmp_path / "backup.db", backup=tmp_path / "before.db")
    assert models.load("a").merges == TOK.merges
    assert {name for name in os.listdir(tmp_path) if name.endswith((".part", "-wal", "-shm"))} <= {
        f"models.db{end}" for end in ("-wal", "-shm")
    }


def test_a_damaged_store_does_not_replace_a_backup_on_the_command_line(tmp_path):
    store, backup = tmp_path / "models.db", tmp_path / "backup.db"
    with ModelStore(store) as models:
        models.save(TOK, "a")
    run("models", "backup", backup, "--store", store)
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE vocabularies SET packed = zeroblob(length(packed))")
        connection.commit()
    assert f"no backup of it takes the place of {backup}" in error_of("models", "backup", backup, "--store", store)
    made = run("models", "backup", tmp_path / "new.db", "--store", store)
    assert made.stdout == f"wrote a backup to {tmp_path / 'new.db'} (versions: 1)\n"
    assert f"is damaged, and so is the backup {tmp_path / 'new.db'}: " in made.stderr
    run("models", "restore", backup, "--store", store)
    assert "all is well" in run("models", "verify", "--store", store).stdout


def test_a_backup_where_none_can_be_written_is_an_error(filled, tmp_path):
    with pytest.raises((Failed, CannotOpen, OSError)):
        filled.backup(tmp_path / "no folder" / "backup.db")
    assert not (tmp_path / "no folder").exists()


def test_a_backup_is_of_one_moment_while_others_save(empty_store_url, tmp_path):
    stop, failures = threading.Event(), []

    def save():
        try:
            with ModelStore(empty_store_url) as models:
                number = 0
                while not stop.is_set():
                    models.save(small_tokenizer(number), "a", aliases=["newest"])
                    number += 1
        except BaseException as error:
            failures.append(error)

    with ModelStore(empty_store_url) as models:
        models.save(small_tokenizer(99), "b")
        writer = threading.Thread(target=save)
        writer.start()
        for number in range(4):
            models.backup(tmp_path / f"backup {number}.db")
        stop.set()
        writer.join()
    assert failures == []
    for number in range(4):
        with ModelStore(tmp_path / f"backup {number}.db", read_only=True) as copy:
            assert copy.verify().problems == ()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("what", ["backup", "restore"])
def test_who_is_killed_leaves_the_store_and_the_backup_whole(tmp_path, what):
    path, backup = tmp_path / "models.db", tmp_path / "backup.db"
    with ModelStore(path) as models:
        models.save(cbpe.get_encoding("r50k_base"), "a")
        models.backup(backup)
        models.save(small_tokenizer(1), "a")
    code = (
        "import sys, time; from store import ModelStore; models = ModelStore(sys.argv[1]); print('x', flush=True)\n"
        "while True: getattr(models, sys.argv[3])(sys.argv[2])"
    )
    for wait in (0.0, 0.03, 0.1):
        command = [sys.executable, "-c", code, str(path), str(backup), what]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            threading.Event().wait(wait)
            child.send_signal(signal.SIGKILL)
        for each in (path, backup):
            with ModelStore(each) as models:
                assert models.verify().problems == ()
                assert len(models.versions()) in (1, 2)


def test_a_backup_and_restoring_it_on_the_command_line(empty_store_url, tmp_path):
    here = ["--store", empty_store_url]
    run("models", "save", "a", "-t", "gpt2", *here)
    run("models", "backup", tmp_path / "backup.db", *here)
    run("models", "rm", "a", *here)
    run("models", "restore", tmp_path / "backup.db", "--backup", tmp_path / "before.db", *here)
    assert "a@1" in run("models", "ls", *here).stdout
    assert json.loads(run("models", "log", "--json", "--limit", 1, *here).stdout)[0]["action"] == "restore"
    assert "there is no store at" in error_of("models", "restore", tmp_path / "none", *here)
    (tmp_path / "text").write_text("x")
    assert "no backup that another could replace" in error_of("models", "backup", tmp_path / "text", *here)
    with ModelStore(tmp_path / "live.db") as live:
        live.save(TOK, "mine")
    told = error_of("models", "backup", tmp_path / "live.db", *here)
    assert told.endswith("would be lost: name another file for the backup, or delete that one first\n")
    assert "mine@1" in run("models", "ls", "--store", tmp_path / "live.db").stdout
    run("models", "restore", tmp_path / "backup.db", "--store", tmp_path / "new.db")
    assert "a@1" in run("models", "ls", "--store", tmp_path / "new.db").stdout


def test_a_newer_backup_is_refused(empty_store_url, tmp_path):
    with ModelStore(empty_store_url) as models:
        models.save(TOK, "a")
        models.backup(tmp_path / "backup.db")
        with closing(sqlite3.connect(tmp_path / "backup.db")) as connection:
            connection.execute("UPDATE store_schema SET version_num = '99'")
            connection.commit()
        with pytest.raises(NotAStore, match="upgrade cbpe"):
            models.restore(tmp_path / "backup.db")
        assert models.names() == ["a"]


def test_a_backup_that_was_made_read_only_is_kept(tmp_path):
    with ModelStore(tmp_path / "models.db") as models:
        models.save(cbpe.train("low lower", 258), "one")
        models.backup(tmp_path / "kept.db")
        before = (tmp_path / "kept.db").read_bytes()
        (tmp_path / "kept.db").chmod(0o444)
        models.delete("one@1", force=True)
        with pytest.raises(PermissionError, match="the file is read-only: allow writing to it, or remove it, first"):
            models.backup(tmp_path / "kept.db")
    assert (tmp_path / "kept.db").read_bytes() == before


def test_a_log_that_a_reader_left_is_named_where_it_bars_a_change():
    from sqlalchemy.exc import OperationalError

    from store.database.failures import explained

    error = OperationalError("UPDATE", {}, sqlite3.OperationalError("attempt to write a readonly database"))
    told = str(explained("models.db", error))
    assert told.startswith(
        "the store models.db could not do it, and is as before: attempt to write a readonly database."
    )
    assert told.endswith("who only read the store left that log, remove both files while nobody has the store open")
