"""cbpe train."""

import errno
import gzip
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from command_line import PROGRAM, TEXT, error_of, run

import cbpe
from cbpe.cli.input.values import size_of
from cbpe.cli.training.target import UNKEPT
from store import ModelStore


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path


@pytest.fixture
def model(tmp_path, text_file):
    run("train", text_file, "--vocab-size", 280, "--output", tmp_path / "trained")
    return tmp_path / "trained.model"


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
    told = run("train", text_file, text_file, "--vocab-size", 280, "--output", tmp_path / "twice").stderr
    assert told == f"cbpe: {text_file} is named twice: its texts count twice\n"
    told = run("train", *[text_file] * 3, "--vocab-size", 262, "--output", tmp_path / "thrice.json").stderr
    assert told == f"cbpe: {text_file} is named 3 times: its texts count 3 times\n"
    expected = cbpe.train([TEXT, TEXT], 280)
    loaded = cbpe.RegexTokenizer()
    loaded.load(tmp_path / "twice.model")
    assert loaded.merges == expected.merges


def test_train_reads_compressed_files_and_fields(tmp_path, text_file, model):
    packed, rows = tmp_path / "text.txt.gz", tmp_path / "rows.jsonl"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    rows.write_text(json.dumps({"body": TEXT}) + "\n")
    for file, *options in ([packed], [packed, "--workers", 2], [rows, "--field", "body"]):
        run("train", file, *options, "--vocab-size", 280, "--output", tmp_path / "other")
        assert (tmp_path / "other.model").read_bytes() == model.read_bytes()
    assert "rows.jsonl has its texts in a field" in error_of("train", rows, "--vocab-size", 280)
    assert "text.txt is plain text" in error_of("train", text_file, "--field", "body", "--vocab-size", 280)


def test_train_replaces_what_is_not_utf8_if_asked_to(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9 caf\xe9")
    assert "latin.txt is not UTF-8 (byte 0xe9 at offset 3)" in error_of("train", path, "--vocab-size", 258)
    run("train", path, "--errors", "replace", "--vocab-size", 258, "--output", tmp_path / "trained")


def test_train_counts_what_was_skipped_and_replaced_and_the_store_keeps_it(tmp_path):
    rows, broken = tmp_path / "rows.jsonl", tmp_path / "broken.txt"
    rows.write_text('{"text": "a b a b"}\n{"text": null}\n')
    broken.write_bytes(b"caf\xe9 caf\xe9 caf")
    skipped = ["--field", "text", "--missing", "skip"]
    one = json.loads(run("train", rows, *skipped, "--vocab-size", 257, "--json", "--save", "one").stdout)
    assert (one["skipped"], "replaced" in one) == (1, False)
    two = json.loads(run("train", broken, "--errors", "replace", "--vocab-size", 257, "--json", "--save", "two").stdout)
    assert (two["replaced"], "skipped" in two) == (2, False)
    with ModelStore() as models:
        assert (models.training("one").skipped, models.training("one").replaced) == (1, None)
        assert (models.training("two").skipped, models.training("two").replaced) == (None, 2)


def test_train_tells_how_many_words_it_left_out(text_file):
    output = run("train", text_file, "--max-words", 3, "--vocab-size", 258).stdout
    record = cbpe.train(TEXT, 258, max_words=3).training
    assert f"left out     rare words, which occurred {record.dropped_occurrences} times" in output
    assert "left out" not in run("train", text_file, "--vocab-size", 258).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
def test_train_draws_a_bar_on_a_terminal_alone(tmp_path, text_file):
    import pty

    command = [PROGRAM, "train", text_file, "--vocab-size", "280"]
    quiet = subprocess.run(command, capture_output=True, check=True)
    assert quiet.stderr.decode() == f"cbpe: {UNKEPT}\n"
    ours, terminal = pty.openpty()
    try:
        shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, check=True)
        drawn = os.read(ours, 100_000)
    finally:
        os.close(ours)
        os.close(terminal)
    assert b"the tokenizer will not be written" in drawn
    assert b"merging" in drawn
    assert b"24/24" in drawn
    assert b"compression" in shown.stdout


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


