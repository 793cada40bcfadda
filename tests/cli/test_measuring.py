"""cbpe compare and sweep."""

import csv
import io
import json
import re

import pytest
from command_line import error_of, run
from measured_texts import ENGLISH, OTHER
from typer import BadParameter

import cbpe
from cbpe.cli.input import texts
from cbpe.cli.input.values import sizes_of
from cbpe.cli.output import printing
from store import ModelStore


def test_compare_prints_what_the_library_finds(files):
    tokenizers = {name: cbpe.train(ENGLISH, size) for name, size in (("a.json", 270), ("b.json", 262))}
    for name, tok in tokenizers.items():
        tok.save(name)
    arguments = ("compare", "-t", "a.json", "-t", "b.json", "en.txt", "ko.txt", "--parallel", "en.txt")
    expected = cbpe.compare(tokenizers, {"en.txt": ENGLISH, "ko.txt": OTHER}, parallel="en.txt")
    assert json.loads(run(*arguments, "--json").stdout) == json.loads(expected.to_json())
    assert list(csv.reader(io.StringIO(run(*arguments, "--csv").stdout))) == list(
        csv.reader(io.StringIO(expected.to_csv()))
    )
    lines = run(*arguments).stdout.splitlines()
    measures = "parity premium Gini Rényi efficiency vocabulary used"
    headings = f"tokenizer corpus tokens bytes/token fertility continued words STRR NSL {measures}"
    assert " ".join(lines[0].split()) == headings
    assert lines[1].split()[:3] == ["a.json", "en.txt", str(expected.rows[0]["tokens"])]
    assert len(lines) == 5


def test_compare_reads_standard_input_once_for_all_tokenizers(files):
    cbpe.train(ENGLISH, 262).save("a.json")
    rows = json.loads(run("compare", "-t", "gpt2", "-t", "a.json", "--json", stdin=ENGLISH.encode()).stdout)
    assert [(row["corpus"], row["bytes"]) for row in rows] == [("-", len(ENGLISH))] * 2


def test_compare_writes_a_report(files):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert run("compare", "-t", "gpt2", "en.txt", "--plot", "picture.svg").stderr == "cbpe: written: picture.svg\n"
    assert "bytes/token" in (files / "picture.svg").read_text(encoding="utf-8")
    for command in (("compare", "-t", "gpt2"), ("sweep", "gpt2")):  # before anything is read
        assert "ends like no picture" in error_of(*command, "missing.txt", "--plot", "picture.gif", exit_code=2)
        assert "nowhere" in error_of(*command, "missing.txt", "--plot", "nowhere/picture.svg")


def test_a_picture_that_fails_does_not_lose_the_table(files, monkeypatch):
    monkeypatch.setattr(cbpe.Comparison, "plot", refusing)
    failed = run("compare", "-t", "gpt2", "en.txt", "--plot", "picture.svg", exit_code=1)
    assert "bytes/token" in failed.stdout
    assert "no fonts" in failed.stderr


