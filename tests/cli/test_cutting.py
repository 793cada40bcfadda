"""cbpe truncate and split."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress

import pytest
from command_line import TEXT, error_of, run
from rich.cells import cell_len

import cbpe
from cbpe.cli import cutting

STORY = "One cat sat. Two dogs ran.\n\nThree birds flew \U0001f600 over caf\u00e9s<|endoftext|>!\n"


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "story.txt").write_bytes(STORY.encode())
    (tmp_path / "other.txt").write_bytes(TEXT.encode())
    lines = [json.dumps({"text": text}) for text in (STORY, "", TEXT)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("special", [[], ["--allowed-special", "all"]])
def test_truncate_writes_what_the_library_keeps(texts, side, special):
    enc = cbpe.get_encoding("cl100k_base")
    allowed = "all" if special else "none"
    for n in (1, 7, 16, 1000):
        kept = enc.truncate(STORY, n, allowed, (), side=side)
        given = ["-t", "cl100k_base", "-n", n, "--side", side, *special]
        assert run("truncate", *given, "story.txt").stdout_bytes == kept.encode()
        assert run("truncate", *given, stdin=STORY.encode()).stdout_bytes == kept.encode()
        assert json.loads(run("truncate", *given, "story.txt", "--json").stdout) == kept


def test_several_texts_have_a_line_of_json_each(texts):
    enc = cbpe.get_encoding("gpt2")
    given = ["-t", "gpt2", "--max-tokens", "8"]
    lines = run("truncate", *given, "--field", "text", "rows.jsonl", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [enc.truncate(text, 8, "none") for text in (STORY, "", TEXT)]
    lines = run("truncate", *given, "other.txt", "story.txt", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [enc.truncate(text, 8, "none") for text in (TEXT, STORY)]
    lines = run("split", *given, "--format", "jsonl", "--json", stdin=(texts / "rows.jsonl").read_bytes()).stdout
    found = [[row["text"] for row in json.loads(line)] for line in lines.splitlines()]
    assert ["".join(chunks) for chunks in found] == [STORY, "", TEXT]


@pytest.mark.parametrize("width", [40, 60, 120])
@pytest.mark.parametrize("text", ["A long sentence, and then another one. " * 9, "\u65e5\u672c\u8a9e\u306e\u6587" * 40])
def test_a_terminal_shows_as_much_of_each_chunk_as_it_has_room_for(width, text, monkeypatch, capfd):
    monkeypatch.setattr(cutting.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    cutting.print_chunks([{"start": 0, "end": len(text), "tokens": 90, "text": text}])
    line = capfd.readouterr().out.splitlines()[1]
    shown, dots = line[20:].removesuffix("..."), line[-3:]  # behind three numbers with their space: 7, 5 and 8 cells
    assert text.startswith(shown)
    assert dots == "..."
    assert width - 2 <= cell_len(line) <= width


def test_the_beginning_of_a_chunk_ends_within_no_escape():
    text = "abc\x1b[31m\0\r\n\\" * 3
    whole = cutting.beginning_in(len(text) * 6, text)
    assert whole == r"abc\u001b[31m\u0000\r\n\\" * 3
    for room in range(12, len(whole)):
        begun = cutting.beginning_in(room, text).removesuffix("...")
        assert room - 9 <= len(begun) + 3 <= room
        assert begun in {cutting.beginning_in(1000, text[:n]) for n in range(len(text))}
    hearts = "\u2764\ufe0f" * 30  # each is two cells wide, though its characters are one and none
    for room in range(12, 40):
        assert cell_len(cutting.beginning_in(room, hearts)) <= room


@pytest.mark.parametrize("command", ["truncate", "split"])
@pytest.mark.parametrize("given", [["other.txt", "story.txt"], ["--field", "text", "rows.jsonl"]])
def test_several_texts_are_refused_where_nothing_would_tell_them_apart(texts, command, given):
    told = error_of(command, "-t", "gpt2", "-n", "8", *given, exit_code=2)
    assert "Invalid value for FILE: several texts: give --json, which tells them apart, or one text" in told


def test_a_text_that_cannot_be_cut_is_named_by_its_file_and_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "hello"}\n{"text": "a \U0001f468\u200d\U0001f469\u200d\U0001f467"}\n', encoding="utf-8")
    failed = run("split", "-t", "gpt2", "-n", 4, "--field", "text", path, "--json", exit_code=1)
    assert failed.stdout.count("\n") == 1
    assert re.search(
        rf"^cbpe: {re.escape(str(path))}, line 2: '.*', at character 2, is \d+ tokens and is not to be cut",
        failed.stderr,
    )
    assert "but --max-tokens leaves 4 tokens for a chunk" in failed.stderr


@pytest.mark.parametrize("overlap", ["x", "-1", "1.5"])
def test_an_overlap_is_a_size_or_none(texts, overlap):
    told = error_of("split", "-t", "gpt2", "-n", "2k", "--overlap", overlap, "story.txt", exit_code=2)
    assert f"Invalid value for --overlap: '{overlap}' is no size" in told
    assert "--overlap is 1,000; a chunk may have 1,000" in error_of(
        "split", "-t", "gpt2", "-n", "1k", "--overlap", "1k", "story.txt", exit_code=2
    )


@pytest.mark.parametrize("overlap", [0, 3])
def test_split_prints_the_chunks_of_the_library(texts, overlap):
    enc = cbpe.get_encoding("cl100k_base")
    given = ["split", "-t", "cl100k_base", "-n", "8", "--overlap", overlap, "story.txt"]
    spans = enc.split(STORY, 8, overlap, "none")
    rows = json.loads(run(*given, "--json").stdout)
    assert [(row["start"], row["end"]) for row in rows] == spans
    assert [row["text"] for row in rows] == [STORY[start:end] for start, end in spans]
    assert [row["tokens"] for row in rows] == [enc.count(row["text"], "none") for row in rows]
    lines = run(*given).stdout.splitlines()
    assert lines[0].split() == ["start", "end", "tokens", "text"]
    assert [line.split()[:3] for line in lines[1:]] == [
        [str(row[name]) for name in ("start", "end", "tokens")] for row in rows
    ]
    assert r"ran.\n\n" in lines[1]


def test_the_tokens_of_a_template_count_where_they_are_asked_for(texts):
    special = {"<s>": 300}
    begin, text = {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
    named = {"<s>": {"id": "<s>", "ids": [300], "tokens": ["<s>"]}}
    pair = [begin, text, {"Sequence": {"id": "B", "type_id": 0}}]
    template = {"single": [begin, text], "pair": pair, "special_tokens": named}
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens(special)
    cbpe.HuggingFaceTokenizer.from_tokenizer(tok, {"template": template}).save("t.json")
    assert run("truncate", "-t", "t.json", "-n", "3", stdin=b"abcdef").stdout == "abc"
    assert run("truncate", "-t", "t.json", "-n", "3", "--template", stdin=b"abcdef").stdout == "ab"
    rows = json.loads(run("split", "-t", "t.json", "-n", "3", "--template", "--json", stdin=b"ab cd").stdout)
    assert [row["tokens"] for row in rows] == [3, 3, 2]
    assert error_of("split", "-t", "t.json", "-n", "1", "--template", stdin=b"ab", exit_code=2).startswith(
        "cbpe: --max-tokens is 1; it must be at least 2 (the template has 1)"
    )
    for command in ("truncate", "split"):
        assert "gpt2 has no template" in error_of(
            command, "-t", "gpt2", "-n", "1", "--template", stdin=b"ab", exit_code=2
        )


def test_of_an_endless_text_no_more_is_read_than_it_takes():
    program = [sys.executable, "-m", "cbpe", "truncate", "-t", "cl100k_base", "-n", "5"]
    read, write = os.pipe()
    with subprocess.Popen(program, stdin=read, stdout=subprocess.PIPE) as process:
        os.close(read)
        with suppress(BrokenPipeError):  # as the program ends before the text does
            for _ in range(10_000):
                os.write(write, b"word " * 10_000)
            pytest.fail("the program reads on")
        os.close(write)
        assert process.stdout.read() == b"word word word word word"
    assert process.returncode == 0


def test_a_side_that_is_not_known_is_told_by_its_option(texts):
    tok = cbpe.HuggingFaceTokenizer.from_tokenizer(cbpe.train(TEXT, 260), {"normalizer": "NFC"})
    tok.save(texts / "nfc.json")
    given = ["-t", "./nfc.json", "-n", "2", "--side", "left"]
    told = error_of("truncate", *given, stdin="e\u0301e\u0301e".encode(), exit_code=2)
    assert told.startswith("cbpe: --side is left, for which it has to be known where in the text its last tokens begin")
    assert "Cut the text by cbpe split, or keep the last of its ids" in told


def test_what_cannot_be_cut_is_told_by_the_names_of_options(texts):
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    told = error_of("split", "-t", "gpt2", "-n", "2", stdin=family.encode())
    assert "tokens and is not to be cut, but --max-tokens leaves 2 tokens for a chunk" in told
    assert "--overlap is 5; " in error_of("split", "-t", "gpt2", "-n", "5", "--overlap", "5", "story.txt", exit_code=2)
    for command in ("truncate", "split"):
        assert "'0' is too small: the least is 1" in error_of(
            command, "-t", "gpt2", "-n", "0", "story.txt", exit_code=2
        )
        assert "Missing option '-n' / '--max-tokens'" in error_of(command, "-t", "gpt2", "story.txt", exit_code=2)
        assert "is no size" in error_of(command, "-t", "gpt2", "-n", "many", "story.txt", exit_code=2)
        wrong = error_of(command, "-t", "gpt2", "-n", "9", stdin=b"caf\xe9")
        assert "0xe9" in wrong
        assert "UTF-8" in wrong