def test_train_goes_on_from_a_model(tmp_path, text_file, model):
    run("train", text_file, "--vocab-size", 290, "--initial", model, "--output", tmp_path / "grown")
    grown = cbpe.RegexTokenizer()
    grown.load(tmp_path / "grown.model")
    assert grown.merges == cbpe.train(TEXT, 290).merges
    run("train", text_file, "--vocab-size", 300, "--initial", model, "--no-split", "--output", tmp_path / "phrases")
    grown.load(tmp_path / "phrases.model")
    assert grown.pattern is None
    assert list(grown.merges)[:24] == list(cbpe.train(TEXT, 280).merges)


def test_many_special_tokens_leave_the_figures_in_sight(tmp_path, text_file):
    options = [option for i in range(25) for option in ("--special", f"<|{i}|>")]
    shown = run("train", text_file, "--vocab-size", 270, "--output", tmp_path / "a.json", *options).stdout.splitlines()
    assert [line.split()[2] for line in shown if line.startswith("special token ")] == [f"<|{i}|>" for i in range(20)]
    assert sum(line.strip() == "and 5 more" for line in shown) == 1


def test_train_takes_the_pattern_of_the_initial_model(tmp_path, text_file):
    options = "--pattern", "gpt2", "--output", tmp_path / "first"
    run("train", text_file, "--vocab-size", 280, *options)
    options = "--initial", tmp_path / "first.model", "--output", tmp_path / "second"
    run("train", text_file, "--vocab-size", 300, *options)
    assert (tmp_path / "second.model").read_text().splitlines()[1] == cbpe.GPT2_SPLIT_PATTERN


def test_train_refuses_at_once_what_a_model_file_could_not_hold(tmp_path, text_file):
    missing = tmp_path / "missing.txt"
    run("train", text_file, "--vocab-size", 280, "--special", "<|end|>", "--output", tmp_path / "first")
    options = "--initial", tmp_path / "first.model", "--output", tmp_path / "second"
    assert "'<|end|>' with the id 280" in error_of("train", missing, "--vocab-size", 300, *options)
    options = "--special", " <|end|>", "--output", tmp_path / "second"
    assert "cannot hold the special token ' <|end|>'" in error_of("train", missing, "--vocab-size", 300, *options)


def test_train_writes_a_checkpoint_and_goes_on_from_it(tmp_path, text_file):
    checkpoint = tmp_path / "so_far.model"
    run("train", text_file, "--vocab-size", 270, "--checkpoint", checkpoint)
    assert len(checkpoint.read_text().splitlines()) == 3 + 270 - 256
    run("train", text_file, "--vocab-size", 280, "--checkpoint", checkpoint, "--output", tmp_path / "whole")
    assert (tmp_path / "whole.model").read_bytes() == checkpoint.read_bytes()
    assert "of another training" in error_of("train", text_file, "--vocab-size", 260, "--checkpoint", checkpoint)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk here that is always full")
def test_train_warns_of_a_checkpoint_that_was_not_written(tmp_path, text_file, monkeypatch):
    def full(path, parts):
        with open("/dev/full", "wb") as file:
            file.writelines(parts)

    monkeypatch.setattr("cbpe.training.checkpoint.write_whole", full)
    command = "train", text_file, "--vocab-size", 280, "--checkpoint", tmp_path / "full.model"
    result = run(*command, "--output", tmp_path / "a.json")
    assert result.stderr.startswith("cbpe: the checkpoint ")
    assert result.stderr.endswith("No space left on device\n")
    assert "280 tokens" in result.stdout
    monkeypatch.chdir(tmp_path)
    said = run(*command, exit_code=1).stderr.splitlines()[-1]
    assert "full.model holds no merges of what was learned. But what was learned is in " in said
    assert cbpe.load(said.rpartition(" is in ")[2]).vocab_size == 280


def test_train_help_names_the_patterns():
    text = " ".join(run("train", "--help").stdout.split())
    assert "cl100k, gpt2, gpt4, llama3, o200k, qwen2, r50k." in text


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


def test_train_on_an_empty_file(tmp_path):
    path = tmp_path / "empty.txt"
    path.touch()
    assert "no text" in error_of("train", path, "--vocab-size", 280, "--output", tmp_path / "trained")
    assert not (tmp_path / "trained.model").exists()


