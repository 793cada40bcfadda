"""Publishing a store as plain files, and loading from them by every kind of reference."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from urllib.parse import quote

import pytest
from command_line import error_of, run
from published_copies import ODD, TOKS

import cbpe
from store import ModelStore, NotFound, Refused
from store.sharing import index, published

# ---- Publishing


def test_a_store_of_either_kind_is_published_whole(models, tmp_path):
    models.save(TOKS[0], "a", aliases=["prod"], tags={"x": "y"})
    models.save(cbpe.get_encoding("r50k_base"), "b")
    assert models.publish(tmp_path / "deep" / "public") == 2
    for reference in ("a@prod", "a@1", "a", "a@latest"):
        tok = published.load(f"{tmp_path}/deep/public/{reference}")
        assert type(tok) is type(models.load("a"))
        assert tok.merges == TOKS[0].merges
        assert tok.special_tokens == TOKS[0].special_tokens
        assert vars(tok.training) == vars(TOKS[0].training)
    assert published.load(f"{tmp_path}/deep/public/b").encode("hello") == cbpe.get_encoding("r50k_base").encode("hello")


def test_the_index_says_what_is_there(published_folder):
    said = json.loads((published_folder / "index.json").read_text("ascii"))
    assert said["format"] == "cbpe published 1"
    assert set(said["names"]) == {"a", ODD}
    assert (said["names"]["a"]["newest"], said["names"]["a"]["aliases"]) == (3, {"prod": 2})
    files = {path.name: path.read_bytes() for path in (published_folder / "files").iterdir()}
    assert len(files) == 4
    for about in said["names"].values():
        for entry in about["versions"].values():
            data = files[os.path.basename(entry["file"])]
            assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["size"], entry["sha256"])


def test_publishing_again_adds_what_is_new_and_changes_no_file(empty_store, tmp_path):
    with ModelStore(shutil.copy(empty_store, tmp_path / "models.db")) as models:
        models.save(TOKS[0], "a", aliases=["prod"])
        assert models.publish(tmp_path / "public") == 1
        before = {path: (path.stat().st_ino, path.read_bytes()) for path in (tmp_path / "public" / "files").iterdir()}
        assert models.publish(tmp_path / "public") == 0
        models.save(TOKS[1], "a", aliases=["prod"])
        models.tag("a@1", ["new"])  # its file says so too: another file
        assert models.publish(tmp_path / "public") == 2
        assert {path: (path.stat().st_ino, path.read_bytes()) for path in before} == before
        assert published.load(f"{tmp_path}/public/a@prod").merges == TOKS[1].merges
        models.delete("a@1")
        with pytest.warns(UserWarning, match=r"index\.json named a@1 until now, and this store has no such version"):
            assert models.publish(tmp_path / "public") == 0
        assert models.publish(tmp_path / "public") == 0  # without a word, as pytest makes errors of warnings
    with pytest.raises(NotFound, match="the newest version is a@2"):
        published.load(f"{tmp_path}/public/a@1")


def test_versions_of_another_store_that_its_index_replaces_are_told(empty_store, tmp_path):
    for name, toks in (("one.db", {"a": TOKS[0], "b": TOKS[0]}), ("two.db", {"a": TOKS[1]})):
        with ModelStore(shutil.copy(empty_store, tmp_path / name)) as models:
            for each, tok in toks.items():
                models.save(tok, each)
    with ModelStore(tmp_path / "one.db") as models:
        assert models.publish(tmp_path / "public") == 2
    told = pytest.warns(UserWarning, match="named a@1, b@1 until now, .*, and the files stay")
    with ModelStore(tmp_path / "two.db") as models, told:
        assert models.publish(tmp_path / "public") == 1
    assert len(list((tmp_path / "public" / "files").iterdir())) == 3


def test_a_damaged_file_is_written_anew(empty_store, tmp_path):
    with ModelStore(shutil.copy(empty_store, tmp_path / "models.db")) as models:
        models.save(TOKS[0], "a")
        models.publish(tmp_path / "public")
        (path,) = (tmp_path / "public" / "files").iterdir()
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        assert models.publish(tmp_path / "public") == 1
    assert published.load(f"{tmp_path}/public/a").merges == TOKS[0].merges


def test_when_it_fails_the_index_is_as_before(empty_store, tmp_path, monkeypatch):
    with ModelStore(shutil.copy(empty_store, tmp_path / "models.db")) as models:
        models.save(TOKS[0], "a")
        models.publish(tmp_path / "public")
        before = (tmp_path / "public" / "index.json").read_bytes()
        models.save(TOKS[1], "a")
        monkeypatch.setattr(index, "MAX_VALUES", 20)
        with pytest.raises(Refused, match="at most 20 keys and values"):
            models.publish(tmp_path / "public")
    assert (tmp_path / "public" / "index.json").read_bytes() == before


def test_a_file_of_another_program_is_not_replaced(empty_store, tmp_path):
    (tmp_path / "index.json").write_text('{"weight_map": {}}')
    models = ModelStore(shutil.copy(empty_store, tmp_path / "models.db"))
    with models, pytest.raises(Refused, match="would be replaced"):
        models.publish(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir() if "models.db" not in path.name) == ["index.json"]


# ---- Loading


@pytest.mark.parametrize(("reference", "which"), [("a@1", 0), ("a@prod", 1), ("a", 2), ("a@latest", 2), ("%61@3", 2)])
def test_every_kind_of_reference_leads_to_its_version(published_url, published_folder, reference, which):
    for place in (published_url, published_folder):
        assert published.load(f"{place}/{reference}").merges == TOKS[which].merges


def test_an_odd_name_is_escaped_and_leaves_no_folder(published_url, published_folder):
    for place in (published_url, published_folder):
        assert published.load(f"{place}/{quote(ODD, safe='')}@1").merges == TOKS[0].merges


def test_cbpe_loads_by_the_entry_point(published_url, published_folder, installed):
    assert cbpe.load(f"{published_url}/a@prod").merges == TOKS[1].merges
    assert cbpe.load(published_folder / "a@1").merges == TOKS[0].merges
    with pytest.raises(ValueError, match="are for files without a split pattern"):
        cbpe.load(f"{published_url}/a@prod", pattern="x")


@pytest.mark.usefixtures("installed")
def test_the_command_line_reads_and_writes_a_copy(published_folder, published_url, tmp_path):
    (tmp_path / "text").write_text("lowest")
    for place in (published_url, published_folder):
        found = run("count", "-t", f"{place}/a@prod", tmp_path / "text", "--json").stdout
        assert json.loads(found)[0]["tokens"] == len(TOKS[1].encode("lowest"))
    assert "no version is called" in error_of("count", "-t", f"{published_url}/b", tmp_path / "text")
    with ModelStore(tmp_path / "models.db") as models:
        models.save(TOKS[0], "a")
    assert run("models", "publish", tmp_path / "public").stdout == "files written: 1\n"
    assert json.loads(run("models", "publish", tmp_path / "public", "--json").stdout) == {"written": 0}


def test_cbpe_does_not_import_store_for_other_files(tmp_path):
    TOKS[0].save(tmp_path / "x")
    code = "import cbpe, sys; cbpe.load(sys.argv[1]); sys.exit('store' in sys.modules)"
    subprocess.run([sys.executable, "-c", code, tmp_path / "x.model"], check=True)


@pytest.mark.parametrize(
    ("reference", "error", "message"),
    [
        ("b", NotFound, "no version is called 'b'; the names in this copy are '.*', 'a'$"),
        ("a@9", NotFound, "no 'a@9'; the newest version is a@3"),
        ("a@next", NotFound, "no 'a@next'"),
        ("sha256:abcdefab", ValueError, "not by its digest"),
        ("", ValueError, "/ names no version in a published copy: one is as .*folder/name@3"),
        ("a@b@c", ValueError, "no alias"),
        ("%ff", ValueError, "decode"),
    ],
)
def test_what_is_not_there_or_no_reference(published_url, published_folder, reference, error, message):
    for place in (published_url, published_folder):
        with pytest.raises(error, match=message):
            published.load(f"{place}/{reference}")
