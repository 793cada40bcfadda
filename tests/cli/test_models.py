"""cbpe models: the model store on the command line."""

import json
import re
import sqlite3
from contextlib import closing

import pytest
from books import rows, save_books, trained
from command_line import TEXT, error_of, run
from rich.cells import cell_len
from typer.main import get_command

import cbpe
from cbpe.cli.app import app
from cbpe.cli.models.commands import app as models_app
from store import ModelStore

pytestmark = pytest.mark.ci


@pytest.fixture
def models():
    with ModelStore() as models:
        save_books(models)
        yield models


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
    assert "cats@1, which it was already" in run("train", text, "--vocab-size", 280, "--save", "cats").stdout
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
    assert "this already" in run("models", "save", "book", "-t", "book").stdout
    assert "this already" not in run("models", "save", "other", "-t", "book").stdout
    assert rows("save", "of openai", "-t", "gpt2")["encoding_name"] == "gpt2"
    assert "no KEY=NUMBER" in error_of("models", "save", "x", "-t", "gpt2", "--metric", "loss=low", exit_code=2)


def test_an_exported_file_and_a_tokenizers_are_told_apart(models, tmp_path):
    exported = tmp_path / "e.cbpe"
    run("models", "export", "book@1", exported)
    assert "cbpe models import FILE" in error_of("count", "-t", exported, stdin=b"x")
    inspected = run("inspect", exported, exit_code=1)
    assert "cbpe models import" in " ".join(inspected.stdout.split())
    trained(270).save(tmp_path / "x")
    assert "cbpe models save NAME -t FILE" in error_of("models", "import", tmp_path / "x.model")
    (tmp_path / "x").write_text("something else")
    assert "no exported version" in error_of("models", "export", "book@1", tmp_path / "x")
    for name in ("y.json", "x.model", "y.vocab", "y.tiktoken", "gpt2_tokenizer.bin", "merges.txt", "Y.JSON"):
        told = error_of("models", "export", "book@1", tmp_path / name)
        assert "an exported version is read by model stores alone" in told
        assert "cbpe convert REF FILE writes that format" in told
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.lower().startswith("y")) == []


# ---- Asking


def test_ls_lists_and_filters(models):
    assert [row["number"] for row in rows("ls")] == [1, 2]
    assert [row["number"] for row in rows("ls", "--order", "-number")] == [2, 1]
    for options, expected in (
        (["--tag", "language=en"], [1]),
        (["--tag", "final"], [1]),
        (["--tag", "language=de"], []),
        (["--vocab-size", "280"], [2]),
        (["--vocab-size", "-275"], [1]),
        (["--vocab-size", "275-"], [2]),
        (["--vocab-size", "200-300"], [1, 2]),
        (["--semantics", "ranks"], []),
        (["--since", "2020-01-01"], [1, 2]),
        (["--since", "2999-01-01"], []),
        (["--has-token", "<|end|>"], [1, 2]),
        (["--pattern", cbpe.GPT4_SPLIT_PATTERN], [1, 2]),
        (["--pattern", "gpt4"], [1, 2]),
        (["--pattern", "gpt2"], []),
        (["book"], [1, 2]),
        (["book", "--tag", "language=de"], []),
    ):
        assert [row["number"] for row in rows("ls", *options)] == expected, options
    table = run("models", "ls").stdout.splitlines()
    assert len(table) == 3
    assert table[1].split()[:2] == ["book@1", "270"]
    assert "prod" in table[1].split()
    assert "final, language=en" in table[1]
    assert "--order is 'size'" in error_of("models", "ls", "--order", "size", exit_code=2)
    assert rows("ls", "--vocab-size", "0.2k-0.27k") == rows("ls", "--vocab-size", "200-270")
    assert "'many' is no size" in error_of("models", "ls", "--vocab-size", "many", exit_code=2)