def test_where_there_is_no_token_there_is_no_compression(tmp_path):
    (tmp_path / "empty.txt").touch()
    shown = run("train", tmp_path / "empty.txt", "--vocab-size", 256, "--verbose").stdout
    assert " 0 before, 0 now" in shown
    assert "0 bytes are 0 tokens\n" in shown
    assert "compression" not in shown
    assert "nan" not in shown
    assert (
        json.loads(run("train", tmp_path / "empty.txt", "--vocab-size", 256, "--json").stdout)["bytes_per_token"]
        is None
    )


def test_too_large_a_size_is_told_with_the_most(text_file):
    for size in ("2097152", "4g", "5000000000", "9" * 40):
        told = error_of("train", text_file, "--vocab-size", size, "--alphabet", "characters", exit_code=2)
        assert "too large: the most is 2097151" in told
    assert "must be" not in run("train", text_file, "--vocab-size", "2097151").stderr


def test_a_size_may_be_short(text_file):
    for size, expected in (
        ("16k", 16_000),
        ("16,000", 16_000),
        ("16_000", 16_000),
        ("16Ki", 16_384),
        ("1.5m", 1500_000),
        ("16K", 16_000),
        ("2M", 2_000_000),
        ("1g", 1_000_000_000),
        ("0.5Mi", 1 << 19),
        ("1Gi", 1 << 30),
    ):
        assert size_of(size) == expected
    row = json.loads(run("train", text_file, "--vocab-size", "0.28k", "--json").stdout)
    assert row["vocab_size"] == 280


@pytest.mark.parametrize("size", ["10", "255", "many", "-1", "1.5", "0", "1kk", "1ki", "1mI", "1B", "100000000k"])
def test_vocabulary_size_that_cannot_be(text_file, size):
    error = error_of("train", text_file, f"--vocab-size={size}", exit_code=2)
    assert "--vocab-size" in error
    assert size in error


def test_split_pattern_that_is_no_expression(text_file):
    assert "(" in error_of("train", text_file, "--vocab-size", 280, "--pattern", "(", exit_code=2)


def test_split_pattern_of_an_encoding(tmp_path, text_file):
    run("train", text_file, "--vocab-size", 280, "--pattern", "cl100k_base", "--output", tmp_path / "trained")
    assert cbpe.load(tmp_path / "trained.model").pattern == cbpe.get_encoding("cl100k_base").pattern


def test_output_to_a_pipe_is_refused(text_file):
    assert "name a file" in error_of("train", text_file, "--vocab-size", 280, "--output", "-", exit_code=2)


def test_split_pattern_with_an_unknown_name(text_file):
    error = error_of("train", text_file, "--vocab-size", 280, "--pattern", "gpt5", exit_code=2)
    assert "gpt5" in error
    assert "cl100k" in error


def test_an_empty_split_pattern_is_none(text_file):
    assert "'' splits nothing: give --no-split" in error_of(
        "train", text_file, "--vocab-size", 280, "--pattern", "", exit_code=2
    )


def test_splitting_and_not_splitting(text_file):
    error = error_of("train", text_file, "--vocab-size", 280, "--pattern", "gpt2", "--no-split", exit_code=2)
    assert "--no-split" in error


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_special_tokens_that_are_empty_or_twice_are_of_the_option(text_file, tmp_path, alphabet):
    for tokens, problem in (([""], "a special token cannot be empty"), (["<a>", "<a>"], "'<a>' is given twice")):
        options = [part for token in tokens for part in ("--special", token)]
        output = ("--alphabet", alphabet, "-o", tmp_path / "q.json")
        error = error_of("train", text_file, "--vocab-size", 280, *options, *output, exit_code=2)
        assert f"--special: {problem}" in error


def test_output_in_a_folder_that_is_not_there(tmp_path, text_file):
    output = tmp_path / "nowhere" / "trained"
    for file in text_file, tmp_path / "missing.txt":  # the folder is looked at first
        error = error_of("train", file, "--vocab-size", 280, "--output", output)
        assert error == f"cbpe: {output.parent}: there is no such folder: make it first\n"


def test_train_writes_the_format_that_the_ending_says(tmp_path, text_file, model):
    shown = run("train", text_file, "--vocab-size", 280, "--output", tmp_path / "book.json").stdout
    assert "book.json" in shown
    assert ".model" not in shown
    assert cbpe.load(tmp_path / "book.json").encode_ordinary(TEXT) == cbpe.load(model).encode_ordinary(TEXT)
    shown = run("train", text_file, "--vocab-size", 280, "--output", tmp_path / "same.model").stdout
    assert "same.model and" in shown
    assert (tmp_path / "same.model").read_bytes() == model.read_bytes()


