"""Where a store writes: what names no file or folder of this machine is refused before anything is done, and what goes
wrong is said of the file that was named."""

import errno
import os

import pytest
from command_line import error_of
from small_models import small_tokenizer

from store import Failed, ModelStore, Refused, keeping

pytestmark = pytest.mark.ci

URLS = ["s3://b/x.db", "memory://x", "file:///tmp/x", "https://example.org/x"]


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBPE_STORE", str(tmp_path / "models.db"))
    (tmp_path / "there").mkdir()
    with ModelStore() as models:
        models.save(small_tokenizer(1), "book")
        yield models


def writers(models):
    """What writes a file to a name."""
    return (
        models.backup,
        lambda name: models.export("book", name),
        lambda name: models.restore("backup.db", backup=name),
        models.migrate,
    )


@pytest.mark.parametrize("name", ["", ".", "..", "there", "there/", "new/", "there/.", *URLS])
def test_what_names_no_file_is_refused_and_nothing_is_written(models, tmp_path, name):
    models.backup("backup.db")
    files = sorted(tmp_path.rglob("*"))
    for write in writers(models):
        with pytest.raises(
            Refused, match=r"is a folder: name a file in it, as|is empty: give one, as|is a URL"
        ) as error:
            write(name)
        assert repr(name) in str(error.value) or not name
    assert sorted(tmp_path.rglob("*")) == files
    assert models.names() == ["book"]


@pytest.mark.parametrize("name", ["", "~/public", *URLS])
def test_what_names_no_folder_is_refused_and_nothing_is_written(models, tmp_path, name):
    files = sorted(tmp_path.rglob("*"))
    told = r"is empty: give one, as public|is called ~: write '/|is a URL, and is not written to: name a folder"
    with pytest.raises(Refused, match=told):
        models.publish(name)
    assert sorted(tmp_path.rglob("*")) == files


def test_a_file_that_looks_like_a_url_is_named_by_its_path(models, tmp_path):
    (tmp_path / "s3:" / "b").mkdir(parents=True)
    models.backup("./s3://b/x.db")
    with ModelStore(tmp_path / "s3:" / "b" / "x.db") as backup:
        assert backup.names() == ["book"]


def test_no_message_shows_the_password_in_a_url(models):
    for write in (*writers(models), models.publish):
        with pytest.raises(Refused, match=r"'postgresql://\.\.\.' is a URL") as error:
            write("postgresql://ada:secret@host/db")
        assert "secret" not in str(error.value)


def test_the_command_line_refuses_such_names_and_writes_nothing(models, tmp_path):
    (tmp_path / "s3:" / "b").mkdir(parents=True)
    models.backup("backup.db")
    files = sorted(tmp_path.rglob("*"))
    for command in (["backup"], ["export", "book"], ["restore", "backup.db", "--backup"], ["migrate", "--backup"]):
        assert "name of the file is empty: give one, as " in error_of("models", *command, "")
        assert "'new/' is a folder: name a file in it, as new/" in error_of("models", *command, "new/")
        assert "'s3://b/x' is a URL, and is not written to" in error_of("models", *command, "s3://b/x")
    assert "'s3://b' is a URL" in error_of("models", "publish", "s3://b")
    assert "name of the folder is empty" in error_of("models", "publish", "")
    assert sorted(tmp_path.rglob("*")) == files


def test_a_backup_that_cannot_be_written_is_said_of_the_file_that_was_named(models, monkeypatch):
    def refuse(path, *_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(keeping, "new_file", refuse)
    with pytest.raises(Failed, match=r"can be made at there/b\.db: Read-only file system$"):
        models.backup("there/b.db")
    told = error_of("models", "backup", "there/b.db")
    assert told.endswith("can be made at there/b.db: Read-only file system\n")
