"""What is told of files of plain text before they are read."""

import gzip
import io
import json
import re
import warnings
from pathlib import Path

import pytest

import cbpe
from cbpe.corpus.describing import tell_of_plain_text
from cbpe.corpus.sources import Reader
from store import ModelStore

END = "<|endoftext|>"
STORIES = f"Once there was a cat.{END}Twice there was a cat.{END}"
ORDINARY = r"stories\.txt holds '<\|endoftext\|>', which is ordinary text there and no special token"
WHOLE = (
    "read as plain text, with all that stands around the texts: where a field is named, it is read, of .parquet and of "
    "JSON Lines (.jsonl, .json) alone"
)


def told(source, special_tokens=()):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tell_of_plain_text(source, special_tokens)
    return [str(each.message) for each in caught]


def test_tables_and_json_that_are_read_whole_are_told_together(tmp_path):
    paths = [tmp_path / name for name in ("a.csv", "b.TSV.gz", "c.json", "d.json", "e.txt", "f.py")]
    for path in paths:
        path.touch()
    assert told(paths) == [f"{paths[0]}, {paths[1]}, {paths[2]} and 1 more are {WHOLE}"]
    assert told(paths[0]) == [f"{paths[0]} is {WHOLE}"]
    assert told(paths[4:]) == []


LINES = '{"id": 1, "text": "low"}\n{"id": 2, "text": "lower"}\n'


@pytest.mark.parametrize("text", [LINES, "\ufeff" + LINES, LINES.replace("\n", "\r\n\r\n"), LINES[:40]])
def test_plain_text_that_looks_like_json_lines_is_told(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    ending = "is read as one text, and each of its first lines is a JSON object: "
    assert told([tmp_path / "gone.txt", path]) == [
        f"{path} {ending}rename it to end in .jsonl, to read a field of each"
    ]
    with path.open("rb") as opened, pytest.warns(UserWarning, match=re.escape(f"{path} {ending}set field to the name")):
        assert b"".join(*Reader(opened).texts()) == path.read_bytes()
    path.with_suffix(".json").write_bytes(text.encode())
    assert told(path.with_suffix(".json")) == [f"{path.with_suffix('.json')} is {WHOLE}"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "{}\n{}\n", '{"a": 1}\n{"a": 2}\n', '{"a": "b"}\n', '{"a": "b"}\nc\n', '{a: "b"}\n{a: "b"}', "{\n{"],
)
def test_other_plain_text_is_read_without_a_word(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert told(path) == []
    with path.open("rb") as opened, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert b"".join(*Reader(opened).texts()) == path.read_bytes()


@pytest.mark.parametrize("compressed", [False, True])
def test_a_special_token_in_plain_text_is_told(tmp_path, compressed):
    path = tmp_path / ("stories.txt.gz" if compressed else "stories.txt")
    path.write_bytes(gzip.compress(STORIES.encode()) if compressed else STORIES.encode())
    (message,) = told([path], ["<s>", END])
    assert message.startswith(f"{path} holds '{END}', which is ordinary text there and no special token")
    assert told([path], ["<s>"]) == told([path]) == []
    path.write_bytes(b"\x1f\x8b cut" if compressed else b"\xff\xfe")
    assert told([path], [END]) == told(tmp_path / "gone.txt", [END]) == []


def test_a_special_token_in_a_text_is_told():
    for source in (STORIES, [b"bytes", STORIES, "other"], STORIES.encode(), [memoryview(STORIES.encode())]):
        (message,) = told(source, ["<s>", END])
        assert message.startswith(f"a text holds '{END}', which is ordinary text there and no special token")
        assert message.endswith("pass these as a list of texts")
    assert told([""], [END]) == told(b"", [END]) == []


@pytest.mark.parametrize("at_once", [1, 7, 2**20])
@pytest.mark.parametrize("in_memory", [False, True])
def test_a_special_token_in_an_open_file_is_told_when_it_is_read(in_memory, at_once, tmp_path, monkeypatch):
    monkeypatch.setattr("cbpe.corpus.sources.CHUNK_BYTES", at_once)
    path = tmp_path / "stories.txt"
    path.write_text(STORIES)
    with io.BytesIO(STORIES.encode()) if in_memory else path.open("rb") as opened:
        with pytest.warns(UserWarning, match="ordinary text there and no special token") as heard:
            tok = cbpe.train(opened, 258, special_tokens=[END])
        assert not opened.closed
    (message,) = [str(each.message) for each in heard if "ordinary text" in str(each.message)]
    assert message.startswith(f"{'an open file' if in_memory else path} holds '{END}'")
    with pytest.warns(UserWarning, match="^a text holds"):
        assert tok.merges == cbpe.train(STORIES, 258, special_tokens=[END]).merges


def test_an_open_file_without_special_tokens_is_read_in_silence(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cbpe.train(io.BytesIO(b"low lower lowest"), 257, special_tokens=[END])
        cbpe.train(io.BytesIO(b'{"text": "low <|endoftext|> lower"}\n'), 257, special_tokens=[END], field="text")


def test_special_tokens_are_looked_for_in_the_first_megabytes(tmp_path, monkeypatch):
    path = tmp_path / "books.txt"
    for before in (2**18 - 5, 2**20):  # across two chunks that are read, and in a later one
        path.write_text("a" * before + END + "b" * 1000)
        assert len(told(path, [END])) == len(told("a" * before + END, [END])) == 1
    monkeypatch.setattr("cbpe.corpus.describing.MOST_SEARCHED", 2**19)
    assert told([path], [END]) == told("a" * 2**20 + END, [END]) == []


def test_training_tells_of_special_tokens_between_texts_over_bytes_and_characters(tmp_path):
    path = tmp_path / "stories.txt"
    path.write_text(STORIES)
    for options in ({}, {"alphabet": "characters"}):
        with pytest.warns(UserWarning, match=ORDINARY):
            cbpe.train([path], 290, special_tokens=[END], **options)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"text": STORIES}) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cbpe.train(rows, 270, special_tokens=[END], field="text")


