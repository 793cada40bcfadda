"""Token ids as text, read as they come."""

import gzip
import json
import random
import re

import pytest
from command_line import error_of, run

import cbpe
from cbpe.cli.input.token_ids import LONGEST_ID, lines_of_ids, read_ids


def read(data, size=None):
    size = size or max(len(data), 1)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    return [token for ids in read_ids(chunks) for token in ids]


@pytest.mark.parametrize("size", [1, 2, 3, 7, None])
def test_any_chunks_give_the_same_ids(size):
    rng = random.Random(1)
    ids = [rng.randrange(10 ** rng.randint(1, 6)) for _ in range(200)]
    assert read(" ".join(map(str, ids)).encode(), size) == ids
    assert read("\r\n\t ".join(map(str, ids)).encode() + b"\n", size) == ids
    assert read(json.dumps(ids).encode(), size) == ids
    assert read(f" \n{ids[:7]}\n\n[]\n[ ]\n{ids[7:8]}\n{ids[8:]}\n".encode(), size) == ids


@pytest.mark.parametrize("data", [b"", b" \n", b"[]", b"[]\n[]\n"])
def test_there_may_be_none(data):
    assert read(data) == read(data, 1) == []


@pytest.mark.parametrize("data", [b"1 2 x", b"1 2.5", b"1,2", b"-1", b"+1", b"1_0", b"1 [2]", b"9" * 5000])
@pytest.mark.parametrize("size", [1, 3, None])
def test_numbers_that_are_no_ids(data, size):
    with pytest.raises(ValueError, match=r"the input holds '.*', which is not a token id"):
        read(data, size)


@pytest.mark.parametrize("size", [1, 3, None])
def test_bytes_that_are_no_text_are_no_ids(size):
    with pytest.raises(ValueError, match=r"the input holds bytes that are no text \(61 ff\): write ids"):
        read(b"1 a\xff", size)


@pytest.mark.parametrize(
    "data",
    [b"[1, 2", b"[1.5]", b'["1"]', b"[true]", b"[null]", b"[1,]", b"[,1]", b"[1,,2]", b"[1][2]", b"[1],[2]",
     b"[[1, 2]]", b"[1, [2, 3]]", b"[1]\n2", b"[1\n, 2]", b"[1,\n2]", b'[{"a": 1}]', b"[1, \xff]", b"[" * 100_000,
     b"[1 2]"],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 3, None])
def test_json_that_is_no_list_of_ids(data, size):
    with pytest.raises(ValueError, match="the input is not JSON with a list of token ids on each line"):
        read(data, size)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'[72, "a", 5]', 'the list holds "a"'),
        (b"[null]", "the list holds null"),
        (b"[1, 2.5]", "the list holds 2.5"),
        (b"[[31373, 995]]", "the list holds a list"),
        (b"[1, [" + b"[" * 900 + b"]" * 900 + b"]]", "the list holds a list"),
        (b'{"ids": 1}', "no list is there, but an object"),
        (b"[72,", "it is no whole JSON"),
        (b'[72, "a', "it is no whole JSON"),
        (b"[1, 2] [3]", "more follows the list"),
        (b"[1, \xff]", "it has the byte 0xff, and is not UTF-8"),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 7, None])
def test_the_line_of_what_is_no_list_of_ids_is_named(line, problem, size):
    lines = [b"", b"[1, 2]", b"", b"[3]\r", b"[4, 5, 6]", line, b"[7, 8]", b"[9"]
    with pytest.raises(ValueError, match=f": on line 6, {re.escape(problem)}$"):
        read(b"\n".join(lines), size)


@pytest.mark.parametrize("beginning", [b"1 2 3", b"[1, 2, 3"])
def test_ids_are_given_before_all_is_read(beginning):
    def chunks():
        yield beginning
        raise AssertionError

    assert next(read_ids(chunks())) == [1, 2]


def test_what_never_ends_is_not_held():
    with pytest.raises(ValueError, match="no comma"):
        next(read_ids([b"[", *[b" " * LONGEST_ID] * 2000]))
    assert read(b" " * 1_000_000 + b"7", 1000) == [7]