def test_a_tag_a_metric_or_an_alias_that_never_was_is_an_error_with_what_may_be_meant(models):
    models.set_metrics("book", {"loss": 2.5})
    for arguments, missing, meant in (
        (["ls", "--metric", "lss=..3"], "the metric 'lss'", "loss"),
        (["ls", "--tag", "langage=en"], "the tag 'langage'", "language"),
        (["ls", "book", "--tag", "finl"], "the tag 'finl'", "final"),
        (["alias-history", "book", "prd"], "the alias 'prd'", "prod"),
    ):
        error = error_of("models", *arguments)
        assert missing in error
        assert error.endswith(f"did you mean '{meant}'?\n"), error
    assert rows("ls", "--tag", "language=de") == rows("ls", "--metric", "loss=9..") == []
    assert rows("alias-history", "book", "prod")


def test_versions_are_listed_by_metrics_tags_and_pages(models):
    models.set_metrics("book@1", {"loss": 2.5})
    models.set_metrics("book@2", {"loss": -1.5, "size": 3})
    models.tag("book@2", {"one": "", "two": "x"})
    for options, expected in [
        (["--metric", "loss"], [1, 2]),
        (["--metric", "loss=..2"], [2]),
        (["--metric", "loss=2.5"], [1]),
        (["--metric", "loss=-1.5..2.5", "--metric", "size=3.."], [2]),
        (["--tag", "one", "--tag", "two=x"], [2]),
        (["--tag", "one", "--tag", "two=y"], []),
        (["--prefix", "bo", "--limit", "1"], [1]),
        (["--prefix", "x"], []),
        (["--order", "metric:loss"], [2, 1]),
        (["--order-by", "-size"], [2, 1]),
        (["--order-by", "size", "--limit", "1", "--offset", "1"], [1]),
        (["--limit", "1", "--offset", "1"], [2]),
    ]:
        assert [row["number"] for row in rows("ls", *options)] == expected, options
    for bad in ("loss=", "loss=..", "loss=low", "loss=nan"):
        assert "is no KEY=NUMBER, and no KEY=MIN..MAX" in error_of("models", "ls", "--metric", bad, exit_code=2)


def test_a_metric_that_no_version_has_orders_nothing(models):
    for options in (["--order-by", "loss"], ["--order-by", "-loss"], ["--order", "metric:loss"]):
        assert "no version has the metric 'loss', nor another one" in error_of("models", "ls", *options, exit_code=2)
    models.set_metrics("book@1", {"losses": 2.5, "size": 3})
    told = error_of("models", "ls", "--order", "-metric:loss", exit_code=2)
    assert "no version has the metric 'loss', there are 'losses', 'size': did you mean 'losses'?" in told
    assert rows("ls", "--prefix", "nobody", "--order-by", "loss") == []  # where nothing is to be ordered


def test_ls_shows_the_metric_that_it_is_ordered_by(models):
    models.set_metrics("book@2", {"loss": 1.25e-05})
    for order in (["--order-by", "loss"], ["--order", "-metric:loss"]):
        heading, first, second = (line.split() for line in run("models", "ls", *order).stdout.splitlines())
        assert heading[:4] == ["version", "tokens", "loss", "saved"]
        assert first[:3] == ["book@2", "280", "1.25e-05"]
        assert second[0] == "book@1"
    assert "loss" not in run("models", "ls").stdout


def test_options_of_ls_are_named_where_they_are_wrong(models):
    wrong = error_of("models", "ls", "--since", "yesterday", exit_code=2)
    assert "'yesterday' is no time: write a day, as 2026-11-30" in wrong
    assert [row["number"] for row in rows("ls", "--since", "2020-01-01T10:30Z")] == [1, 2]
    wrong = error_of("models", "ls", "--order", "tme", exit_code=2)
    assert wrong.startswith("cbpe: --order is 'tme'")
    assert "did you mean 'time'?" in wrong


def test_show_tells_all_about_a_version(models):
    shown = rows("show", "book@prod")
    assert shown["digest"] == models.version("book@1").digest
    assert shown["training"]["text_bytes"] == len(TEXT.encode())
    text = run("models", "show", "book@prod").stdout
    assert "the first" in text
    assert "prod" in text
    assert "trained on" in text
    assert "there is no alias 'book@dev'" in error_of("models", "show", "book@dev")


def test_load_check_loads(models):
    checked = rows("load-check", "book")
    assert (checked["version"], checked["digest"]) == ("book@2", models.version("book").digest)
    assert "book@2" in run("models", "load-check", "book").stdout