def test_token_shards_tell_of_them_but_for_added_tokens_that_are_found(tmp_path):
    tok = cbpe.train(STORIES, 270, special_tokens=[END])
    (tmp_path / "stories.txt").write_text(STORIES)
    with pytest.warns(UserWarning, match=ORDINARY):
        cbpe.tokenize(tmp_path / "stories.txt", tok, tmp_path / "shards")
    tok.save(tmp_path / "tokenizer.json")
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    for token in content["added_tokens"]:
        token["special"] = False
    found = cbpe.HuggingFaceTokenizer.from_json(json.dumps(content).encode())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        manifest = cbpe.tokenize(tmp_path / "stories.txt", found, tmp_path / "others", append_eot=False)
    assert [str(each.message) for each in caught] == []
    assert manifest["tokens"] == len(found.encode(STORIES))


def test_a_special_token_of_bytes_without_a_token_is_told(tmp_path):
    ranks = {bytes([byte]): byte for byte in range(128)}
    tok = cbpe.Encoding("ascii", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={"<é>": 200, END: 201})
    (tmp_path / "stories.txt").write_text(STORIES)
    with pytest.warns(UserWarning, match=ORDINARY):
        cbpe.tokenize(tmp_path / "stories.txt", tok, tmp_path / "shards")


def test_counting_a_corpus_tells_of_tables(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,low lower\n")
    with pytest.warns(UserWarning, match=re.escape(WHOLE)):
        cbpe.count_corpus(Path(tmp_path / "a.csv"), tmp_path / "a.words")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "id,text\n1,low\n", f"t.csv is {WHOLE}"),
        ("lines.txt", '{"text": "low"}\n' * 9, "is a JSON object: rename"),
    ],
)
def test_all_that_measure_and_count_tell_of_tables_and_of_json(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    tok = cbpe.train("low lower", 260)
    for measured in (
        lambda: cbpe.compare({"tok": tok}, {"text": path}),
        lambda: cbpe.sweep(tok, {"text": path}),
        lambda: tok.statistics(path),
        lambda: cbpe.count_words(path),
        lambda: ModelStore(":memory:").compare(tok, tok, path),
    ):
        with pytest.warns(UserWarning, match=re.escape(message)):
            measured()
