"""cbpe compare and sweep."""

import csv
import io
import json
import re
import subprocess
import sys

import pytest
from command_line import error_of, run
from typer import BadParameter

import cbpe
from cbpe.cli.input import texts
from cbpe.cli.input.values import sizes_of
from cbpe.cli.measuring.keeping import of_corpus
from cbpe.cli.output import printing
from store import ModelStore

ENGLISH = "the cat sat on the mat\nthe cat sat still\n" * 20
OTHER = "안녕하세요 고양이\n고양이\n" * 20


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en.txt").write_text(ENGLISH, encoding="utf-8")
    (tmp_path / "ko.txt").write_text(OTHER, encoding="utf-8")
    return tmp_path


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


def test_compare_keeps_metrics_of_versions_which_ls_and_versions_order_by(files):
    with ModelStore() as models:
        for size in (270, 256, 262):
            models.save(cbpe.train(ENGLISH, size), "small")
    found = run("compare", "-t", "small@1", "-t", "small@2", "-t", "small@3", "-t", "gpt2", "en.txt", "--save-metrics")
    with ModelStore() as models:
        about = {"measured_on": "en.txt", "measured_against": "small@1", "measured_alpha": "2.5"}
        about["measured_bytes"] = str(len(ENGLISH.encode()))
        assert models.version("small@2").tags == about
    assert found.stderr.count("metrics of small@") == 3
    rows = json.loads(run("compare", "-t", "small@1", "en.txt", "--json").stdout)
    with ModelStore() as models:
        assert models.version("small@1").metrics["bytes_per_token"] == rows[0]["bytes_per_token"]
        best = models.versions(order="-metric:bytes_per_token")
        assert [version.number for version in best] == [1, 3, 2]
        assert [version.number for version in models.versions(metric=("bytes_per_token", (1.5, None)))] == [1, 3]
    ordered = run("models", "ls", "--order-by", "bytes_per_token", "--json")
    assert ordered.stderr == ""
    listed = json.loads(ordered.stdout)
    assert [version["number"] for version in listed] == [2, 3, 1]
    backwards = json.loads(run("models", "ls", "--order-by", "-bytes_per_token", "--json").stdout)
    assert backwards == listed[::-1]


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
        (("-t", "gpt2", "en.txt", "--reference", "cl100k_base"), 2, "'cl100k_base' is none of those"),
        (("-t", "gpt2", "en.txt", "--parallel", "ko.txt"), 2, "'ko.txt' is none of those"),
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


@pytest.mark.parametrize("command", [("compare", "-t", "small"), ("sweep", "small")])
def test_a_file_whose_name_cannot_stand_in_metrics_is_shown_with_what_to_do(files, command):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "small")
    names = [("two\nlines", r"'two\nlines'"), ("end ", "'end '")]
    if sys.platform == "linux":  # other systems have no such names
        names.append(("bad\udcff.txt", r"'bad\udcff.txt'"))
    for name, shown in names:
        (files / name).write_text(ENGLISH, encoding="utf-8")
        for corpora in ([name], ["en.txt", name]):
            error = error_of(*command, *corpora, "--save-metrics", exit_code=2)
            said = f"{shown} cannot stand in the names of metrics: rename it, or give it as standard input"
            assert f"--save-metrics: {said}" in error
            assert "xxx" not in error
    with ModelStore() as models:
        assert models.version("small").metrics == {}


def test_a_file_with_a_long_name_is_measured_alone(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "small")
    name = "y" * 250
    (files / name).write_text(ENGLISH, encoding="utf-8")
    error = error_of("compare", "-t", "small", "en.txt", name, "--save-metrics", exit_code=2)
    assert "'yyy" in error
    assert "has 250 characters, and stands in the names of metrics where several files are measured" in error
    assert "give a shorter path, or measure the file alone" in error
    assert "xxx" not in error
    run("compare", "-t", "small", name, "--save-metrics")
    run("compare", "-t", "small", "en.txt", "--save-metrics")
    with ModelStore() as models:
        metrics = models.version("small").metrics
    assert any(key.startswith("fertility:…yyy") for key in metrics)
    room = int(re.search(r"which leave it (\d+):", error)[1])
    (files / name[:room]).write_text(ENGLISH, encoding="utf-8")
    run("compare", "-t", "small", "en.txt", name[:room], "--save-metrics")
    run("sweep", "small", "en.txt", name[:room], "--save-metrics")


