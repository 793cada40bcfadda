"""Where output goes that nobody takes, that does not fit, or that a terminal would act on; and what signals end."""

import os
import random
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROGRAM, TEXT, error_of, run
from interrupts import heed_ctrl_c

import cbpe


@pytest.mark.parametrize(
    "arguments",
    [
        ["encode", "-t", "gpt2"],
        ["encode", "-t", "gpt2", "--json"],
        ["tokens", "-t", "gpt2"],
        ["tokens", "-t", "gpt2", "--json"],
        ["vocab", "-t", "gpt2"],
        ["vocab", "-t", "gpt2", "--json"],
    ],
    ids=" ".join,
)
def test_broken_pipe_is_silent(tmp_path, arguments):
    path = tmp_path / "long.txt"
    path.write_bytes(TEXT.encode() * 100)
    arguments = [PROGRAM, *arguments, *([] if arguments[0] == "vocab" else [path])]
    program = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdout.read(10)
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    program.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals here")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "--version",
        "count --help",
        "models --help",
        "encodings",
        "encodings --json",
        "vocab -t gpt2",
        "vocab -t gpt2 --json",
        "vocab -t gpt2 --limit 1",
        "count -t gpt2 text.txt",
        "encode -t gpt2 text.txt",
        "stats -t gpt2 text.txt --csv",
    ],
)
def test_output_that_cannot_be_written_is_one_line_and_exit_code_1(arguments, unbuffered, text_file):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [PROGRAM, *arguments.split()]
    with open("/dev/full", "wb") as full:
        failed = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=environment, text=True, cwd=text_file.parent, check=False
        )
    assert (failed.returncode, failed.stderr) == (1, "cbpe: standard output: No space left on device\n")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", ["truncate -t gpt2 -n 1m", "tokens -t gpt2", "encode -t gpt2", "decode -t gpt2"])
def test_output_of_which_a_part_is_written_is_an_error(arguments, unbuffered, tmp_path):
    text = "a b " * 50_000
    (tmp_path / "a.txt").write_text(text if "decode" not in arguments else "64 275 " * 50_000)
    command = [PROGRAM, *arguments.split(), str(tmp_path / "a.txt")]
    limit = f"ulimit -f 64; exec {shlex.join(map(str, command))}"  # in KiB or half of them, by the shell
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with (tmp_path / "out").open("wb") as out:
        failed = subprocess.run(
            ["/bin/sh", "-c", limit], stdout=out, stderr=subprocess.PIPE, env=environment, text=True, check=False
        )
    assert (failed.returncode, failed.stderr) == (1, "cbpe: standard output: File too large\n")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes fail in another way")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_in_the_middle_is_told_by_one_exit_code(unbuffered, tmp_path):
    (tmp_path / "a.txt").write_text("a b " * 100_000)
    command = [PROGRAM, "truncate", "-t", "gpt2", "-n", "1m", tmp_path / "a.txt"]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert program.stdout.read(20) == b"a b " * 5
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    assert program.wait() == 141


@pytest.mark.skipif(sys.platform == "win32", reason="pipes fail in another way")
@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("compare -t gpt2 a.txt --plot made.html", "made.html"),
        ("sweep gpt2 a.txt --sizes 300 --plot made.html", "made.html"),
        ("train a.txt --vocab-size 262 --verbose -o made.json", "made.json"),
    ],
)
def test_what_is_made_is_kept_where_nobody_takes_what_is_printed(command, written, tmp_path):
    pytest.importorskip("matplotlib", reason="draws a report")
    (tmp_path / "a.txt").write_text("the cat sat on the mat, the dog sat on the log " * 9)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        ended = subprocess.run(
            [PROGRAM, *command.split()], stdout=closed, stderr=subprocess.PIPE, cwd=tmp_path, check=False
        )
    said = b"" if written == "made.json" else b"cbpe: written: made.html\n"
    assert (ended.returncode, ended.stderr) == (141, said)
    assert (tmp_path / written).stat().st_size > 0
    (tmp_path / written).unlink()
    if Path("/dev/full").exists():
        with open("/dev/full", "wb") as full:
            ended = subprocess.run(
                [PROGRAM, *command.split()], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, check=False
            )
        assert (ended.returncode, ended.stderr) == (1, said + b"cbpe: standard output: No space left on device\n")
        assert (tmp_path / written).stat().st_size > 0


