"""Texts with a byte for which a tokenizer has no token: every command says in which file, and where in it."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import error_of, run
from tokenizer_json import a_file, as_json

import cbpe
from cbpe.formats.gpt2 import BYTE_TO_CHARACTER

REASON = "the byte 0xe9 has no token in this vocabulary (the text has it first in '\u9022', at character"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A tokenizer without tokens for some bytes; files of texts, of which one has such a byte."""
    monkeypatch.chdir(tmp_path)
    content = a_file()
    for byte in (0xE9, ord("0")):  # what is measured first of a tokenizer must not need any one byte
        del content["model"]["vocab"][BYTE_TO_CHARACTER[byte]]
    (tmp_path / "lacks.json").write_bytes(as_json(content))
    texts = [f"the cat {i % 3 + 1}" if i != 31 else "the \u9022" for i in range(40)]
    lines = [json.dumps({"text": text}) for text in texts]
    lines[5:5] = ["", json.dumps({"text": None})]  # a line without a text, and one that is left out
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    rows = [*texts[:5], None, *texts[5:]]
    pq.write_table(pa.table({"text": rows}), tmp_path / "b.parquet", row_group_size=7)
    (tmp_path / "c.txt").write_text("the cat " * 3000 + "\u9022", encoding="utf-8")
    (tmp_path / "fine.txt").write_text("the cat", encoding="utf-8")
    return tmp_path


PLACES = {
    "a.jsonl": f"a.jsonl, line 34: {REASON} 4)",
    "b.parquet": f"b.parquet, row 32 of the column 'text': {REASON} 4)",
    "c.txt": f"c.txt: {REASON} 24,000)",
}


@pytest.mark.parametrize("command", ["count", "encode", "stats", "tokens", "tokenize"])
@pytest.mark.parametrize("file", PLACES)
def test_the_file_and_the_place_in_it_are_named(folder, command, file):
    given = () if file == "c.txt" else ("--field", "text", "--missing", "skip")
    more = ("-o", "shards") if command == "tokenize" else ()
    told = run(command, "-t", "./lacks.json", *given, *more, file, exit_code=1).stderr
    assert PLACES[file] in told
    assert "take a tokenizer that has a token for each byte" in told


def test_of_several_files_that_one_is_named(folder):
    told = run("count", "-t", "./lacks.json", "fine.txt", "c.txt", exit_code=1)
    assert f"cbpe: {PLACES['c.txt']}" in told.stderr
    assert told.stdout.split()[:2] == [str(len(cbpe.load("lacks.json").encode("the cat"))), "fine.txt"]


def test_standard_input_is_named_with_the_number_of_the_text(folder):
    data = (folder / "a.jsonl").read_bytes()
    told = run("count", "-t", "./lacks.json", "--format", "jsonl", "--missing", "skip", stdin=data, exit_code=1)
    assert f", text 32: {REASON} 4)" in told.stderr


def test_comparing_names_the_corpus_and_the_tokenizer(folder):
    told = error_of("compare", "-t", "gpt2", "-t", "./lacks.json", "c.txt")
    assert "c.txt cannot be encoded by ./lacks.json: the byte 0xe9 has no token" in told
    jsonl = "a.jsonl", "--field", "text", "--missing", "skip"  # which is told, too
    told = run("compare", "-t", "./lacks.json", *jsonl, exit_code=1).stderr
    assert "a.jsonl cannot be encoded by ./lacks.json: the byte 0xe9 has no token" in told
    assert "in this vocabulary, as in ' \u9022': leave such text out" in told
    row = json.loads(run("compare", "-t", "./lacks.json", "fine.txt", "--json").stdout)[0]
    assert row["tokens"] == len(cbpe.load("lacks.json").encode("the cat"))


@pytest.mark.ci
def test_models_compare_names_the_file_and_the_text_in_it(folder):
    run("models", "save", "lacks", "-t", "./lacks.json")
    given = "models", "compare", "lacks", "gpt2"
    assert f"c.txt: {REASON} 24,000)" in error_of(*given, "fine.txt", "c.txt")
    (folder / "two.jsonl").write_text('{"text": "the cat"}\n{"text": "the \u9022"}\n', encoding="utf-8")
    assert f"two.jsonl, text 2: {REASON} 4)" in error_of(*given, "--field", "text", "two.jsonl")


def test_in_python_the_text_of_several_is_named(folder):
    tok = cbpe.load("lacks.json")
    with pytest.raises(KeyError, match=r"text number 1 of the source \(counted from 0\): the byte 0xe9"):
        tok.statistics(["the cat", "\u9022"])
    with pytest.raises(KeyError, match=r"^'?.?the byte 0xe9"):
        tok.statistics("\u9022")