# ---- sweep


def test_sweep_prints_what_the_library_finds(files):
    tok = cbpe.train(OTHER + ENGLISH, 280)
    tok.save("a.model")
    arguments = ("sweep", "a.model", "en.txt", "ko.txt", "--sizes", "256,270")
    expected = cbpe.sweep(tok, {"en.txt": ENGLISH, "ko.txt": OTHER}, [256, 270])
    assert run(*arguments, "--json").stdout == expected.to_json()
    assert run(*arguments, "--csv").stdout == expected.to_csv()
    assert len(run(*arguments).stdout.splitlines()) == 7
    assert json.loads(run("sweep", "a.model", "--json", stdin=ENGLISH.encode()).stdout)[0]["corpus"] == "-"


def test_sweep_keeps_metrics_of_a_version(files):
    tok = cbpe.train(ENGLISH + OTHER, 280)
    with ModelStore() as models:
        models.save(tok, "small")
    run("sweep", "small", "./en.txt", "--sizes", "256,270", "--save-metrics")
    with ModelStore() as models:
        assert models.version("small").metrics == cbpe.sweep(tok, {"en.txt": ENGLISH}, [256, 270]).metrics()
        assert models.version("small").tags == {"measured_on": "en.txt", "measured_bytes": str(len(ENGLISH.encode()))}
    message = error_of("sweep", "gpt2", "en.txt", "--save-metrics", exit_code=2)
    assert "no version in the store is named" in message


def test_metrics_of_two_corpora_are_told_apart(files):
    tok = cbpe.train(ENGLISH + OTHER, 280)
    with ModelStore() as models:
        models.save(tok, "small", metrics={"loss": 2.5})
    on_en = cbpe.sweep(tok, {"en.txt": ENGLISH}, [256]).metrics()
    on_ko = cbpe.compare({"small": tok}, {"ko.txt": OTHER}).metrics("small")
    run("sweep", "small", ".//en.txt", "--sizes", "256", "--save-metrics")
    again = run("sweep", "small", "en.txt", "--sizes", "256", "--save-metrics").stderr
    assert again == f"cbpe: kept {len(on_en)} metrics of small@1\n"
    said = run("compare", "-t", "small", "ko.txt", "--save-metrics").stderr
    assert (
        "metrics of small@1 on ko.txt; those on en.txt are bytes_per_token:en.txt, bytes_per_token@256:en.txt" in said
    )
    with ModelStore() as models:
        version = models.version("small")
    assert version.metrics == {"loss": 2.5, **on_ko, **{f"{key}:en.txt": value for key, value in on_en.items()}}
    assert version.tags["measured_on"] == "ko.txt"


