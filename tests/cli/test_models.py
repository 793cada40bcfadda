"""cbpe models: the model store on the command line."""

import json
import sqlite3
from contextlib import closing

import pytest
from books import rows, trained
from command_line import TEXT, error_of, run
from typer.main import get_command

import cbpe
from cbpe.cli.app import app
from cbpe.cli.models.commands import app as models_app
from store import ModelStore

pytestmark = pytest.mark.ci


# ---- Saving


def test_the_smaller_tokenizer_of_a_size_is_saved_and_written(models, tmp_path):
    run("models", "save", "small", "-t", "book", "--vocab-size", 275, "--parent", "book")
    expected = models.load("book").shrink(275)
    small = models.load("small")
    assert (small.merges, small.special_tokens) == (expected.merges, expected.special_tokens)
    assert small.training.vocab_size == 275
    assert models.version("small").parent == "book@2"
    run("convert", "book", tmp_path / "small.model", "--vocab-size", 275)
    expected.save(tmp_path / "expected")
    assert (tmp_path / "small.model").read_bytes() == (tmp_path / "expected.model").read_bytes()
    for size, problem in (
        ("9k", "--vocab-size is 9,000, but book has 280 bytes and merges: it can only"),
        ("x", "'x' is no size"),
    ):
        for command in (["convert", "book", tmp_path / "none.model"], ["models", "save", "none", "-t", "book"]):
            assert problem in error_of(*command, "--vocab-size", size, exit_code=2)
    assert not (tmp_path / "none.model").exists()


def test_saving_a_smaller_vocabulary_tells_of_special_tokens_that_have_other_ids(models):
    save = ("models", "save", "tiny", "-t", "gpt2", "--vocab-size", "1000")
    assert json.loads(run(*save, "--json").stdout)["special_moved"] == {"<|endoftext|>": [50256, 1000]}
    assert "other ids       <|endoftext|> (1000, which was 50256)\n" in run(*save).stdout
    assert "other ids" not in run("models", "save", "whole", "-t", "gpt2").stdout


def test_train_saves_to_the_store(tmp_path):
    text = tmp_path / "text.txt"
    text.write_bytes(TEXT.encode())
    options = ["--alias", "prod", "--tag", "language=en", "--tag", "final", "--notes", "of [red] cats"]
    shown = run("train", text, "--vocab-size", 280, "--save", "cats", *options).stdout
    assert "cats@1" in shown
    with ModelStore() as models:
        version = models.version("cats@prod")
        assert models.load("cats").merges == cbpe.train(TEXT, 280).merges
        assert models.training("cats").text_bytes == len(TEXT.encode())
    assert (version.tags, version.notes) == ({"language": "en", "final": ""}, "of [red] cats")
    again = ("train", text, "--vocab-size", 280, "--save", "cats")
    assert "cats@1 (which it was already)\n" in run(*again).stdout
    assert "cats@1 (which it was already; what was given is set on it)\n" in run(*again, "--tag", "final").stdout
    run("train", text, "--vocab-size", 290, "--save", "cats", "--initial", "cats@1")
    with ModelStore() as models:
        assert models.version("cats").parent == "cats@1"
        assert list(models.load("cats@2").merges)[:24] == list(models.load("cats@1").merges)


def test_the_parent_is_the_version_that_training_began_with(models, tmp_path, monkeypatch):
    text = tmp_path / "text.txt"
    text.write_bytes(TEXT.encode())
    train = cbpe.train

    def train_while_others_save(*arguments, **options):
        models.save(train(TEXT, 300), "book")
        return train(*arguments, **options)

    monkeypatch.setattr(cbpe, "train", train_while_others_save)
    run("train", text, "--vocab-size", 290, "--initial", "book", "--save", "longer")
    assert models.version("longer").parent == "book@2"
    assert list(models.load("longer").merges)[:24] == list(models.load("book@2").merges)


def test_train_looks_at_the_store_before_it_reads(tmp_path):
    missing = tmp_path / "missing.txt"
    assert "is no name" in error_of("train", missing, "--vocab-size", 280, "--save", "a@b")
    options = "--vocab-size", 280, "--save", "a"
    assert "no alias" in error_of("train", missing, *options, "--alias", "7")
    assert "a tag has" in error_of("train", missing, *options, "--tag", "")
    wrong = tmp_path / "text.txt"
    wrong.write_text("no store")
    assert str(wrong) in error_of("train", missing, "--vocab-size", 280, "--save", "a", "--store", wrong)
    assert "--save" in error_of("train", missing, "--vocab-size", 280, "--alias", "a", exit_code=2)


