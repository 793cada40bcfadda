"""Messages of Python name options on the command line, and leave alone what is called like an argument."""

import re
from pathlib import Path

import pytest
from command_line import error_of

import cbpe
import store
from cbpe.cli.output.naming import IN_OPTIONS, OPTIONS, of_options
from cbpe.cli.output.printing import error_message

ROOMS = [Path(cbpe.__file__).parent, Path(store.__file__).parent]
# What messages of functions that no command calls begin with, or of values that commands check themselves.
NO_OPTIONS = {
    *("cache_bytes", "max_tokens", "allowed_special", "disallowed_special", "side", "overlap"),
    *("checkpoint_seconds", "dropout", "n", "n_merges", "seed", "task", "it"),
}


def sources():
    """The code that messages come from, strings that go on in the next line in one."""
    code = "".join(
        path.read_text(encoding="utf-8")
        for room in ROOMS
        for path in sorted(room.rglob("*.py"))
        if path.name != "naming.py"
    )
    return re.sub(r'"\n +f?"', "", code)


@pytest.mark.parametrize(
    ("of_python", "told"),
    [
        ("vocab_size is 200, or lower character_coverage", "--vocab-size is 200, or lower --character-coverage"),
        ('split_digits is for alphabet="characters"', "--split-digits is for --alphabet characters"),
        ("field is for counting words", "--field is for counting words"),
        ("required_characters has U+0000, which is NUL", "--required-characters has U+0000, which is NUL"),
        ("checkpoint is 'c.json'; it ends in .model", "--checkpoint is 'c.json'; it ends in .model"),
        ("as another that tie_break = 'largest' takes", "as another that --tie-break = 'largest' takes"),
        ("no pair occurs min_count = 10 times", "no pair occurs --min-count = 10 times"),
        ("train on less text, or raise min_count", "train on less text, or raise --min-count"),
        ("tie_break is 'largest', which is by id", "--tie-break is 'largest', which is by id"),
        ("val_fraction is nan; it must be", "--val-fraction is nan; it must be"),
        ("out is of another run: its options (dtype) are 4", "out is of another run: its options (--dtype) are 4"),
        ("eot_token is 'x', and append_eot is False", "--eot-token is 'x', and --no-append-eot is given"),
        (r"the merge of b'\xd6' and b'\'' is given twice", r"the merge of '\xd6' and '\'' is given twice"),
    ],
)
def test_arguments_are_named_as_options(of_python, told):
    assert of_options(of_python) == told


@pytest.mark.parametrize(
    "message",
    [
        "vocab_size is not UTF-8 (byte 0xff at offset 0)",
        "vocab_size/x.txt is not UTF-8",
        "task_bytes/a.txt, line 3, has no field 'a'",
        "errors is no whole and intact gzip file",
        "field is damaged",
        "min_count: No such file or directory",
        "there is no raise/min_count, or lower/min_count",
        "model.byte_fallback is 1, 'min_count' and default_vocab_size",
        "ab'c' and 'b' is b and /b'x'.txt",
    ],
)
def test_what_is_called_like_an_argument_keeps_its_name(message):
    assert of_options(message) == message


def test_a_file_keeps_its_name_in_what_the_system_says():
    assert error_message(FileNotFoundError(2, "No such file", "min_count = 3")) == "min_count = 3: No such file"


def test_what_messages_of_python_say_of_arguments_is_said_of_options():
    said = sources()
    for phrase, of_the_program in IN_OPTIONS.items():
        assert phrase in said
        assert error_message(ValueError(f"wrong: {phrase}")) == f"wrong: {of_the_program}"


def test_every_argument_that_a_message_begins_with_has_an_option():
    begun = set(re.findall(r'f"([a-z_]+) is \{|checked_int\("([a-z_]+)"', sources()))
    named = {name for pair in begun for name in pair if name}
    assert len(named) > 20
    assert named - NO_OPTIONS <= OPTIONS.keys()


def test_the_command_line_says_options_and_files_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert error_of("count", "min_count", "-t", "gpt2") == "cbpe: min_count: No such file or directory\n"
    Path("task_bytes").mkdir()
    Path("task_bytes/a.txt").write_bytes(b"\xff")
    Path("a.txt").write_text("low lower " * 9)
    for command in (
        ["train", "task_bytes/a.txt", "--vocab-size", 300],
        ["tokenize", "task_bytes", "-t", "gpt2", "-o", "o"],
    ):
        told = error_of(*command).replace("\\", "/")
        assert told.startswith("cbpe: task_bytes/a.txt is not UTF-8")
        assert told.endswith("give --errors replace\n")
    made = ["tokenize", "a.txt", "-t", "gpt2", "-o", "out"]
    for options, said in {
        ("--column", "a"): "--column is for format 'parquet' alone",
        (
            "--format",
            "parquet",
            "--column",
            "a",
            "--row-tokens",
            3,
        ): "documents, and --row-tokens makes rows of several",
        ("--format", "llmc", "--no-append-eot"): "--no-append-eot is given, and documents of format 'llmc' begin",
        ("--format", "bin", "--whole-documents"): "--whole-documents is given, and the shards",
        ("--format", "bin", "--dtype", "int32"): "--dtype is 'int32'; format 'bin' has",
        ("--eot-token", "<|x|>"): "name one by --eot-token",
        ("--executor", "nobody"): "--executor is 'nobody'; it must be one of",
    }.items():
        code = 1 if options[0] == "--eot-token" else 2  # the tokenizer has to be read for that
        assert said in error_of(*made, *options, exit_code=code), options
    over = ["train", "a.txt", "--vocab-size", 300, "--alphabet", "characters"]
    for option, value in {
        "--initial": ["gpt2"],
        "--checkpoint": ["c.model"],
        "--pattern": ["gpt2"],
        "--no-split": [],
    }.items():
        assert f"leave {option} out" in error_of(*over, option, *value, exit_code=2)
