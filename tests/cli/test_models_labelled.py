"""cbpe models: aliases, tags, notes and metrics of versions."""

import json

import pytest
from books import rows, trained
from command_line import TEXT, error_of, run
from rich.cells import cell_len

pytestmark = pytest.mark.ci


def test_aliases_are_set_and_removed(models):
    assert rows("alias", "book", "prod", "book@2")["aliases"] == ["prod"]
    run("models", "remove-alias", "book", "prod")
    assert [(move["alias"], move["number"]) for move in rows("alias-history", "book")] == [
        ("prod", 1),
        ("prod", 2),
        ("prod", None),
    ]
    told = [line.split()[:2] for line in run("models", "alias-history", "book", "prod").stdout.splitlines()]
    assert told == [["alias", "version"], ["prod", "book@1"], ["prod", "book@2"], ["prod", "removed"]]
    assert "no" in error_of("models", "remove-alias", "book", "prod")


def test_an_unknown_name_or_alias_is_told_with_what_may_be_meant(models):
    assert "no version is called 'boook': did you mean 'book'?" in error_of("models", "alias", "boook", "x", "book")
    models.save(trained(270), "other")
    assert "another name, book" in error_of("models", "alias", "other", "x", "book")
    assert "'book@prd'; the newest version is book@2: did you mean 'prod'?" in error_of(
        "models", "remove-alias", "book", "prd"
    )
    assert "did you mean 'book'?" in error_of("models", "remove-alias", "bok", "prod")


@pytest.mark.parametrize("reference", ["book@", "@prod", "@2", "@"])
def test_half_a_reference_is_shown_with_how_one_is_written(models, reference):
    for command in (["show", reference], ["alias", "book", "prod", reference], ["diff", reference, "book"]):
        error = error_of("models", *command)
        assert f"'{reference}' refers to no version: a reference is a name, as book, or a name with a number" in error
    assert "as book@3 and book@prod" in error_of("count", "-t", reference, stdin=b"x")


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
    assert rows("notes", "book@1") == {"notes": "[red] \x1b[31m"}
    assert rows("notes", "book@1", "")["notes"] is None
    assert rows("notes", "book@1") == {"notes": None}
    assert "book@1 has no notes" in error_of("models", "notes", "book@1", "")
    assert rows("metrics", "book@1", "loss=0.5")["metrics"] == {"loss": 0.5}
    assert rows("metrics", "book@1", "--remove", "loss", "size=2")["metrics"] == {"size": 2.0}
    assert rows("metrics", "book@1") == {"size": 2.0}
    assert "has no metric 'loss'" in error_of("models", "metrics", "book@1", "--remove", "loss")
    error = error_of("models", "metrics", "book@1", "size=3.5", "--remove", "size", exit_code=2)
    assert "--remove: 'size' is also set to 3.5" in error
    assert rows("metrics", "book@1") == {"size": 2.0}
    assert rows("notes", "book@1", "x")["notes"] == "x"
    assert rows("notes", "book@1", "--remove")["notes"] is None
    assert "book@1 has no notes" in error_of("models", "notes", "book@1", "--remove")
    error_of("models", "notes", "book@1", "x", "--remove", exit_code=2)
    assert rows("set-parent", "book@2", "book@1")["parent"] == "book@1"
    assert rows("set-parent", "book@2", "--remove")["parent"] is None
    error_of("models", "set-parent", "book@2", exit_code=2)


