"""Importing a folder of tokenizer files."""

import json
import os

import pytest
from command_line import error_of, run
from small_models import small_tokenizer

import cbpe
from cbpe.tokenizers.description import describe
from store import ModelStore, NotFound, ReadOnly, Refused, moving

TOK = cbpe.train("low lower lowest newer wider", 262, special_tokens=["<|end|>"])
PAIR = cbpe.train("low lower lowest newer wider", 262, pattern=cbpe.GPT2_SPLIT_PATTERN)


@pytest.fixture
def folder(tmp_path):
    """Tokenizers in files of several formats, and in folders."""
    top = tmp_path / "tokenizers"
    (top / "sub" / "hf").mkdir(parents=True)
    (top / "pair").mkdir()
    TOK.save(top / "low")  # low.model, and low.vocab for people
    TOK.save(top / "sub" / "hf" / "tokenizer.json")
    (top / "sub" / "hf" / "config.json").write_text("{}")
    TOK.save(top / "sub" / "other.json")
    PAIR.save(top / "pair" / "vocab.json")
    (top / "README.md").write_text("tokenizers")
    with ModelStore(":memory:") as models:
        models.save(small_tokenizer(1), "carried", tags={"k": "v"})
        models.export("carried", top / "sub" / "x.cbpe-model")
    return top


def references(found):
    return [version.reference for version in found.versions]


def test_all_tokenizers_in_a_folder_are_saved_under_their_names(models, folder):
    found = models.import_folder(folder)
    assert found.problems == ()
    assert references(found) == ["low@1", "pair@1", "sub-other@1", "carried@1", "sub-hf@1"]
    assert all(version.created for version in found.versions)
    assert models.load("low").merges == TOK.merges
    assert models.load("pair").encode("low lower") == PAIR.encode("low lower")
    assert describe(models.load("carried")).digest == describe(small_tokenizer(1)).digest
    assert models.version("carried").tags == {"k": "v"}
    assert [change.action for change in models.audit_log()] == ["import"] * 5
    assert models.audit_log("low")[0].details["source"] == str(folder / "low.model")
    again = models.import_folder(str(folder))
    assert references(again) == references(found)
    assert not any(version.created for version in again.versions)


def test_other_tokenizers_beside_a_tokenizer_json_are_saved_and_its_settings_are_not(models, tmp_path):
    folder = tmp_path / "hf"
    folder.mkdir()
    for name in ("tokenizer.json", "other.json"):
        cbpe.train(f"low lower {name}", 260).save(folder / name)
    PAIR.save(folder / "vocab.json")  # and merges.txt
    for name in ("config.json", "tokenizer_config.json", "special_tokens_map.json", "list.json", "broken.json"):
        (folder / name).write_text("{" if name == "broken.json" else "[1]" if name == "list.json" else '{"a": 1}')
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.json")
    found = models.import_folder(folder)
    assert references(found) == ["other@1", "hf@1"]
    assert [os.path.basename(problem.split(": ")[0]) for problem in found.problems] == (
        ["pipe.json"] if hasattr(os, "mkfifo") else []
    )
    (folder / "tokenizer.json").unlink()
    assert references(models.import_folder(folder)) == ["other@1", "hf@2"]


def test_settings_beside_a_sentencepiece_model_are_no_tokenizers(models, tmp_path):
    folder = tmp_path / "hf"
    folder.mkdir()
    cbpe.train("low lower lowest " * 9, 270, alphabet="characters").save(folder / "tokenizer.model")
    for name in ("tokenizer_config.json", "special_tokens_map.json", "generation_config.json"):
        (folder / name).write_text('{"a": 1}')
    found = models.import_folder(folder)
    assert (references(found), found.problems) == (["tokenizer@1"], ())


def test_exported_versions_of_any_name_and_gguf_files_are_imported(models, tmp_path):
    folder = tmp_path / "mixed"
    folder.mkdir()
    models.save(TOK, "own")
    models.export("own", folder / "own.backup")
    models.export("own", folder / "bare")
    TOK.save(folder / "upper.json")
    (folder / "upper.json").rename(folder / "UPPER.JSON")
    (folder / "readme.txt").write_text("minbpe v1\n")
    (folder / "broken.gguf").write_bytes(b"GGUF")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
    with ModelStore(":memory:") as other:
        found = other.import_folder(folder)
        assert references(found) == ["UPPER@1", "own@1", "own@1"]
        assert [os.path.basename(problem.split(": ")[0]) for problem in found.problems] == ["broken.gguf"]