def test_save_takes_any_tokenizer(tmp_path):
    trained(270).save(tmp_path / "book")
    saved = rows("save", "book", "-t", tmp_path / "book.model", "--metric", "bytes_per_token=3.5", "--alias", "prod")
    assert (saved["name"], saved["number"], saved["created"], saved["aliases"]) == ("book", 1, True, ["prod"])
    assert saved["metrics"] == {"bytes_per_token": 3.5}
    assert rows("save", "book", "-t", "book")["created"] is False
    assert run("models", "save", "book", "-t", "book").stdout.endswith("the newest version is this already\n")
    again = run("models", "save", "book", "-t", "book", "--notes", "found again").stdout
    assert again.endswith("the newest version is this already; what was given is set on it\n")
    assert rows("show", "book")["notes"] == "found again"
    assert "this already" not in run("models", "save", "other", "-t", "book").stdout
    assert rows("save", "of openai", "-t", "gpt2")["encoding_name"] == "gpt2"
    assert "no KEY=NUMBER" in error_of("models", "save", "x", "-t", "gpt2", "--metric", "loss=low", exit_code=2)


def test_an_exported_file_and_a_tokenizers_are_told_apart(models, tmp_path):
    exported = tmp_path / "e.cbpe"
    assert run("models", "export", "book@1", exported).stdout == f"wrote book@1 to {exported}\n"
    assert run("models", "export", "book@1", exported).stdout == f"wrote book@1 to {exported}, over an older export\n"
    assert "cbpe models import FILE" in error_of("count", "-t", exported, stdin=b"x")
    inspected = run("inspect", exported, exit_code=1)
    assert "cbpe models import" in " ".join(inspected.stdout.split())
    refused = json.loads(run("inspect", exported, "--json", exit_code=1).stdout)["refused"]
    assert refused.endswith("cbpe models import FILE saves it in yours, under whose name -t takes it then")
    (tmp_path / "e.cbpe.sig").write_text("a signature of another one")
    signed = run("models", "export", "book@1", exported)
    assert f"cbpe: {exported}.sig is a signature of what {exported} was before, not of this" in signed.stderr
    assert f"sign it by --key, or delete {exported}.sig" in signed.stderr
    trained(270).save(tmp_path / "x")
    assert "cbpe models save NAME -t FILE" in error_of("models", "import", tmp_path / "x.model")
    told = error_of("models", "import", "https://host/folder/book.cbpe-model", exit_code=2)
    assert "https://host/folder/book.cbpe-model is a URL: download it; 'cbpe models save NAME -t URL'" in told
    (tmp_path / "x").write_text("something else")
    assert "no exported version" in error_of("models", "export", "book@1", tmp_path / "x")
    for name in ("y.json", "x.model", "y.vocab", "y.tiktoken", "gpt2_tokenizer.bin", "merges.txt", "Y.JSON"):
        told = error_of("models", "export", "book@1", tmp_path / name)
        assert "an exported version is read by model stores alone" in told
        assert "cbpe convert REF FILE writes that format" in told
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.lower().startswith("y")) == []


def test_a_store_in_place_of_a_file_is_told(models, tmp_path):
    run("models", "backup", tmp_path / "b.db")
    told = "an SQLite database, as a model store is: give it as --store, and name a version"
    assert told in error_of("count", "-t", tmp_path / "b.db", stdin=b"x")
    told = "an SQLite database, as a model store is: give it as --store, and copy from it by cbpe models copy"
    assert told in error_of("models", "import", tmp_path / "b.db")
    assert run("models", "copy", "--store", tmp_path / "b.db", "book@1", tmp_path / "c.db").stdout.startswith("version")


@pytest.mark.parametrize(
    ("method", "command", "said"),
    [
        ("import_folder", ["import", "."], "what is saved by now stays, and the same command saves the rest"),
        ("restore", ["restore", "b.db"], "the store is as it was, or all of the backup: cbpe models log says which"),
    ],
)
def test_ctrl_c_in_the_middle_says_what_is_kept(models, method, command, said, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ModelStore, method, interrupted)
    assert error_of("models", *command, exit_code=130) == f"cbpe: interrupted: {said}\n"


# ---- Changing


def test_rows_are_written_for_sql_and_removed(models, tmp_path):
    assert rows("write-rows", "book@1") == {"written": 1}
    assert "vocabularies written as rows: 0" in run("models", "write-rows", "book@1").stdout
    with closing(sqlite3.connect(tmp_path / "models.db")) as connection:
        assert connection.execute("SELECT text FROM tokens WHERE id = 97").fetchall() == [("a",)]
    assert rows("write-rows", "--remove") == {"removed": 1}
    assert error_of("models", "write-rows", "nobody")