def test_history_shows_parents(models):
    assert [row["parent"] for row in rows("history", "book")] == [None, "book@1"]
    assert "no version is called 'shelf'" in error_of("models", "history", "shelf")


def test_find_tells_where_a_token_is(models):
    expected = [{"version": "book@1", "id": 270, "rank": None}, {"version": "book@2", "id": 280, "rank": None}]
    assert rows("find", "<|end|>") == expected
    assert rows("find", "--bytes", b"<|end|>".hex()) == expected
    assert "book@1" in run("models", "find", "<|end|>").stdout


def test_verify_finds_what_is_wrong(models, tmp_path):
    assert rows("verify")["ok"] is True
    assert "all is well (versions: 2," in run("models", "verify").stdout
    assert "all is well (versions: 1," in run("models", "verify", "book@1").stdout
    assert rows("write-rows") == {"written": 2}
    with closing(sqlite3.connect(tmp_path / "models.db")) as connection, connection:
        connection.execute("UPDATE tokens SET shown = 'wrong' WHERE id = 256")
    report = json.loads(run("models", "verify", "--json", exit_code=1).stdout)
    assert report["ok"] is False
    assert len(run("models", "verify", exit_code=1).stdout.splitlines()) == len(report["problems"])


# ---- Changing


def test_rows_are_written_for_sql_and_removed(models, tmp_path):
    assert rows("write-rows", "book@1") == {"written": 1}
    assert "vocabularies written as rows: 0" in run("models", "write-rows", "book@1").stdout
    with closing(sqlite3.connect(tmp_path / "models.db")) as connection:
        assert connection.execute("SELECT text FROM tokens WHERE id = 97").fetchall() == [("a",)]
    assert rows("write-rows", "--remove") == {"removed": 1}
    assert error_of("models", "write-rows", "nobody")


def test_aliases_are_set_and_removed(models):
    assert rows("alias", "book", "prod", "book@2")["aliases"] == ["prod"]
    run("models", "remove-alias", "book", "prod")
    assert [(move["alias"], move["number"]) for move in rows("alias-history", "book")] == [
        ("prod", 1),
        ("prod", 2),
        ("prod", None),
    ]
    told = [line.split()[:2] for line in run("models", "alias-history", "book", "prod").stdout.splitlines()]
    assert told == [["alias", "version"], ["prod", "@1"], ["prod", "@2"], ["prod", "removed"]]
    assert "no" in error_of("models", "remove-alias", "book", "prod")


def test_an_unknown_name_or_alias_is_told_with_what_may_be_meant(models):
    assert "no version is called 'boook': did you mean 'book'?" in error_of("models", "alias", "boook", "x", "book")
    models.save(trained(270), "other")
    assert "another name, book" in error_of("models", "alias", "other", "x", "book")
    assert "'book@prd'; the newest version is book@2: did you mean 'prod'?" in error_of(
        "models", "remove-alias", "book", "prd"
    )
    assert "did you mean 'book'?" in error_of("models", "remove-alias", "bok", "prod")


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


def test_the_log_says_what_each_change_was(models, tmp_path):
    run("models", "rename", "book", "shelf")
    for command in (
        ["alias", "shelf", "live", "shelf@1"],
        ["alias", "shelf", "live", "shelf@2"],
        ["remove-alias", "shelf", "live"],
        ["tag", "shelf@1", "language=de", "new"],
        ["untag", "shelf@1", "new"],
        ["notes", "shelf@1", "hello"],
        ["notes", "shelf@1", "--remove"],
        ["metrics", "shelf@1", "loss=3.5"],
        ["set-parent", "shelf@2", "shelf@1"],
    ):
        run("models", *command)
    lines = [re.split(r"  +", line) for line in run("models", "log", "--limit", 10).stdout.splitlines()]
    assert lines[0] == ["time", "who", "action", "version", "details"]
    assert [(line[2], line[3], *line[4:]) for line in lines[1:]] == [
        ("parent", "shelf@2", "parent shelf@1"),
        ("metrics", "shelf@1", "metric loss=3.5"),
        ("notes", "shelf@1", "notes removed"),
        ("notes", "shelf@1", "notes of 5 bytes"),
        ("untag", "shelf@1", "tag new"),
        ("tag", "shelf@1", "tags language=de, new"),
        ("remove alias", "shelf@2", "live"),
        ("alias", "shelf@2", "live, before at 1"),
        ("alias", "shelf@1", "live"),
        ("rename", "book", "to shelf"),
    ]


