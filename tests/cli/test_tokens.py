"""cbpe tokens."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import pytest
from command_line import PROGRAM, error_of, run

import cbpe
from cbpe.views.readable import readable_bytes

pytestmark = pytest.mark.ci

LINE = "hello wörld 😉\n\x1b[31m[red]x"


def test_tokens_are_lines_where_there_is_no_terminal():
    encoding = cbpe.get_encoding("gpt2")
    lines = run("tokens", "-t", "gpt2", stdin=LINE.encode()).stdout.splitlines()
    assert [int(line.partition("\t")[0]) for line in lines] == encoding.encode(LINE)
    shown = [line.partition("\t")[2] for line in lines]
    assert shown[:2] == ["hello", " w"]
    assert r" \xf0\x9f\x98" in shown  # a token that is no whole character
    assert r"\n" in shown
    assert r"\u001b" in shown
    assert all(token.isprintable() for token in shown)


def test_the_steps_of_merging_are_those_of_the_library(tmp_path):
    enc = cbpe.get_encoding("gpt2")
    told = run("tokens", "-t", "gpt2", "--steps", stdin=b"lower caf\xc3\xa9s").stdout
    found = [
        [[line.partition("\t")[2] for line in step.splitlines()] for step in word.split("\n\n")]
        for word in told.split("---\n")
    ]
    expected = enc.merge_steps("lower caf\u00e9s")
    assert found == [[[readable_bytes(token) for token in step] for step in piece] for piece in expected]
    given = run("tokens", "-t", "gpt2", "--steps", "--json", stdin=b"low e").stdout
    pieces = [[[bytes.fromhex(token["bytes"]) for token in step] for step in piece] for piece in json.loads(given)]
    assert pieces == enc.merge_steps("low e")
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "low"}\n{"text": ""}\n')
    lines = run("tokens", "-t", "gpt2", "--steps", "--json", "--field", "text", rows).stdout.splitlines()
    assert [len(json.loads(line)) for line in lines] == [1, 0]
    rows.write_text('{"text": ""}\n{"text": "e e"}\n{"text": ""}\n{"text": "e"}\n')
    lines = run("tokens", "-t", "gpt2", "--steps", "--field", "text", rows).stdout.splitlines()
    assert lines == ["68\te", "---", "220\t ", "68\te", "", "304\t e", "===", "68\te"]
    rows.write_text(json.dumps({"text": "a"}) + "\n" + json.dumps({"text": "a" * 1001}))
    failed = run("tokens", "-t", "gpt2", "--steps", "--field", "text", rows, exit_code=1)
    assert failed.stderr.startswith(f"cbpe: {rows}, line 2: a piece of the text has 1,001 bytes")


def test_steps_show_merging_alone_and_tell_of_what_is_left_out(tmp_path):
    told = error_of("tokens", "-t", "gpt2", "--steps", "--allowed-special", "all", stdin=b"a", exit_code=2)
    assert "for --allowed-special: --steps shows merging, which makes no such tokens: leave it out" in told
    assert "a piece of the text has 1,001 bytes" in error_of("tokens", "-t", "gpt2", "--steps", stdin=b"a" * 1001)
    cbpe.RegexTokenizer(r"\w+").save(tmp_path / "words.model")
    done = run("tokens", "-t", tmp_path / "words.model", "--steps", stdin=b"a b")
    assert done.stderr == ("cbpe: the split pattern of the tokenizer leaves 33.3% of the text out: it is in no token\n")


def test_characters_without_a_token_are_told(tmp_path):
    tok = cbpe.train(["abc abd " * 9], 12, alphabet="characters", byte_fallback=False)
    tok.save(tmp_path / "letters.json")
    unknown = cbpe.load(tmp_path / "letters.json")._vocabulary.unknown
    (tmp_path / "odd.txt").write_text("abx y ab")
    (tmp_path / "even.txt").write_text("abc")
    known = run("encode", "-t", tmp_path / "letters.json", tmp_path / "even.txt")
    assert known.stderr == ""
    for command in ("encode", "tokens", "count"):
        done = run(command, "-t", tmp_path / "letters.json", tmp_path / "odd.txt")
        ids = cbpe.load(tmp_path / "letters.json").encode("abx y ab", add_special_tokens=False)
        assert ids.count(unknown) == 2
        what = tmp_path / "odd.txt" if command == "count" else "the text"
        assert done.stderr == (
            f"cbpe: 2 of the {len(ids)} tokens of {what} stand for characters without a token, each for one or more of "
            "them, which no decoding gives back\n"
        )
        if command == "encode":
            assert done.stdout.split() == list(map(str, ids))
    (tmp_path / "spelled.txt").write_text("a <unk> b")
    done = run("encode", "-t", tmp_path / "letters.json", tmp_path / "spelled.txt", "--allowed-special", "<unk>")
    assert "for characters without a token, or for '<unk>' in it, each" in done.stderr


def test_tokens_in_json():
    rows = json.loads(run("tokens", "-t", "gpt2", "--json", stdin="hello 😉".encode()).stdout)
    assert rows[0] == {"id": 31373, "text": "hello", "bytes": b"hello".hex()}
    assert rows[1]["text"] is None
    assert bytes.fromhex("".join(row["bytes"] for row in rows)).decode() == "hello 😉"
    assert json.loads(run("tokens", "-t", "gpt2", "--json").stdout) == []


def test_tokens_of_several_texts_are_kept_apart(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "hello world"}\n{"text": ""}\n{"text": "two"}\n')
    arguments = ["tokens", "-t", "gpt2", "--field", "text", path]
    hello, world = cbpe.get_encoding("gpt2").encode("hello world")
    (two,) = cbpe.get_encoding("gpt2").encode("two")
    assert run(*arguments).stdout == f"{hello}\thello\n{world}\t world\n\n\n{two}\ttwo\n"
    lines = run(*arguments, "--json").stdout.splitlines()
    assert ["".join(row["text"] for row in json.loads(line)) for line in lines] == ["hello world", "", "two"]
    (tmp_path / "a.txt").write_text("hello")
    lines = run("tokens", "-t", "gpt2", tmp_path / "a.txt", tmp_path / "a.txt", "--json").stdout.splitlines()
    assert [[row["text"] for row in json.loads(line)] for line in lines] == [["hello"], ["hello"]]
    lines = run(*arguments, "--color").stdout.splitlines()
    assert [bool(line) for line in lines] == [True, True, False, False, True, True]


def test_files_and_pipes_get_lines_without_colours_whatever_a_notebook_sets():
    """FORCE_COLOR is set for every command in a notebook, whose output may go to a file there, too."""
    forced = {**os.environ, "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"}
    for command in (["tokens", "-t", "gpt2"], ["tokens", "-t", "gpt2", "--steps"], ["stats", "-t", "gpt2"]):
        found = [
            subprocess.run([PROGRAM, *command], input=b"hi there", env=env, capture_output=True, check=True).stdout
            for env in (os.environ, forced)
        ]
        assert found[0] == found[1]
        assert b"\x1b" not in found[0]


@pytest.mark.parametrize(
    "environment", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": "xterm-256color"}, {"COLUMNS": "20"}], ids=str
)
def test_color_colours_what_goes_into_a_pipe(environment):
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")} | environment
    command = [PROGRAM, "tokens", "-t", "gpt2", "--color"]
    found = subprocess.run(command, input=b"hi there, you", env=known, capture_output=True, check=True).stdout.decode()
    assert len(re.findall(r"\x1b\[[0-9;]*4[0-9;]*m", found)) == 4
    plain = re.sub(r"\x1b\[[0-9;]*m", "", found).splitlines()
    assert plain[0].split() == (["hi", "there", ",", "you"] if len(plain) == 2 else ["hi", "there", ","])
    assert [word for line in plain[1::2] for word in line.split()] == ["5303", "612", "11", "345"]
    assert max(map(len, plain)) <= int(environment.get("COLUMNS", 80))


def test_an_interrupt_ends_the_colours_of_a_terminal(capfdbinary):
    from cbpe.cli.output.gloss import print_gloss

    def interrupted():
        yield 31373, b"hello"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        print_gloss([interrupted()], coloured=True)
    assert capfdbinary.readouterr().out.endswith(b"\x1b[0m\n")


def test_json_has_no_colours():
    told = error_of("tokens", "-t", "gpt2", "--json", "--color", stdin=b"a", exit_code=2)
    assert "for --color: JSON has no colours: leave it out, or --json" in told


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
@pytest.mark.parametrize(
    ("given", "before"),
    [
        (b"31373\nx", b"hello"),
        (b"198 x", b""),  # of a line that has its end, no empty one follows
    ],
)
def test_an_error_stands_on_a_line_of_its_own_in_a_terminal(given, before):
    import pty

    ours, terminal = pty.openpty()
    try:
        command = [PROGRAM, "decode", "-t", "gpt2"]
        ended = subprocess.run(command, input=given, stdout=terminal, stderr=terminal, check=False)
        shown = os.read(ours, 100_000).splitlines()
    finally:
        os.close(ours)
        os.close(terminal)
    assert ended.returncode == 1
    assert shown[0] == before
    assert shown[1].startswith(b"cbpe: standard input holds 'x', ")
    assert len(shown) == 3  # the error takes two lines of 80 columns
    assert shown[2].endswith(b"[15339, 1917]")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
def test_tokens_are_coloured_on_a_terminal_unless_no_color_is_set():
    def shown(**environment):
        import pty

        ours, terminal = pty.openpty()
        try:
            known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
            environment = {**known, "TERM": "xterm-256color", "COLUMNS": "40", **environment}
            arguments = [PROGRAM, "tokens", "-t", "gpt2"]
            subprocess.run(arguments, input=LINE.encode(), stdout=terminal, env=environment, check=True)
            return os.read(ours, 100_000).decode()
        finally:
            os.close(ours)
            os.close(terminal)

    coloured = shown()
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert "\x1b" not in plain  # that of the text is shown, not sent
    assert r"\u001b" in plain
    assert "[red]" in plain.replace(" ", "")
    ids = cbpe.get_encoding("gpt2").encode(LINE)
    assert [int(word) for line in plain.splitlines()[1::2] for word in line.split()] == ids
    assert all(len(line.rstrip()) <= 40 for line in plain.splitlines())
    assert shown(NO_COLOR="1").splitlines()[0] == "31373\thello"
    for terminal in ("xterm-256color", "linux"):  # of many colours, and of few
        colours = re.findall(r"\x1b\[([0-9;]*[34][0-9;]*)m", shown(TERM=terminal))
        assert len(colours) == len(ids)
        assert all(one != following for one, following in pairwise(colours))
