"""cbpe models: what is asked of the store: lists, versions, lineage, tokens, the log."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from books import rows, trained
from command_line import PROGRAM, TEXT, error_of, run

import cbpe
from cbpe.cli.models.problems import problem_lines

pytestmark = pytest.mark.ci


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
    for order in ("name", "-time"):
        told = error_of("models", "ls", "--order", order, "--order-by", "loss", exit_code=2)
        assert "--order-by: not together with --order" in told
    assert rows("ls", "--vocab-size", "0.2k-0.27k") == rows("ls", "--vocab-size", "200-270")
    assert "'many' is no size" in error_of("models", "ls", "--vocab-size", "many", exit_code=2)


def test_that_nothing_is_listed_is_said(models):
    for nothing in (("ls", "--vocab-size", "5000"), ("log", "--limit", "0")):
        assert run("models", *nothing).stderr == "cbpe: there is nothing to list\n"
        assert run("models", *nothing, "--json").stderr == ""
    assert run("vocab", "-t", "gpt2", "--contains", "no such token").stderr == "cbpe: no token is what was asked for\n"
    assert run("vocab", "-t", "gpt2", "--limit", "0").stderr == ""


def test_the_name_of_a_split_pattern_is_every_spelling_of_it(models):
    run("models", "save", "two", "-t", "gpt2")
    run("models", "save", "four", "-t", "cl100k_base")
    for name, there in (("gpt2", {"two"}), ("r50k", {"two"}), ("cl100k", {"four"}), ("gpt4", {"book"})):
        assert {row["name"] for row in rows("ls", "--pattern", name)} == there
    assert rows("ls", "--pattern", "o200k") == []


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


@pytest.mark.parametrize(
    "options",
    [
        ["--tag", "\udcff"],
        ["--tag", "a=\udcff"],
        ["--metric", "\udcff"],
        ["--metric", "\udcff=1..2"],
        ["--prefix", "\udcff"],
    ],
)
def test_what_is_asked_for_has_no_lone_surrogate(models, options):
    assert "has no lone surrogate, which a byte that is no UTF-8 becomes: '\\udcff'" in error_of(
        "models", "ls", *options
    )


def test_a_metric_that_no_version_has_orders_nothing(models):
    for options in (["--order-by", "loss"], ["--order-by", "-loss"], ["--order", "metric:loss"]):
        assert "no version has the metric 'loss', nor another one" in error_of("models", "ls", *options, exit_code=2)
    models.set_metrics("book@1", {"losses": 2.5, "size": 3})
    told = error_of("models", "ls", "--order", "-metric:loss", exit_code=2)
    assert "'tokens' is no metric of a version: --order vocab_size sorts by that column" in error_of(
        "models", "ls", "--order-by", "tokens", exit_code=2
    )
    assert "no version has the metric 'loss', there are 'losses', 'size': did you mean 'losses'?" in told
    for by in ("vocab_size", "metric:losses"):
        told = error_of("models", "ls", "--order-by", by, exit_code=2)
        assert f"'{by}' is no metric of a version: --order {by} sorts by it" in told
        run("models", "ls", "--order", by)
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
    assert shown["special_tokens"] == models.load("book@prod").special_tokens
    assert (shown["processing"], "created" in shown) == ({}, False)


def test_show_tells_what_is_known_of_a_version_that_is_damaged(models, tmp_path):
    path = models.url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE vocabularies SET packed = zeroblob(length(packed))")
    told = run("models", "show", "book@prod", exit_code=1)
    assert "version         book@1" in told.stdout
    assert told.stderr.startswith("cbpe: ")
    assert "damaged" in told.stderr or "digest" in told.stderr


def test_show_tells_what_is_done_around_merging(models, tmp_path):
    first = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    text_a, text_b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    ids = {"<s>": {"id": "<s>", "ids": [300], "tokens": ["<s>"]}}
    template = {"single": [first, text_a], "pair": [first, text_a, text_b], "special_tokens": ids}
    processing = {"normalizer": "NFC", "template": template}
    plain = cbpe.train(TEXT, 280, special_tokens={"<s>": 300})
    models.save(cbpe.HuggingFaceTokenizer.from_tokenizer(plain, processing), "around")
    lines = run("models", "show", "around").stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("special tokens"))
    assert lines[at + 1].strip() == "<s> (300)"
    assert "normalized by   NFC" in lines
    assert any(line.startswith("template ") for line in lines)
    assert rows("show", "around")["processing"]["normalizer"] == "NFC"


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
    for given, told in (("no such", ""), ("\u2581the", ": tokens have a space where files of tokenizers have \u2581")):
        nothing = run("models", "find", given)
        assert (nothing.stdout, nothing.stderr) == ("", f"cbpe: no version has the token '{given}'{told}\n")
        assert rows("find", given) == []


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


def test_verify_works_where_standard_error_is_closed(models):
    found = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", PROGRAM, "models", "verify"], stdout=subprocess.PIPE)
    assert (found.returncode, found.stdout[:11]) == (0, b"all is well")


def test_many_problems_of_a_kind_are_counted_and_the_first_shown(models, tmp_path):
    lost = [f"the database: row {row} is missing from the index ix" for row in range(2000)]
    changed = [f"vocabulary {n}, tokens: {n} rows are changed: {n}, {n + 1}" for n in range(1, 4)]
    other = "book@1 is damaged: its digest is another"
    assert list(problem_lines([*lost[:900], other, *changed, *lost[900:]])) == [
        *lost[:3],
        "... and 1,997 more of this kind (--json has all)",
        other,
        *changed,
    ]
    names = [f"book@{n}: its pattern is {'x' * n}" for n in range(50)]
    *shown, last = problem_lines(names)
    assert (shown, last) == (names[:40], "... and 10 more of other kinds (--json has all)")
    with closing(sqlite3.connect(tmp_path / "models.db")) as connection:
        connection.execute("UPDATE token_places SET vocabulary_id = vocabulary_id + 9")
        connection.commit()
    report = json.loads(run("models", "verify", "--json", exit_code=1).stdout)
    told = run("models", "verify", exit_code=1).stdout.splitlines()
    assert told == list(problem_lines(report["problems"]))


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
    named = ", ".join(f"{key}=value" for key in tags)
    for options in ([], ["--wide"]):  # a pipe has room for all
        told = run("models", "log", "--limit", 1, *options).stdout.splitlines()
        assert told[1].endswith(f"  parent book@1, tags {named}, metric loss=3.5, notes of 5 bytes")
        assert len(told) == 2
    assert rows("log", "--limit", 1)[0]["details"]["parent"] == "book@1"


def test_what_a_training_left_out_is_shown_with_its_version(models):
    few = cbpe.train(" ".join(map(str, range(999))), 260, max_words=20)
    models.save(few, "few")
    record = few.training
    assert record.dropped_occurrences > 900
    assert (
        f"left out        rare words, which occurred {record.dropped_occurrences} times"
        in run("models", "show", "few").stdout
    )
    training = rows("show", "few")["training"]
    assert training["dropped_occurrences"] == record.dropped_occurrences
    assert "left out" not in run("models", "show", "book").stdout


def test_wide_tables_cut_nothing(models):
    value = "trained on the first folio of reviews, " * 5
    version = models.tag("book", {"description": value})
    for command in (["ls"], ["history", "book"]):
        short, whole = (run("models", *command, *options).stdout for options in ([], ["--wide"]))
        assert value.strip() not in short
        assert f"description={value.strip()}" in whole
        assert version.digest not in short
        assert version.digest in whole
    whole = run("encodings", "--wide").stdout
    assert " more" not in whole
    assert all(token in whole for token in cbpe.get_encoding("cl100k_base").special_tokens)


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


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
def test_a_terminal_is_told_of_shortened_details_only_where_there_are_some(models, tmp_path):
    import pty

    models.tag(models.version("book@1"), {f"key-{i}": "a long value of a tag" for i in range(9)})
    models.rename("book", "a-book-with-a-longer-name")

    def shown(width):
        ours, terminal = pty.openpty()
        try:
            environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(width), "NO_COLOR": "1"}
            subprocess.run([PROGRAM, "models", "log"], stdout=terminal, env=environment, check=True)
            return os.read(ours, 100_000).decode().splitlines()
        finally:
            os.close(ours)
            os.close(terminal)

    assert shown(100)[-1].endswith("the details are shortened (--wide shows all)\x1b[0m")
    narrow = "\n".join(shown(50))
    assert "details," in narrow or "details (--wide" in narrow
    assert "are shortened" not in narrow
