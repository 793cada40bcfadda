"""Where the program begins: a plain count, which is done without what reads command lines, is the command's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import TEXT, run

import cbpe
from cbpe.cli import start
from store import ModelStore

PLAIN = ["count -t gpt2 text", "count -t gpt2 text other", "count -t mine@prod text other", "count -t a.model text"]
FAILING = [
    "count -t gpt2 missing",
    "count -t gpt2 text missing",
    "count -t nobody text",
    "count -t mine@9 text",
    "count -t no.model text",
    "count -t gpt2 bytes",
    "count -t gpt2 folder",
    "count -t a@b@c text",
]
OTHERS = [
    "count",
    "count -t gpt2",
    "count -t gpt2 -",
    "count -t gpt2 text --json",
    "count text -t gpt2",
    "count --tokenizer gpt2 text",
    "count -t -x text",
    "--debug count -t gpt2 text",
    "encode -t gpt2 text",
    "--help",
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBPE_STORE", str(tmp_path / "models.db"))
    tok = cbpe.train(TEXT, 300)
    tok.save("a")
    with ModelStore(tmp_path / "models.db") as models:
        models.save(tok, "mine", aliases=["prod"])
    Path("text").write_bytes(TEXT.encode())
    Path("other").write_bytes(b"low lower")
    Path("bytes").write_bytes(b"low \xff")
    Path("folder").mkdir()


def begun(line, monkeypatch, capsysbinary):
    """The exit code of the program, and what it prints."""
    monkeypatch.setattr(sys, "argv", ["cbpe", *line.split()])
    for name in ("heed_nothing", "heed_signals"):
        monkeypatch.setattr(start, name, lambda: None)  # the tests go on
    with pytest.raises(SystemExit) as ended:
        start.main()
    return (ended.value.code, *capsysbinary.readouterr())


def test_a_plain_count_is_what_the_command_prints(here, monkeypatch, capsysbinary):
    for line in PLAIN:
        assert start.is_plain_count(line.split())
        expected = run(*line.split())
        assert begun(line, monkeypatch, capsysbinary) == (0, expected.stdout_bytes, b"")


def test_a_plain_count_fails_as_the_command_does(here, monkeypatch, capsysbinary):
    for line in FAILING:
        assert start.is_plain_count(line.split())
        expected = run(*line.split(), exit_code=1)
        assert expected.stderr.startswith("cbpe: ")
        assert begun(line, monkeypatch, capsysbinary) == (1, b"", expected.stderr_bytes), line


def test_ctrl_c_ends_a_plain_count_in_silence_with_130(here, monkeypatch, capsysbinary):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("cbpe.cli.input.counts.file_counts", interrupted)
    assert begun(PLAIN[0], monkeypatch, capsysbinary) == (130, b"", b"")


@pytest.mark.parametrize("line", OTHERS)
def test_all_else_is_left_to_the_command_line(line):
    assert not start.is_plain_count(line.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_plain_count_that_cannot_be_written_is_told(here):
    command = [sys.executable, "-m", "cbpe", "count", "-t", "gpt2", "text"]
    with open("/dev/full", "wb") as full:
        failed = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (failed.returncode, failed.stderr) == (1, "cbpe: standard output: No space left on device\n")
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    assert program.wait() == 141


@pytest.mark.skipif(os.name != "posix", reason="pipes fail in another way")
@pytest.mark.parametrize("arguments", [["vocab", "-t", "gpt2"], ["tokens", "-t", "gpt2", "text"], ["--help"]])
def test_who_reads_no_more_is_told_by_one_exit_code(here, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        command = [sys.executable, "-m", "cbpe", *arguments]
        ended = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="a process sends itself a signal")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_after_the_work_does_not_change_the_exit_status(here, name):
    line = (
        f"import atexit, os, signal, sys; atexit.register(lambda: os.kill(os.getpid(), signal.{name})); "
        "sys.argv = ['cbpe', 'encodings']; from cbpe.cli.start import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", line], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