def test_inspect_says_what_shows_a_stored_name(models):
    assert "cbpe models show book@2" in error_of("inspect", "book")
    assert "cbpe analyze -t gpt2" in error_of("inspect", "gpt2")
    assert "No such file" in error_of("inspect", "nobody")


def test_a_version_of_another_class_says_why_it_is_new(models, tmp_path):
    cbpe.Tokenizer.save(models.load("book"), tmp_path / "x.json")
    told = run("models", "save", "book", "-t", tmp_path / "x.json").stdout
    assert "yes: book@2 gives the same results, but its class is RegexTokenizer" in told
    assert models.version("book@3").digest == models.version("book@2").digest
    assert "results" not in run("models", "save", "book", "-t", "gpt2").stdout


def test_importing_a_folder_says_which_versions_it_made(models, tmp_path):
    (tmp_path / "in").mkdir()
    trained(290).save(tmp_path / "in" / "book")
    trained(270).save(tmp_path / "in" / "shelf")
    assert "\nnew: book@3, shelf@1\n" in run("models", "import", tmp_path / "in").stdout
    assert "\nnew: none" in run("models", "import", tmp_path / "in").stdout
    (tmp_path / "empty" / "within").mkdir(parents=True)
    (tmp_path / "empty" / "readme.txt").write_text("nothing")
    assert "empty holds no tokenizer files, which end in .json, .model," in error_of(
        "models", "import", tmp_path / "empty"
    )
    (tmp_path / "empty" / "within" / "bad.model").write_text("nothing")
    assert run("models", "import", tmp_path / "empty", exit_code=1).stdout == ""


def test_words_of_other_programs_suggest_a_command(models):
    for words, command in (("list", "ls"), ("delete del remove Remove", "rm"), ("mv", "rename"), ("gc", "vacuum")):
        for word in words.split():
            told = error_of("models", word, "book", exit_code=2)
            assert f"No such command '{word}'. Did you mean '{command}'?" in told
    assert "No such command 'list'. Did you mean 'encodings', 'models'?" in error_of("list", exit_code=2)
    assert "No such command 'shw'. Did you mean 'show'?" in error_of("models", "shw", exit_code=2)


def test_every_suggested_command_is_there_and_no_word_for_it_is_one():
    for group in (get_command(models_app), get_command(app)):
        for name, words in group.called.items():
            assert name in group.commands
            assert not set(words) & set(group.commands)


def test_all_versions_of_a_name_are_deleted_or_none(models):
    assert "book@prod points to" in error_of("models", "rm", "--all", "book")
    assert [row["number"] for row in rows("ls")] == [1, 2]
    assert [row["deleted"] for row in rows("rm", "--all", "book", "--force")] == ["book@1", "book@2"]
    assert rows("ls") == []
    assert "no version is called 'book'" in error_of("models", "rm", "--all", "book")


def test_a_name_of_several_versions_is_deleted_as_a_whole_or_not_at_all(models):
    told = error_of("models", "rm", "book", "--force")
    assert "'book' has 2 versions: name one, as book@2, the newest, or give --all" in told
    assert [row["number"] for row in rows("ls")] == [1, 2]
    assert rows("rm", "book@1", "--force")["deleted"] == "book@1"
    assert rows("rm", "book", "--force")["deleted"] == "book@2"
    assert rows("ls") == []


def test_versions_are_renamed_deleted_and_logged(models):
    run("models", "rename", "book", "shelf")
    assert error_of("models", "rm", "shelf@1").endswith(": move the alias, or give --force\n")
    assert rows("rm", "shelf@1", "--force")["deleted"] == "shelf@1"
    assert [row["number"] for row in rows("ls", "shelf")] == [2]
    assert rows("vacuum") == {"removed": 1}
    assert "vocabularies removed: 0" in run("models", "vacuum").stdout
    assert [change["action"] for change in rows("log", "--limit", "3")][-1] == "delete"
    assert "shelf@1" in run("models", "log").stdout


