"""The command line: what it prints and writes, and how it fails."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cbpe
from cbpe.cli import app

TEXT = "the cat sat on the mat\r\nthe cat sat still: 안녕하세요 😉\n\n" * 30
PROGRAM = shutil.which("cbpe", path=str(Path(sys.executable).parent))


def run(*arguments, stdin=b"", exit_code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == exit_code, result.output
    return result


def error_of(*arguments, stdin=b"", exit_code=1):
    """The one line on stderr with which a command fails, having printed nothing else."""
    result = run(*arguments, stdin=stdin, exit_code=exit_code)
    assert result.stdout_bytes == b""
    assert result.stderr.startswith("cbpe: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path


@pytest.fixture
def model(tmp_path, text_file):
    run("train", text_file, "--vocab-size", 280, "--output", tmp_path / "trained")
    return tmp_path / "trained.model"


# ---- The main job


def test_program_trains_encodes_and_decodes(tmp_path, text_file):
    def program(*arguments, stdin=None):
        return subprocess.run([PROGRAM, *arguments], cwd=tmp_path, input=stdin, capture_output=True, check=True).stdout

    program("train", "text.txt", "--vocab-size", "280", "--output", "trained")
    ids = program("encode", "--model", "trained.model", "text.txt")
    assert len(ids.split()) < len(TEXT.encode())
    assert program("decode", "--model", "trained.model", "-", stdin=ids) == TEXT.encode()


def test_train_learns_what_the_library_learns(tmp_path, text_file, model):
    tokenizer = cbpe.RegexTokenizer()
    tokenizer.train(TEXT, 280)
    tokenizer.save(tmp_path / "expected")
    assert model.read_bytes() == (tmp_path / "expected.model").read_bytes()
    assert model.with_suffix(".vocab").read_bytes() == (tmp_path / "expected.vocab").read_bytes()


def test_train_tells_what_happened(tmp_path, text_file):
    output = run("train", text_file, "--vocab-size", 280, "--output", tmp_path / "trained").stdout
    words = output.split()
    assert f"{len(TEXT.encode()):,}" in words
    assert "280" in words
    assert "trained.model" in output.replace("\n", "")


def test_train_without_output_writes_nothing(tmp_path, text_file):
    assert "--output" in run("train", text_file, "--vocab-size", 280).stdout
    assert list(tmp_path.iterdir()) == [text_file]


def test_train_reads_standard_input(tmp_path, model):
    run("train", "-", "--vocab-size", 280, "--output", tmp_path / "piped", stdin=TEXT.encode())
    assert (tmp_path / "piped.model").read_bytes() == model.read_bytes()


def test_train_takes_several_files(tmp_path, text_file, model):
    run("train", text_file, text_file, "--vocab-size", 280, "--output", tmp_path / "twice")
    expected = cbpe.train([TEXT, TEXT], 280)
    loaded = cbpe.RegexTokenizer()
    loaded.load(tmp_path / "twice.model")
    assert loaded.merges == expected.merges


@pytest.mark.parametrize(("option", "pattern"), [("gpt2", cbpe.GPT2_SPLIT_PATTERN), (r"\w+|\W+", r"\w+|\W+")])
def test_train_splits_by_a_name_or_an_expression(tmp_path, text_file, option, pattern):
    run("train", text_file, "--vocab-size", 280, "--pattern", option, "--output", tmp_path / "trained")
    loaded = cbpe.RegexTokenizer()
    loaded.load(tmp_path / "trained.model")
    assert loaded.pattern == pattern
    assert loaded.merges == cbpe.train(TEXT, 280, pattern=pattern).merges


def test_train_without_splitting(tmp_path, text_file):
    run("train", text_file, "--vocab-size", 280, "--no-split", "--output", tmp_path / "trained")
    tokenizer = cbpe.BasicTokenizer()
    tokenizer.load(tmp_path / "trained.model")
    expected = cbpe.BasicTokenizer()
    expected.train(TEXT, 280)
    assert tokenizer.merges == expected.merges


def test_train_gives_special_tokens_the_ids_after_the_merges(tmp_path, text_file):
    options = ["--special", "<|end|>", "--special", "<|pad|>", "--output", tmp_path / "trained"]
    run("train", text_file, "--vocab-size", 280, *options)
    tokenizer = cbpe.RegexTokenizer()
    tokenizer.load(tmp_path / "trained.model")
    assert tokenizer.special_tokens == cbpe.train(TEXT, 280, special_tokens=["<|end|>", "<|pad|>"]).special_tokens


def test_train_breaks_ties_and_drops_rare_pairs(tmp_path):
    text = tmp_path / "ties.txt"
    text.write_text("ab cd ab cd ef")
    run("train", text, "--vocab-size", 257, "--tie-break", "largest", "--output", tmp_path / "largest")
    assert (tmp_path / "largest.model").read_text().splitlines()[-1] == f"{ord('c')} {ord('d')}"
    run("train", text, "--vocab-size", 300, "--min-count", 2, "--output", tmp_path / "frequent")
    assert "97 98" in (tmp_path / "frequent.model").read_text().splitlines()
    assert "101 102" not in (tmp_path / "frequent.model").read_text().splitlines()


def test_train_that_runs_out_of_pairs_says_so(tmp_path):
    text = tmp_path / "short.txt"
    text.write_text("ab ab")
    result = run("train", text, "--vocab-size", 1000)
    assert "no pair" in " ".join(result.stdout.split())
    assert "Warning" not in result.stderr


def test_train_verbose_prints_every_merge(text_file):
    quiet = run("train", text_file, "--vocab-size", 266)
    verbose = run("train", text_file, "--vocab-size", 266, "--verbose")
    assert len(verbose.output.splitlines()) >= len(quiet.output.splitlines()) + 10


# ---- Encoding and decoding


def test_encode_prints_a_line_of_ids_for_each_file(text_file):
    encoding = cbpe.get_encoding("cl100k_base")
    lines = run("encode", "--encoding", "cl100k_base", text_file, "-", stdin=b"hello world").stdout.splitlines()
    assert [list(map(int, line.split())) for line in lines] == [encoding.encode(TEXT), [15339, 1917]]


def test_encode_and_decode_json(text_file):
    encoded = run("encode", "--encoding", "gpt2", "--json", text_file, text_file)
    assert [json.loads(line) for line in encoded.stdout.splitlines()] == [cbpe.get_encoding("gpt2").encode(TEXT)] * 2
    decoded = run("decode", "--encoding", "gpt2", "--json", "-", stdin=encoded.stdout_bytes)
    assert decoded.stdout_bytes == TEXT.encode() * 2


def test_encode_takes_special_tokens_for_ordinary_text():
    ids = run("encode", "--encoding", "gpt2", "-", stdin=b"<|endoftext|>").stdout.split()
    assert len(ids) > 1
    assert "50256" not in ids


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b"\r", b"\x00", b"\x1a"])
def test_decode_writes_the_exact_bytes(ending):
    text = "naïve\tcafé 😉".encode() + ending
    ids = run("encode", "--encoding", "o200k_base", "-", stdin=text).stdout_bytes
    assert run("decode", "--encoding", "o200k_base", "-", stdin=ids).stdout_bytes == text


def test_decode_writes_bytes_that_are_not_text():
    ids = [cbpe.get_encoding("gpt2").encode_single_token(bytes([byte])) for byte in (0xFF, 0x00, 0x80)]
    stdin = " ".join(map(str, ids)).encode()
    assert run("decode", "--encoding", "gpt2", "-", stdin=stdin).stdout_bytes == b"\xff\x00\x80"


def test_nothing_is_encoded_and_decoded_as_nothing():
    assert run("encode", "--encoding", "gpt2", "-").stdout_bytes == b"\n"
    assert run("decode", "--encoding", "gpt2", "-").stdout_bytes == b""


# ---- Errors

READERS = [("train", "--vocab-size", 280), ("encode", "--encoding", "gpt2"), ("decode", "--encoding", "gpt2")]


def test_missing_file(tmp_path):
    missing = tmp_path / "missing.txt"
    for arguments in [
        ("encode", "--encoding", "gpt2"),
        ("decode", "--encoding", "gpt2"),
        ("train", "--vocab-size", 280),
    ]:
        assert str(missing) in error_of(*arguments, missing)
    assert "missing.model" in error_of("encode", "--model", tmp_path / "missing.model", "-")


def test_folder_in_place_of_a_file(tmp_path):
    for arguments in [
        ("encode", "--encoding", "gpt2"),
        ("decode", "--encoding", "gpt2"),
        ("train", "--vocab-size", 280),
    ]:
        assert str(tmp_path) in error_of(*arguments, tmp_path)


def test_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("café".encode("latin-1"))
    for arguments in READERS:
        error = error_of(*arguments, path)
        assert "latin.txt is not UTF-8" in error
        assert "0xe9 at offset 3" in error


def test_train_on_an_empty_file(tmp_path):
    path = tmp_path / "empty.txt"
    path.touch()
    assert "no text" in error_of("train", path, "--vocab-size", 280, "--output", tmp_path / "trained")
    assert not (tmp_path / "trained.model").exists()


@pytest.mark.parametrize("size", ["10", "255", "many", "-1"])
def test_vocabulary_size_that_cannot_be(text_file, size):
    assert "--vocab-size" in error_of("train", text_file, f"--vocab-size={size}", exit_code=2)


def test_split_pattern_that_is_no_expression(text_file):
    assert "(" in error_of("train", text_file, "--vocab-size", 280, "--pattern", "(")


def test_split_pattern_with_an_unknown_name(text_file):
    error = error_of("train", text_file, "--vocab-size", 280, "--pattern", "gpt5", exit_code=2)
    assert "gpt5" in error
    assert "cl100k" in error


def test_splitting_and_not_splitting(text_file):
    error = error_of("train", text_file, "--vocab-size", 280, "--pattern", "gpt2", "--no-split", exit_code=2)
    assert "--no-split" in error


def test_empty_special_token(text_file):
    assert "special" in error_of("train", text_file, "--vocab-size", 280, "--special", "")


def test_output_in_a_folder_that_is_not_there(tmp_path, text_file):
    output = tmp_path / "nowhere" / "trained"
    result = run("train", text_file, "--vocab-size", 280, "--output", output, exit_code=1)
    assert "nowhere" in result.stderr


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (b"1 2 x", "'x'"),
        (b"1 2.5", "'2.5'"),
        (b"1,2", "'1,2'"),
        (b"1 99999999", "99999999"),
        (b"-1", "-1"),
        (b"9" * 5000, "999"),
        (b"1 \xff", "UTF-8"),
    ],
)
def test_ids_that_are_wrong(ids, words):
    assert words in error_of("decode", "--encoding", "gpt2", "-", stdin=ids)


@pytest.mark.parametrize("ids", [b"[1, 2", b"3", b"[1.5]", b'["1"]', b"[true]", b"{}", b"[null]"])
def test_json_ids_that_are_wrong(ids):
    assert "JSON" in error_of("decode", "--encoding", "gpt2", "--json", "-", stdin=ids)


def test_model_file_that_is_none(tmp_path):
    path = tmp_path / "wrong.model"
    path.write_text("not a model")
    assert "wrong.model" in error_of("encode", "--model", path, "-")


def test_unknown_encoding():
    assert "cl100k_base" in error_of("encode", "--encoding", "gpt9", "-")


@pytest.mark.parametrize("options", [[], ["--model", "a.model", "--encoding", "gpt2"]])
def test_neither_or_both_of_model_and_encoding(options):
    assert "'--model' / '--encoding'" in error_of("encode", *options, "-", exit_code=2)


@pytest.mark.parametrize("arguments", [[], ["trian"], ["train"], ["encode", "--nope", "-"]])
def test_command_line_that_is_wrong(arguments):
    assert "--help" in error_of(*arguments, exit_code=2)


def test_debug_shows_where_it_failed(tmp_path):
    arguments = [PROGRAM, "--debug", "encode", "--encoding", "gpt2", tmp_path / "missing.txt"]
    failed = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "Traceback" in failed.stderr
    assert "FileNotFoundError" in failed.stderr


def test_broken_pipe_is_silent(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(TEXT.encode() * 1000)
    program = subprocess.Popen(
        [PROGRAM, "encode", "--encoding", "gpt2", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    program.stdout.read(10)
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    program.wait()


# ---- Help


def test_version():
    assert run("--version").stdout == f"cbpe {cbpe.__version__}\n"


@pytest.mark.parametrize("command", ["train", "encode", "decode"])
def test_help_has_an_example(command):
    assert f"cbpe {command}" in run(command, "--help").stdout.partition("Example:")[2]


def test_help_loads_nothing_that_is_slow(tmp_path):
    program = """
import sys
from cbpe.cli import main
try:
    main()
finally:
    print([name for name in ("numpy", "rich", "pydantic", "regex") if name in sys.modules], file=sys.stderr)
"""
    arguments = [sys.executable, "-c", program, "--help"]
    shown = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "train" in shown.stdout
    assert shown.stderr == "[]\n"
