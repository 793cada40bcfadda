"""The benchmark's own logic: that it compares the same work, runs it apart, and does not count speed that is wrong."""

import json
import lzma
import os
import subprocess
import sys
from concurrent.futures import Future
from xml.etree import ElementTree

import bounded
import compare
import corpora
import encoding_tasks
import growth
import materials
import processes
import published
import pytest
import regex
import report
import splitting
import targets
import turns
from hugging_face import BYTE_LEVEL, for_oniguruma
from processes import Outcome
from results import Results, installed_version
from suites import SUITES

import cbpe
from cbpe.text import patterns

pytestmark = pytest.mark.ci

HARD = "It's 1234 o'clock,\r\n\n  naïve café!!!\n\nDON'T  stop \t\n x_y 안녕하세요 ½ <|end|>   "
ENCODING, TRAINING = SUITES["encoding"], SUITES["training"]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A folder with a tiny text for each corpus."""
    folder = tmp_path_factory.mktemp("corpora")
    for name in corpora.CORPORA:
        (folder / f"{name}.txt").write_text(f"the {name} cat sat on the mat; 猫\n" * 60, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def made(texts, tmp_path_factory):
    """The materials of a run with these texts."""
    found = corpora.find_all(texts, corpora.CORPORA.keys())
    return materials.prepare(tmp_path_factory.mktemp("materials"), "cl100k_base", found)


@pytest.fixture
def encoding():
    return Results(ENCODING, list(ENCODING.tasks), "cl100k_base", 1)


@pytest.fixture
def training():
    return Results(TRAINING, list(TRAINING.tasks), "cl100k_base", 1)


@pytest.mark.parametrize("name", patterns.__all__)
def test_plain_patterns_find_the_same_pieces(name):
    pattern = getattr(patterns, name)
    plain = for_oniguruma(pattern).replace(r"\z", r"\Z")  # as regex spells the end of the text
    assert not regex.search(r"[?*+]\+|\d\}\+", plain)
    assert regex.findall(plain, HARD) == regex.findall(pattern, HARD)


def test_byte_level_alphabet_has_a_character_for_each_byte():
    assert len(set(BYTE_LEVEL)) == 256
    assert BYTE_LEVEL[ord("A")] == "A"
    assert BYTE_LEVEL[ord(" ")] == "Ġ"
    assert BYTE_LEVEL[0] == "Ā"


def test_documents_are_the_text():
    text = "some words\n" * 5000 + "no newline"
    cut = corpora.documents(text, 1000)
    assert "".join(cut) == text
    assert all(document.endswith("\n") for document in cut[:-1])
    assert corpora.documents("") == []


def test_first_megabytes_end_at_a_whole_character(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("é" * 100, encoding="utf-8")
    assert corpora.read(path, 0.000101) == "é" * 50
    assert corpora.read(path) == "é" * 100


def test_corpora_are_found_packed_or_not_and_missing_ones_are_named(tmp_path):
    (tmp_path / "code.txt").write_text("x = 1\n")
    (tmp_path / "english.txt.xz").write_bytes(lzma.compress(b"words\n"))
    found = corpora.find_all(tmp_path, {"english", "code"})
    assert {name: corpora.read(path) for name, path in found.items()} == {"english": "words\n", "code": "x = 1\n"}
    with pytest.raises(FileNotFoundError, match=r"chinese\.txt or chinese\.txt\.xz \(Chinese prose\)"):
        corpora.find_all(tmp_path, {"chinese", "code"})


@pytest.mark.parametrize("kind", corpora.PIECES)
@pytest.mark.parametrize("pattern", [patterns.CL100K_SPLIT_PATTERN, patterns.O200K_SPLIT_PATTERN])
def test_unbroken_pieces_are_not_divided_by_the_patterns(kind, pattern):
    pieces = corpora.unbroken_pieces(kind, 1000, 3)
    assert 998 <= len(pieces[0].encode()) <= 1000
    assert len(set(pieces)) == 3
    for piece in pieces:
        assert regex.findall(pattern, piece) == [piece]


def test_materials_hold_the_texts_to_the_character(tmp_path):
    text = "first\r\nsecond\rthird\n"
    (tmp_path / "code.txt").write_bytes(text.encode())
    (tmp_path / "made").mkdir()
    copied = materials.prepare(tmp_path / "made", "cl100k_base", {"code": tmp_path / "code.txt"})
    assert copied.text("code") == text


# What takes seconds by design (long pieces, series of calls) is left to the runs themselves.
@pytest.mark.parametrize("task", ["english_numpy", "english_list", "documents_list", "decode", "load", "threads"])
def test_an_encoder_yields_every_figure_and_its_output_is_right(encoding, made, task):
    for peer in ("cbpe", "tiktoken"):
        if not ENCODING.tasks[task].offered_by(ENCODING.peers[peer]):
            continue
        outcome = processes.run(ENCODING, task, peer, made, timeout=60)
        assert outcome.failure is None
        assert ENCODING.tasks[task].figures.keys() <= outcome.found.keys()
        encoding.add(task, peer, outcome)
    assert any(peer == "tiktoken" for _, _, peer in encoding.outputs)
    assert encoding.wrong_tasks("cbpe") == []


def test_work_at_once_that_fails_is_no_measurement():
    done, failed = Future(), Future()
    done.set_result(None)
    failed.set_exception(MemoryError("no memory"))
    answers = iter([done, done, done, failed])
    with pytest.raises(MemoryError, match="no memory"):
        encoding_tasks.gain_at_once([lambda: next(answers)] * 2)


def test_training_yields_every_figure(training, made):
    for task in ("english", "unsplit"):
        outcome = processes.run(TRAINING, task, "cbpe", made, timeout=60)
        assert outcome.failure is None
        assert {"seconds", "output"} <= outcome.found.keys()
        training.add(task, "cbpe", outcome)
        assert outcome.found["seconds"] > 0
        assert bytes.fromhex(outcome.found["output"][0]) in ("the cat sat on the mat; english 猫\n" * 2).encode()


def test_a_process_that_fails_says_why(texts, made):
    missing = materials.Materials("nowhere", "cl100k_base")
    assert "nowhere" in processes.run(ENCODING, "english_list", "cbpe", missing, timeout=60).failure
    assert processes.run(ENCODING, "english_list", "cbpe", made, timeout=0.001).failure == "over 0.001 s"


def test_a_command_that_says_much_before_it_fails_does_not_wait_for_a_reader():
    says = "import sys; sys.stderr.write('x' * (1 << 20) + 'why'); sys.exit({})"
    seconds, most = bounded.run([sys.executable, "-c", says.format(0)])
    assert seconds > 0
    assert most >= 0
    with pytest.raises(SystemExit, match="x" * 9 + "why"):
        bounded.run([sys.executable, "-c", says.format(1)])


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes are in no groups here")
def test_a_process_takes_those_with_it_that_it_has_started():
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    child = subprocess.Popen([sys.executable, "-c", script], start_new_session=True, **pipes)
    assert child.stdout.readline() == b"1\n"
    processes.kill(child)
    assert child.stdout.read() == b""  # returns when both have ended
    child.communicate()


def test_a_peer_without_arrays_has_turns_of_short_texts_alone(texts, capsys):
    with pytest.raises(SystemExit):
        turns.main(["--corpora", str(texts), "--peer", "rs-bpe"])
    assert "rs-bpe makes no arrays" in capsys.readouterr().err


def test_a_peer_with_a_wrong_output_does_not_count_anywhere(encoding):
    speeds = {"cbpe": 6.0, "tiktoken": 3.0, "tokenizers": 100.0}
    for peer, speed in speeds.items():
        made = "wrong" if peer == "tokenizers" else "right"
        encoding.add("english_list", peer, Outcome({"first": speed, "output of encoding english": made}))
        encoding.add("decode", peer, Outcome({"speed": speed}))
    assert encoding.wrong_tasks("tokenizers") == ["english_list"]
    assert encoding.counted_peers() == ["cbpe", "tiktoken"]
    assert encoding.ratio("english_list", "first") == 2.0
    assert encoding.ratio("decode", "speed") == 2.0


def test_our_speed_does_not_count_if_our_output_is_wrong(encoding):
    for peer in ("cbpe", "tiktoken"):
        encoding.add("english_list", peer, Outcome({"first": 1.0, "output of encoding english": peer}))
    assert encoding.wrong_tasks("cbpe") == ["english_list"]
    assert encoding.ratio("english_list", "first") is None


def test_outputs_of_the_same_name_are_compared_across_tasks(encoding):
    encoding.add("documents_list", "tiktoken", Outcome({"output of encoding documents": "right"}))
    encoding.add("documents_flat", "gigatoken", Outcome({"first": 1.0, "output of encoding documents": "wrong"}))
    assert encoding.wrong_tasks("gigatoken") == ["documents_flat"]


def test_medians_are_taken_and_less_is_better_for_seconds(training):
    for seconds in (9.0, 2.0, 1.0):
        training.add("english", "cbpe", Outcome({"seconds": seconds}))
        training.add("english", "rustbpe", Outcome({"seconds": seconds + 1}))
    assert training.median("english", "seconds", "cbpe") == 2.0
    assert training.ratio("english", "seconds") == 1.5
    assert training.best_peer("english", "seconds") == "rustbpe"


def test_trained_vocabularies_are_compared_whichever_way_ties_are_broken(training):
    training.add("english", "cbpe", Outcome({"output": ["61", "62", "63"], "output smallest": ["61", "64"]}))
    training.add("english", "rustbpe", Outcome({"output": ["64", "61"]}))
    training.add("english", "bpeasy", Outcome({"output": ["61", "65"]}))
    assert training.agreement("english", "rustbpe") == {"learned": 2, "ours": 2, "in_common": 2}
    assert training.agreement("english", "bpeasy")["in_common"] == 1
    assert training.agreement("english", "tokenizers") is None


def test_the_report_names_what_is_missing_late_or_wrong(encoding):
    encoding.machine = {"processor": "a processor", "cores": 2, "python": "3.12"}
    encoding.versions = {"cbpe": "1", "tiktoken": "2", "gigatoken": None, "tokie": "3"}
    encoding.command = "python benchmarks/compare.py encoding"
    encoding.add("decode", "cbpe", Outcome({"speed": 1234.0, "output of decoding english": "right"}))
    encoding.add("decode", "tiktoken", Outcome({"output of decoding english": "right"}, "over 60 s"))
    encoding.add("decode", "tokie", Outcome({"speed": 5.0, "output of decoding english": "wrong"}))
    text = report.markdown(encoding)
    assert "| decode a list to str, the whole of English | MB/s | 1,234 | over 60 s |  |" in text
    assert "- gigatoken is not installed" in text
    assert "- tiktoken did not finish, over 60 s: decode." in text
    assert "- tokie does not count, as its output is not tiktoken's: decode." in text


def test_a_run_writes_a_table_and_json(texts, tmp_path, capsys):
    written, table = tmp_path / "results.json", tmp_path / "table.md"
    arguments = ["--corpora", texts, "--tasks", "decode", "--peers", "tiktoken", "--rounds", 1]
    outputs = ["--json", written, "--markdown", table]
    compare.main(["encoding", *map(str, arguments + outputs)])
    found = json.loads(written.read_text(encoding="utf-8"))
    assert found["lines"][0]["ratio_to_best_peer"] > 0
    assert found["failures"] == []
    assert found["versions"]["tiktoken"] == installed_version("tiktoken")
    assert table.read_text(encoding="utf-8").startswith("```bash")
    assert "decode a list to str" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "texts_shown"), [([], ["english"]), (["--short"], ["hello", "sentence", "4 KB"])]
)
def test_turns_are_taken_and_their_ratio_is_shown(texts, arguments, texts_shown):
    command = [
        sys.executable,
        turns.__file__,
        "--corpora",
        str(texts),
        "--peer",
        "tiktoken",
        "--passes",
        "3",
        *arguments,
    ]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in texts_shown:
        (row,) = [line for line in shown.splitlines() if name in line]
        _, _, ours, theirs, ratio, quartiles, _ = row.replace("\u2502", "|").split("|")
        assert float(ours) > 0
        assert float(theirs) > 0
        low, high = map(float, quartiles.split(","))
        assert low <= float(ratio) <= high


def test_turns_of_different_tokens_are_refused():
    with pytest.raises(SystemExit, match="do not return the same tokens"):
        turns.seconds_in_turn(lambda text: [1], lambda text: [2], "text", 2)


@pytest.mark.slow
def test_growth_is_measured_shown_and_drawn(texts, tmp_path, capsys):
    written, drawn = tmp_path / "growth.json", tmp_path / "growth.svg"
    arguments = ["--corpora", texts, "--largest", "1e3", "--rounds", 1, "--json", written, "--svg", drawn]
    growth.main([str(argument) for argument in [*arguments, "--kinds", "text", "--works", "count", "decode"]])
    found = json.loads(written.read_text(encoding="utf-8"))
    assert found["failures"] == []
    assert {(point["kind"], point["work"]) for point in found["growth"]} == {("text", "count"), ("text", "decode")}
    assert all(point["seconds"] > 0 for point in found["growth"])
    assert all(point["lists"] > 0 and point["flat"] > 0 for point in found["threads"])
    assert all(point["speed"] > 0 for point in found["caches"])
    assert any("64 threads" in point["work"] for point in found["caches"])
    assert "1,000 B" in capsys.readouterr().out
    assert ElementTree.parse(drawn).getroot().tag.endswith("svg")


def test_speed_is_drawn_the_same_from_the_same_figures(encoding, training, tmp_path):
    import draw  # with matplotlib, which takes long to import where tests are only collected

    for results, tasks, figures in (
        (encoding, ("english_numpy", "chinese_numpy"), ("first", "repeated")),
        (training, ("english", "code"), ("seconds",)),
    ):
        results.machine = {"processor": "a processor", "cores": 2}
        results.versions = dict.fromkeys(results.suite.peers, "1")
        for task in tasks:
            results.add(task, "cbpe", Outcome(dict.fromkeys(figures, 2.0)))
            results.add(task, "gigatoken", Outcome(dict.fromkeys(figures, 1.0)))
        results.add(tasks[0], "rustbpe", Outcome({}, "over 60 s"))
    found = [results.as_json() for results in (encoding, training)]
    pictures = [tmp_path / "one.svg", tmp_path / "another.svg"]
    for picture in pictures:
        draw.comparisons(found, picture)
    assert ElementTree.parse(pictures[0]).getroot().tag.endswith("svg")
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_who_is_drawn_has_a_figure_and_a_right_output(encoding):
    import draw

    encoding.versions = dict.fromkeys(ENCODING.peers, "1")
    for peer in ("tiktoken", "cbpe", "iree-tokenizer"):
        made = "wrong" if peer == "iree-tokenizer" else "right"
        encoding.add("english_numpy", peer, Outcome({"first": 1.0, "output of encoding english": made}))
    encoding.add("decode", "rs-bpe", Outcome({"speed": 1.0}))
    assert draw.peers_of(encoding.as_json()) == ["cbpe", "tiktoken"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tasks", "nonsense"], "unknown task nonsense: the known ones are english_numpy"),
        (["--peers", "nonsense"], "unknown peer nonsense"),
        (["--corpora", "nowhere"], "nowhere has no english.txt or english.txt.xz (English prose)"),
    ],
)
def test_wrong_arguments_say_what_to_give(arguments, said, capsys):
    with pytest.raises(SystemExit):
        compare.main(["encoding", *arguments])
    assert said in capsys.readouterr().err


def test_published_tokenizers_are_measured_where_their_ids_are_the_same(texts, tmp_path, capsys, monkeypatch):
    cbpe.train("the cat sat on the mat", 266).save(tmp_path / "small.json")
    seen = []

    def measured_here(peer, file, path, megabytes):
        seen.append(peer)
        ids = published.encoder("cbpe", str(file))(corpora.read(path, megabytes))
        speed = {"cbpe": 6.0, "gigatoken": 3.0}[peer]
        return {"first": speed, "again": 2 * speed, "ids": repr(ids.tolist()[:: differing[peer]])}

    monkeypatch.setattr(published, "in_a_process", measured_here)
    differing = {"cbpe": 1, "gigatoken": 1}
    arguments = [str(tmp_path / "small.json"), "--corpora", str(texts), "--corpus", "english", "--rounds", "2"]
    published.main(arguments)
    assert seen == ["cbpe", "gigatoken"] * 2
    assert "2.00 / 2.00" in capsys.readouterr().out
    differing["gigatoken"] = 2
    with pytest.raises(SystemExit, match="the ids differ"):
        published.main(arguments)


def test_a_process_measures_a_published_tokenizer(texts, tmp_path):
    cbpe.train("the cat sat on the mat", 266).save(tmp_path / "small.json")
    found = published.in_a_process("cbpe", str(tmp_path / "small.json"), texts / "english.txt", 0.001)
    assert found["first"] > 0
    assert found["again"] > 0
    assert len(found["ids"]) == 64


def test_every_target_is_a_figure_of_a_task_and_its_peers_do_the_work():
    for group in targets.GROUPS.values():
        suite = SUITES[group.suite]
        for target in group.targets:
            names = targets.ENDLESS.values() if target.task == "endless" else [target.task]
            for name in names:
                assert {target.figure, target.over or target.figure} <= set(suite.tasks[name].figures)
                assert all(suite.tasks[name].offered_by(suite.peers[peer]) for peer in group.peers)


def test_a_target_is_measured_beside_the_best_peer_or_another_figure():
    results = Results(ENCODING, ["load"], "cl100k_base", 1)
    for peer, milliseconds in (("cbpe", 20.0), ("rs-bpe", 30.0), ("splintr-rs", 40.0)):
        results.add("load", peer, Outcome({"seconds": milliseconds}))
    *_, beside, asked, measured = targets.row(results, targets.Target("load", "seconds", 1.3), "load")
    assert (beside, asked, measured) == ("30 rs-bpe", "1.3", "1.50")
    crowd = Results(SUITES["growth"], ["cache_code"], "cl100k_base", 1)
    crowd.add("cache_code", "cbpe", Outcome({"64 MB": 400.0, "1 MB": 100.0}))
    *_, beside, asked, measured = targets.row(crowd, targets.Target("cache_code", "1 MB", 0.7, "64 MB"), "cache_code")
    assert (beside, asked, measured) == ("400 code again, a cache of 64 MB", "0.7", "0.25")


@pytest.mark.parametrize("overlap", [0, 8])
def test_chunks_that_are_measured_are_whole_and_within_the_budget(monkeypatch, overlap):
    tok = cbpe.get_encoding(splitting.ENCODING)
    text = "It was a bright cold day in April. " * 40
    splitting.check(tok, text, 32, overlap)
    chunks = tok.split(text, 32, overlap=overlap)
    far = [(start + 40, end) if i == 3 else (start, end) for i, (start, end) in enumerate(chunks)]
    whole = [(0, len(text))]
    shared = [*chunks[:-1], (chunks[-2][0], len(text))]
    for wrong in (far, whole, shared, chunks[:-1]):
        monkeypatch.setattr(type(tok), "split", lambda *_, wrong=wrong, **__: wrong)
        with pytest.raises(AssertionError):
            splitting.check(tok, text, 32, overlap)