def test_metrics_are_shown_with_all_their_digits(models):
    told = run("models", "metrics", "book", "loss=0.000012345", "tokens=61548", "big=1e300", "ratio=3.25").stdout
    assert told.split(": ")[1].split() == ["loss=1.2345e-05", "tokens=61548", "big=1e+300", "ratio=3.25"]
    run("models", "metrics", "book", "at@1024=2", "at@512=1")
    lines = [line.split() for line in run("models", "metrics", "book").stdout.splitlines()]
    assert [key for key, _ in lines if "@" in key] == ["at@512", "at@1024"]
    shown = {key: value for key, value in lines if "@" not in key}
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
        (["alias", "book", "prod", "book@2"], "book@prod is book@2 now; it was book@1"),
        (["remove-alias", "book", "prod"], "removed the alias book@prod"),
        (["tag", "book@1", "language=de", "new"], "tagged book@1 language=de new, in place of language=en"),
        (["untag", "book@1", "final"], "took off book@1: final"),
        (["notes", "book@1", "x"], "noted on book@1, in place of other notes"),
        (["notes", "book@1", "--remove"], "removed the notes of book@1"),
        (["metrics", "book@1", "loss=0.5"], "metrics of book@1: loss=0.5"),
        (["set-parent", "book@2", "book@1"], "book@2 goes on from book@1"),
        (["set-parent", "book@2", "--remove"], "book@2 has no parent now, in place of book@1"),
        (["rename", "book", "shelf"], "renamed book to shelf"),
    ],
)
def test_an_edit_is_told_in_one_line(models, arguments, line):
    assert run("models", *arguments).stdout == line + "\n"


def test_what_an_edit_takes_the_place_of_is_told(models):
    for arguments, line in (
        (["tag", "book@2", "language=en", "final"], "tagged book@2 language=en final"),
        (["tag", "book@2", "language", "final"], "tagged book@2 language final, in place of language=en"),
        (["notes", "book@2", "one"], "noted on book@2"),
        (["notes", "book@2", "one"], "noted on book@2"),
        (["notes", "book@2", "two"], "noted on book@2, in place of other notes"),
        (["metrics", "book@2", "loss=3"], "metrics of book@2: loss=3"),
        (["metrics", "book@2", "loss=0.5", "k=1"], "metrics of book@2: loss=0.5 k=1, in place of loss=3"),
    ):
        assert run("models", *arguments).stdout == line + "\n"


def test_a_save_that_moves_an_alias_says_where_it_was(models, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat " * 9)
    trained = run("train", text, "--vocab-size", 260, "--save", "book", "--alias", "prod", "--alias", "new").stdout
    assert "written      book@3 (moved: prod, which was book@1)\n" in trained
    saved = run("models", "save", "book", "-t", "gpt2", "--alias", "prod", "--alias", "newer").stdout
    assert saved.endswith("moved           prod, which was book@3\n")
    assert run("models", "rm", "book@4", "--force").stdout == "deleted book@4, and its aliases newer, prod\n"
    assert run("models", "rm", "book@3", "--force").stdout == "deleted book@3, and its alias new\n"


def test_saving_the_same_again_tells_what_its_labels_take_the_place_of(models, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat " * 9)
    train = ("train", text, "--vocab-size", 260, "--save", "cats")
    run(*train, "--notes", "one", "--tag", "stage=prod")
    for labels, told in (
        (["--notes", "one", "--tag", "new"], "what was given is set on it"),
        (
            ["--notes", "two", "--tag", "stage=test"],
            "what was given is set on it, in place of stage=prod and other notes",
        ),
    ):
        assert f"cats@1 (which it was already; {told})\n" in run(*train, *labels).stdout
    several = run(*train, "--tag", "x", "--output", tmp_path / "a.json", "--plot", tmp_path / "a.svg").stdout
    said = "cats@1 (which it was already; what was given is set on it)"
    assert several.endswith(f"{tmp_path / 'a.json'}, {said} and {tmp_path / 'a.svg'}\n")
    save = ("models", "save", "cats", "-t", "cats")
    run(*save, "--metric", "loss=3")
    assert "is set on it, in place of loss=3\n" in run(*save, "--metric", "loss=123456789").stdout
    assert "is set on it, in place of loss=123456789\n" in run(*save, "--metric", "loss=2").stdout


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
    assert run("models", "notes", "book@2", "-", stdin=written).stdout == "noted on book@2\n"
    assert rows("notes", "book@2")["notes"] == "# Ordnung\n\n\u00e4 - b\n"
    for wrong, problem in (
        (b"", "standard input holds no notes: --remove removes"),
        (b"\n \n", "standard input holds no notes"),
        (b"\xff", "standard input is not UTF-8"),
        (b"a\0b", "NUL"),
        (b"x" * ((1 << 24) + 1), "more than 16,777,216 bytes"),
    ):
        assert problem in error_of("models", "notes", "book@2", "-", stdin=wrong)
    assert rows("notes", "book@2")["notes"] == "# Ordnung\n\n\u00e4 - b\n"
    error_of("models", "notes", "book@2", "-", "--remove", exit_code=2)


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (["tag", "book", "a=1", "a=2"], "KEY[=VALUE]: 'a' is given twice"),
        (["save", "new", "-t", "gpt2", "--tag", "a=1", "--tag", "a=2"], "--tag: 'a' is given twice"),
        (["metrics", "book", "a=1", "a=2"], "KEY=NUMBER: 'a' is given twice"),
        (["metrics", "book", "a=x"], "KEY=NUMBER: 'a=x' is no KEY=NUMBER"),
        (["save", "new", "-t", "gpt2", "--metric", "a=1", "--metric", "a=2"], "--metric: 'a' is given twice"),
        (["save", "new", "-t", "gpt2", "--metric", "a=x"], "--metric: 'a=x' is no KEY=NUMBER"),
    ],
)
def test_a_tag_or_a_metric_that_is_refused_is_said_of_its_option_or_argument(models, command, named):
    assert f"Invalid value for {named}" in error_of("models", *command, exit_code=2)


