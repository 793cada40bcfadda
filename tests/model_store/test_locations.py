"""Where a store is: what names none is refused, mistyped URLs too, and no message or property shows a password."""

import copy
import os
import pickle
from pathlib import Path

import pytest
from command_line import error_of
from small_models import small_tokenizer
from sqlalchemy import make_url

from store import CannotOpen, ModelStore, StoreError

# What a person may type, or a program make, of a URL. Each holds the password hunter2 where a URL may hold one.
MISTYPED = [
    "sqlite://models.db",
    "sqlite://folder/models.db",
    "sqlite://user:hunter2@host/models.db",
    "sqlite://:5432/models.db",
    "sqlite:///",
    "sqlite:models.db",
    "sqlite:/models.db",
    "sqlite3:models.db",
    "sqlite//models.db",
    "file:models.db",
    "postgresql:/u:hunter2@h/db",
    "postgresql:u:hunter2@h/db",
    "postgresql//u:hunter2@h/db",
    "postgresql+psycopg:/u:hunter2@h/db",
    "postgres:/u:hunter2@h/db",
    "u:hunter2@h/db",
    "postgresql:///u:hunter2@h/db",
    "postgresql://u:p@hunter2@h/db",
    "postgresql://u:hunter2",
    "postgresql://u:hunter2/db",
    "mysql://u:hunter2@h/db",
    "mysql://h/db?password=hunter2",
    "://u:hunter2@h/db",
]


@pytest.mark.parametrize("given", MISTYPED)
def test_what_looks_like_a_mistyped_url_is_refused_unshown_and_makes_nothing(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for use in (ModelStore, ModelStore.missing_file, ModelStore.is_in_memory):
        with pytest.raises(CannotOpen) as error:
            use(given)
        assert "hunter2" not in f"{error.value} {error.value.__cause__}"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("given", ["postgresql://u:hunter2@h/db", "sqlite:///models.db"])
def test_a_path_made_of_a_url_is_refused(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotOpen, match="mistyped") as error:
        ModelStore(Path(given))
    assert "hunter2" not in str(error.value)
    assert os.listdir(tmp_path) == []


def test_two_slashes_are_told_from_three(tmp_path):
    with pytest.raises(CannotOpen, match=r"three slashes before the path, as sqlite:///models\.db"):
        ModelStore("sqlite://models.db")


@pytest.mark.parametrize("name", ["a:b", "sqlite.db", "postgresql", "me@host.db", "12:30@noon.db", "./file:models.db"])
def test_files_may_have_names_with_colons(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ModelStore(name) as models:
        models.save(small_tokenizer(1), "a")
    assert os.listdir(tmp_path) == [os.path.basename(name)]


def test_a_password_in_an_option_is_shown_nowhere():
    url = "postgresql+psycopg://someone@127.0.0.1:1/none?password=hunter2&sslpassword=hunter2&connect_timeout=1"
    with pytest.raises(StoreError) as error:
        ModelStore(url)
    assert "hunter2" not in str(error.value)
    assert "password=..." in str(error.value)


def test_no_password_is_in_the_url_or_the_log_of_a_copy(postgresql_url):
    password = make_url(postgresql_url).password
    in_option = make_url(postgresql_url).set(password=None).update_query_dict({"password": password})
    with ModelStore(in_option) as models, ModelStore(":memory:") as other:
        models.save(small_tokenizer(1), "a")
        models.copy("a", other)
        for said in (models.url, repr(models), repr(other.audit_log())):
            assert password not in said


@pytest.mark.parametrize("given", [":memory:", "sqlite://", "sqlite:///:memory:"])
@pytest.mark.parametrize("from_environment", [False, True])
def test_the_command_line_keeps_nothing_in_memory(given, from_environment, monkeypatch):
    if from_environment:
        monkeypatch.setenv("CBPE_STORE", given)
    option = [] if from_environment else ["--store", given]
    for command in (["save", "gold", "-t", "gpt2"], ["ls"]):
        assert "gone when the command ends: name a file" in error_of("models", *command, *option)


@pytest.mark.parametrize("given", [5, b"models.db", object()])
def test_what_is_no_path_is_refused_by_its_type(given):
    with pytest.raises(CannotOpen, match=f"a str, not by {type(given).__name__}"):
        ModelStore(given)


def test_a_store_is_not_copied_without_its_url():
    with ModelStore(":memory:") as models:
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"a ModelStore is not pickled or copied.*: pass its url"):
                copied(models)


def test_the_command_line_copies_nothing_into_memory(tmp_path):
    with ModelStore(tmp_path / "models.db") as models:
        models.save(small_tokenizer(1), "a")
    error = error_of("models", "copy", "a", ":memory:", "--store", tmp_path / "models.db")
    assert "gone when the command ends" in error


def test_two_slashes_are_an_error_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBPE_STORE", "sqlite://models.db")
    assert "three slashes" in error_of("models", "save", "gold", "-t", "gpt2")
    monkeypatch.setenv("CBPE_STORE", "postgresql:/u:hunter2@h/db")
    assert "hunter2" not in error_of("models", "save", "gold", "-t", "gpt2")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", ["folder/", "./", ".", "..", "a/.."])
def test_a_folder_is_no_store_whether_it_is_there_or_not(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotOpen, match=r"is a folder: a store is a file in it, as \S*models\.db"):
        ModelStore(path)
    monkeypatch.setenv("CBPE_STORE", path)
    assert "is a folder: a store is a file in it" in error_of("models", "ls")
    assert list(tmp_path.iterdir()) == []