def test_train_prints_json(tmp_path, text_file):
    result = json.loads(run("train", text_file, "--vocab-size", 280, "--json", "--special", "<|end|>").stdout)
    assert (result["vocab_size"], result["n_merges"], result["text_bytes"]) == (280, 24, len(TEXT.encode()))
    assert result["special_tokens"] == {"<|end|>": 280}
    assert result["written"] == []
    assert "--json" in error_of("train", text_file, "--vocab-size", 280, "--json", "--verbose", exit_code=2)


def test_train_bounds_the_length_of_tokens(text_file, tmp_path):
    run("train", text_file, "--vocab-size", 280, "--max-token-length", 2, "--output", tmp_path / "short")
    assert max(len(token) for token in cbpe.load(tmp_path / "short.model").vocab.values()) == 2


# ---- Over characters


@pytest.mark.parametrize("name", ["trained.json", "trained.model"])
def test_train_over_characters_learns_what_the_library_learns(tmp_path, text_file, name):
    options = ["--character-coverage", 0.99, "--required-characters", "é", "--split-digits", "--special", "<sep>"]
    size = ["--vocab-size", 300, "--alphabet", "characters"]
    output = run("train", text_file, *size, *options, "--output", tmp_path / name).stdout
    expected = cbpe.train(
        TEXT, 300, alphabet="characters", character_coverage=0.99, required_characters="é", split_digits=True,
        special_tokens=["<sep>"],
    )  # fmt: skip
    loaded = cbpe.load(tmp_path / name)
    assert {*tmp_path.iterdir()} == {text_file, tmp_path / name}
    assert isinstance(loaded, cbpe.SentencePieceTokenizer)
    assert loaded.encode_ordinary(TEXT) == expected.encode_ordinary(TEXT)
    start = expected.training.start_tokens
    of_these = f"256 bytes, {start - 256} characters and {296 - start} merges"
    assert f"296 tokens: {of_these}; 300 with special tokens" in output
    told = json.loads(run("train", text_file, *size, *options, "--json").stdout)
    assert told["vocab_size"] == 296 == loaded.vocab_size


def test_train_over_characters_says_what_it_is_not_for(tmp_path, text_file):
    size = ["--vocab-size", 350]
    over = [*size, "--alphabet", "characters"]
    message = "a tokenizer over characters is saved as .json"
    for name in ("trained", "trained.vocab", "trained.tiktoken"):
        assert message in error_of("train", text_file, *over, "--output", tmp_path / name)
    assert [*tmp_path.iterdir()] == [text_file]
    assert "--mix-scripts is for --alphabet characters" in error_of(
        "train", text_file, *size, "--mix-scripts", exit_code=2
    )
    assert "it must be above 0, and at most 1" in error_of(
        "train", text_file, *over, "--character-coverage", 2, exit_code=2
    )
    assert "take " in error_of("train", text_file, "--vocab-size", 256, "--alphabet", "characters", exit_code=2)


def test_a_vocabulary_over_characters_may_be_smaller_than_the_bytes(tmp_path, text_file):
    small = "--vocab-size", 40, "--alphabet", "characters", "--no-byte-fallback", "--output", tmp_path / "small.json"
    run("train", text_file, *small)
    assert cbpe.load(tmp_path / "small.json").n_vocab == 40
    assert "60 is less than the 256 bytes" in error_of("train", text_file, "--vocab-size", 60, exit_code=2)


def test_a_wrong_choice_is_named_once(text_file):
    told = error_of("train", text_file, "--vocab-size", 300, "--alphabet", "character", exit_code=2)
    assert told.count("'character'") == 1
    assert "Value error" not in told


def test_a_special_token_may_bring_its_id_as_in_convert(tmp_path, text_file):
    options = ["--special", "<|end|>=400", "--special", "a=b=500", "-o", tmp_path / "x.json"]
    run("train", text_file, "--vocab-size", 280, *options)
    assert cbpe.load(tmp_path / "x.json").special_tokens == {"<|end|>": 400, "a=b": 500}
    mixed = ["--special", "<|end|>=400", "--special", "<|pad|>"]
    assert "give all of them an id" in error_of("train", text_file, "--vocab-size", 280, *mixed, exit_code=2)