@pytest.mark.skipif(os.name != "posix", reason="closes streams in a POSIX shell")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("count -t gpt2 <&-", "standard input is closed"),
        ("decode -t gpt2 <&-", "standard input is closed"),
        ("encodings >&-", "standard output is closed"),
    ],
)
def test_a_closed_stream_is_told(arguments, said):
    command = f"{shlex.quote(PROGRAM)} {arguments}"
    failed = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert failed.returncode == 1
    assert failed.stderr.startswith(f"cbpe: {said}")
    assert failed.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="closes streams in a POSIX shell")
def test_an_error_never_goes_to_standard_output():
    command = f"{shlex.quote(PROGRAM)} count -t nope 2>&-"
    failed = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    assert (failed.returncode, failed.stdout) == (1, b"")


@pytest.mark.skipif(os.name != "posix", reason="a child is sent SIGINT")
def test_ctrl_c_ends_in_silence_with_130():
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    program = subprocess.Popen([PROGRAM, "encode", "-t", "gpt2"], preexec_fn=heed_ctrl_c, **streams)
    program.stdin.write(b"some text that goes on ")
    program.stdin.flush()
    assert program.stdout.read(1) == b"1"  # it works, and waits for more
    program.send_signal(signal.SIGINT)
    program.wait(timeout=60)
    assert program.returncode == 130
    assert program.stderr.read() == b""
    for stream in program.stdin, program.stdout, program.stderr:
        stream.close()


@pytest.mark.skipif(os.name != "posix", reason="a child is sent signals")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_other_signals_keep_what_ctrl_c_keeps_and_end_with_their_codes(tmp_path, name, code):
    path, checkpoint = tmp_path / "text", tmp_path / "so_far.model"
    path.write_bytes(random.Random(5).randbytes(1_500_000).hex().encode())  # what takes a while to learn
    train = ["train", path, "--vocab-size", "900k", "--no-split", "--max-token-length", "40", "--verbose"]
    number = getattr(signal, name)
    program = subprocess.Popen(
        [PROGRAM, *train, "--checkpoint", checkpoint],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # whatever started the tests may have it ignored
    )
    assert any(line.startswith(b"merge 50/") for line in iter(program.stdout.readline, b""))
    program.send_signal(number)
    _, said = program.communicate(timeout=120)
    assert program.returncode == code
    assert "so_far.model has " in said.decode()
    assert "the same command goes on from there" in said.decode()
    assert cbpe.load(checkpoint).vocab_size > 256


@pytest.mark.skipif(sys.platform != "linux", reason="file names have to be text here")
def test_names_of_files_do_nothing_to_the_terminal(tmp_path):
    for name in ["\x1b[31mred", "[red]", "a\nb", os.fsdecode(b"\xff\xfe")]:
        error = error_of("count", "-t", "gpt2", tmp_path / name)
        assert error.rstrip("\n").isprintable()
        (tmp_path / name).write_text("hello")
        shown = run("count", "-t", "gpt2", tmp_path / name).stdout
        assert shown.count("\n") == 1
        assert shown.rstrip("\n").isprintable()
        table = run("stats", "-t", "gpt2", tmp_path / name, tmp_path / name).stdout
        assert all(line.isprintable() for line in table.splitlines())
        assert name != "[red]" or "[red]" in table


def test_output_that_its_encoding_cannot_hold_is_escaped(tmp_path):
    path = tmp_path / "é.txt"
    path.write_text("x")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    arguments = [PROGRAM, "stats", "-t", "gpt2", path]
    shown = subprocess.run(arguments, capture_output=True, env=environment, check=True).stdout
    assert b"\\u00e9.txt" in shown


def test_characters_that_are_escaped_do_not_look_like_bytes():
    arguments = [PROGRAM, "tokens", "-t", "gpt2", "-"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(arguments, input="ï\U0001f600".encode(), capture_output=True, env=environment, check=True)
    assert [line.split(b"\t")[1] for line in shown.stdout.splitlines()] == [b"\\u00ef", b"\\xf0\\x9f\\x98", b"\\x80"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(("arguments", "code"), [(["models", "nosuch"], 2), (["count", "-t", "nope", "-"], 1)])
def test_an_error_that_cannot_be_written_is_still_told_by_the_exit_code(arguments, code):
    with open("/dev/full", "w") as full:
        failed = subprocess.run([PROGRAM, *arguments], stderr=full, stdin=subprocess.DEVNULL, check=False)
    assert failed.returncode == code