def test_the_log_has_all_that_was_saved_with_a_version(models):
    tags = {f"key-of-a-tag-{i}": "value" for i in range(5)}
    models.save(trained(290), "book", parent="book@1", tags=tags, metrics={"loss": 3.5}, notes="hello")
    told = run("models", "log", "--limit", 1, "--wide").stdout.splitlines()[1]
    named = ", ".join(f"{key}=value" for key in tags)
    assert told.endswith(f"  parent book@1, tags {named}, metric loss=3.5, notes of 5 bytes")
    assert rows("log", "--limit", 1)[0]["details"]["parent"] == "book@1"
    assert "..." in run("models", "log", "--limit", 1).stdout


def test_notes_of_what_is_saved_come_from_standard_input_too(models, tmp_path):
    run("models", "save", "noted", "-t", "book", "--notes", "-", stdin=b"two\nlines\n")
    assert models.version("noted").notes == "two\nlines"
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    options = ("--vocab-size", 260, "--save", "trained", "--notes", "-")
    run("train", tmp_path / "text.txt", *options, stdin=b"of train")
    assert models.version("trained").notes == "of train"
    assert "holds no notes: leave --notes out" in error_of("models", "save", "x", "-t", "book", "--notes", "-")
    for sources in ([], ["-"], [tmp_path / "text.txt", "-"]):
        error = error_of("train", *sources, *options, stdin=TEXT.encode(), exit_code=2)
        assert "--notes: standard input is the text to train on" in error
    assert len(models.versions("trained")) == 1


def test_tags_notes_and_metrics_are_edited(models):
    assert rows("tag", "book@1", "language=de", "new")["tags"] == {"language": "de", "final": "", "new": ""}
    assert rows("untag", "book@1", "final", "new")["tags"] == {"language": "de"}
    assert rows("notes", "book@1", "[red] \x1b[31m")["notes"] == "[red] \x1b[31m"
    assert r"[red] \u001b[31m" in run("models", "show", "book@1").stdout
    assert rows("notes", "book@1")["notes"] == "[red] \x1b[31m"
    assert rows("notes", "book@1", "")["notes"] is None
    assert rows("metrics", "book@1", "loss=0.5")["metrics"] == {"loss": 0.5}
    assert rows("metrics", "book@1", "--remove", "loss", "size=2")["metrics"] == {"size": 2.0}
    assert rows("metrics", "book@1") == {"size": 2.0}
    assert "has no metric 'loss'" in error_of("models", "metrics", "book@1", "--remove", "loss")
    error = error_of("models", "metrics", "book@1", "size=3.5", "--remove", "size", exit_code=2)
    assert "--remove: 'size' is also set to 3.5" in error
    assert rows("metrics", "book@1") == {"size": 2.0}
    assert rows("notes", "book@1", "x")["notes"] == "x"
    assert rows("notes", "book@1", "--remove")["notes"] is None
    error_of("models", "notes", "book@1", "x", "--remove", exit_code=2)
    assert rows("set-parent", "book@2", "book@1")["parent"] == "book@1"
    assert rows("set-parent", "book@2", "--remove")["parent"] is None
    error_of("models", "set-parent", "book@2", exit_code=2)


def test_metrics_are_shown_with_all_their_digits(models):
    told = run("models", "metrics", "book", "loss=0.000012345", "tokens=61548", "big=1e300", "ratio=3.25").stdout
    assert told.split(": ")[1].split() == ["loss=1.2345e-05", "tokens=61548", "big=1e+300", "ratio=3.25"]
    shown = dict(line.split() for line in run("models", "metrics", "book").stdout.splitlines())
    assert shown == {"loss": "1.2345e-05", "tokens": "61548", "big": "1e+300", "ratio": "3.25"}
    shown = run("models", "show", "book").stdout
    assert all(value in shown for value in (" 1.2345e-05\n", " 61548\n", " 1e+300\n", " 3.25\n"))