def test_over_characters_no_special_token_brings_its_id(text_file):
    over = ["train", text_file, "--vocab-size", 350, "--alphabet", "characters"]
    for label in ("<a>=5", "<a>=29O", "=5"):
        told = error_of(*over, "--special", label, exit_code=2)
        assert f"--special: '{label}' seems to bring an id, and over characters" in told


def test_an_invalid_pattern_is_told_so_for_every_format(tmp_path, text_file):
    for name in ("x.json", "x.model", "x.bin", "tekken.json"):
        told = error_of("train", text_file, "--vocab-size", 280, "--pattern", "(", "-o", tmp_path / name, exit_code=2)
        assert "the split pattern '(' is not a valid expression" in told
        assert "other engines" not in told


def test_nothing_is_read_where_the_result_could_not_be_saved(tmp_path):
    for output, problem in (("merges.txt", "holds no split pattern"), ("x.json", "like the ordinary token 97")):
        missing = tmp_path / "missing.txt"  # is not looked for
        options = ["--vocab-size", 280, "--special", "a", "-o", tmp_path / output, "--save", "toy"]
        assert problem in error_of("train", missing, *options)


def test_what_fails_after_the_training_loses_nothing(tmp_path, text_file, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "x.tiktoken")

    monkeypatch.setattr("cbpe.tokenizers.saving.save", full)
    store = ["--store", tmp_path / "models.db"]
    train = ["train", text_file, "--vocab-size", 280, "-o", tmp_path / "x.tiktoken"]
    told = error_of(*train, "--save", "toy", *store)
    assert "No space left on device. What was learned is saved, as toy@1" in told
    told = error_of(*train)
    rescued = re.search(r"But what was learned is in (.*)", told)[1]
    assert rescued.startswith(str(tmp_path / "cbpe-trained."))
    assert cbpe.load(rescued).encode(TEXT) == cbpe.train(TEXT, 280).encode(TEXT)
    monkeypatch.setattr("cbpe.tokenizers.saving.rescue", lambda *_: None)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    place, reference = re.search(r"But what was learned is in (.*), as (.*)", error_of(*train)).groups()
    with ModelStore(place) as models:
        assert models.load(reference).encode(TEXT) == cbpe.train(TEXT, 280).encode(TEXT)


def test_a_second_signal_while_a_version_is_saved_puts_what_was_learned_elsewhere(
    tmp_path, text_file, monkeypatch, capfd
):
    def busy(*_):
        signal.raise_signal(signal.SIGINT)  # which changes nothing
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("cbpe.cli.training.target.Target.write_version", busy)
    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background has ignored
    try:
        found = run("train", text_file, "--vocab-size", 280, "--save", "a", exit_code=130)
    finally:
        signal.signal(signal.SIGINT, before)
    [place] = tmp_path.glob("cbpe-trained*.json")
    assert found.stderr == f"cbpe: interrupted. But what was learned is in ./{place.name}\n"
    assert capfd.readouterr().err == "cbpe: what was done is being written; once more gives that up\n"
    assert cbpe.load(place).vocab_size == 280


def test_what_can_be_written_nowhere_is_said_to_be_lost_or_in_the_checkpoint(tmp_path, text_file, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "x.json")

    monkeypatch.setattr("cbpe.tokenizers.saving.save", full)
    monkeypatch.setattr("cbpe.tokenizers.saving.rescue", lambda *_: None)
    monkeypatch.setattr("cbpe.cli.training.target.rescue_to_store", full)
    train = ["train", text_file, "--vocab-size", 280, "-o", tmp_path / "x.json"]
    told = error_of(*train)
    assert told.startswith(f"cbpe: x.json: No space left on device. No new file in '{tmp_path}', '.' and '")
    assert told.endswith("either (x.json: No space left on device). What was learned is lost\n")
    told = error_of(*train, "--checkpoint", tmp_path / "kept.model")
    assert told.endswith(
        f"What was learned is in {tmp_path / 'kept.model'}, the checkpoint, which opens as a tokenizer\n"
    )
    assert cbpe.load(tmp_path / "kept.model").encode(TEXT) == cbpe.train(TEXT, 280).encode(TEXT)

    def none_takes_a_file():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none_takes_a_file)
    told = error_of(*train)
    assert told.startswith(
        f"cbpe: x.json: No space left on device. No new file in '{tmp_path}' and '.' could be written"
    )
    assert told.endswith("What was learned is lost\n")