def test_metrics_keep_the_reference_and_the_order_that_they_were_measured_by(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
        models.save(cbpe.train(OTHER, 280), "ko")
    measured = {name: cbpe.load(f"{name}@1") for name in ("en", "ko")}
    texts = {"en.txt": ENGLISH, "ko.txt": OTHER}
    sizes = {file: len(text.encode()) for file, text in texts.items()}
    of_lines = {f"measured_bytes:{file}": str(sizes[file] - text.count("\n")) for file, text in texts.items()}
    alone = cbpe.compare({"ko": measured["ko"]}, {"ko.txt": OTHER}).metrics("ko")
    together = cbpe.compare(measured, texts, alpha=2, parallel="en.txt").metrics("ko")
    both = "compare", "-t", "en", "-t", "ko", "en.txt", "ko.txt", "--parallel", "en.txt", "--save-metrics"

    run("compare", "-t", "ko", "ko.txt", "--save-metrics")
    run(*both, "--alpha", 2)
    bare = {"measured_on": "ko.txt", "measured_against": "ko@1", "measured_alpha": "2.5"}
    by = {"measured_against": "en@1", "measured_alpha": "2", "measured_parallel": "en.txt"}
    named = {f"{tag}:{file}": value for tag, value in by.items() for file in texts}
    with ModelStore() as models:
        assert models.version("ko").metrics == {**alone, **together}
        bare["measured_bytes"] = str(sizes["ko.txt"])
        assert models.version("ko").tags == {**bare, **named, **of_lines}

    listed = run("models", "ls").stdout.splitlines()
    assert "measured_on=ko.txt, 8 tags of metrics" in next(line for line in listed if line.startswith("ko@1"))

    # Another file makes the figures of the one before take their names, and the tags with them.
    said = run("sweep", "ko", "en.txt", "--sizes", "256", "--save-metrics").stderr
    assert said.endswith("more now, in place of what was measured there before\n")
    run("sweep", "en", "ko.txt", "--sizes", "256", "--save-metrics")
    told = "fertility was measured on different texts: the tag measured_on says 'en.txt', 'ko.txt'"
    assert run("models", "ls", "--order-by", "fertility").stderr == f"cbpe: {told}\n"
    size = of_lines["measured_bytes:ko.txt"]
    told = f"fertility:ko.txt was measured on different texts: the tag measured_bytes:ko.txt says '{size}'"
    assert told in run("models", "ls", "--order-by", "fertility:ko.txt").stderr  # of lines, which have no ends
    with ModelStore() as models:
        version = models.version("ko")
    of_en = {tag: value for tag, value in {**named, **of_lines}.items() if tag.endswith(":en.txt")}
    of_ko = {f"{tag}:ko.txt": value for tag, value in bare.items() if tag != "measured_on"}
    assert version.tags == {"measured_on": "en.txt", "measured_bytes": str(sizes["en.txt"]), **of_en, **of_ko}
    assert {key: value for key, value in version.metrics.items() if key.endswith(":ko.txt")} == {
        f"{key}:ko.txt": value for key, value in alone.items()
    }

    # A measure that another run does not give is gone where its tag would say that it was of that run.
    (files / "ko.txt").write_text("a" * 5, encoding="utf-8")
    run("compare", "-t", "ko", "-t", "en", "en.txt", "ko.txt", "--save-metrics")
    again = cbpe.compare(measured, {"en.txt": ENGLISH, "ko.txt": "aaaaa"}, reference="ko").metrics("ko")
    with ModelStore() as models:
        kept = models.version("ko").metrics
    for key in ("nsl:ko.txt", "renyi_efficiency:ko.txt", "renyi_efficiency_seen:ko.txt"):
        assert kept.get(key) == again.get(key)


def test_metrics_of_aligned_lines_and_of_whole_texts_do_not_stand_together(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
    tok = cbpe.load("en@1")
    texts = {"en.txt": ENGLISH, "ko.txt": OTHER}
    for parallel in (None, "en.txt", None, "ko.txt"):
        option = [] if parallel is None else ["--parallel", parallel]
        said = run("compare", "-t", "en", *texts, *option, "--save-metrics").stderr
        with ModelStore() as models:
            version = models.version("en")
        assert version.metrics == cbpe.compare({"en": tok}, texts, parallel=parallel).metrics("en")
        assert version.tags.get("measured_parallel:ko.txt") == parallel
    assert "in place of 30 metrics that were measured in other lines, or in none" in said
    said = run("sweep", "en", *texts, "--sizes", 256, "--save-metrics").stderr
    assert "in place of 36 metrics that were measured in other lines" in said
    with ModelStore() as models:
        version = models.version("en")
    assert version.metrics == cbpe.sweep(tok, texts, [256]).metrics()
    assert version.tags == {f"measured_bytes:{file}": str(len(text.encode())) for file, text in texts.items()}
    run("sweep", "en", *texts, "--sizes", 260, "--save-metrics")
    with ModelStore() as models:
        assert models.version("en").metrics == cbpe.sweep(tok, texts, [256, 260]).metrics()


def test_metrics_of_another_text_of_the_same_name_go(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
        models.save(cbpe.train(OTHER, 275), "ko")
    tok = cbpe.load("en@1")
    before, after = len(ENGLISH.encode()), len(OTHER.encode())
    run("compare", "-t", "en", "-t", "ko", "en.txt", "--save-metrics")
    run("sweep", "en", "en.txt", "--sizes", 256, "--save-metrics")
    with ModelStore() as models:
        old = models.version("en").metrics
    assert {"nsl", "fertility", "fertility@256"} < old.keys()
    (files / "en.txt").write_text(OTHER, encoding="utf-8")
    said = run("sweep", "en", "en.txt", "--sizes", 260, "--save-metrics").stderr
    assert f", in place of {len(old)} metrics of when en.txt had {before} bytes, not {after}\n" in said
    with ModelStore() as models:
        version = models.version("en")
    assert version.metrics == cbpe.sweep(tok, {"en.txt": OTHER}, [260]).metrics()
    assert version.tags == {"measured_on": "en.txt", "measured_bytes": str(after)}
    told = f"fertility was measured on different texts: the tag measured_bytes says '{after}', '{before}'"
    assert run("models", "ls", "--order-by", "fertility").stderr == f"cbpe: {told}\n"


def test_metrics_of_other_texts_of_the_same_names_go(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
        models.save(cbpe.train(OTHER, 275), "ko")
    tok = cbpe.load("en@1")
    before, after = len(ENGLISH.encode()), len(OTHER.encode())
    run("compare", "-t", "en", "-t", "ko", "en.txt", "ko.txt", "--save-metrics")
    assert run("models", "ls", "--order-by", "fertility:en.txt").stderr == ""
    (files / "en.txt").write_text(OTHER, encoding="utf-8")
    said = run("sweep", "en", "en.txt", "ko.txt", "--sizes", 260, "--save-metrics").stderr
    assert ", in place of 15 metrics that were measured when a file had another size\n" in said
    with ModelStore() as models:
        version = models.version("en")
    on_en = {key: value for key, value in version.metrics.items() if key.endswith(":en.txt")}
    new = cbpe.sweep(tok, {"en.txt": OTHER}, [260]).metrics()
    assert on_en == {f"{key}:en.txt": value for key, value in new.items()}
    assert "nsl:ko.txt" in version.metrics
    told = f"fertility:en.txt was measured on different texts: the tag measured_bytes:en.txt says '{after}', '{before}'"
    assert run("models", "ls", "--order-by", "fertility:en.txt").stderr == f"cbpe: {told}\n"
    assert run("models", "ls", "--order-by", "fertility:ko.txt").stderr == ""


def test_metrics_of_two_fields_of_a_file_are_told_apart(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
    tok = cbpe.load("en@1")
    row = json.dumps({"en": ENGLISH, "ko": OTHER}, ensure_ascii=False) + "\n"
    for name in ("a.jsonl", "b.jsonl"):
        (files / name).write_text(row, encoding="utf-8")
    on_en, on_ko = (cbpe.compare({"en": tok}, {"": text}).metrics("en") for text in (ENGLISH, OTHER))
    run("compare", "-t", "en", "a.jsonl", "--field", "en", "--save-metrics")
    run("compare", "-t", "en", "a.jsonl", "--field", "ko", "--save-metrics")
    run("compare", "-t", "en", "a.jsonl", "-", "--field", "ko", "--save-metrics", stdin=row.encode())
    with ModelStore() as models:
        version = models.version("en")
    assert "measured_on" not in version.tags  # all have the names of their texts now
    assert version.tags["measured_against:standard input[ko]"] == "en@1"
    assert version.metrics == {
        **{f"{key}:a.jsonl[en]": value for key, value in on_en.items()},
        **{f"{key}:{file}[ko]": value for key, value in on_ko.items() for file in ("a.jsonl", "standard input")},
    }


def test_later_figures_of_a_text_are_never_replaced_by_earlier_ones(files):
    """Those that name no text get its name when another one is measured, and must not be older then."""
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
    (files / "de.txt").write_text("der Kater", encoding="utf-8")
    run("compare", "-t", "en", "-t", "gpt2", "en.txt", "--save-metrics")
    run("compare", "-t", "gpt2", "-t", "en", "en.txt", "ko.txt", "--save-metrics", "--alpha", 2)
    run("compare", "-t", "en", "de.txt", "--save-metrics")
    with ModelStore() as models:
        version = models.version("en")
    expected = cbpe.compare({"gpt2": cbpe.get_encoding("gpt2"), "en": cbpe.load("en@1")},
                            {"en.txt": ENGLISH, "ko.txt": OTHER}, alpha=2).metrics("en")  # fmt: skip
    assert {key: value for key, value in version.metrics.items() if key in expected} == expected
    tags = {tag: value for tag, value in version.tags.items() if tag.endswith(":en.txt")}
    size = str(len(ENGLISH.encode()))
    assert tags == {"measured_against:en.txt": "gpt2", "measured_alpha:en.txt": "2", "measured_bytes:en.txt": size}

    (files / "de.txt").write_text("die Katze schläft", encoding="utf-8")
    said = run("compare", "-t", "en", "de.txt", "en.txt", "--save-metrics").stderr
    assert ", in place of 15 metrics of when de.txt had 9 bytes, not 18" in said
    with ModelStore() as models:
        assert "fertility" not in models.version("en").metrics


@pytest.mark.parametrize("first", [("en.txt", "ko.txt"), ("en.txt",)])
def test_figures_that_name_a_text_go_where_it_is_measured_with_another_size(files, first):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
    run("compare", "-t", "en", *first, "--save-metrics")
    run("compare", "-t", "en", "ko.txt", "--save-metrics")
    with ModelStore() as models:
        assert "fertility:en.txt" in models.version("en").metrics
    (files / "en.txt").write_text(ENGLISH[:100], encoding="utf-8")
    said = run("compare", "-t", "en", "en.txt", "--save-metrics").stderr
    assert ", in place of 15 metrics that were measured when a file had another size" in said
    with ModelStore() as models:
        version = models.version("en")
    assert not any(label.endswith(":en.txt") for label in (*version.metrics, *version.tags))
    expected = cbpe.compare({"en": cbpe.load("en@1")}, {"en.txt": ENGLISH[:100]}).metrics("en")
    assert {key: version.metrics[key] for key in expected} == expected
    assert "fertility:ko.txt" in version.metrics


def test_metrics_that_several_programs_measure_at_once_are_all_kept(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
    texts = {f"{number}.txt": f"the cat {'sat ' * number}" for number in range(4)}
    for name, text in texts.items():
        (files / name).write_text(text, encoding="utf-8")
    programs = [
        subprocess.Popen([sys.executable, "-m", "cbpe", "compare", "-t", "en", name, "--save-metrics"])
        for name in texts
    ]
    assert [program.wait() for program in programs] == [0] * len(programs)
    with ModelStore() as models:
        version = models.version("en")
    last = version.tags["measured_on"]
    tok = cbpe.load("en@1")
    for name, text in texts.items():
        expected = cbpe.compare({"en": tok}, {name: text}).metrics("en")
        ending = "" if name == last else f":{name}"
        assert {key: version.metrics[f"{key}{ending}"] for key in expected} == expected
    assert len(version.metrics) == 15 * len(texts)


def test_metrics_of_more_files_than_a_version_takes_labels_at_once_are_kept(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "en")
    names = [f"{number}.txt" for number in range(70)]  # 15 measures each
    for name in names:
        (files / name).write_text(f"the cat {name}", encoding="utf-8")
    run("compare", "-t", "en", *names, "--save-metrics")
    with ModelStore() as models:
        version = models.version("en")
    assert {key.partition(":")[2] for key in version.metrics if key.startswith("nsl:")} == {*names}
    assert len(version.metrics) == 15 * len(names)
    assert len(version.tags) == 3 * len(names)


def test_metrics_that_name_their_corpus_keep_their_names(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "small")
    run("compare", "-t", "small", "en.txt", "--save-metrics")
    run("sweep", "small", "en.txt", "ko.txt", "--sizes", "256", "--save-metrics")
    with ModelStore() as models:
        before = {key: value for key, value in models.version("small").metrics.items() if ":" in key}
    run("compare", "-t", "small", "ko.txt", "--save-metrics")
    with ModelStore() as models:
        after = models.version("small").metrics
    assert before
    assert {key: after.get(key) for key in before} == before


def test_a_corpus_with_a_long_path_is_named_by_its_end():
    assert of_corpus("bytes_per_token", "en.txt") == "bytes_per_token:en.txt"
    name = of_corpus("bytes_per_token", "a/" * 200 + "en.txt")
    assert len(name) == 255
    assert name.startswith("bytes_per_token:…")
    assert name.endswith("/a/en.txt")


def test_metrics_of_a_corpus_that_nobody_named_are_not_replaced_without_a_word(files):
    with ModelStore() as models:
        models.save(cbpe.train(ENGLISH, 270), "small", metrics={"bytes_per_token": 9.25, "loss": 2.5})
    said = run("compare", "-t", "small", "en.txt", "--save-metrics").stderr
    assert "in place of or beside those of a corpus that nobody named: bytes_per_token was 9.25" in said
    assert "loss" not in said


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