def test_an_edit_by_a_digest_that_several_versions_have_is_refused(models):
    tok = trained(274)
    one = models.save(tok, "one", notes="of one", metrics={"loss": 1.5}, tags={"stage": "prod"})
    models.save(tok, "two")
    digest = f"sha256:{one.digest[:12]}"
    for edit in (
        ["notes", digest, "other"],
        ["notes", digest, "--remove"],
        ["metrics", digest, "loss=9"],
        ["metrics", digest, "--remove", "loss"],
        ["tag", digest, "stage=dev"],
        ["untag", digest, "stage"],
    ):
        assert "may be one@1 (sha256:" in error_of("models", *edit)
    kept = models.version("one")
    assert (kept.notes, kept.metrics, kept.tags) == ("of one", {"loss": 1.5}, {"stage": "prod"})
    assert run("models", "notes", digest).stdout == "of one\n"
    models.delete("two@1")
    run("models", "notes", digest, "other")
    assert models.version("one").notes == "other"


def test_a_version_without_labels_says_so_beside_standard_output(models):
    run("models", "save", "plain", "-t", "gpt2")
    for what in ("tags", "metrics", "notes"):
        told = run("models", "tag" if what == "tags" else what, "plain")
        assert (told.stdout, told.stderr) == ("", f"cbpe: plain@1 has no {what}\n")


def test_empty_notes_take_no_others_away(models):
    models.set_notes("book", "see the log")
    for command in (["models", "save", "book", "-t", "book"], ["train", "-", "--vocab-size", 300, "--save", "book"]):
        error = error_of(*command, "--notes", " ", exit_code=2)
        assert "--notes: these notes are empty: leave --notes out" in error
    models.save(models.load("book"), "book", notes="")
    assert models.version("book").notes == "see the log"


def test_a_parent_that_takes_the_place_of_another_is_told(models):
    run("models", "save", "copy", "-t", "book", "--parent", "book@1")
    told = run("models", "save", "copy", "-t", "book", "--parent", "book@1").stdout
    assert "in place of" not in told
    told = run("models", "save", "copy", "-t", "book", "--parent", "book@2").stdout
    assert "what was given is set on it, in place of parent book@1" in " ".join(told.split())
    assert models.version("copy").parent == "book@2"
