"""Which tokenizer is meant."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROGRAM, error_of, run

import cbpe
from store import CannotOpen, ModelStore


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in, and a store with two versions of "shakespeare"."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with ModelStore() as models:
        models.save(trained(258), "shakespeare", aliases=["prod"])
        models.save(trained(260), "shakespeare")
    return folder


def trained(size):
    return cbpe.train("to be or not to be", size)


def vocab_size(reference, *options):
    return len(run("vocab", "-t", reference, *options).stdout.splitlines())


def test_what_may_not_be_looked_at_is_not_said_to_be_missing(tmp_path, monkeypatch):
    hidden = str(tmp_path / "hidden" / "x.json")
    stat = os.stat

    def refusing(path, *others, **options):
        if "hidden" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, *others, **options)

    monkeypatch.setattr(os, "stat", refusing)
    assert f"{hidden}: Permission denied" in error_of("count", "-t", hidden, stdin=b"the")
    store = str(tmp_path / "hidden" / "models.db")
    assert f"{store}: Permission denied" in error_of("--store", store, "models", "ls")
    lstat = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path, **options: refusing(path) and lstat(path, **options))
    with pytest.raises(CannotOpen, match=r"models.db: Permission denied: nobody may look there"):
        ModelStore(store, read_only=True)


def test_a_version_in_the_store(here):
    assert vocab_size("shakespeare") == 260
    assert vocab_size("shakespeare@1") == 258
    assert vocab_size("shakespeare@prod") == 258
    with ModelStore() as models:
        digest = models.version("shakespeare").digest
    assert vocab_size(f"sha256:{digest[:12]}") == 260


def test_another_store(here, tmp_path):
    with ModelStore(tmp_path / "other.db") as models:
        models.save(trained(259), "shakespeare")
    assert vocab_size("shakespeare", "--store", tmp_path / "other.db") == 259
    before = run("--store", tmp_path / "other.db", "vocab", "-t", "shakespeare").stdout
    assert len(before.splitlines()) == 259
    assert vocab_size("shakespeare") == 260  # the option holds for one call


def test_a_file_where_there_is_a_separator_or_an_ending(here):
    trained(257).save("v1.5")  # writes v1.5.model
    os.rename("v1.5.model", "v1.5")
    with ModelStore() as models:
        models.save(trained(259), "v1.5")
    assert vocab_size("v1.5") == vocab_size("./v1.5") == 257
    assert vocab_size("v1.5@1") == 259
    trained(257).save("shakespeare")
    assert vocab_size("shakespeare.model") == 257
    assert vocab_size("shakespeare") == 260  # no ending: that of the store


def test_a_name_with_an_ending_that_is_no_file_is_looked_for_in_the_store(here):
    with ModelStore() as models:
        models.save(trained(257), "v1.5")
    assert vocab_size("v1.5") == 257


def test_a_folder_without_a_separator_hides_no_version(here):
    (here / "llama-3.1").mkdir()
    trained(259).save("llama-3.1/tokenizer.json")
    with pytest.raises(LookupError, match=r"no tokenizer 'llama-3\.1': a folder is named as \./llama-3\.1; "):
        cbpe.load("llama-3.1")
    assert "a folder is named as ./llama-3.1" in error_of("vocab", "-t", "llama-3.1")
    with ModelStore() as models:
        models.save(trained(257), "llama-3.1")
    assert vocab_size("llama-3.1") == cbpe.load("llama-3.1").vocab_size == 257
    for folder in ("./llama-3.1", "llama-3.1/"):
        assert vocab_size(folder) == cbpe.load(folder).vocab_size == 259
    assert cbpe.load(here / "llama-3.1").vocab_size == cbpe.load(Path("llama-3.1")).vocab_size == 259


def test_what_was_tried_is_told(here, tmp_path):
    (here / "file").touch()
    assert "no version is called 'gpt9'" in error_of("vocab", "-t", "gpt9")
    assert "the named encodings are gpt2, " in error_of("vocab", "-t", "gpt9")
    path = ModelStore().url.removeprefix("sqlite:///")
    assert f"no version is called 'gpt9' ({path})" in error_of("vocab", "-t", "gpt9")
    with pytest.raises(LookupError, match=re.escape(f"no version is called 'gpt9' ({path})")):
        cbpe.load("gpt9")
    assert "there is no such file (./gpt9)" in error_of("vocab", "-t", "./gpt9")
    at_home = os.path.expanduser("~/none.json")
    assert f"(~/none.json; ~ stands for no folder here: {at_home})" in error_of("vocab", "-t", "~/none.json")
    assert "a file without an ending is named as ./file" in error_of("vocab", "-t", "file")
    trained(259).save("near.model")
    assert "there is a file near.model: give its whole name" in error_of("vocab", "-t", "near")
    assert "the newest version is shakespeare@2" in error_of("vocab", "-t", "shakespeare@7")
    assert "named encodings" not in error_of("vocab", "-t", "sha256:00000000")
    assert "named encodings" not in error_of("vocab", "-t", "shakespeare@7")
    assert "it is a model of OpenAI's, whose encoding is cl100k_base" in error_of("vocab", "-t", "gpt-4")


def test_a_broken_plug_in_is_in_nobodys_way_who_does_not_ask_for_it(here, tmp_path):
    (tmp_path / "tiktoken_ext").mkdir()
    (tmp_path / "tiktoken_ext" / "broken.py").write_text("x = 1")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def told(*arguments):
        command = [PROGRAM, *arguments]
        return subprocess.run(command, env=environment, input="to be", capture_output=True, text=True, check=False)

    assert told("count", "-t", "shakespeare").stdout.strip() == str(trained(260).count("to be"))
    unknown = told("count", "-t", "gpt9").stderr
    assert "no version is called 'gpt9'" in unknown
    assert "those of plug-ins are not known: the plug-in tiktoken_ext.broken has no ENCODING_CONSTRUCTORS" in unknown
    (tmp_path / "tiktoken_ext" / "broken.py").write_text("import nosuchmodule")
    unknown = told("count", "-t", "gpt9").stderr
    assert (
        "those of plug-ins are not known: the plug-in tiktoken_ext.broken cannot be imported (ModuleNotFoundError: "
        "No module named 'nosuchmodule')" in unknown
    )
    for options in ([], ["--json"]):
        listed = told("encodings", *options)
        assert "o200k_harmony" in listed.stdout
        assert listed.stderr.startswith("cbpe: the plug-in tiktoken_ext.broken cannot be imported")
        assert listed.returncode == 1


def test_an_encoding_that_cannot_be_made_is_told_and_the_others_are_listed(tmp_path):
    (tmp_path / "tiktoken_ext").mkdir()
    (tmp_path / "tiktoken_ext" / "mine.py").write_text("ENCODING_CONSTRUCTORS = {'odd': lambda: 1 / 0}")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([PROGRAM, "encodings"], env=environment, capture_output=True, text=True, check=False)
    assert "o200k_harmony" in done.stdout
    assert (done.stderr, done.returncode) == ("cbpe: odd: division by zero\n", 1)


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    missing = tmp_path / "folder" / "none.db"
    assert "there is no model store at" in error_of("vocab", "-t", "gpt9", "--store", missing)
    assert not missing.parent.exists()


@pytest.mark.parametrize("reference", ["shakespeare", "shakespeare@1", "shakespeare@prod", "cl100k_base", "here.json"])
def test_a_reference_means_the_same_to_python(here, reference):
    trained(259).save("here.json")
    loaded = cbpe.load(reference)
    assert [len(loaded.vocab), loaded.count("to be")] == [vocab_size(reference), tokens_of(reference, "to be")]


def test_what_may_be_meant_ends_no_sentence_in_its_middle():
    told = error_of("count", "-t", "gtp2", stdin=b"")
    assert "o200k_harmony (did you mean 'gpt2'?); there is no model store" in told


def tokens_of(reference, text):
    return int(run("count", "-t", reference, stdin=text.encode()).stdout)


@pytest.mark.parametrize(
    ("reference", "error", "message"),
    [
        ("shakespear", LookupError, "no version is called 'shakespear': did you mean 'shakespeare'"),
        ("shakespeare@prd", LookupError, "there is no alias 'shakespeare@prd'.*did you mean 'prod'"),
        ("cl100k_bas", LookupError, "the named encodings are .*did you mean 'cl100k_base'"),
        ("folder/x.json", FileNotFoundError, "there is no such file"),
        ("book.jsn", FileNotFoundError, r"there is no such file \(book.jsn; did you mean 'book.json'"),
        ("folder", LookupError, "folder: this folder has neither tokenizer.json.*: give the path of a file; "),
        ("whole", LookupError, "a folder is named as ./whole"),
        ("link.json", FileNotFoundError, "link.json is a link to no file; the named"),
        ("linked", LookupError, "a file without an ending is named as ./linked"),
    ],
)
def test_a_reference_that_means_nothing_says_what_may_be_meant(here, reference, error, message):
    trained(259).save("book.json")
    (here / "folder").mkdir()
    (here / "whole").mkdir()
    trained(259).save("whole/tokenizer.json")
    (here / "link.json").symlink_to("gone.json")
    (here / "linked").symlink_to("book.json")
    with pytest.raises(error, match=message):
        cbpe.load(reference)
    assert "cbpe: no tokenizer" in error_of("vocab", "-t", reference)


def test_in_python_options_of_files_are_refused_for_names(here):
    with pytest.raises(ValueError, match="for files without a split pattern"):
        cbpe.load("cl100k_base", pattern="x")
    with pytest.raises(ValueError, match="keys are for a version in a published copy"):
        cbpe.load("cl100k_base", keys=[])
    (here / "ranks").write_bytes(b"YQ== 0\n")
    with pytest.raises(LookupError, match=r"a file without an ending is named as \./ranks"):
        cbpe.load("ranks", pattern="x")
    with pytest.raises(FileNotFoundError, match=r"there is no such file \(gone\.tiktoken\)"):
        cbpe.load("gone.tiktoken", pattern="x")


@pytest.mark.parametrize("given", [None, 5, ["gpt2"]])
def test_what_is_no_name_is_refused_by_its_type(given):
    with pytest.raises(TypeError, match=f"^path is a str or a path, not {type(given).__name__}$"):
        cbpe.load(given)


def test_a_tokenizer_of_another_library_is_refused_with_a_way():
    tiktoken = pytest.importorskip("tiktoken")
    with pytest.raises(TypeError, match=r"not tiktoken\.Encoding: pass cbpe\.get_encoding\(its name\)"):
        cbpe.load(tiktoken.Encoding("x", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={}))


def test_where_no_store_is_python_says_so_and_makes_none(tmp_path, monkeypatch):
    monkeypatch.setenv("CBPE_STORE", str(tmp_path / "none.db"))
    with pytest.raises(LookupError, match=r"there is no model store at .*none\.db"):
        cbpe.load("shakespeare")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_ones_own_in_the_place_of_the_package_store_is_named(tmp_path):
    (tmp_path / "store.py").write_text("")
    program = [sys.executable, "-c", "import cbpe; cbpe.load('misspelt')"]
    failed = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert (
        f"cannot be imported (No module named 'store.model_store'; 'store' is not a package), as {tmp_path}"
        in (failed.stderr.splitlines()[-1])
    )
    assert "store.py has its name: rename that, or start Python in another folder" in failed.stderr
    for command in (["models", "ls"], ["count", "-t", "misspelt", "store.py"], ["models", "save", "a", "-t", "gpt2"]):
        program = [sys.executable, "-m", "cbpe", *command]
        failed = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
        assert failed.returncode == 1
        assert failed.stderr.startswith("cbpe: ")
        assert "the package store, which comes with cbpe, cannot be imported (" in failed.stderr
        assert failed.stderr.endswith("store.py has its name: rename that, or start Python in another folder\n")


def test_a_model_of_the_hub_is_told_to_be_got_as_a_file(here):
    told = error_of("count", "-t", "openai-community/gpt2")
    assert "nothing is downloaded: of a model on the Hugging Face Hub, get its file (hf download openai" in told
    (here / "folder").mkdir()
    for reference in ("some/gpt2.json", "folder/gpt2", "/some/gpt2", "a/b/c", "gpt3"):
        assert "Hub" not in error_of("count", "-t", reference)


def test_a_name_that_is_like_none_is_told_that_nothing_is_downloaded(here):
    told = "nothing is downloaded: of a tokenizer that is published elsewhere, name its file"
    assert told in error_of("count", "-t", "llama-3.1")
    with pytest.raises(LookupError, match=told):
        cbpe.load("mistral")
    for reference in ("gpt4o", "some/gpt2", "gone.json", "gpt-4", "gpt3", "mine@9"):
        assert told not in error_of("count", "-t", reference)


def test_an_empty_name_is_refused_as_such():
    assert "'' names no tokenizer: name a file, a named encoding or a version" in error_of("count", "-t", "")


def test_a_published_copy_that_is_not_encrypted_is_refused_with_what_a_command_takes():
    error = error_of("count", "-t", "http://192.0.2.1/pub/x", "-")
    assert (
        "give an https:// URL, which is fetched from anywhere; one with http:// is fetched from this machine" in error
    )
    assert "allow_http" not in error
