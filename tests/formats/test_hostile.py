"""Bad files of every format: one clear error each, that names the file and what is wrong, and nothing else happens."""

import os
import tracemalloc

import pytest
from good_files import ADDED, good_files
from tokenizer_json import OTHERS, TEMPLATE, a_file, as_json, paths, replaced

import cbpe
from cbpe.formats import reading
from cbpe.formats.files import format_of_name
from cbpe.formats.ranks import tiktoken

DEEP = b"[" * 1_000_000

GOOD = good_files()
each = pytest.mark.parametrize("kind", GOOD)


def loaded(folder, kind, change=None):
    """Load the files of a kind, the first of them changed."""
    for i, (name, data) in enumerate(GOOD[kind].items()):
        (folder / name).write_bytes(change(data) if change and i == 0 else data)
    first = next(iter(GOOD[kind]))
    named = format_of_name(first)  # None where a format is only read
    options = {} if named is None or named.is_complete else {"pattern": r"\S+|\s+"}
    return cbpe.load(folder / first, **options)


def refused(folder, kind, change):
    """The message of the one error, which names the file, when the first of its files is changed."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011, as the message is looked at below
        loaded(folder, kind, change)
    message = str(caught.value)
    assert next(iter(GOOD[kind])) in message
    assert "\n" not in message
    assert len(message) < 1000
    return message


@each
def test_the_good_files_are_good(tmp_path, kind):
    tok = loaded(tmp_path, kind)
    assert tok.decode(tok.encode("the cat")).removeprefix("<s>").removesuffix("</s>") == "the cat"


@each
def test_a_file_cut_at_every_tenth_is_refused_or_is_shorter_by_whole_lines(tmp_path, kind):
    for tenth in range(10):
        size = len(next(iter(GOOD[kind].values()))) * tenth // 10
        cut = next(iter(GOOD[kind].values()))[:size]
        if kind == "tiktoken" and size:
            # Lines are all that it is made of, and the last one may have lost digits; no token has two ranks.
            (tmp_path / "toy.tiktoken").write_bytes(cut)
            try:
                ranks = cbpe.load(tmp_path / "toy.tiktoken", pattern=".").vocab
            except ValueError:
                continue
            complete = tiktoken.loads(cut[: cut.rindex(b"\n") + 1])
            assert set(complete) <= set(ranks.values())
        else:
            refused(tmp_path, kind, lambda data, cut=cut: cut)


@each
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\x00" * 1000,
        b"\xff\xfe" * 500,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        b"hello world\nthis is a text\n",
        b"<!DOCTYPE html>\n<html></html>\n",
        b"null",
        b"[]",
        b"{}",
        b'{"model": 1',
        b'{"model": {}}',
        b'{"model": "x", "vocab": [1]}',
        b'{"a": ' + b"9" * 100_000 + b"}",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": 1, "a": 2}',
        b'{"\\ud800": 5}',
        b'{"a": "' + b"x" * 100_000,
        DEEP,
        b'{"a":' * 1_000_000,
        b'{"model": ' + DEEP,
        b"minbpe v1\n\n" + b"9" * 100_000 + b"\n",
        b"minbpe v1\n(((\n0\n",
        b"minbpe v1\n\n0\n" + b"97 " * 100_000,
        b"minbpe v1\n\xff\n0\n",
        b"minbpe v2\n\n0\n",
        b"YQ== " + b"9" * 100_000 + b"\n",
        b"YQ== 0\n*** 1\n",
        b"YQ== 0\nYQ== 1\n",
        b"YQ== 0\nYg== 0\n",
        b"YQ== 0\nYg== 4294967295\n",
        b"YQ== 0\nYg== 4000000000\n",
        b"YQ== 0\nYg== -1\n",
        b"#version: 0.2\n" + b"a " * 100_000 + b"\n",
        b"#version: 0.2\na b\na b\n",
        b"#version: 0.2\n\xff \xff\n",
        b"t h\n\xff\xff\n",
    ],
    ids=lambda data: repr(data[:24]),
)
def test_other_content_is_refused(tmp_path, kind, data):
    refused(tmp_path, kind, lambda _: data)


IN_TOKENIZER_JSON = list(paths(a_file(post_processor=TEMPLATE, added_tokens=ADDED)))


@pytest.mark.parametrize("path", IN_TOKENIZER_JSON, ids=lambda path: ".".join(map(str, path)) or "all")
def test_a_wrong_value_anywhere_in_a_tokenizer_json_is_refused_or_harmless(tmp_path, path):
    """What is taken all the same has the ids of the file that it is."""
    content = a_file(post_processor=TEMPLATE, added_tokens=ADDED)
    there = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    for other in OTHERS:
        changed = as_json(replaced(content, path, other))
        try:
            tok = cbpe.HuggingFaceTokenizer.from_json(changed)
        except ValueError:
            continue
        assert tok.encode("the<s> th") == there.Tokenizer.from_str(changed.decode()).encode("the<s> th").ids


@each
def test_a_file_that_is_too_large_is_refused_without_being_read_whole(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 100)
    message = refused(tmp_path, kind, lambda data: data + b" " * 100)
    assert "more than 100 bytes" in message


@pytest.mark.parametrize(
    ("start", "part"), [(b"", b"["), (b'{"model":', b"["), (b"", b'{"a":'), (b'{"model": {"vocab":', b'{"a":')]
)
def test_a_million_brackets_take_little_memory(start, part):
    data = start + part * 1_000_000
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"is no JSON"):
        reading.parse_json(data, "tokenizer.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(data)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("kind", ["a pipe", "a device without an end"])
def test_a_pipe_and_a_device_are_refused_and_not_waited_for(tmp_path, kind):
    path = tmp_path / "pipe.model"
    os.mkfifo(path)
    if kind != "a pipe":
        path = "/dev/zero"
    for read in (cbpe.load, cbpe.inspect):
        with pytest.raises(OSError, match="a pipe or a device, and a tokenizer is read more than once: write it to a"):
            read(path)
