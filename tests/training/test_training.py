"""Training: the merges are the reference's, whatever the options, and what goes wrong is said."""

import io
import os
import random
import signal
import sys
import threading
import warnings
from array import array
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from interrupts import stop_while_it_works
from project import TAYLOR_SWIFT
from training_examples import (
    expected_results,
    max_lengths,
    min_counts,
    results,
    sequences,
    tie_breaks,
    trained,
    trainer_of,
    word_lists,
)

import cbpe
from cbpe._core.training.train import Trainer
from cbpe.common.checks import merges_asked
from cbpe.text.splitting import make_splitter
from cbpe.training.learn import learn_merges

WHOLE = make_splitter(None)


def learn(source, n_merges, splitter=WHOLE, **options):
    """learn_merges, with its warnings made errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return learn_merges(source, n_merges, splitter, **options)


# ---- The merges


@given(sequences, tie_breaks, min_counts, max_lengths)
@example(b"aaaaaaa", "first", 1, None)
@example(b"abababab", "first", 1, None)
@example(b"babab" * 5, "largest", 1, None)
@example(b"aabaabaaab", "smallest", 1, 3)
def test_merges_of_one_sequence_are_the_references(text, tie_break, min_count, max_token_length):
    options = 40, tie_break, min_count, max_token_length
    assert trained([text], *options) == expected_results([text], *options)


@given(word_lists, tie_breaks, min_counts, max_lengths)
def test_merges_of_words_are_the_references(pieces, tie_break, min_count, max_token_length):
    options = 40, tie_break, min_count, max_token_length
    assert trained(pieces, *options) == expected_results(pieces, *options)


@given(st.lists(st.text("ab \n", max_size=30), max_size=6), tie_breaks)
def test_merges_never_span_two_texts_or_pieces(texts, tie_break):
    splitter = make_splitter(r"\p{L}+|\s+")
    pieces = [piece.encode() for text in texts for piece in splitter.split(text)]
    expected = expected_results(pieces, 30, tie_break)
    if pieces and len(expected[0]):
        left, right, record = learn(iter(texts), len(expected[0]), splitter, tie_break=tie_break)
        assert (list(zip(left, right, strict=True)), list(record.counts), list(record.tokens)) == expected


@pytest.mark.parametrize("tie_break", ["first", "largest", "smallest"])
def test_merges_are_the_references_when_some_words_are_thousands_of_times_rarer(tie_break):
    # So much rarer that the trainer leaves their pairs out at first, twice.
    rng = random.Random(1)
    pieces = [bytes(rng.choices(b"abcdefgh", k=rng.randint(2, 6))) for _ in range(60)]
    pieces = [piece for i, piece in enumerate(pieces, 1) for _ in range(4000 // i**3 + 1)]
    assert trained(pieces, 80, tie_break) == expected_results(pieces, 80, tie_break)


@pytest.mark.parametrize("letters", [b"ab", b"aab"])
def test_merges_are_the_references_when_pairs_have_thousands_of_positions(letters):
    text = bytes(random.Random(2).choices(letters, k=8000))
    assert trained([text], 40) == expected_results([text], 40)
    pieces = [text[i : i + 6] for i in range(0, len(text), 6)] * 2
    assert trained(pieces, 40) == expected_results(pieces, 40)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 64, 1000, 4097])
def test_a_run_of_one_character(n):
    assert trained([b"a" * n], 20) == expected_results([b"a" * n], 20)


@given(word_lists)
def test_merges_in_small_steps_are_the_same(pieces):
    trainer = trainer_of(pieces)
    while trainer.run(1, 0.001):
        pass
    n = len(trainer)
    assert results(trainer) == expected_results(pieces, n)
    assert trainer.stopped == "no pair of neighbouring tokens is left"


def test_counts_go_beyond_32_and_33_bits():
    counts = [2**33 + 1, 2**40, 3]
    trainer = Trainer(b"abcabxy", array("q", [3, 2, 2]), array("q", counts))
    trainer.run(10)
    assert results(trainer) == (
        [(97, 98), (256, 99), (120, 121)],
        [2**33 + 1 + 2**40, 2**33 + 1, 3],
        [2 * counts[0] + counts[1] + 6, counts[0] + counts[1] + 6, counts[0] + counts[1] + 3],
    )


def test_a_total_beyond_63_bits_is_an_overflow_error():
    with pytest.raises(OverflowError, match=r"2\^63"):
        Trainer(b"abab", array("q", [2, 2]), array("q", [2**62 - 1, 2]))
    assert Trainer(b"ab", array("q", [2]), array("q", [2**62 - 1])).tokens == 2**63 - 2


# ---- Known values


def test_minbpes_example_from_wikipedia():
    tokenizer = cbpe.BasicTokenizer()
    tokenizer.train("aaabdaaabac", 256 + 3)
    assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]


BASIC_MERGES = """101,32 44,32 100,32 46,32 114,32 50,48 115,32 105,110 111,110 114,105 116,32 116,104 101,258 257,261
                  97,110 97,114 101,260 121,32 97,108 267,256"""
REGEX_MERGES = """101,114 50,48 111,114 105,110 101,100 32,116 111,110 104,101 32,83 97,114 97,110 32,65 261,263 97,108
                  114,105 118,260 115,116 119,105 32,82 257,49"""


@pytest.mark.parametrize(
    ("tokenizer_class", "merges"), [(cbpe.BasicTokenizer, BASIC_MERGES), (cbpe.RegexTokenizer, REGEX_MERGES)]
)
@pytest.mark.skipif(not TAYLOR_SWIFT.exists(), reason="the text is not part of the project")
def test_minbpes_merges_of_taylor_swifts_article(tokenizer_class, merges):
    tokenizer = tokenizer_class()
    tokenizer.train(TAYLOR_SWIFT.read_text(encoding="utf-8"), 276)
    assert list(tokenizer.merges) == [tuple(map(int, pair.split(","))) for pair in merges.split()]


# ---- The record, and what is printed


def test_the_record_says_what_was_done():
    left, right, record = learn("abab cd", 2, tie_break="largest", min_count=1, max_token_length=4)
    assert (left.typecode, right.typecode, record.counts.typecode, record.tokens.typecode) == ("I", "I", "q", "q")
    assert list(zip(left, right, strict=True)) == [(97, 98), (256, 256)]
    assert (list(record.counts), list(record.tokens)) == ([2, 1], [5, 4])
    assert (record.tokens_at_start, record.text_bytes) == (7, 7)
    assert (record.tie_break, record.min_count, record.max_token_length, record.vocab_size) == ("largest", 1, 4, 258)
    assert (record.pattern, record.stopped, record.distinct_pieces) == (None, None, 1)
    assert (record.cbpe_version, record.unicode_version) == (cbpe.__version__, "16.0.0")
    assert 0 <= record.seconds < 10
    assert repr(record).startswith("<TrainingRecord: 2 merges, 7 bytes of text, ")


def test_compression_is_bytes_per_token():
    record = learn("abab cd", 2)[2]
    assert record.compression_curve() == [1.0, 7 / 5, 7 / 4]
    assert (record.compression(), record.compression(257), record.compression(256)) == (7 / 4, 7 / 5, 1.0)
    with pytest.raises(ValueError, match="reached only 258"):
        record.compression(259)


def test_a_pattern_that_leaves_text_out_is_told_with_the_share_and_that_text_is_no_compression():
    text = "abc 123 456 7\n" * 100  # 7 digits of 14 characters
    with pytest.warns(UserWarning, match=r"the split pattern leaves 50\.0% of the text out"):
        tok = cbpe.train(text, 258, pattern=r"\d+")
    record = tok.training
    assert (record.text_bytes, record.covered_bytes) == (1400, 700)
    tokens = len(tok.encode(text))
    assert record.compression() == 700 / tokens
    assert record.compression_curve()[0] == 1.0


def test_a_gap_of_next_to_nothing_is_told_and_none_is_not(recwarn):
    cbpe.train("ab " * 5000, 257, pattern=r"\w+|\s+")
    assert not recwarn
    with pytest.warns(UserWarning, match=r"leaves less than 0\.1% of the text out"):
        cbpe.train("ab " * 5000 + "-", 257, pattern=r"\w+|\s+")


def test_verbose_prints_a_line_for_each_merge(capsys):
    learn("abab cd", 2, verbose=True)
    assert capsys.readouterr().out.splitlines() == [
        "7 tokens at the start",
        "merge 1/2: (97, 98) -> 256 ('ab') had 2 occurrences, 5 tokens remain",
        "merge 2/2: (256, 256) -> 257 ('abab') had 1 occurrence, 4 tokens remain",
        "7 bytes are 4 tokens: 1.75 bytes per token",
    ]


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", "'\u306e'"), ("ascii", r"'\u306e'"), (None, "'\u306e'")])
def test_verbose_shows_tokens_as_text_where_they_are_any_and_the_output_has_it(monkeypatch, encoding, shown):
    out = io.StringIO() if encoding is None else io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)
    learn("\u306e" * 8, 4, verbose=True)
    out.seek(0)
    merges = [line.split(" had ")[0].partition(" -> ")[2] for line in out.read().splitlines() if "merge" in line]
    assert merges[0] == r"256 ('\xe3\x81')"
    assert merges[1] == f"257 ({shown})"
    assert merges[3] == f"259 ({shown[:-1] + shown[1:-1] * 3}')"


def test_verbose_tells_bytes_and_characters_apart(capsys):
    learn("\xa0\xa0\xe0\xe0'", 4, verbose=True)  # \xa0 is a space that does not break, and a byte of \xe0
    told = capsys.readouterr().out
    assert r"('\u00a0')" in told
    learn("\u00e9'" * 3, 2, verbose=True)
    assert '257 ("\u00e9\'")' in capsys.readouterr().out


def test_progress_is_told_to_the_end():
    told = []
    learn("abcabcabd", 3, progress=lambda *numbers: told.append(numbers))
    merging = [report for report in told if report[0] == "merging"]
    assert (merging[0], merging[-1]) == (("merging", 0, 3), ("merging", 3, 3))
    assert all(a <= b for a, b in pairwise(merging))


@pytest.mark.parametrize(
    ("options", "n_learned", "reason"),
    [
        ({}, 3, "no pair of neighbouring tokens is left"),
        ({"min_count": 2}, 1, "no pair occurs min_count = 2 times"),
        ({"max_token_length": 2}, 1, "every pair left would make a token of more than max_token_length = 2 bytes"),
    ],
)
def test_training_that_stops_early_warns_and_records_why(options, n_learned, reason):
    with pytest.warns(UserWarning, match=f"stopped after {n_learned} of 20 merges") as warned:
        left, _, record = learn_merges("ababc", 20, WHOLE, **options)
    assert (len(left), record.vocab_size, record.stopped) == (n_learned, 276, reason)
    assert str(warned[0].message).endswith(reason)


# ---- What cannot be trained on


@pytest.mark.parametrize("value", [300.0, "300", None, True])
def test_a_vocab_size_that_is_no_int_is_a_type_error(value):
    with pytest.raises(TypeError, match="vocab_size must be an int"):
        merges_asked(value)


def test_a_vocab_size_below_256_is_a_value_error():
    with pytest.raises(ValueError, match="vocab_size is 255; it must be at least 256"):
        merges_asked(255)
    assert (merges_asked(256), merges_asked(276)) == (0, 20)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tie_break": "last"}, ValueError, "tie_break is 'last'"),
        ({"min_count": 0}, ValueError, "min_count is 0"),
        ({"min_count": 1.5}, TypeError, "min_count must be an int"),
        ({"max_token_length": 1}, ValueError, "max_token_length is 1"),
        ({"max_token_length": True}, TypeError, "max_token_length must be an int"),
        ({"n_merges": -1}, ValueError, "n_merges is -1"),
    ],
)
def test_options_out_of_range_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        learn("some text", options.pop("n_merges", 1), **options)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "or an iterable of these, not int"),
        (["a", None], r"text number 1 .* must be a str, bytes or a path, not NoneType"),
    ],
)
def test_a_source_that_is_no_text_is_a_type_error(source, message):
    with pytest.raises(TypeError, match=message):
        learn(source, 1)


@pytest.mark.parametrize("source", ["", [], ["", ""]])
def test_no_text_is_a_value_error_unless_no_merges_are_asked_for(source):
    with pytest.raises(ValueError, match="no text"):
        learn(source, 1)
    left, right, record = learn(source, 0)
    assert (len(left), len(right), record.tokens_at_start, record.stopped) == (0, 0, 0, None)


def test_text_without_a_piece_is_a_value_error():
    with pytest.raises(ValueError, match="matches nothing"):
        learn("1234", 1, make_splitter(r"\p{L}+"))


def test_an_error_of_the_source_comes_through():
    def texts():
        yield "abc"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        learn(texts(), 1)


def test_a_pattern_that_is_not_native_gives_the_same_merges():
    text = "aab aab aac aac aac"
    by_regex, native = make_splitter(r"(\w)\1*|\W"), make_splitter(r"a+|\w|\W")
    with pytest.warns(UserWarning, match="the `regex` module splits"):
        found = learn_merges(text, 1, by_regex)
    assert found[:2] == learn(text, 1, native)[:2]
    assert found[2].unicode_version is None


@pytest.mark.parametrize(
    ("data", "lengths", "counts", "message"),
    [
        (b"ab", [1], [1], "add up to 1 bytes, but data holds 2"),
        (b"ab", [3], [1], "does not lie inside"),
        (b"ab", [-1, 3], [1, 1], "does not lie inside"),
        (b"ab", [2], [0], "count 0"),
        (b"ab", [2], [1, 1], "1 lengths and 2 counts"),
    ],
)
def test_the_trainer_refuses_words_that_do_not_fit_their_bytes(data, lengths, counts, message):
    with pytest.raises(ValueError, match=message):
        Trainer(data, array("q", lengths), array("q", counts))


# ---- Interrupts and threads


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no setitimer here")
def test_ctrl_c_stops_training_while_it_merges(tmp_path):
    setup = """