COMMANDS = [
    ("encode", "-t", "gpt2"),
    ("tokens", "-t", "gpt2"),
    ("stats", "-t", "gpt2", "-t", "r50k_base"),
    ("compare", "-t", "gpt2"),
    ("sweep", "-t", "small.json"),
    ("models", "compare", "gpt2", "small.json"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_texts_that_are_null_are_skipped_where_it_is_asked_for_and_said(command, files):
    cbpe.train("low lower", 258).save("small.json")
    with ModelStore():  # which `models compare` opens
        pass
    (files / "rows.jsonl").write_text('{"text": "a b"}\n{"text": null}\n{"text": "hello world"}\n')
    (files / "others.jsonl").write_text('{"text": "a b"}\n{"text": "hello world"}\n')
    told = error_of(*command, "rows.jsonl", "--field", "text")
    assert "line 2, has no text in the field 'text', but null: leave such lines out, or give --missing skip" in told
    for form in ([], ["--json"]):
        skipping = run(*command, "rows.jsonl", "--field", "text", "--missing", "skip", *form)
        others = run(*command, "others.jsonl", "--field", "text", *form).stdout
        assert skipping.stderr == "cbpe: left out 1 text that is null, in rows.jsonl\n"
        if form and command[0] in ("stats", "compare", "sweep", "models"):  # where counts are
            assert skipping.stdout.count('"skipped": 1') == max(1, others.count('"bytes"'))
        else:
            assert skipping.stdout.replace("rows.jsonl", "others.jsonl").split() == others.split()


def test_each_file_and_all_together_say_how_many_texts_were_skipped(files):
    for name, n in (("a", 1), ("b", 1), ("c", 0)):
        (files / name).mkdir()
        (files / name / "rows.jsonl").write_text('{"text": "a b"}\n' + '{"text": null}\n' * n)
    names = [f"{name}/rows.jsonl" for name in "abc"]
    found = run("stats", "-t", "gpt2", *names, "--field", "text", "--missing", "skip", "--json")
    assert found.stderr.splitlines() == [f"cbpe: left out 1 text that is null, in {name}" for name in names[:2]]
    assert [row["skipped"] for row in json.loads(found.stdout)] == [1, 1, 0, 2]


def test_none_is_skipped_in_parallel_texts(files):
    told = error_of(
        "compare", "-t", "gpt2", "en.txt", "ko.txt", "--parallel", "en.txt", "--missing", "skip", exit_code=2
    )
    assert told.startswith("cbpe: --missing is 'skip', which would leave a line out of one of the parallel texts")


def refusing(*arguments):
    raise RuntimeError("no fonts")


def test_a_narrow_terminal_keeps_the_measure_that_was_asked_for(files, monkeypatch):
    monkeypatch.setattr(printing, "WIDE", 80)

    def table(*options):
        return run("compare", "-t", "gpt2", "-t", "cl100k_base", "en.txt", *options).stdout

    assert "Rényi" not in table()
    assert "Rényi" in table("--alpha", 3)
    assert "NSL" in table("--reference", "cl100k_base", "--alpha", 3)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (("-t", "gpt2", "en.txt", "en.txt"), 2, "'en.txt' is named twice"),
        (("-t", "gpt2", "en.txt", "./en.txt"), 2, "FILE: 'en.txt' and './en.txt' are the same file"),
        (("-t", "gpt2", "-t", "r50k_base", "-t", "gpt2", "en.txt"), 2, "-t: 'gpt2' is named twice"),
        (
            ("-t", "gpt2", "en.txt", "--reference", "cl100k_base"),
            2,
            "'cl100k_base' is none of those that are compared: 'gpt2'",
        ),
        (("-t", "gpt2", "en.txt", "--parallel", "ko.txt"), 2, "'ko.txt' is none of those that are compared: 'en.txt'"),
        (("-t", "gpt2", "en.txt", "--alpha", "-1"), 2, "-1.0 is no number from 0 on"),
        (("-t", "gpt2", "en.txt", "--alpha", "nan"), 2, "nan is no number from 0 on"),
        (("-t", "gpt2", "en.txt", "--csv", "--json"), 2, "--csv"),
        (("-t", "gpt2", "en.txt", "--save-metrics"), 2, "no version in the store is named"),
        (("-t", "nothing", "en.txt"), 1, "nothing"),
        (("-t", "gpt2", "missing.txt"), 1, "missing.txt"),
        (("-t", "gpt2", "en.txt", "short.txt", "--parallel", "en.txt"), 1, "'short.txt' has 1 line; line i of each"),
    ],
)
def test_compare_refuses_by_name(files, arguments, exit_code, message):
    (files / "short.txt").write_text("one line", encoding="utf-8")
    assert message in error_of("compare", *arguments, exit_code=exit_code)


# ---- sweep


def test_sweep_prints_what_the_library_finds(files):
    tok = cbpe.train(OTHER + ENGLISH, 280)
    tok.save("a.model")
    arguments = ("sweep", "a.model", "en.txt", "ko.txt", "--sizes", "256,270")
    expected = cbpe.sweep(tok, {"en.txt": ENGLISH, "ko.txt": OTHER}, [256, 270], name="a.model")
    assert run(*arguments, "--json").stdout == expected.to_json()
    assert run(*arguments, "--csv").stdout == expected.to_csv()
    assert len(run(*arguments).stdout.splitlines()) == 7
    assert json.loads(run("sweep", "a.model", "--json", stdin=ENGLISH.encode()).stdout)[0]["corpus"] == "-"


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        ("1000..6000", [1000, 2000, 4000, 6000]),
        ("1000..8000", [1000, 2000, 4000, 8000]),
        ("300..", [300, 600, 1200, 2400, 4800, 9000]),
        ("512,300", [512, 300]),
        ("1k,2Ki,8_000", [1000, 2048, 8000]),
        ("1k..4k", [1000, 2000, 4000]),
        ("700..700", [700]),
        ("..2k", [512, 1024, 2000]),
        ("..300", [300]),
        ("..", [512, 1024, 2048, 4096, 8192, 9000]),
    ],
)
def test_sizes_are_numbers_or_a_range_of_doublings(given, sizes):
    assert sizes_of(given, 9000) == sizes


@pytest.mark.parametrize(
    "given", ["", "x", "1,000", "1000..x", "..x", "..100", "300,", "100..400", "300..9001", "600..300", "9" * 400]
)
def test_other_sizes_are_refused(given):
    with pytest.raises(BadParameter) as caught:
        sizes_of(given, 9000)
    assert caught.value.param_hint == "--sizes"
    assert len(str(caught.value)) < 300
    assert ("a comma stands between two sizes" in str(caught.value)) == (given == "1,000")
    assert "16,000" not in str(caught.value)