@pytest.mark.parametrize("name", ["tokenizer.model", "tiktoken.model", "qwen.tiktoken", "own.tiktoken"])
@pytest.mark.parametrize("pattern", [r"\w+|.", ""])
def test_a_pattern_is_for_files_of_ranks_of_any_name(models, tmp_path, name, pattern):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(b"YQ== 0\nYg== 1\nYWI= 2\n")
    assert len(models.import_folder(tmp_path / "in").problems) == 1
    found = models.import_folder(tmp_path / "in", pattern=pattern)
    assert found.problems == ()
    assert models.load(found.versions[0]).pattern == (pattern or None)
    option = ["--pattern", pattern, "--store", str(tmp_path / "cli.db")]
    assert "new: " in run("models", "import", str(tmp_path / "in"), *option).stdout


def test_what_cannot_be_imported_is_named_and_stops_nothing(models, folder):
    (folder / "broken.model").write_text("minbpe v1\n")
    (folder / "a@b.model").write_bytes((folder / "low.model").read_bytes())
    (folder / "low.json").write_bytes((folder / "sub" / "other.json").read_bytes())
    (folder / "ranks.tiktoken").write_bytes(b"YQ== 0\nYg== 1\nYWI= 2\n")
    (folder / "x.cbpe").write_bytes((folder / "sub" / "x.cbpe-model").read_bytes()[:-1])
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.model")
    found = models.import_folder(folder)
    assert references(found) == ["low@1", "pair@1", "sub-other@1", "carried@1", "sub-hf@1"]
    problems = dict(problem.split(": ", 1) for problem in found.problems)
    told = {os.path.basename(path): why for path, why in problems.items()}
    pipe = {"pipe.model": "it is no file"} if hasattr(os, "mkfifo") else {}
    assert set(told) == {"broken.model", "a@b.model", "low.model", "ranks.tiktoken", "x.cbpe", *pipe}
    assert "is no name" in told["a@b.model"]
    other = "ModelStore.save(cbpe.load(path), name) gives it another name"
    assert told["low.model"] == f"it would be called 'low', as {folder / 'low.json'} is: {other}"
    pattern = "set pattern to it, such as those of cbpe.patterns, and '' is for texts that nothing splits"
    assert told["ranks.tiktoken"] == f"a .tiktoken file holds no split pattern: {pattern}"
    assert "cut short or damaged" in told["x.cbpe"]
    found = models.import_folder(folder, pattern=r"\S+|\s+")
    assert "ranks@1" in references(found)
    assert models.version("ranks").pattern == r"\S+|\s+"


@pytest.mark.skipif(os.name == "nt", reason="for POSIX: links")
def test_links_to_folders_are_told_and_links_to_files_are_followed(models, folder, tmp_path):
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "low.model").symlink_to(folder / "low.model")
    (tmp_path / "linked" / "team").symlink_to(folder)
    told = r"linked, 1 link to a folder \(team\) is not followed: import what is behind by itself"
    with pytest.warns(UserWarning, match=told):
        assert references(models.import_folder(tmp_path / "linked")) == ["low@1"]
    (tmp_path / "linked" / "low.model").unlink()
    with pytest.warns(UserWarning, match=told), pytest.raises(Refused, match="holds no tokenizer files"):
        models.import_folder(tmp_path / "linked")


def test_a_folder_that_is_none_and_a_store_that_is_read_are_errors(tmp_path, folder):
    path = tmp_path / "models.db"
    with ModelStore(path) as models:
        for error, given in ((FileNotFoundError, tmp_path / "missing"), (NotADirectoryError, folder / "low.model")):
            with pytest.raises(error):
                models.import_folder(given)
        with pytest.raises(NotFound):
            models.load("low")
    with ModelStore(path, read_only=True) as models, pytest.raises(ReadOnly):
        models.import_folder(folder)


def test_a_folder_without_tokenizer_files_is_refused(tmp_path):
    (tmp_path / "empty" / "within").mkdir(parents=True)
    (tmp_path / "empty" / "within" / "readme.txt").write_text("nothing")
    with ModelStore(":memory:") as models, pytest.raises(Refused, match=r"empty holds no tokenizer files, .* in it"):
        models.import_folder(tmp_path / "empty")