def test_versions_are_moved(models, tmp_path):
    digest = models.version("book").digest
    run("models", "export", "book", tmp_path / "book.cbpe")
    assert rows("import", tmp_path / "book.cbpe", "--name", "theirs")["digest"] == digest
    assert rows("copy", "book", tmp_path / "other.db")["name"] == "book"
    assert "this already" in run("models", "copy", "book", tmp_path / "other.db").stdout
    assert rows("show", "book", "--store", tmp_path / "other.db")["digest"] == digest
    own = ["models", "copy", "book", models.url.removeprefix("sqlite:///")]
    assert f"book@2 is in {own[-1]} already: give the copy another --name" in error_of(*own)
    assert rows("copy", "book", own[-1], "--name", "again")["name"] == "again"
    (tmp_path / "book.cbpe").write_bytes(b"no such file")
    assert "book.cbpe" in error_of("models", "import", tmp_path / "book.cbpe")
    for command in ("export book -", "import -", "backup -", "restore -", "publish -", "copy book -"):
        assert "name a file" in error_of("models", *command.split(), exit_code=2)


# ---- Stores


def test_a_backup_in_a_folder_that_is_not_there_names_the_folder(models, tmp_path):
    error = error_of("models", "backup", tmp_path / "nowhere" / "b.db")
    assert f"{tmp_path / 'nowhere'} is no folder, in which b.db could be made: make it first" in error
    assert "part" not in error


def test_a_backup_and_restoring_it_are_told_as_json(models, tmp_path):
    there = len(json.loads(run("models", "ls", "--json").stdout))
    made = json.loads(run("models", "backup", tmp_path / "b.db", "--json").stdout)
    assert (made["backup"], made["versions"]) == (str(tmp_path / "b.db"), there)
    restored = json.loads(run("models", "restore", tmp_path / "b.db", "--json").stdout)
    kept = restored.pop("backup")
    assert restored == {"restored": str(tmp_path / "b.db"), "revision": made["revision"], "versions": there}
    said = f"wrote a backup to {tmp_path / 'b.db'} (versions: {there})\n"
    assert run("models", "backup", tmp_path / "b.db").stdout == said
    said = f"restored all from {tmp_path / 'b.db'} (versions: {there})"
    assert run("models", "restore", tmp_path / "b.db").stdout == f"{said}; the store as it was is {kept}-2\n"
    assert run("models", "restore", tmp_path / "b.db", "--force").stdout == f"{said}\n"
    error = error_of("models", "restore", tmp_path / "b.db", "--backup", tmp_path / "c.db", "--force", exit_code=2)
    assert "--backup: not together with --force, which keeps nothing" in error
    told = run("models", "restore", tmp_path / "b.db", "--backup", tmp_path / "c.db", "--store", tmp_path / "new.db")
    assert told.stdout == f"{said}; the store held no version, and {tmp_path / 'c.db'} was not made\n"
    assert not (tmp_path / "c.db").exists()
    error = error_of("models", "restore", tmp_path / "b.db", "--backup", kept)
    assert "is there already: name another file" in error
    assert error.endswith(", or give --force to restore without that backup\n")