def test_train_names_what_the_file_does_not_hold(tmp_path, text_file):
    train = ["train", text_file, "--vocab-size", 1280, "--special", "<a>", "--pattern", "gpt2"]
    lines = [line.split(maxsplit=1) for line in run(*train, "-o", tmp_path / "x.tiktoken").stdout.splitlines()]
    last_id = cbpe.train(TEXT, 1280, pattern=cbpe.GPT2_SPLIT_PATTERN).n_vocab
    parts = ["the split pattern", f"the special token <a> with id {last_id}"]
    assert [line for line in lines if line[0] == "not"] == [["not", f"in the file  {part}"] for part in parts]
    assert json.loads(run(*train, "-o", tmp_path / "x.tiktoken", "--json").stdout)["left_out"] == parts
    assert json.loads(run(*train, "-o", tmp_path / "x.json", "--json").stdout)["left_out"] == []
    assert "not in the file" not in run(*train, "-o", tmp_path / "x").stdout


def test_train_draws_its_curve_and_knows_before_if_it_cannot(tmp_path, text_file):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    output = run("train", text_file, "--vocab-size", 280, "--plot", tmp_path / "curve.svg").stdout
    assert "curve.svg" in output.replace("\n", "")
    cbpe.train(TEXT, 280).training.plot(tmp_path / "expected.svg")
    assert (tmp_path / "curve.svg").read_bytes() == (tmp_path / "expected.svg").read_bytes()
    missing = tmp_path / "missing.txt"
    for odd in ("curve.txt", "curve.gif", "curve"):
        wrong = "--plot", tmp_path / odd
        assert "ends like no picture" in error_of("train", missing, "--vocab-size", 280, *wrong, exit_code=2)
    assert "nowhere" in error_of("train", missing, "--vocab-size", 280, "--plot", tmp_path / "nowhere" / "curve.svg")


def test_train_says_where_the_model_is_if_the_curve_cannot_be_drawn(tmp_path, text_file, monkeypatch):
    pytest.importorskip("matplotlib", reason="needs matplotlib")

    def refusing(*arguments):
        raise TypeError("no fonts")

    monkeypatch.setattr(cbpe.TrainingRecord, "plot", refusing)
    model = tmp_path / "trained.json"
    failed = run("train", text_file, "--vocab-size", 280, "-o", model, "--plot", tmp_path / "curve.svg", exit_code=1)
    assert "compression" in failed.stdout
    assert "curve.svg was not drawn: TypeError: no fonts" in failed.stderr
    assert f"is saved, as {model}" in failed.stderr
    assert cbpe.load(model).vocab_size == 280