def test_files_of_ids_are_decompressed_and_other_kinds_of_files_named(tmp_path):
    ids = b"15339 1917 "
    (tmp_path / "ids.gz").write_bytes(gzip.compress(ids))
    (tmp_path / "odd").write_bytes(gzip.compress(ids))
    (tmp_path / "wide").write_bytes(ids.decode().encode("utf-16"))
    assert run("decode", "-t", "cl100k_base", tmp_path / "ids.gz").stdout == "hello world"
    for name, told in (
        ("odd", "is no text, but compressed by gzip: decompress it first"),
        ("wide", "is UTF-16, as its"),
    ):
        assert told in error_of("decode", "-t", "cl100k_base", tmp_path / name)
        assert f"standard input {told}" in error_of(
            "decode", "-t", "cl100k_base", "-", stdin=(tmp_path / name).read_bytes()
        )
    told = error_of("decode", "-t", "cl100k_base", stdin=b"\xff 15339")
    assert "standard input holds bytes that are no text (ff): write ids" in told


def test_ids_are_not_read_from_parquet(tmp_path):
    path = tmp_path / "shard.parquet"
    path.write_bytes(b"PAR1 and more PAR1")
    told = f"{path} is Parquet, and ids are read from text and JSON Lines alone"
    assert told in error_of("decode", "-t", "gpt2", path)
    assert "standard input is Parquet, and ids" in error_of("decode", "-t", "gpt2", stdin=path.read_bytes())


# ---- Line by line


@pytest.mark.parametrize("as_json", [False, True])
def test_lines_of_ids_are_decoded_into_the_texts_that_were_encoded(tmp_path, as_json):
    texts = ["hello world", "", "two\nlines", " \U0001f609", "caf\u00e9"]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    encoded = run("encode", "-t", "gpt2", path, "--field", "text", *(["--json"] if as_json else [])).stdout
    assert len(encoded.splitlines()) == len(texts)
    decoded = run("decode", "-t", "gpt2", "--lines", "--json", stdin=encoded.encode()).stdout
    assert [json.loads(line) for line in decoded.splitlines()] == texts


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_are_the_same_in_any_chunks(size):
    data = b"1 22\r\n[333, 4]\n\n []\n55555"
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert list(lines_of_ids(chunks, "x")) == [(1, [1, 22]), (2, [333, 4]), (3, []), (4, []), (5, [55555])]


def test_a_line_that_is_no_ids_is_named(tmp_path):
    path = tmp_path / "ids"
    command = "decode", "-t", "gpt2", "--lines", "--json", path
    for line, told in (
        ("995 x", f"line 2 of {path} holds 'x', which is not a token id"),
        ("995 99999", f"it is number 2 in line 2 of {path}"),
    ):
        path.write_text(f"31373\n{line}\n")
        failed = run(*command, exit_code=1)
        assert failed.stdout == '"hello"\n'
        assert told in failed.stderr
    path.write_bytes(b"31373 995\n[1 2]\n")
    assert "on line 2" in run(*command, exit_code=1).stderr
    assert "--lines: only together with --json" in error_of("decode", "-t", "gpt2", "--lines", path, exit_code=2)


@pytest.mark.parametrize(
    ("ids", "text", "n"),
    [
        ("8582 15339", "\ufffduda", 1),  # the first two bytes of four
        ("8582 15339 8582", "\ufffduda\ufffd", 2),
        ("171 123 121", "\ufffd", 0),  # a token for each byte of U+FFFD itself
        ("31373", "hello", 0),
    ],
)
def test_decoding_to_json_tells_of_bytes_that_are_no_text(ids, text, n):
    assert cbpe.get_encoding("gpt2").decode(list(map(int, ids.split()))) == text
    found = run("decode", "-t", "gpt2", "--json", stdin=ids.encode())
    assert json.loads(found.stdout) == text
    places = "1 place" if n == 1 else f"{n} places"
    said = f"put U+FFFD in {places} for bytes that are no UTF-8, in the text of standard input: without --json"
    assert (said in found.stderr) is bool(n)
    assert ("U+FFFD" in found.stderr) is bool(n)
    lines = run("decode", "-t", "gpt2", "--json", "--lines", stdin=f"{ids}\n{ids}\n".encode())
    assert list(map(json.loads, lines.stdout.splitlines())) == [text, text]
    assert (f"put U+FFFD in {2 * n} places" in lines.stderr) is bool(n)
