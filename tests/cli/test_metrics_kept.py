"""The metrics of versions that compare and sweep keep, with the tags that say of what they are."""

import json
import re
import subprocess
import sys

import pytest
from command_line import error_of, run
from measured_texts import ENGLISH, OTHER

import cbpe
from cbpe.cli.measuring.keeping import of_corpus
from store import ModelStore


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
        assert models.version("ko").tags == {**bare, **named, **of_lines, "measured_earlier": "true"}
    run("compare", "-t", "ko", "ko.txt", "--save-metrics")
    with ModelStore() as models:
        assert models.version("ko").metrics == {**alone, **together}
        assert models.version("ko").tags == {**bare, **named, **of_lines}

    n_tags = len(bare) + len(named) + len(of_lines)
    listed = run("models", "ls").stdout.splitlines()
    assert f"  {n_tags} tags of metrics" in next(line for line in listed if line.startswith("ko@1"))

    # Another file makes the figures of the one before take their names, and the tags with them.
    said = run("sweep", "ko", "en.txt", "--sizes", "256", "--save-metrics").stderr
    n_replaced = sum(key.endswith(":ko.txt") for key in together)
    assert said.endswith(f"more now, in place of {n_replaced} metrics that were measured in other lines\n")
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
    assert f", in place of {len(old)} metrics that were measured when en.txt had {before} bytes, not {after}\n" in said
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
    assert ", in place of 15 metrics that were measured when en.txt had another size\n" in said
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
    assert ", in place of 15 metrics that were measured when de.txt had 9 bytes, not 18" in said
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
    assert ", in place of 15 metrics that were measured when en.txt had another size" in said
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


def test_measures_of_whole_texts_get_the_name_of_theirs_though_others_of_aligned_lines_had_it(files):
    """And the message counts those of aligned lines, whose place they take."""
    with ModelStore() as models:
        models.save(cbpe.train(OTHER, 280), "ko")
    tok = cbpe.load("ko@1")
    whole = cbpe.compare({"ko": tok}, {"en.txt": ENGLISH}).metrics("ko")
    aligned = "compare", "-t", "ko", "en.txt", "ko.txt", "--parallel", "en.txt", "--save-metrics"
    run(*aligned)
    run("compare", "-t", "ko", "en.txt", "--save-metrics")
    said = run("sweep", "ko", "en.txt", "ko.txt", "--sizes", "256", "--save-metrics").stderr
    assert re.search(r"in place of \d+ metrics that were measured in other lines", said)
    with ModelStore() as models:
        kept = models.version("ko").metrics
    assert {key: kept.get(f"{key}:en.txt") for key in whole} == whole

    run(*aligned)
    run("sweep", "ko", "en.txt", "--sizes", "256", "--save-metrics")
    with ModelStore() as models:
        before = sum(key.endswith(":en.txt") for key in models.version("ko").metrics)
    said = run("compare", "-t", "ko", "ko.txt", "--save-metrics").stderr
    assert f"more now, in place of {before} metrics that were measured in other lines" in said


def test_older_measures_of_a_whole_text_do_not_replace_newer_ones_of_its_lines(files):
    """Though those of the whole text have no place left where another text is measured alone."""
    with ModelStore() as models:
        models.save(cbpe.train(OTHER, 280), "ko")
    run("compare", "-t", "ko", "en.txt", "--save-metrics")
    run("compare", "-t", "ko", "en.txt", "ko.txt", "--parallel", "en.txt", "--save-metrics")
    (files / "code.txt").write_text("def f(): pass", encoding="utf-8")
    with ModelStore() as models:
        aligned = {key: value for key, value in models.version("ko").metrics.items() if ":" in key}
        n_whole = len(models.version("ko").metrics) - len(aligned)
    assert "parity:ko.txt" in aligned
    said = run("compare", "-t", "ko", "code.txt", "--save-metrics").stderr
    told = f"in place of {n_whole} metrics on en.txt, whose name newer ones of aligned lines have"
    assert told in " ".join(said.split())
    with ModelStore() as models:
        version = models.version("ko")
        assert {key: value for key, value in version.metrics.items() if ":" in key} == aligned
        assert version.tags["measured_on"] == "code.txt"
        assert "measured_earlier" not in version.tags