def test_metrics_of_a_version_are_aligned_lines_in_the_order_of_their_numbers_and_of_few_digits(models, tmp_path):
    sizes = ["", "@16384", "@1024", "@512:日本.txt"]
    models.set_metrics("book@2", {f"bytes_per_token{size}": 1.6730577472612045 for size in sizes} | {"steps": 1234567})
    lines = run("models", "show", "book@2").stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("metrics"))
    shown = [line.removeprefix("metrics").strip() for line in lines[at : at + 5]]
    names = ["bytes_per_token", *(f"bytes_per_token@{size}" for size in ("512:日本.txt", "1024", "16384")), "steps"]
    assert [line.split() for line in shown] == [*([name, "1.6731"] for name in names[:4]), ["steps", "1234567"]]
    assert len({cell_len(line) - cell_len(line.split()[-1]) for line in lines[at : at + 5]}) == 1
    run("models", "export", "book@2", tmp_path / "book.cbpe")
    told = run("models", "import", tmp_path / "book.cbpe", "--store", tmp_path / "other.db").stdout
    assert "1.6730577472612045" not in told
    assert rows("show", "book@2")["metrics"]["bytes_per_token"] == 1.6730577472612045
    assert "1.6730577472612045" in run("models", "metrics", "book@2").stdout
    assert "1.6731 " in run("models", "ls", "--order-by", "bytes_per_token").stdout


@pytest.mark.parametrize("arguments", [["tag", "book", "a=1", "a=2"], ["metrics", "book", "a=1", "a=2"]])
def test_of_two_values_for_one_key_none_is_taken_in_silence(models, arguments):
    assert "'a' is given twice" in error_of("models", *arguments, exit_code=2)
    assert (models.version("book").tags, models.version("book").metrics) == ({}, {})


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["alias", "book", "x", "book@2"], "book@x is book@2 now"),
        (["remove-alias", "book", "prod"], "removed the alias book@prod"),
        (["tag", "book@1", "language=de", "new"], "tagged book@1 language=de new"),
        (["untag", "book@1", "final"], "took off book@1: final"),
        (["notes", "book@1", "x"], "noted on book@1"),
        (["notes", "book@1", "--remove"], "removed the notes of book@1"),
        (["metrics", "book@1", "loss=0.5"], "metrics of book@1: loss=0.5"),
        (["set-parent", "book@2", "book@1"], "book@2 goes on from book@1"),
        (["set-parent", "book@2", "--remove"], "book@2 has no parent now"),
        (["rename", "book", "shelf"], "renamed book to shelf"),
    ],
)
def test_an_edit_is_told_in_one_line(models, arguments, line):
    assert run("models", *arguments).stdout == line + "\n"


