"""Checkpoints: always a whole model, and training that goes on from one ends as if it had never stopped."""

import os
import random
import signal
import subprocess
import sys
import warnings
from contextlib import nullcontext

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from interrupts import heed_ctrl_c

import cbpe
from cbpe.training import checkpoint

pytestmark = pytest.mark.filterwarnings("ignore:training stopped")

TEXT = "low lower lowest new newer newest " * 3 + "wide wider widest "


def load(path):
    tok = cbpe.RegexTokenizer()
    tok.load(path)
    return tok


class Stopped(Exception):  # noqa: N818
    pass


def stop_after(n_merges):
    def progress(stage, done, total):
        if stage == "merging" and done >= n_merges:
            raise Stopped

    return progress


def stopped_training(path, n_before, vocab_size=300, **options):
    """A training that ended with its checkpoint at n_before merges."""
    with pytest.raises(Stopped):
        cbpe.train(TEXT, 256 + n_before, checkpoint=path, progress=stop_after(n_before), **options)
    assert len(load(path).merges) == n_before


# ---- Writing


@pytest.mark.parametrize("pattern", [cbpe.GPT4_SPLIT_PATTERN, None])
def test_in_the_end_the_checkpoint_is_the_tokenizer(tmp_path, pattern):
    path = tmp_path / "so_far.model"
    tok = cbpe.train(TEXT, 270, pattern=pattern, special_tokens=["<a>"], checkpoint=path)
    loaded = load(path)
    assert (loaded.merges, loaded.pattern, loaded.special_tokens) == (tok.merges, tok.pattern, tok.special_tokens)
    assert list(tmp_path.iterdir()) == [path]


def test_it_is_written_again_and_again(tmp_path):
    path = tmp_path / "so_far.model"
    seen = []

    def look(stage, done, total):
        if stage == "merging" and done:
            seen.append((done, len(load(path).merges)))

    letters = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=300_000))
    cbpe.train(letters, 256 + 20_000, pattern=None, checkpoint=path, checkpoint_seconds=0, progress=look)
    assert seen
    assert all(done == written for done, written in seen)


def test_it_is_written_where_training_fails(tmp_path):
    path = tmp_path / "so_far.model"
    stopped_training(path, 7)
    assert list(load(path).merges) == list(cbpe.train(TEXT, 263).merges)
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_written_before_merging_begins(tmp_path):
    def source():
        yield "low"
        raise Stopped

    with pytest.raises(Stopped):
        cbpe.train(source(), 270, checkpoint=tmp_path / "so_far.model")
    assert not list(tmp_path.iterdir())


