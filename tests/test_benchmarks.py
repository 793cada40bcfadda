"""The benchmark's own logic: that it compares the same work, runs it apart, and does not count speed that is wrong."""

import pytest
import regex
from corpus import documents, read, unbroken_piece
from peers import BYTE_LEVEL, for_oniguruma
from processes import find_output, measure
from report import Results
from tasks import Job, all_tasks

from cbpe import patterns

HARD = "It's 1234 o'clock,\r\n\n  naïve café!!!\n\nDON'T  stop \t\n x_y 안녕하세요 ½ <|end|>   "


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat\n" * 500, encoding="utf-8")
    return Job(str(path), None, "gpt2", 260)


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
    cut = documents(text, 1000)
    assert "".join(cut) == text
    assert all(document.endswith("\n") for document in cut[:-1])
    assert documents("") == []


def test_first_megabytes_end_at_a_whole_character(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("é" * 100, encoding="utf-8")
    assert read(path, 0.000101) == "é" * 50
    assert read(path) == "é" * 100


@pytest.mark.parametrize("kind", ["a", "letters", "spaces"])
def test_unbroken_pieces_are_not_divided_by_the_patterns(kind):
    piece = unbroken_piece(kind, 1000)
    assert len(piece) == 1000
    assert regex.findall(patterns.CL100K_SPLIT_PATTERN, piece) == [piece]


def test_a_process_yields_every_figure(job):
    for name, task in all_tasks(job).items():
        outcome = measure(task, "cbpe", job, timeout=60)
        assert outcome.failure is None, name
        assert outcome.found.keys() == task.figures.keys() or name.startswith("train")
        assert all(value >= 0 for value in outcome.found.values())


def test_a_process_that_fails_says_why(job):
    task = all_tasks(job)["encode_list"]
    missing = Job("missing.txt", None, "gpt2", 260)
    assert "missing.txt" in find_output(task, "cbpe", missing, timeout=60).failure
    assert "not done after" in measure(task, "cbpe", job, timeout=0.001).failure


def test_speed_with_the_wrong_output_does_not_count(job):
    task = all_tasks(job)["encode_list"]
    results = Results(job, 1, {}, {}, [task])
    results.medians = {("encode_list", "first", peer): speed for peer, speed in [("cbpe", 6.0), ("tiktoken", 3.0)]}
    results.outputs = {("encode_list", "cbpe"): "right", ("encode_list", "tiktoken"): "right"}
    assert results.ratio(task, "first") == 2.0
    results.medians["encode_list", "first", "tokenizers"] = 100.0
    results.outputs["encode_list", "tokenizers"] = "wrong"
    assert results.ratio(task, "first") == 2.0
    results.outputs["encode_list", "cbpe"] = "wrong"
    assert results.ratio(task, "first") is None


def test_less_is_better_for_seconds(job):
    task = all_tasks(job)["train"]
    results = Results(job, 1, {}, {}, [task])
    results.medians = {("train", "seconds", peer): value for peer, value in [("cbpe", 2.0), ("rustbpe", 3.0)]}
    assert results.ratio(task, "seconds") == 1.5


def test_agreement_of_trained_vocabularies(job):
    task = all_tasks(job)["train"]
    results = Results(job, 1, {}, {}, [task])
    results.outputs = {("train", "cbpe"): ["61", "62", "63"], ("train", "rustbpe"): ["61", "63"]}
    assert results.agreement(task, "rustbpe") == {"merges": 2, "same_until": 1, "in_common": 2}
    assert results.agreement(task, "tokenizers") is None
