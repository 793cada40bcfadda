"""What the files of commands may take the place of."""

import os
from pathlib import Path

import pytest
import typer
from command_line import TEXT, error_of, run

import cbpe
from cbpe.cli.output.replacing import refuse_replacing_by_picture
from cbpe.patterns import GPT2_SPLIT_PATTERN
from cbpe.views.html import page

ROWS = b'{"text": ["low lower"]}\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_bytes(TEXT.encode())
    cbpe.train(TEXT, 270).save("book")
    return tmp_path


def kept_by(path, *command, content=ROWS):
    """The error of a command that would have written over a file, and has not; nothing else is there after it."""
    Path(path).write_bytes(content)
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    told = error_of(*command, exit_code=2)
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before
    return told


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.json", ROWS),
        ("counts.json", b'{"low": 1, "lower": 2}'),  # as one of GPT-2's two files, without the other
        ("settings.json", b"{}"),
        ("bert.json", b'{"model": {"type": "BERT"}}'),
        ("config.json", b'{"config": {}, "vocab": []}'),
        ("rows.tiktoken", ROWS),
        ("notes.model", b"what was learned"),
        ("notes.vocab", b"what was learned"),
        ("old.cbpe.model", b"\x89cbpeSM\n..."),
    ],
)
def test_a_tokenizer_takes_the_place_of_no_other_file(here, name, content):
    for command in (["train", "text.txt", "--vocab-size", 270, "-o", name], ["convert", "book.model", name]):
        told = kept_by(name, *command, content=content)
        assert (
            f"{name}' holds no tokenizer that can be loaded, and would be lost: give another name, or remove it" in told
        )


def test_words_and_their_numbers_are_no_half_of_a_tokenizer(here):
    cbpe.train(TEXT, 265, pattern=GPT2_SPLIT_PATTERN).save("gpt.json")
    told = kept_by("vocab.json", "convert", "gpt.json", "vocab.json", content=b'{"low": 1, "lower": 2}')
    assert "'vocab.json' holds no tokenizer that can be loaded" in told


@pytest.mark.parametrize(
    "content", [b"#version 3 of my list\nkeep this line!\n", b"I x\nof words, of which one is more\n"]
)
def test_notes_under_the_name_of_merges_are_none(here, content):
    cbpe.train(TEXT, 265, pattern=GPT2_SPLIT_PATTERN).save("gpt.json")
    told = kept_by("merges.txt", "convert", "gpt.json", "vocab.json", content=content)
    assert "'merges.txt' holds no tokenizer that can be loaded" in told


def test_numbers_of_labels_are_no_vocabulary_where_merges_stand_beside_them(here):
    cbpe.get_encoding("gpt2").save("merges.txt")
    Path("vocab.json").unlink()
    told = kept_by("label2id.json", "convert", "book.model", "label2id.json", content=b'{"bad": 0, "good": 1}')
    assert "'label2id.json' holds no tokenizer that can be loaded" in told


def test_a_file_that_is_written_with_another_is_not_lost_either(here):
    assert "'pieces.vocab' holds no tokenizer" in kept_by("pieces.vocab", "convert", "book.model", "pieces.model")
    assert "'pieces.vocab' holds no tokenizer" in kept_by(
        "pieces.vocab", "train", "text.txt", "--vocab-size", 260, "-o", "pieces"
    )


def test_nothing_is_written_over_what_is_read(here):
    cbpe.load("book.model").save("./book.json")
    os.link("book.json", "same.json")
    os.makedirs("folder")
    os.link("book.json", "folder/tokenizer.json")
    for command in (
        ["convert", "book.json", "./book.json"],
        ["convert", "book.json", "same.json"],
        ["convert", "folder/", "folder/tokenizer.json"],
        ["convert", "./folder", "book.json"],
        ["convert", "book.model", "book.vocab"],
        ["train", "book.json", "--vocab-size", 270, "-o", "book.json"],
        ["train", "book.*", "--vocab-size", 270, "-o", "book.json"],
        ["train", "text.txt", "--vocab-size", 280, "--initial", "book.json", "-o", "book.json"],
    ):
        assert "is read, and would be lost: give another name" in error_of(*command, exit_code=2), command


def test_the_same_command_may_be_given_again(here):
    cbpe.train(TEXT, 265, pattern=GPT2_SPLIT_PATTERN).save("gpt")
    cbpe.load("gpt.model").save("gpt.json")
    for command in (
        ["train", "text.txt", "--vocab-size", 270, "-o", "again"],
        ["train", "text.txt", "--vocab-size", 270, "-o", "again.json"],
        ["convert", "gpt.json", "encoder.json"],
        ["convert", "book.model", "ranks.json"],
    ):
        run(*command)
        run(*command)
    os.remove("vocab.bpe")
    run("convert", "gpt.json", "encoder.json")
    assert len(cbpe.load("./encoder.json")) == 265
    Path("empty.json").touch()
    run("convert", "book.model", "empty.json")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.svg", b'<?xml version="1.0"?>\n<!-- drawn -->\n<svg></svg>'),
        ("a.PNG", b"\x89PNG\r\n\x1a\n..."),
        ("a.pdf", b"%PDF-1.4 ..."),
        ("a.html", page("Measures", "<p>...</p>").encode()),
    ],
)
def test_a_picture_takes_the_place_of_its_like_alone(here, name, content):
    Path(name).write_bytes(content)
    refuse_replacing_by_picture(name, [], "--plot")
    what = "report of cbpe" if name == "a.html" else f"{name[1:].lower()} file"
    for other in (ROWS, b"%P", b"PNG", b"<!DOCTYPE html><html><p>somebody's own</html>"):
        Path(name).write_bytes(other)
        with pytest.raises(typer.BadParameter, match=f"is no {what}, and would be lost: give another"):
            refuse_replacing_by_picture(name, [], "--plot")


def test_a_picture_of_a_training_or_a_sweep_takes_the_place_of_no_other_file(here):
    pytest.importorskip("matplotlib")
    for command in (["train", "text.txt", "--vocab-size", 260], ["sweep", "book.model", "text.txt"]):
        os.makedirs("made", exist_ok=True)
        Path("made/a.svg").write_bytes(ROWS)
        assert "is no .svg file" in error_of(*command, "--plot", "made/a.svg", exit_code=2)
        assert Path("made/a.svg").read_bytes() == ROWS
    Path("read.svg").write_text("<svg/>")
    assert "is read, and would be lost" in error_of(
        "compare", "-t", "gpt2", "read.svg", "--plot", "read.svg", exit_code=2
    )
