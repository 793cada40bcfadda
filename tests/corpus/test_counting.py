"""Counting words: the same counts from any source, whatever the workers and wherever it is cut."""

import _thread
import gzip
import os
import platform
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
import reference
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from running_threads import ended, n_threads

import cbpe
from cbpe import WordCounts, count_words
from cbpe._core.counting.count import PieceCounter
from cbpe.corpus.counting import count_source, counts_of
from cbpe.text.splitting import make_splitter

GPT4 = make_splitter(cbpe.GPT4_SPLIT_PATTERN)
SPLITTERS = [GPT4, *map(make_splitter, [cbpe.GPT2_SPLIT_PATTERN, r"\p{L}+", r"a+b|a|.", r"(\w)\1*|\W", None])]

telling_texts = st.text("aab 1.\n'\u4e2d\u0301\U0001f609", max_size=60)


def plainly_counted(texts, splitter):
    return Counter(piece.encode() for text in texts for piece in splitter.split(text))


def many_words(n, seed=1):
    """A text of n words, frequent and rare ones, in no order that repeats."""
    x, words = seed, []
    for i in range(n):
        x = x * 48271 % 2147483647
        words.append(f"word{x % (1 + i)}" if x % 3 else "the")
    return " ".join(words)


# ---- The same counts


@examples(100)
@given(
    st.lists(telling_texts, max_size=6),
    st.sampled_from(SPLITTERS),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([1, 3, 16, 64, 1 << 20]),
)
def test_counts_are_those_of_the_pieces_whatever_the_workers_and_the_batches(texts, splitter, workers, batch_bytes):
    counts, _ = count_source(texts, splitter, workers=workers, batch_bytes=batch_bytes)
    assert list(counts) == list(plainly_counted(texts, splitter).items())
    assert counts.text_bytes == sum(len(text.encode()) for text in texts)
    assert (counts.pattern, counts.dropped_words) == (splitter.pattern, 0)
    assert counts.unicode_version == ("16.0.0" if splitter.native else None)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_text_of_many_batches_is_counted_in_order(workers):
    text = many_words(200_000)
    expected = list(plainly_counted([text], GPT4).items())
    assert list(count_words(text, workers=workers)) == expected
    assert list(count_source(text, GPT4, workers=workers, batch_bytes=10_000)[0]) == expected


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_form_of_a_text_has_the_same_counts(tmp_path, workers):
    text = many_words(60_000) + " \u4e2d\u6587 \U0001f609 's"
    expected = count_words(text, workers=1)
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_bytes(text.encode())
    with gzip.open(packed, "wb") as file:
        file.write(text.encode())
    for source in (text.encode(), bytearray(text.encode()), plain, packed, [plain], iter([text])):
        assert count_source(source, GPT4, workers=workers, batch_bytes=1000)[0] == expected
    twice, _ = count_source([plain, text, packed], GPT4, workers=workers, batch_bytes=1000)
    assert twice == expected + expected + expected


@given(st.lists(telling_texts, min_size=1, max_size=6), st.sampled_from([1, 5]))
def test_training_on_word_counts_is_training_on_the_texts(texts, workers):
    pieces = [piece.encode() for text in texts for piece in GPT4.split(text)]
    merges = reference.train(pieces, 10)[0]
    if pieces:
        counts = count_words(texts, workers=workers)
        tok = cbpe.train(counts, 256 + len(merges))
        assert list(tok.merges) == list(merges)
        assert tok.pattern == cbpe.GPT4_SPLIT_PATTERN
        assert tok.training.text_bytes == counts.text_bytes


def test_word_counts_beyond_33_bits_are_trained_on():
    tok = cbpe.train(WordCounts({b"abab": 2**33, b"bc": 2**34 + 1}), 258)
    assert list(tok.merges) == [(98, 99), (97, 98)]
    assert list(tok.training.counts) == [2**34 + 1, 2**34]