def test_ctrl_c_says_where_the_checkpoint_is_and_going_on_says_from_where(tmp_path, text_file, monkeypatch):
    checkpoint = tmp_path / "kept.model"
    command = ["train", text_file, "--vocab-size", 280, "--checkpoint", checkpoint]
    real = cbpe.train

    def interrupted(*arguments, **options):
        real(*arguments[:-1], 270, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(cbpe, "train", interrupted)
    assert "kept.model has 14 merges: the same command goes on from there" in error_of(*command, exit_code=130)
    assert "given up" in error_of("train", text_file, "--vocab-size", 280, exit_code=130)
    monkeypatch.setattr(cbpe, "train", real)
    assert "gone on from  14 merges, and added 10\n" in run(*command).stdout
    assert "gone on from  24 merges, and added none\n" in run(*command).stdout


def test_train_refuses_a_tokenizer_that_it_cannot_go_on_from_by_the_name_that_was_given(tmp_path, text_file):
    cbpe.train(TEXT, 300, alphabet="characters").save(tmp_path / "sp.json")
    for goal in (("--output", tmp_path / "new.json"), ("--save", "new"), ()):
        error = error_of("train", text_file, "--vocab-size", 400, "--initial", tmp_path / "sp.json", *goal)
        assert f"cannot go on from {tmp_path / 'sp.json'}: it is over characters" in error


def test_train_names_files_of_word_counts_and_patterns_as_the_command_line_does(tmp_path):
    counts = tmp_path / "text.words"
    cbpe.count_words(TEXT).save(counts)
    error = error_of("train", counts, "--vocab-size", 280, "--pattern", "gpt2")
    assert f"the words in {counts} were split by gpt4" in error
    assert "and the tokenizer splits by gpt2" in error
    error = error_of("train", counts, "--vocab-size", 400, "--alphabet", "characters")
    assert "and the tokenizer splits by characters: count again by that one" in error


def test_train_refuses_before_training_what_word_counts_say_that_it_cannot_save(tmp_path, text_file):
    counts = tmp_path / "a.words"
    of_characters = "split for training over characters, --alphabet characters: for a tokenizer over"
    for pattern, output, told in (
        (cbpe.patterns.CHARACTERS_SPLIT_PATTERN, "x.model", of_characters),
        (cbpe.patterns.CHARACTERS_SPLIT_PATTERN, "x.json", of_characters),
        (r"\w+|\W+", "x.json", "cannot hold a split pattern that may mean something else to other engines"),
        (r"\S+|\s+ ", "x.model", "cannot hold the split pattern"),
    ):
        cbpe.count_words(TEXT, pattern=pattern).save(counts)
        error = error_of("train", counts, "--vocab-size", 280, "-o", tmp_path / output)
        assert told in error
        assert "what was learned" not in error
    assert [path.name for path in tmp_path.iterdir() if path != text_file] == ["a.words"]


def test_train_refuses_to_write_its_checkpoint_over_the_initial_tokenizer(tmp_path, text_file):
    small = tmp_path / "small.model"
    cbpe.train(TEXT, 260).save(small)
    before = small.read_bytes()
    error = error_of("train", text_file, "--vocab-size", 280, "--initial", small, "--checkpoint", small, exit_code=2)
    assert "--checkpoint" in error
    assert "is read, and would be lost: give another name" in error
    assert small.read_bytes() == before


def test_train_says_that_counting_dropped_all_words(tmp_path, text_file):
    for pattern, options in (("gpt4", []), ("characters", ["--alphabet", "characters"])):
        rare = tmp_path / f"{pattern}.words"
        run("count-words", text_file, "-o", rare, "--min-count", 1000000, "--pattern", pattern)
        dropped = json.loads((tmp_path / f"{pattern}.words.json").read_text())["dropped_words"]
        error = error_of("train", rare, "--vocab-size", 400, *options)
        assert f"all {dropped:,} words were dropped as too rare" in error
        assert "count again with a lower --min-count" in error


def test_train_says_before_it_reads_that_nothing_will_be_written(tmp_path, text_file):
    assert run("train", tmp_path / "missing.txt", "--vocab-size", 280, exit_code=1).stderr.startswith(f"cbpe: {UNKEPT}")
    for goal in (("--output", tmp_path / "new.json"), ("--checkpoint", tmp_path / "new.model")):
        assert run("train", text_file, "--vocab-size", 280, *goal).stderr == ""


# ---- What is read, and what is told at the end


def test_train_takes_folders_and_patterns(tmp_path, text_file):
    (tmp_path / "texts" / "more").mkdir(parents=True)
    (tmp_path / "texts" / "a.txt").write_text("low lower lowest " * 9)
    (tmp_path / "texts" / "more" / "b.txt").write_text("new newer newest " * 9)
    files = [tmp_path / "texts" / "a.txt", tmp_path / "texts" / "more" / "b.txt"]
    expected = cbpe.train(files, 262).merges
    for sources in ([tmp_path / "texts"], [tmp_path / "texts" / "**" / "*.txt"], files):
        run("train", *sources, "--vocab-size", 262, "--output", tmp_path / "made.json")
        assert cbpe.load(tmp_path / "made.json").merges == expected
    run("train", files[0], "-", "--vocab-size", 262, "-o", tmp_path / "made.json", stdin=files[1].read_bytes())
    assert cbpe.load(tmp_path / "made.json").merges == expected
    assert "no file matches" in error_of("train", tmp_path / "*.md", "--vocab-size", 262)
    assert "standard input is named twice" in error_of("train", "-", "-", "--vocab-size", 262)
    warned = run("train", tmp_path / "texts", files[0], "--vocab-size", 262, "-o", tmp_path / "made.json").stderr
    assert warned == f"cbpe: {files[0]} is named twice: its texts count twice\n"


@pytest.mark.parametrize("source", [".", "*", "all of them"])
def test_nothing_is_written_among_the_texts_that_the_same_command_reads(tmp_path, text_file, monkeypatch, source):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    monkeypatch.chdir(folder)
    sources = ["a.txt"] if source == "all of them" else [source]
    train = ("train", *sources, "--vocab-size", 280)
    for option, name in (("--checkpoint", "ck.model"), ("--output", "m.json"), ("--plot", "m.svg"), ("--output", "m")):
        if source == "all of them":  # as a shell gives them when the file is there
            run(*train, option, name)
        else:
            told = error_of(*train, option, name, exit_code=2)
            assert option in told
            assert "sources" in told
    if source == "all of them":
        told = error_of("train", "a.txt", "ck.model", "--vocab-size", 280, "--checkpoint", "ck.model", exit_code=2)
        assert "'ck.model' is read, and would be lost" in told
    else:
        assert [path.name for path in folder.iterdir()] == ["a.txt"]
        run(*train, "--checkpoint", "../ck.model", "--output", ".m.json")
    (folder / "a.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
    run("train", ".", "--field", "text", "--vocab-size", 280, "--output", "of_rows.json")


def test_a_store_that_is_not_used_is_told(tmp_path, text_file):
    train = ("train", text_file, "--vocab-size", 260, "--store", tmp_path / "other.db")
    told = run(*train, "-o", tmp_path / "a.json").stderr
    assert told == f"cbpe: --store {tmp_path / 'other.db'} is not used: --save and --initial name what is in a store\n"
    assert "not used" not in run(*train, "--save", "a").stderr
    assert "not used" not in run(*train, "--initial", "a", "-o", tmp_path / "b.json").stderr


def test_a_checkpoint_alone_is_told_of_as_the_tokenizer_that_it_is(tmp_path, text_file):
    checkpoint = tmp_path / "so-far.model"
    told = run("train", text_file, "--vocab-size", 270, "--checkpoint", checkpoint)
    assert told.stderr == ""
    assert f"{checkpoint}, the checkpoint, which opens as a tokenizer; nothing else" in told.stdout
    assert cbpe.load(checkpoint).vocab_size == 270
    refused = error_of("train", text_file, "--vocab-size", 270, "--checkpoint", checkpoint, "--pattern", "gpt2")
    assert "it splits text by gpt4, this one by gpt2. Give the source and options" in refused
    refused = error_of("train", text_file, "--vocab-size", 270, "--checkpoint", checkpoint, "--pattern", r"\S+|\s+")
    assert r"this one by '\S+|\s+'." in refused


def test_one_is_told_as_one(tmp_path):
    (tmp_path / "a.txt").write_text("aa ")
    told = run("train", tmp_path / "a.txt", "--vocab-size", 257).stdout
    assert "256 bytes and 1 merge\n" in told
    told = run("count-words", tmp_path / "a.txt", "-o", tmp_path / "a.words", "--pattern", r"a+").stdout
    assert "words    1, which occurs 1 time\n" in told


def test_a_store_that_cannot_be_made_is_named_before_the_training(tmp_path, text_file):
    place = text_file / "deep" / "models.db"  # in a file
    told = error_of("train", text_file, "--vocab-size", "260", "--save", "book", "--store", place)
    assert f"{place}: no store can be made there, since nothing can be written to {text_file}: --store names" in told


def test_a_wrong_id_of_a_special_token_is_told_without_a_file_that_is_not_there(tmp_path):
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    given = ["train", tmp_path / "a.txt", "--vocab-size", 260, "--special", "<a>=65"]
    for output in ("x.json", "x.model"):
        told = error_of(*given, "--output", tmp_path / output)
        assert told.startswith("cbpe: the id 65 of the special token '<a>' is in use for another token")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_read_only_file_that_would_not_be_written_bars_no_training(tmp_path):
    (tmp_path / "book").write_text("low lower lowest " * 20)
    (tmp_path / "book").chmod(0o444)
    before = (tmp_path / "book").read_bytes()
    lines = run("train", tmp_path / "book", "--vocab-size", 260, "--output", tmp_path / "book").stdout
    assert "book.model" in lines
    assert (tmp_path / "book").read_bytes() == before
    (tmp_path / "book.model").chmod(0o444)
    told = error_of("train", tmp_path / "book", "--vocab-size", 260, "--output", tmp_path / "book")
    assert "book.model: the file is read-only" in told