def test_a_folder_is_imported_on_the_command_line(tmp_path, folder):
    options = ("--store", str(tmp_path / "models.db"))
    rows = json.loads(run("models", "import", str(folder), "--json", *options).stdout)
    assert [row["name"] for row in rows] == ["low", "pair", "sub-other", "carried", "sub-hf"]
    (folder / "broken.model").write_text("minbpe v1\n")
    done = run("models", "import", str(folder), *options, exit_code=1)
    assert "low@1" in done.stdout
    assert "broken.model" in done.stderr
    (folder / "ranks.tiktoken").write_bytes(b"YQ== 0\nYg== 1\nYWI= 2\n")
    told = run("models", "import", str(folder), *options, exit_code=1).stderr
    assert (
        "ranks.tiktoken: a .tiktoken file holds no split pattern: give it as --pattern, such as --pattern gpt4" in told
    )
    assert "ranks@1" in run("models", "import", str(folder), "--pattern", "gpt4", *options, exit_code=1).stdout
    assert "under their own names" in error_of("models", "import", str(folder), "--name", "x", *options, exit_code=2)
    file = str(folder / "sub" / "x.cbpe-model")
    assert "for the files of a folder" in error_of("models", "import", file, "--pattern", "gpt2", *options, exit_code=2)


def test_hidden_files_and_manifests_of_runs_are_passed_over(models, tmp_path):
    tok = cbpe.train("low lower lowest " * 9, 260)
    (tmp_path / "shards" / ".run").mkdir(parents=True)
    for name in ("shards/manifest.json", "shards/.run/run.json", "web.words.json", ".hidden.json"):
        (tmp_path / name).write_text('{"version": 1}')
    tok.save(tmp_path / "book.json")
    tok.save(tmp_path / "shards" / ".run" / "x.json")
    found = models.import_folder(tmp_path)
    assert (references(found), found.problems) == (["book@1"], ())


@pytest.mark.parametrize("way", ["published", "exported"])
def test_exported_versions_are_imported_in_the_order_in_which_they_were_saved(models, tmp_path, way):
    with ModelStore(":memory:") as others:
        saved = [others.save(small_tokenizer(seed), "a") for seed in (3, 1, 4, 5, 9, 2, 6)]
        if way == "published":
            others.publish(tmp_path)
        else:
            for version in saved:
                others.export(version, tmp_path / f"{-version.number % 8}.cbpe-model")
    found = models.import_folder(tmp_path)
    assert found.problems == ()
    assert [version.digest for version in found.versions] == [version.digest for version in saved]
    assert models.version("a").digest == saved[-1].digest
    again = models.import_folder(tmp_path)
    assert [version.digest for version in again.versions] == [version.digest for version in saved]
    assert not any(version.created for version in again.versions)
    assert len(models.versions("a")) == len(saved)


def test_of_a_folder_that_was_imported_what_is_new_is_added(models, tmp_path):
    with ModelStore(":memory:") as others:
        for seed in (1, 2, 1):  # the third is the first again
            others.save(small_tokenizer(seed), "a")
        others.publish(tmp_path)
        assert references(models.import_folder(tmp_path)) == ["a@1", "a@2", "a@3"]
        models.save(small_tokenizer(7), "a")  # here alone
        others.save(small_tokenizer(3), "a")
        others.publish(tmp_path)
    found = models.import_folder(tmp_path)
    assert references(found) == ["a@1", "a@2", "a@3", "a@5"]
    assert [version.created for version in found.versions] == [False, False, False, True]
    assert references(models.import_folder(tmp_path)) == references(found)


def test_versions_that_are_there_get_the_labels_that_they_lack(models, tmp_path):
    with ModelStore(":memory:") as others:
        trained = cbpe.train("low lower lowest" * 3, 259)
        for tok in (trained, small_tokenizer(2), small_tokenizer(3)):
            others.save(tok, "a")
        trained.save(tmp_path / "again.model")
        models.save(cbpe.load(tmp_path / "again.model"), "a", tags={"lang": "mine"})  # without its record
        for seed in (2, 3):
            models.save(small_tokenizer(seed), "a")
        assert models.training("a@1") is None
        for number in (1, 2):
            others.tag(f"a@{number}", {"lang": "theirs", "more": str(number)})
        others.set_metrics("a@2", {"loss": 2.5})
        others.set_notes("a@2", "a note")
        others.publish(tmp_path / "copy")
    found = models.import_folder(tmp_path / "copy")
    assert references(found) == ["a@1", "a@2", "a@3"]
    first, second, _ = models.history("a")
    assert first.tags == {"lang": "mine", "more": "1"}
    assert repr(models.training(first)) == repr(trained.training)
    assert (second.tags, second.metrics, second.notes) == ({"lang": "theirs", "more": "2"}, {"loss": 2.5}, "a note")
    before = len(models.audit_log())
    models.import_folder(tmp_path / "copy")
    assert len(models.audit_log()) == before + 1  # of the newest alone