def test_words_that_were_counted_for_characters_are_not_taken_for_bytes_unless_the_pattern_is_given():
    pattern = cbpe.patterns.CHARACTERS_SPLIT_PATTERN
    counts = count_words("a b c", pattern=pattern)
    with pytest.raises(ValueError, match=r'split for training over characters, alphabet="characters": for a tok'):
        cbpe.train(counts, 257)
    assert cbpe.train(counts, 257, pattern=pattern).pattern == pattern
    assert cbpe.train(counts, 300, alphabet="characters").decode([3]) == "\x00"


def test_the_pattern_of_word_counts_is_taken_from_them_or_must_agree():
    by_gpt2 = count_words("a text", pattern=cbpe.GPT2_SPLIT_PATTERN)
    assert cbpe.train(by_gpt2, 257).pattern == cbpe.GPT2_SPLIT_PATTERN
    assert cbpe.train(by_gpt2, 257, pattern=cbpe.GPT2_SPLIT_PATTERN).pattern == cbpe.GPT2_SPLIT_PATTERN
    whole = cbpe.train(count_words("a text", pattern=None), 257)
    assert isinstance(whole, cbpe.BasicTokenizer)
    assert whole.pattern is None
    with pytest.raises(ValueError, match="these WordCounts were split by"):
        cbpe.train(by_gpt2, 257, pattern=cbpe.GPT4_SPLIT_PATTERN)
    with pytest.raises(ValueError, match="the tokenizer splits by no pattern"):
        cbpe.BasicTokenizer().train(by_gpt2, 257)
    by_gpt2.unicode_version = "15.0.0"
    with pytest.raises(ValueError, match=r"split by Unicode 15.0.0, and the tokenizer splits by 16.0.0: count again"):
        cbpe.train(by_gpt2, 257)


def test_minbpes_classes_train_on_any_source(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"low lower lowest")
    for source in (path, b"low lower lowest", count_words("low lower lowest")):
        tok = cbpe.RegexTokenizer()
        tok.train(source, 258)
        assert tok.vocab[257] == b"low"


# ---- max_words


def bounded(texts, splitter, max_words, batch_bytes):
    """What max_words is said to do, in plain words: after each batch, and at the end."""
    from cbpe.corpus.batches import batches

    counts, dropped = Counter(), Counter()

    def drop():
        kept = set(sorted(counts, key=counts.get, reverse=True)[:max_words])
        for piece in [piece for piece in counts if piece not in kept]:
            dropped["words"] += 1
            dropped["occurrences"] += counts.pop(piece)

    for batch in batches(map(str.encode, texts), splitter.last_border, batch_bytes):
        counts.update(dict(count_source(batch_pieces(batch, splitter), make_splitter(None))[0]))
        if len(counts) > max_words + max_words // 4:
            drop()
    drop()
    return list(counts.items()), dropped["words"], dropped["occurrences"]


def batch_pieces(batch, splitter):
    start = 0
    for i, end in enumerate(batch.ends):
        goes_on = i + 1 == len(batch.ends) and end < len(batch.data)
        text = bytes(batch.data[start:] if goes_on else batch.data[start:end])
        for a, b in splitter.sure_spans(text)[0] if goes_on else splitter.spans(text):
            yield text[a:b]
        start = end


@examples(60)
@given(
    st.lists(st.text("abcd ", max_size=60), min_size=1, max_size=5),
    st.integers(1, 6),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([8, 30]),
)
def test_max_words_drops_the_rarest_at_places_that_depend_on_the_texts_alone(texts, max_words, workers, batch_bytes):
    counts, _ = count_source(texts, GPT4, workers=workers, max_words=max_words, batch_bytes=batch_bytes)
    words, dropped_words, dropped_occurrences = bounded(texts, GPT4, max_words, batch_bytes)
    assert list(counts) == words
    assert (counts.dropped_words, counts.dropped_occurrences) == (dropped_words, dropped_occurrences)
    assert counts.total + counts.dropped_occurrences == len([p for text in texts for p in GPT4.split(text)])


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_max_words_does_not_depend_on_the_form_of_the_text(tmp_path, workers):
    text = many_words(100_000)
    expected, _ = count_source(text, GPT4, workers=1, max_words=500, batch_bytes=20_000)
    assert len(expected) == 500
    path = tmp_path / "text.txt.gz"
    with gzip.open(path, "wb") as file:
        file.write(text.encode())
    assert count_source(path, GPT4, workers=workers, max_words=500, batch_bytes=20_000)[0] == expected
    assert expected.total + expected.dropped_occurrences == count_words(text).total