INTERRUPTED = """
import sys, cbpe

def progress(stage, done, total):
    if stage == "merging" and done > 100:
        print("merging", flush=True)

x, letters = 1, []
for _ in range(1_000_000):                  # no two long stretches alike: training to the end takes seconds
    x = x * 48271 % 2147483647
    letters.append(chr(97 + x % 26))
try:
    options = {"pattern": None, "max_token_length": 32, "checkpoint": sys.argv[1]}  # which is small however far it gets
    cbpe.train("".join(letters), 10**6, progress=progress, **options)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="a child is sent SIGINT")
def test_ctrl_c_comes_through_and_leaves_a_checkpoint(tmp_path):
    path = tmp_path / "so_far.model"
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_ctrl_c,
    )
    assert child.stdout.readline() == "merging\n"
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=60)
    assert output.splitlines()[-1] == "interrupted"
    assert len(load(path).merges) > 100


def test_a_state_that_could_not_be_read_again_takes_no_others_place(tmp_path, monkeypatch):
    path, text = tmp_path / "so_far.model", "low lower lowest newer wider " * 3
    first = cbpe.train(text, 260, checkpoint=path)
    monkeypatch.setattr("cbpe.formats.minbpe.max_token_bytes", lambda _: sum(map(len, first.vocab.values())))
    with pytest.warns(UserWarning, match=r"it holds the first 4 merges: .* cannot hold tokens of \d+ bytes together"):
        tok = cbpe.train(text, 270, checkpoint=path)
    assert len(tok.merges) == 14
    assert load(path).merges == first.merges


# ---- Going on


@given(st.integers(0, 14), st.sampled_from(["first", "largest", "smallest"]), st.sampled_from([None, r"\w+|\s"]))
def test_going_on_ends_as_if_training_had_never_stopped(tmp_path_factory, n_before, tie_break, pattern):
    path = tmp_path_factory.mktemp("checkpoint") / "so_far.model"
    options = {"tie_break": tie_break, "pattern": pattern}
    stopped_training(path, n_before, **options)
    expected = cbpe.train(TEXT, 272, **options)
    gone_on = cbpe.train(TEXT, 272, checkpoint=path, **options)
    assert gone_on.merges == load(path).merges == expected.merges
    assert gone_on.training.tokens == expected.training.tokens
    assert (gone_on.training.merges_before, gone_on.training.initial_merges) == (n_before, 0)
    assert cbpe.train(TEXT, 272, initial=load(path), **options).merges == expected.merges


def test_going_on_from_a_tokenizer_has_checkpoints_too(tmp_path):
    path = tmp_path / "so_far.model"
    words = cbpe.train(TEXT, 262)
    expected = cbpe.train(TEXT, 272, initial=words, pattern=None)
    with pytest.raises(Stopped):
        cbpe.train(TEXT, 272, initial=words, pattern=None, checkpoint=path, progress=stop_after(6))
    gone_on = cbpe.train(TEXT, 272, initial=words, pattern=None, checkpoint=path)
    assert gone_on.merges == expected.merges
    assert gone_on.training.initial_merges == 6
    with pytest.raises(ValueError, match="its first merges are not those of the initial tokenizer"):
        cbpe.train(TEXT, 272, initial=cbpe.train("aaab", 257), pattern=None, checkpoint=path)


def test_other_special_tokens_are_written_where_no_merge_is_left_to_learn(tmp_path):
    path = tmp_path / "c.model"
    cbpe.train(TEXT, 270, checkpoint=path)
    lost = [None, None, r"special tokens that this training has not, and will lose them: '<\|z\|>', '<\|y\|>'$"]
    for special, told in zip(({"<|y|>": 300}, {"<|z|>": 270, "<|y|>": 500}, {}), lost, strict=True):
        with pytest.warns(UserWarning, match=told) if told else nullcontext():
            tok = cbpe.train(TEXT, 270, checkpoint=path, special_tokens=special)
        there = cbpe.load(path)
        assert there.special_tokens == tok.special_tokens == special
        assert there.merges == tok.merges
        before = path.stat().st_mtime_ns
        cbpe.train(TEXT, 270, checkpoint=path, special_tokens=special)
        assert path.stat().st_mtime_ns == before  # nothing is to be written


def test_a_larger_vocabulary_goes_on_where_a_finished_training_ended(tmp_path):
    path = tmp_path / "so_far.model"
    cbpe.train(TEXT, 262, special_tokens=["<a>"], checkpoint=path)
    tok = cbpe.train(TEXT, 270, special_tokens=["<a>"], checkpoint=path)
    assert (tok.merges, tok.special_tokens) == (cbpe.train(TEXT, 270).merges, {"<a>": 270})
    assert load(path).special_tokens == {"<a>": 270}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": None}, "it splits text by gpt4, this one by no pattern. Give"),
        ({"vocab_size": 258}, "it has 6 merges, and 2 are asked for"),
        (
            {"source": "high higher highest " * 9},
            "in this text its merge of rank 0, of 119 and 101, has count 0, less than",
        ),
        (
            {"source": TEXT + "newest " * 9},
            r"in this text its merge of rank \d, of .* has count \d+, after one with \d+",
        ),
        (
            {"min_count": 100},
            "in this text its merge of rank 0, of 119 and 101, has count 12, less than min_count = 100",
        ),
        (
            {"max_token_length": 2},
            r"its merge of rank \d, of \d+ and \d+, makes a token of 3 bytes, more than max_token_length = 2",
        ),
        (
            {"tie_break": "smallest"},
            r"in this text its merge of rank \d, of .* has count \d+, as another that tie_break = 'smallest' takes",
        ),
    ],
)
def test_a_checkpoint_of_another_training_is_refused_and_left_alone(tmp_path, options, message):
    path = tmp_path / "so_far.model"
    stopped_training(path, 6)
    content = path.read_bytes()
    with pytest.raises(ValueError, match=f"so_far.model is of another training: {message}"):
        cbpe.train(**{"source": TEXT, "vocab_size": 272, **options}, checkpoint=path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("xyz" * 9, {}, "in this text its merge of rank 0, of 97 and 97, has count 0, less than min_count = 1"),
        (
            "aab" * 9,
            {"min_count": 50},
            "in this text its merge of rank 0, of 97 and 97, has count 9, less than min_count",
        ),
        ("aab" + "xy" * 9, {}, "in this text a pair that is not merged yet has count 9, after merges with 2"),
    ],
)
def test_merges_of_a_token_with_itself_are_looked_at(tmp_path, text, options, message):
    cbpe.train("aab" * 9, 257, checkpoint=tmp_path / "ck.model")
    with pytest.raises(ValueError, match=message):
        cbpe.train(text, 259, checkpoint=tmp_path / "ck.model", **options)


@given(st.text("aab ", min_size=1, max_size=60), st.integers(256, 262), st.integers(1, 3))
def test_a_training_with_runs_of_one_token_goes_on_from_its_own_checkpoint(tmp_path_factory, text, n, min_count):
    path = tmp_path_factory.mktemp("run") / "ck.model"
    rules = {"pattern": None, "min_count": min_count}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of trainings that stop early
        cbpe.train(text, n, checkpoint=path, **rules)
        assert cbpe.train(text, n + 3, checkpoint=path, **rules).merges == cbpe.train(text, n + 3, **rules).merges


@pytest.mark.parametrize("n_more", [0, 8])
def test_merges_that_a_rule_has_held_back_are_missed(tmp_path, n_more):
    path = tmp_path / "so_far.model"
    cbpe.train(TEXT, 264, max_token_length=2, checkpoint=path)
    content = path.read_bytes()
    with pytest.raises(ValueError, match=r"a pair that is not merged yet has count \d+, after merges with \d+"):
        cbpe.train(TEXT, 264 + n_more, checkpoint=path)
    assert path.read_bytes() == content
    assert cbpe.train(TEXT, 264 + n_more, max_token_length=2, checkpoint=path).merges


@given(
    st.lists(st.text("ab c", max_size=60), min_size=1, max_size=5),
    st.integers(0, 12),
    st.fixed_dictionaries({
        "tie_break": st.sampled_from(["first", "largest", "smallest"]),
        "min_count": st.integers(1, 3),
        "max_token_length": st.sampled_from([None, 2, 3, 5]),
        "pattern": st.sampled_from([None, r"\w+|\s"]),
    }),
)  # fmt: skip
def test_a_checkpoint_of_the_same_training_is_never_refused(tmp_path_factory, texts, n_before, options):
    assume(any(texts))
    path = tmp_path_factory.mktemp("checkpoint") / "so_far.model"
    cbpe.train(texts, 256 + n_before, checkpoint=path, **options)
    assert cbpe.train(texts, 272, checkpoint=path, **options).merges == cbpe.train(texts, 272, **options).merges


def test_a_file_that_is_no_checkpoint_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.model"
    path.write_bytes(b"to be \xff done")
    with pytest.raises(
        ValueError, match=r"notes\.model is no model to go on from: it is not UTF-8 \(byte 0xff at offset 6"
    ):
        cbpe.train(TEXT, 272, checkpoint=path)
    assert path.read_bytes() == b"to be \xff done"


# ---- What cannot be


def test_how_often_a_checkpoint_is_written_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match="checkpoint_seconds is 5, and there is no checkpoint"):
        cbpe.train(TEXT, 272, checkpoint_seconds=5)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"checkpoint": "so_far.bin"}, ValueError, "checkpoint is 'so_far.bin'; the name of a model"),
        ({"checkpoint": b"so_far.model"}, TypeError, "checkpoint must be a path, a str or pathlib.Path, not bytes"),
        ({"checkpoint": 5}, TypeError, "checkpoint must be a path, a str or pathlib.Path, not int"),
        ({"checkpoint_seconds": -1}, ValueError, "checkpoint_seconds is -1; it must be at least 0"),
        ({"checkpoint_seconds": "60"}, TypeError, "checkpoint_seconds must be a number, not str"),
        ({"checkpoint": "nowhere/so_far.model"}, FileNotFoundError, "nowhere"),
        ({"special_tokens": ["a\nb"]}, ValueError, "the special token .* it has a line break: leave checkpoint out$"),
        ({"initial": cbpe.get_encoding("gpt2"), "vocab_size": 60_000}, ValueError, "cannot hold the ids of"),
    ],
)  # fmt: skip
def test_what_a_checkpoint_cannot_be_is_said_before_the_source_is_read(tmp_path, monkeypatch, options, error, message):
    monkeypatch.chdir(tmp_path)

    def source():
        pytest.fail("the source was read")
        yield

    with pytest.raises(error, match=message):
        cbpe.train(source(), **{"vocab_size": 300, "checkpoint": "so_far.model", **options})
    assert not list(tmp_path.iterdir())


FULL_DISK = """
import resource, sys, warnings, cbpe