def test_sizes_have_no_blanks_between_them():
    with pytest.raises(BadParameter, match="' 2k' has a blank: write sizes as 1k,2k"):
        sizes_of("1k, 2k", 9000)


def test_sweep_names_what_it_refuses_as_it_was_given(files):
    cbpe.train(ENGLISH, 300, alphabet="characters").save("sp.json")
    assert error_of("sweep", "sp.json", "missing.txt").startswith("cbpe: sp.json ")


def test_sweep_takes_its_model_by_an_option_too(files):
    cbpe.train(ENGLISH + OTHER, 280).save("a.model")
    told = run("sweep", "a.model", "en.txt", "ko.txt", "--json").stdout
    for arguments in (["-t", "a.model", "en.txt", "ko.txt"], ["en.txt", "ko.txt", "--tokenizer", "a.model"]):
        assert run("sweep", *arguments, "--json").stdout == told
    assert json.loads(run("sweep", "-t", "a.model", "--json", stdin=b"a b").stdout)[0]["words"] == 2
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "small")
    for both in ("small", "small@1", "gpt2"):
        assert f"'{both}' is a tokenizer, and not together with -t" in error_of(
            "sweep", "-t", "a.model", both, "en.txt", exit_code=2
        )
    assert "missing.txt" in error_of("sweep", "-t", "a.model", "missing.txt")
    assert "cbpe sweep -t REF FILE" in error_of("sweep", exit_code=2)
    way = "; the tokenizer comes before the texts: cbpe sweep REF FILE\n"
    assert error_of("sweep", "en.txt").endswith(way)
    assert not error_of("sweep", "en.txt", "ko.txt").endswith(way)


@pytest.mark.parametrize("command", [("compare", "-t", "gpt2"), ("stats", "-t", "gpt2"), ("sweep", "a.model")])
def test_standard_input_may_be_json_lines(command, files):
    cbpe.train(ENGLISH, 270).save("a.model")
    for name in ("text", "body"):
        field = [] if name == "text" else ["--field", name]
        lines = "".join(json.dumps({name: text}) + "\n" for text in ("the cat", "a b c")).encode()
        row = json.loads(run(*command, "--format", "jsonl", *field, "--json", stdin=lines).stdout)[0]
        assert (row["words"], row["bytes"]) == (5, 12)
    assert "only for standard input" in error_of(*command, "en.txt", "--format", "jsonl", exit_code=2)


@pytest.mark.parametrize("command", [("compare", "-t", "gpt2"), ("stats", "-t", "gpt2"), ("sweep", "a.model")])
def test_a_file_without_text_is_told_of(command, files):
    cbpe.train(ENGLISH, 270).save("a.model")
    assert "standard input holds no text: there is nothing to measure" in run(*command).stderr
    (files / "none.txt").write_bytes(b"")
    told = run(*command, "none.txt", "en.txt", "--json").stderr
    assert told.count("holds no text") == told.count("none.txt holds no text") == 1


def test_who_would_have_to_type_is_told_so(files, monkeypatch):
    monkeypatch.setattr(texts.sys, "stdin", Terminal(b"a b"))
    with pytest.warns(UserWarning, match="standard input is a terminal: end it with Ctrl-.*, or name a file"):
        assert texts.source_of("-").read() == b"a b"


class Terminal(io.TextIOWrapper):
    """Standard input that somebody types."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data))

    def isatty(self):
        return True


def test_what_a_split_pattern_leaves_out_is_said_by_every_command_that_measures(files):
    cbpe.train(ENGLISH, 262, pattern="[a-z]+").save("letters.json")
    share = 1 - len(re.sub("[^a-z]", "", ENGLISH)) / len(ENGLISH)
    told = f"letters.json leaves {share:.1%} of en.txt out, which its split pattern does not match"
    for command in (["compare", "-t", "letters.json"], ["sweep", "letters.json"], ["stats", "-t", "letters.json"]):
        stderr = run(*command, "en.txt").stderr
        assert stderr.count(told) == 1, command
    assert "leaves" not in run("compare", "-t", "gpt2", "en.txt").stderr


def test_encodings_without_an_option_are_told_where_they_go(files):
    error = error_of("compare", "gpt2", "cl100k_base", "en.txt", exit_code=2)
    assert "compare -t gpt2 -t cl100k_base en.txt" in error
    for command in ("compare", "stats"):
        error = error_of(command, "-t", "gpt2", "cl100k_base", "en.txt")
        assert "there is no file 'cl100k_base', which is a named encoding: give -t before each" in error