def test_a_version_of_another_class_is_not_the_one_that_was_exported(models, tmp_path):
    """The class says which special tokens are found, so that texts with these get other ids."""
    TOK.save(tmp_path / "low.json")
    same_in_another_class = cbpe.load(tmp_path / "low.json")
    exported = tmp_path / "exported"
    exported.mkdir()
    with ModelStore(":memory:") as others:
        for tok in (TOK, PAIR):
            version = others.save(tok, "a", tags={"merges": str(len(tok.merges))})
            others.export(version, exported / f"{version.number}.cbpe")
        assert models.save(same_in_another_class, "a").digest == others.version("a@1").digest
    models.save(PAIR, "a")
    found = models.import_folder(exported)
    assert [version.kind for version in found.versions] == ["RegexTokenizer"] * 2
    assert [version.created for version in found.versions] == [True, True]
    assert models.version("a@3").tags == {"merges": str(len(TOK.merges))}
    assert references(models.import_folder(exported)) == references(found) == ["a@3", "a@4"]


def test_several_exports_of_one_content_are_one_version_however_often_they_are_imported(models, tmp_path):
    for i, seed in enumerate((1, 1, 2, 2, 1)):  # each of a store of its own, one after the other
        with ModelStore(":memory:") as others:
            others.save(small_tokenizer(seed), "a")
            others.export("a", tmp_path / f"{i}.cbpe-model")
    for is_new in (True, False, False):
        found = models.import_folder(tmp_path)
        assert references(found) == ["a@1", "a@1", "a@2", "a@2", "a@3"]
        assert any(version.created for version in found.versions) == is_new


@pytest.mark.parametrize("before", range(5))
def test_two_who_import_one_folder_at_the_same_moment_make_no_version_twice(tmp_path, monkeypatch, before):
    """The second imports all of it when the first is about to import one file after `before` others."""
    with ModelStore(":memory:") as others:
        for seed in (1, 2, 3, 1, 4):
            others.save(small_tokenizer(seed), "a")
        others.publish(tmp_path / "copy")
        digests = [version.digest for version in others.history("a")]
    imported = []
    read = moving.read

    def other_first(path):
        imported.append(path)
        if len(imported) == 5 + before + 1:  # each was read for its place in the order before
            with ModelStore(tmp_path / "models.db") as second:
                assert any(version.created for version in second.import_folder(tmp_path / "copy").versions)
        return read(path)

    with ModelStore(tmp_path / "models.db") as first:
        monkeypatch.setattr(moving, "read", other_first)
        found = first.import_folder(tmp_path / "copy")
        assert [version.digest for version in first.history("a")] == digests
        assert references(found) == [f"a@{number}" for number in range(1, 6)]
        assert [version.created for version in found.versions] == [i < before for i in range(5)]


def test_of_a_published_copy_what_its_index_names_is_imported(tmp_path):
    """Two teams publish to one folder: files of the index before stay there."""
    copy = tmp_path / "copy"
    sizes = {258: TOK.shrink(258), 260: TOK.shrink(260), 262: TOK}
    with ModelStore(tmp_path / "a.db") as ours, ModelStore(tmp_path / "b.db") as theirs:
        for size in (258, 260):
            ours.save(sizes[size], "tok")
        ours.publish(copy)
        theirs.import_folder(copy)
        theirs.save(sizes[262], "tok")
        theirs.publish(copy)
        assert len(list((copy / "files").iterdir())) > 3
        for models, before in ((ours, 2), (theirs, 3)):
            assert [each.number for each in models.history("tok")] == list(range(1, before + 1))
            models.import_folder(copy)
            assert [each.vocab_size for each in models.history("tok")] == [258, 260, 262]
    with ModelStore(tmp_path / "c.db") as fresh:
        assert [each.number for each in fresh.import_folder(copy).versions] == [1, 2, 3]
        assert [fresh.load(f"tok@{number}").vocab_size for number in (1, 2, 3)] == [258, 260, 262]
    (copy / "index.json").write_text("{}")  # no index: all files are taken
    with ModelStore(tmp_path / "d.db") as fresh:
        assert len(fresh.import_folder(copy).versions) > 3