def test_a_store_that_is_not_there_is_not_made_by_asking(tmp_path):
    for command in (["ls"], ["show", "x"], ["verify"], ["log"], ["find", "x"], ["diff", "a", "b"], ["notes", "x"]):
        error = error_of("models", *command, "--store", tmp_path / "none.db")
        assert "none.db: train --save and models save make one" in error
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_not_there_is_not_made_by_what_changes_one(models, tmp_path):
    for command in (["tag", "x", "y"], ["notes", "x", "y"], ["alias", "x", "y", "x"], ["rm", "x"], ["vacuum"]):
        error = error_of("models", *command, "--store", tmp_path / "none.db")
        assert "none.db: train --save and models save make one" in error
    assert "'gpt2': it is a named encoding, which -t takes" in error_of("models", "show", "gpt2")
    file = tmp_path / "mine.json"
    file.touch()
    told = f"no version is called '{file}', and it is a file: cbpe models save NAME -t FILE gives it a version"
    assert told in error_of("models", "load-check", file)
    told = (
        "no version is called 'https://example.org/b', which names one in a published copy: cbpe models save NAME -t "
    )
    assert f"{told}REFERENCE keeps it here" in error_of("models", "show", "https://example.org/b")
    assert "no version is called 'x'" in error_of("models", "copy", "x", tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_no_store_is_made_by_what_is_refused_or_puts_nothing_in(models, tmp_path):
    run("models", "export", "book", tmp_path / "book.cbpe")
    run("models", "backup", tmp_path / "damaged.db")
    (tmp_path / "damaged.cbpe").write_bytes((tmp_path / "book.cbpe").read_bytes()[:-1])
    with closing(sqlite3.connect(tmp_path / "damaged.db")) as connection:
        connection.execute("DELETE FROM aliases")  # which the log knows of
        connection.commit()
    (tmp_path / "none").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.model").write_text("nothing")
    new, files = ["--store", tmp_path / "folder" / "new.db"], sorted(tmp_path.rglob("*"))
    named, save = "is no name for a version", ["save", "x", "-t", "gpt2"]
    for command, problem in (
        (["save", "gpt2", "-t", "gpt2"], named),
        ([*save, "--alias", "7"], "is no alias"),
        ([*save, "--parent", "nope"], "no version is called 'nope'"),
        ([*save, "--tag", "=x"], "a tag has 1 to 255 characters"),
        (["import", tmp_path / "nosuch.cbpe"], "No such file"),
        (["import", tmp_path / "damaged.cbpe"], "cut short or damaged"),
        (["import", tmp_path / "book.cbpe", "--name", "gpt2"], named),
        (["import", tmp_path / "none"], "holds no tokenizer files"),
        (["import", tmp_path / "bad"], "x.model"),
        (["restore", tmp_path / "nosuch.db"], "there is no store at"),
        (["restore", tmp_path / "damaged.db"], "is damaged, and is not restored"),
        (["restore", tmp_path / "damaged.db", "--backup", ""], "the name of the file is empty"),
    ):
        assert problem in error_of("models", *command, *new)
        assert sorted(tmp_path.rglob("*")) == files
    assert named in error_of("models", "copy", "book", tmp_path / "new.db", "--name", "gpt2")
    assert "No such file" in error_of("train", tmp_path / "nosuch.txt", "--vocab-size", 280, "--save", "a", *new)
    assert sorted(tmp_path.rglob("*")) == files


def test_what_is_put_into_a_new_store_is_told_as_of_any_other(models, tmp_path):
    run("models", "export", "book@1", tmp_path / "book.cbpe")
    (tmp_path / "in").mkdir()
    trained(270).save(tmp_path / "in" / "shelf")
    for i, (command, made) in enumerate(
        (
            (["save", "x", "-t", "book.json", "--alias", "prod"], ["x@1"]),
            (["import", tmp_path / "book.cbpe", "--name", "x"], ["x@1"]),
            (["import", tmp_path / "in"], ["shelf@1"]),
        )
    ):
        trained(270).save(tmp_path / "book.json")
        command = [tmp_path / "book.json" if word == "book.json" else word for word in command]
        store = tmp_path / "folder" / f"{i}.db"
        assert made[0] in run("models", *command, "--store", store).stdout
        with ModelStore(store) as new:
            assert [str(version) for version in new.versions()] == made
            assert len(new.audit_log()) == 1
            assert new.verify().ok


def test_a_store_may_be_in_postgresql(postgresql_url, tmp_path):
    assert "there is no store in" in error_of("models", "ls", "--store", postgresql_url)
    with ModelStore() as models:
        models.save(trained(270), "book")
    assert rows("copy", "book", postgresql_url)["number"] == 1
    run("models", "alias", "book", "prod", "book@1", "--store", postgresql_url)
    assert [row["aliases"] for row in rows("ls", "--store", postgresql_url)] == [["prod"]]
    there, here = (run("encode", "-t", "book", *store, stdin=b"the cat") for store in (["--store", postgresql_url], []))
    assert there.stdout == here.stdout


def test_what_is_in_the_store_does_nothing_to_the_terminal():
    with ModelStore() as models:
        models.save(
            trained(260),
            "[red]",
            aliases=["[bold]"],
            tags={"a[/]\u202e": "\x1b[31m\u200b"},
            notes="\x1b]0;title\x07 [link=x]\n",
        )
    for command in (["ls"], ["show", "[red]"], ["history", "[red]"], ["log"]):
        shown = run("models", *command).stdout
        assert shown.replace("\n", "").isprintable()
        assert "[red]" in shown


def test_who_gives_a_version_where_a_name_is_asked_for_is_told_the_name(models):
    assert "give 'book'" in error_of("models", "history", "book@1")


def test_the_store_is_named_before_a_command_of_models_as_after_it(models, tmp_path):
    elsewhere = str(tmp_path / "elsewhere.db")
    with ModelStore(elsewhere) as other:
        other.save(trained(265), "other")
    for command in (
        ["models", "--store", elsewhere, "ls"],
        ["models", "ls", "--store", elsewhere],
        ["--store", elsewhere, "models", "ls"],
    ):
        assert "other@1" in run(*command).stdout
    assert "book@1" in run("models", "ls").stdout


def test_what_is_published_goes_to_a_folder(models, tmp_path):
    file = tmp_path / "english.txt"
    file.write_text("what is here")
    told = error_of("models", "publish", file)
    assert told == f"cbpe: {file} is a file: name a folder, which is made if it is not there\n"
    assert file.read_text() == "what is here"