import random
from cbpe.text.splitting import make_splitter
from cbpe.training.learn import learn_merges

text = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=200_000))
"""
    stop_while_it_works(setup, "learn_merges(text, 60_000, make_splitter(None))", cwd=tmp_path)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no setitimer here")
def test_an_interrupted_trainer_refuses_to_go_on():
    class Stop(Exception):  # noqa: N818
        pass

    def stop(signum, frame):
        raise Stop

    text = os.urandom(4_000_000)
    trainer = Trainer(text, array("q", [len(text)]), array("q", [1]))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(Stop):  # noqa: PT012
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            trainer.run(10**9)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    for use in (lambda: trainer.run(1), trainer.results):
        with pytest.raises(RuntimeError, match="stopped by an exception"):
            use()
    left, right = trainer.merges()
    assert len(left) == len(right) == len(trainer)


def test_a_trainer_runs_in_one_thread_at_a_time():
    text = os.urandom(2_000_000)
    trainer = Trainer(text, array("q", [len(text)]), array("q", [1]))
    thread = threading.Thread(target=trainer.run, args=(10**9, 0.5))
    thread.start()
    refused = False
    while not refused and thread.is_alive():
        try:
            trainer.results()
        except RuntimeError as error:
            refused = "another thread" in str(error)
    thread.join()
    assert refused
    assert len(trainer) == len(trainer.results()[0])


def test_a_tokenizer_is_unchanged_when_training_fails():
    tokenizer = cbpe.BasicTokenizer()
    tokenizer.train("aaabdaaabac", 259)
    merges, record = dict(tokenizer.merges), tokenizer.training
    with pytest.raises(TypeError):
        tokenizer.train(["abc", 7], 300)
    assert (tokenizer.merges, tokenizer.training) == (merges, record)


def test_training_stops_where_a_model_could_not_hold_the_next_token(tmp_path):
    letters = random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=40_000)  # all but unique: one token swallows all
    tok = cbpe.BasicTokenizer()
    with pytest.warns(UserWarning, match="a training makes at most 2,097,151 tokens, of 67,108,864 bytes together"):
        tok.train("".join(letters), 100_000)
    assert sum(map(len, tok.vocab.values())) <= 2**26
    tok.save(tmp_path / "longest")
    assert cbpe.load(tmp_path / "longest.model").merges == tok.merges


@pytest.mark.parametrize("option", ["vocab_size", "min_count", "max_token_length"])
def test_numbers_beyond_every_limit_are_refused_by_name(option):
    options = {"vocab_size": 300, option: 10**30}
    with pytest.raises(ValueError, match=f"{option} is 1000000000000000000000000000000; it must be at most"):
        cbpe.train("low lower lowest", **options)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no setitimer here")
def test_ctrl_c_stops_a_pattern_that_looks_far_ahead_at_each_place():
    stop_while_it_works("import cbpe\ntext = 'ab' * 2_000_000", 'cbpe.train(text, 300, pattern="(?:ab)+c|a|b")')


def test_a_pattern_that_is_not_compiled_says_so_and_why():
    with pytest.warns(UserWarning, match=r"the `regex` module splits .*: .* the escape, '\\1' at 4") as caught:
        cbpe.train(["aab aab"], 257, pattern=r"(\w)\1|.")
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cbpe.train(["aab aab"], 257, pattern=r"\b\w+\b|\W")


def test_what_verbose_is_has_to_be_said_by_a_flag():
    with pytest.raises(TypeError, match="verbose must be True or False, not 'no'"):
        cbpe.train("low lower", 258, verbose="no")