def test_the_training_record_says_what_was_dropped():
    tok = cbpe.train("low low low lower lowest", 258, max_words=2)
    counts = count_words("low low low lower lowest", max_words=2)
    assert list(counts) == [(b"low", 1), (b" low", 2)]
    assert (tok.training.dropped_words, tok.training.dropped_occurrences) == (2, 2)
    assert tok.training.distinct_pieces == 2
    record = cbpe.train("low low", 258).training
    assert (record.dropped_words, record.dropped_occurrences) == (0, 0)


# ---- Options, errors and interrupts


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"workers": 0}, ValueError, "workers is 0; it must be at least 1"),
        ({"workers": 1.5}, TypeError, "workers must be an int"),
        ({"max_words": 0}, ValueError, "max_words is 0; it must be at least 1"),
        ({"max_words": "many"}, TypeError, "max_words must be an int"),
        ({"errors": "ignore"}, ValueError, "errors is 'ignore'; it must be 'strict' or 'replace'"),
        ({"field": "text"}, ValueError, "the field 'text' is of .jsonl and .parquet files, not of a text"),
        ({"field": 1}, TypeError, "field must be a str"),
        ({"pattern": "("}, ValueError, "not a valid expression"),
        ({"progress": 1}, TypeError, "progress must be"),
    ],
)
def test_options_out_of_range_or_of_no_use_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        count_words("a text", **options)
    with pytest.raises(error, match=message):
        cbpe.train("a text", 257, **options)


def test_options_for_texts_are_refused_with_word_counts():
    counts = WordCounts({b"ab": 1})
    with pytest.raises(ValueError, match="max_words is for counting words"):
        cbpe.train(counts, 257, max_words=5)
    with pytest.raises(ValueError, match="field is for counting words"):
        cbpe.train(counts, 257, field="text")
    with pytest.raises(ValueError, match="workers is for counting words"):
        cbpe.train(counts, 257, workers=3)
    with pytest.raises(TypeError, match="WordCounts already"):
        count_words(counts)
    assert counts_of(counts, GPT4, workers=None)[0] is counts


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_source_comes_through_and_no_thread_is_left(workers):
    def texts():
        for _ in range(5):
            yield many_words(1000)
        raise OSError("the disk is gone")

    tok = cbpe.train("low lower", 258)
    merges = tok.merges
    before = n_threads()
    with pytest.raises(OSError, match="the disk is gone"):
        count_source(texts(), GPT4, workers=workers, batch_bytes=1000)
    with pytest.raises(OSError, match="the disk is gone"):
        tok.train(texts(), 300, workers=workers)
    assert tok.merges == merges
    assert ended(before)


def test_an_error_of_a_worker_comes_through(monkeypatch):
    class Failing:
        def __init__(self):
            self.counter = cbpe._core.counting.count.PieceCounter()

        def __getattr__(self, name):
            return getattr(self.counter, name)

        def add_texts(self, data, ends, splitter):
            raise MemoryError("not enough memory for the distinct pieces of the text")

    monkeypatch.setattr("cbpe.corpus.counting.PieceCounter", Failing)
    before = n_threads()
    with pytest.raises(MemoryError, match="distinct pieces"):
        count_source(many_words(1000), GPT4, workers=2, batch_bytes=1000)
    assert ended(before)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_progress_function_comes_through(workers):
    def progress(*report):
        raise RuntimeError("cannot be shown")

    before = n_threads()
    with pytest.raises(RuntimeError, match="cannot be shown"):
        count_words([many_words(200_000)] * 3, workers=workers, progress=progress)
    assert ended(before)


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_is_told_in_bytes_as_they_are_stored(tmp_path, workers):
    text = many_words(20_000)
    path = tmp_path / "text.gz"
    with gzip.open(path, "wb") as file:
        file.write(text.encode())
    told = []
    with gzip.open(path):
        count_source([path, path], GPT4, lambda *report: told.append(report), workers=workers, batch_bytes=10_000)
    size = 2 * path.stat().st_size
    assert told[-1] == ("reading", size, size)
    assert {total for _, _, total in told} == {size}
    assert all(a <= b for a, b in pairwise(done for _, done, _ in told))
    told.clear()
    count_words(iter([text, text]), progress=lambda *report: told.append(report))
    assert told[-1] == ("reading", 2 * len(text), 2 * len(text))
    assert told[0][2] is None