path, text = sys.argv[1:]
cbpe.train(text, 260, checkpoint=path)
before = open(path, "rb").read()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), hard))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    tok = cbpe.train(text, 270, checkpoint=path)
assert open(path, "rb").read() == before
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
assert tok.merges == cbpe.train(text, 270).merges
print(*[warning.message for warning in caught], sep="\\n")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for a disk that is full")
def test_a_full_disk_costs_neither_the_training_nor_the_checkpoint_before(tmp_path):
    path = tmp_path / "so_far.model"
    run = subprocess.run([sys.executable, "-c", FULL_DISK, path, TEXT], capture_output=True, text=True, check=False)
    assert run.stdout == f"the checkpoint {path} was not written, it holds the first 4 merges: File too large\n", (
        run.stderr
    )
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_while_writing_is_a_warning_and_the_next_try_may_succeed(tmp_path, monkeypatch):
    path = tmp_path / "so_far.model"
    cbpe.train(TEXT, 260, checkpoint=path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.warns(UserWarning, match="was not written, it holds the first 4 merges: No space left on device"):
            tok = cbpe.train(TEXT, 270, checkpoint=path)
        with pytest.warns(UserWarning, match="was not written, nothing is there: No space left on device"):
            cbpe.train(TEXT, 262, checkpoint=tmp_path / "other.model")
    assert (len(load(path).merges), len(tok.merges)) == (4, 14)
    assert list(tmp_path.iterdir()) == [path]
    assert cbpe.train(TEXT, 270, checkpoint=path).merges == load(path).merges == tok.merges


@pytest.mark.parametrize(("n_signals", "n_kept"), [(1, 14), (2, None)])
def test_ctrl_c_while_it_is_written_takes_effect_when_it_is_and_a_second_at_once(
    tmp_path, monkeypatch, n_signals, n_kept
):
    path = tmp_path / "so_far.model"
    write_whole, left = checkpoint.write_whole, [KeyboardInterrupt] * n_signals

    def interrupted(*arguments):
        if left:
            raise left.pop()
        write_whole(*arguments)

    monkeypatch.setattr(checkpoint, "write_whole", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cbpe.train(TEXT, 270, checkpoint=path)
    assert (len(load(path).merges) if path.exists() else None) == n_kept
    assert [*tmp_path.iterdir()] == ([] if n_kept is None else [path])