def test_all_versions_of_a_name_are_deleted_or_none(models):
    assert "book@prod points to" in error_of("models", "rm", "--all", "book")
    assert [row["number"] for row in rows("ls")] == [1, 2]
    assert [row["deleted"] for row in rows("rm", "--all", "book", "--force")] == ["book@1", "book@2"]
    assert rows("ls") == []
    assert "no version is called 'book'" in error_of("models", "rm", "--all", "book")


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
    (tmp_path / "book.cbpe").write_bytes(b"no such file")
    assert "book.cbpe" in error_of("models", "import", tmp_path / "book.cbpe")
    for command in (("export", "book", "-"), ("import", "-")):
        assert "name a file" in error_of("models", *command, exit_code=2)


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
    assert "no version is called 'x'" in error_of("models", "copy", "x", tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_a_store_may_be_in_postgresql(postgresql_url, tmp_path):
    assert "there is no store in" in error_of("models", "ls", "--store", postgresql_url)
    with ModelStore() as models:
        models.save(trained(270), "book")
    assert rows("copy", "book", postgresql_url)["number"] == 1
    run("models", "alias", "book", "prod", "book@1", "--store", postgresql_url)
    assert [row["aliases"] for row in rows("ls", "--store", postgresql_url)] == [["prod"]]
    there, here = (run("encode", "-t", "book", *store, stdin=b"the cat") for store in (["--store", postgresql_url], []))
    assert there.stdout == here.stdout


def test_what_is_long_does_not_fill_the_terminal(models):
    token, special, value = "t" * 100_000, "s" * 100_000, "v" * 10_000
    ranks = {**{bytes([i]): i for i in range(256)}, token.encode(): 256}
    models.save(cbpe.Encoding("e", pat_str=".+", mergeable_ranks=ranks, special_tokens={special: 300}), "long")
    models.tag("long", {"key": value})
    for command in (["ls"], ["history", "long"], ["diff", "book", "long"], ["diff", "long", "book"]):
        shown = run("models", *command).stdout
        assert len(shown) < 5000
        assert any(text[:10] in shown for text in (token, value))
    assert rows("ls", "long")[0]["tags"] == {"key": value}
    assert value in run("models", "show", "long").stdout


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


@pytest.mark.parametrize("command", ["ls", "log", "alias-history", "history"])
def test_an_unknown_name_is_an_error_that_says_what_may_be_meant(models, command):
    models.save(cbpe.train(TEXT, 270), "cats")
    assert "no version is called 'cast': did you mean 'cats'?" in error_of("models", command, "cast")


def test_ranges_of_sizes_are_written_as_those_of_metrics(models):
    def found(sizes):
        return [row["number"] for row in json.loads(run("models", "ls", "--json", "--vocab-size", sizes).stdout)]

    for sizes, numbers in {
        "270..280": [1, 2],
        "271..": [2],
        "..270": [1],
        "0..1k": [1, 2],
        "270": [1],
        "271-300": [2],  # as it was written before
        "271-": [2],
        "-270": [1],
    }.items():
        assert found(sizes) == numbers, sizes
    for wrong in ("..", "-", "", "many", "1..many", "1..2..3", "1-2-3"):
        told = error_of("models", "ls", "--vocab-size", wrong, exit_code=2)
        assert "is no size, and no MIN..MAX: write 16000, 16k, 1k..32k, 1k.. or ..32k" in told
    assert "begins above its end" in error_of("models", "ls", "--vocab-size", "2k..1k", exit_code=2)


def test_an_alias_that_stays_where_it_is_has_no_second_row(models):
    before = models.alias_history("book")
    models.set_alias("book", "prod", "book@1")
    models.save(trained(270), "book", aliases=["prod"])  # a third version
    models.set_alias("book", "prod", "book@3")
    assert [move.number for move in models.alias_history("book")] == [*(move.number for move in before), 3]
    models.remove_alias("book", "prod")
    models.set_alias("book", "prod", "book@3")
    assert [move.number for move in models.alias_history("book", "prod")] == [1, 3, None, 3]
    assert models.verify().ok


def test_tags_are_shown_as_notes_and_metrics_are(models):
    assert run("models", "tag", "book@1").stdout.split() == ["final", "language", "en"]
    assert json.loads(run("models", "tag", "book@1", "--json").stdout) == {"language": "en", "final": ""}
    assert run("models", "tag", "book@2").stdout == ""


def test_what_is_told_of_metrics_that_are_gone_and_of_notes_of_several_lines(models):
    run("models", "metrics", "book@1", "a=1", "b=2")
    assert run("models", "metrics", "book@1", "--remove", "a", "c=3").stdout == "metrics of book@1: c=3; removed a\n"
    run("models", "notes", "book@1", "the first\n\nand more")
    lines = run("models", "show", "book@1").stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("notes"))
    assert [line.strip() for line in lines[at : at + 3]] == ["notes           the first", "", "and more"]


def test_notes_are_read_from_standard_input(models):
    written = "# Ordnung\n\n\u00e4 - b\n\n".encode()
    assert run("models", "notes", "book@1", "-", stdin=written).stdout == "noted on book@1\n"
    assert rows("notes", "book@1")["notes"] == "# Ordnung\n\n\u00e4 - b\n"
    for wrong, problem in (
        (b"", "standard input holds no notes: --remove removes"),
        (b"\n \n", "standard input holds no notes"),
        (b"\xff", "standard input is not UTF-8"),
        (b"a\0b", "NUL"),
        (b"x" * ((1 << 24) + 1), "more than 16,777,216 bytes"),
    ):
        assert problem in error_of("models", "notes", "book@1", "-", stdin=wrong)
    assert rows("notes", "book@1")["notes"] == "# Ordnung\n\n\u00e4 - b\n"
    error_of("models", "notes", "book@1", "-", "--remove", exit_code=2)


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