INTERRUPTED = """
import signal
import cbpe

signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted")
"""
ENDLESS = "cbpe.count_words(iter(lambda: 'some words of a text ' * 1000, None), workers={workers})"
SLOW_PATTERN = "cbpe.count_words(['a' * 1_000_000 + ' '] * 9, pattern='a+b|a|.', workers={workers})"
DECOMPRESSION = "cbpe.count_words([__import__('pathlib').Path('zeros.gz')] * 100000, workers={workers})"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no setitimer here")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("work", [ENDLESS, SLOW_PATTERN, DECOMPRESSION], ids=["endless", "slow pattern", "gzip"])
def test_ctrl_c_stops_counting_that_would_go_on_for_minutes(tmp_path, work, workers):
    with gzip.open(tmp_path / "zeros.gz", "wb", compresslevel=1) as file:
        file.write(b"0 " * 2_000_000)
    program = INTERRUPTED.format(work=work.format(workers=workers))
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.stdout == "interrupted\n", run.stderr


def test_threads_without_number_are_not_started(monkeypatch):
    made = []

    def new_counter():
        made.append(None)
        assert len(made) < 1000
        return PieceCounter()

    monkeypatch.setattr("cbpe.corpus.counting.PieceCounter", new_counter)
    texts = ["some text " * 100_000] * 3
    assert count_words(texts, workers=10**12) == count_words(texts, workers=1)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_counting_does_with_the_threads_that_there_are(monkeypatch, most):
    start, started = _thread.start_new_thread, []

    def limited(function, arguments):
        if len(started) >= most:
            raise RuntimeError("can't start new thread")
        started.append(function)
        return start(function, arguments)

    texts = [many_words(30_000, seed) for seed in range(1, 8)]
    expected = count_words(texts, workers=1)
    monkeypatch.setattr(_thread, "start_new_thread", limited)
    assert count_words(texts, workers=4) == expected
    assert len(started) == most
    started.clear()
    assert cbpe.train(texts, 300, workers=4).merges == cbpe.train(expected, 300).merges


# ---- Memory


MEMORY = """
import resource, sys, cbpe
from pathlib import Path
counts = cbpe.count_words(Path(sys.argv[1]), workers=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, counts.text_bytes)
"""


LEFT_OVER = """
import sys, cbpe

def resident():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])

cbpe.count_words(["some text"] * 200_000, workers=2)    # so that all modules are there
text = [" ".join(map(str, range(1000 * i, 1000 * (i + 40)))) for i in range(0, 3000, 40)]
before = resident()
cbpe.count_words(text, pattern=r"\\d+| ", workers=2)
print(resident() - before)
print("hashlib" in sys.modules)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no other allocator is asked to give memory back")
def test_threads_leave_no_memory_behind():
    run = subprocess.run([sys.executable, "-c", LEFT_OVER], capture_output=True, text=True, check=True)
    kilobytes, hashing = run.stdout.split()
    assert int(kilobytes) < 10_000
    assert hashing == "False"  # it takes megabytes, and counting does not need it


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "text.txt"
    text = many_words(200_000).encode() + b"\n"
    peaks = []
    for repeats in (10, 200):
        with open(path, "wb") as file:
            for _ in range(repeats):
                file.write(text)
        command = [sys.executable, "-c", MEMORY, path]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        peak, n_bytes = map(int, run.stdout.split())
        assert n_bytes == repeats * len(text)
        peaks.append(peak)
    os.unlink(path)
    assert len(text) * 200 > 2**28
    assert peaks[1] < peaks[0] + 8_000
