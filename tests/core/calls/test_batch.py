"""Batches, and long texts in shares: the same tokens as one text at a time by one thread, however they are shared."""

import _thread
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupts import stop_while_it_works
from running_threads import ended, n_threads
from vocabularies import by_merges, encoder

import cbpe
from cbpe._core.calls import parallel
from cbpe.patterns import CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN

SPECIAL = {"<e>": 1000, "<e>>": 1001, "[x]": 1002}
MERGES = [(97, 98), (256, 99), (32, 97), (258, 98), (32, 32), (260, 260)]
# Pieces of every kind, and what makes it hard to guess where one begins: runs, digits by threes, line breaks, marks.
BITS = [
    "ab",
    "abc",
    " a",
    "  ",
    "\n",
    "\r\n",
    "1",
    "2345678",
    "'s",
    "'",
    "é",
    "中文",
    "😉",
    "<e>",
    "<e>>",
    "[x]",
    "<",
    "A",
]

texts = st.lists(st.sampled_from(BITS), max_size=60).map("".join)
patterns = st.sampled_from(
    [CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, r"\S+|\s+", r"[^\n]*;|\p{L}+|\s", r"a+b|.", None]
)
encoders = {}


def made(pattern):
    if pattern not in encoders:
        encoders[pattern] = encoder(by_merges(MERGES), SPECIAL, pattern=pattern)
    return encoders[pattern]


def long_text(seed, n):
    rng = random.Random(seed)
    return "".join(rng.choices([*BITS[:14], "word ", "another ", "x" * 40, "\n\n"], k=n))


# ---- The same tokens


@given(st.lists(texts, max_size=8), patterns, st.booleans(), st.integers(1, 4), st.sampled_from([1, 2, 7, 30, None]))
def test_a_batch_is_each_text_alone(batch, pattern, special, workers, share_bytes):
    tok = made(pattern)
    allowed = tok._special if special else None
    expected = [tok._encode(text, allowed, None) for text in batch]
    assert tok._encode_batch(batch, allowed, None, workers, share_bytes) == expected
    tokens, offsets = tok._encode_flat(batch, allowed, None, workers, share_bytes)
    assert list(memoryview(tokens)) == [token for ids in expected for token in ids]
    assert list(offsets) == [sum(map(len, expected[:i])) for i in range(len(batch) + 1)]


@given(texts, patterns, st.booleans(), st.sampled_from([1, 3, 10, 50]))
def test_a_long_text_in_shares_is_the_text_as_a_whole(text, pattern, special, share_bytes):
    tok = made(pattern)
    allowed = tok._special if special else None
    assert tok._encode_batch([text], allowed, None, 3, share_bytes) == [tok._encode(text, allowed, None)]


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
@pytest.mark.parametrize("share_bytes", [100, 5000, None])
def test_named_encodings_in_shares(name, share_bytes):
    enc = cbpe.get_encoding(name)
    text = long_text(1, 40_000)
    expected = enc.encode_ordinary(text)
    assert enc._encode_batch([text], None, None, 4, share_bytes)[0] == expected
    assert enc.encode_ordinary(text, workers=3) == expected
    assert enc.encode(text, disallowed_special=(), workers=3) == expected
    assert list(enc.encode_to_numpy(text, disallowed_special=(), workers=None)) == expected
    assert enc.count(text, disallowed_special=(), workers=2) == len(expected)


def test_shares_that_hardly_ever_end_where_a_piece_does():
    # A piece begins at every third digit of a run: where, only the beginning of the run tells.
    enc = cbpe.get_encoding("cl100k_base")
    text = "7" * 100_001 + " " * 5001 + "x" + "8" * 50_000
    assert enc._encode_batch([text], None, None, 4, 1000)[0] == enc.encode_ordinary(text)
    assert enc.count(text) == enc._count(text, None, None, 4) == len(enc.encode_ordinary(text))


@pytest.mark.parametrize("letter", ["a", "\u00e9"])
def test_a_piece_that_takes_the_splitter_several_turns_is_found_in_shares(enc, letter):
    text = letter * 20_000_000 + " word" * 400_000
    np.testing.assert_array_equal(enc.encode_to_numpy(text, workers=3), enc.encode_to_numpy(text))


def test_patterns_that_run_on_the_regex_module():
    pattern = r"(\w)\1*|\W"
    tok = cbpe.RegexTokenizer(pattern)
    tok.train("aabbaabb ab aab", 258)
    assert not tok.splits_natively
    batch = ["aabb aab", "", "ab ab"]
    assert tok.encode_batch(batch) == [tok.encode(text) for text in batch]
    assert tok.encode_ordinary("aabb " * 100, workers=4) == tok.encode_ordinary("aabb " * 100)


# ---- The public names


@pytest.fixture(scope="module")
def enc():
    return cbpe.get_encoding("cl100k_base")


def test_encode_batch_treats_special_tokens_as_encode_does(enc):
    batch = ["<|endoftext|>hello", "hello"]
    assert enc.encode_batch(batch, allowed_special="all") == [[100257, 15339], [15339]]
    assert enc.encode_batch(batch, disallowed_special=()) == enc.encode_ordinary_batch(batch)
    assert enc.encode_batch(iter(batch), num_threads=8, allowed_special={"<|endoftext|>"})[0][0] == 100257
    with pytest.raises(ValueError, match=r"<\|endoftext\|>"):
        enc.encode_batch(batch)
    with pytest.raises(ValueError, match=r"<\|endoftext\|>"):
        enc.encode_batch_flat(batch)
    tok = cbpe.GPT4Tokenizer()
    assert tok.encode_batch(batch, allowed_special="all") == [tok.encode(text, "all") for text in batch]
    with pytest.raises(ValueError, match=r"<\|endoftext\|>"):
        tok.encode_batch(batch)


def test_a_flat_batch_is_two_arrays(enc):
    tokens, offsets = enc.encode_batch_flat(["hello world", "", "hello"], num_threads=2)
    assert (tokens.dtype, offsets.dtype) == (np.uint32, np.int64)
    assert tokens.tolist() == [15339, 1917, 15339]
    assert offsets.tolist() == [0, 2, 2, 3]
    tokens, offsets = enc.encode_batch_flat([])
    assert (tokens.tolist(), offsets.tolist()) == ([], [0])


def test_empty_batches(enc):
    assert (
        enc.encode_batch([])
        == enc.encode_ordinary_batch([])
        == enc.decode_batch([])
        == enc.decode_bytes_batch([])
        == []
    )


def test_decoding_a_batch_is_decoding_each(enc):
    rng = random.Random(2)
    batch = [[rng.randrange(100_000) for _ in range(rng.choice([0, 1, 50, 3000]))] for _ in range(200)]
    batch[7] = np.array(batch[7], dtype=np.uint32)
    batch[8] = tuple(batch[8])
    batch[9] = [100257, np.int64(15339), 100276]
    for num_threads in (1, 3, None):
        assert enc.decode_batch(batch, num_threads=num_threads) == [enc.decode(ids) for ids in batch]
        assert enc.decode_bytes_batch(batch, num_threads=num_threads) == [enc.decode_bytes(ids) for ids in batch]
    assert enc.decode_batch([[255]], errors="ignore") == [""]
    with pytest.raises(UnicodeDecodeError):
        enc.decode_batch([[15339], [255]], errors="strict")


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_decoding_a_batch_of_arrays(enc, dtype):
    rng = np.random.default_rng(3)
    batch = [rng.integers(0, 100, size).astype(dtype) for size in (0, 1, 5, 70_000, 3)]
    batch.append(batch[3][::-2])
    expected = [enc.decode_bytes(ids.tolist()) for ids in batch]
    for num_threads in (1, 3):
        assert enc.decode_bytes_batch(batch, num_threads=num_threads) == expected


@pytest.mark.parametrize(
    ("wrong", "dtype"), [(-1, "int16"), (-5, "int64"), (2**32 + 5, "int64"), (2**64 - 1, "uint64")]
)
def test_a_wrong_id_in_an_array_of_a_batch_is_named(enc, wrong, dtype):
    with pytest.raises(KeyError, match=f"token id {wrong} is not"):
        enc.decode_bytes_batch([[1], np.array([wrong], dtype), [2]])


def test_a_wrong_id_in_a_batch_is_named(enc):
    batch = [[15339] * 70_000, [15339, 5_000_000], [1]]
    with pytest.raises(KeyError, match="5000000"):
        enc.decode_batch(batch, num_threads=2)
    with pytest.raises(TypeError, match="'x'"):
        enc.decode_bytes_batch([["x"]])


@pytest.mark.parametrize(
    ("wrong", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (1.0, TypeError), (True, TypeError)]
)
def test_a_wrong_number_of_threads_is_refused(enc, wrong, error):
    for name, call in (
        ("num_threads", lambda: enc.encode_batch(["a"], num_threads=wrong)),
        ("num_threads", lambda: enc.encode_ordinary_batch(["a"], num_threads=wrong)),
        ("num_threads", lambda: enc.encode_batch_flat(["a"], num_threads=wrong)),
        ("num_threads", lambda: enc.decode_batch([[1]], num_threads=wrong)),
        ("workers", lambda: enc.encode("a", workers=wrong)),
        ("workers", lambda: enc.encode_ordinary("a", workers=wrong)),
        ("workers", lambda: enc.count("a", workers=wrong)),
        ("workers", lambda: enc.encode_to_numpy("a", workers=wrong)),
    ):
        with pytest.raises(error, match=name):
            call()


@pytest.mark.parametrize("many", [10**6, 2**60, 2**61, 2**62, 2**63 - 1, 2**64, 10**30])
def test_any_number_of_threads_is_more_than_enough(enc, many):
    assert parallel.checked_workers(many) == parallel.MAX_WORKERS
    assert enc.encode_batch(["hello world", "hello"], num_threads=many) == [[15339, 1917], [15339]]
    assert enc.encode_ordinary("hello world", workers=many) == [15339, 1917]
    assert enc.decode_batch([[15339], []], num_threads=many) == ["hello", ""]


def test_an_exception_of_the_iterable_comes_through(enc):
    def texts():
        yield "hello"
        raise LookupError("the next text")

    def sequences():
        yield [15339]
        raise LookupError("the next sequence")

    for call in (enc.encode_batch, enc.encode_ordinary_batch, enc.encode_batch_flat):
        with pytest.raises(LookupError, match="the next text"):
            call(texts())
    for call in (enc.decode_batch, enc.decode_bytes_batch):
        with pytest.raises(LookupError, match="the next sequence"):
            call(sequences())
    assert enc.encode_batch(["hello"]) == [[15339]]


def test_very_many_empty_texts(enc):
    tokens, offsets = enc.encode_batch_flat([""] * 300_000)
    assert (len(tokens), len(offsets), offsets.any()) == (0, 300_001, False)
    assert enc.encode_batch([""] * 1000) == [[]] * 1000
    assert enc.decode_batch([[]] * 300_000) == [""] * 300_000


def test_what_is_no_batch_of_texts_is_refused(enc):
    with pytest.raises(TypeError, match="put it in a list"):
        enc.encode_batch("hello")
    with pytest.raises(TypeError, match="must be a str, not int"):
        enc.encode_batch(["a", 1])
    with pytest.raises(TypeError, match="must be a str, not bytes"):
        enc.encode_ordinary_batch([b"a"])


def test_lone_surrogates_in_a_batch(enc):
    assert enc.encode_batch(["a\ud800b", "a"]) == [enc.encode("a\ud800b"), enc.encode("a")]


# ---- Threads


def test_many_threads_may_each_encode_batches(enc):
    batches = [[long_text(10 * i + k, 3000) for k in range(5)] for i in range(8)]
    expected = [[enc.encode_ordinary(text) for text in batch] for batch in batches]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda batch: enc.encode_ordinary_batch(batch, num_threads=3), batches)) == expected


def test_an_exception_in_one_thread_is_raised_when_all_have_returned():
    running = []

    def work():
        running.append(threading.get_ident())
        if len(running) == 2:
            raise LookupError("second")
        while not stopped:
            time.sleep(0.001)

    stopped = []
    before = n_threads()
    with pytest.raises(LookupError, match="second"):
        parallel.run_in_threads(work, 3, lambda: stopped.append(True))
    assert stopped
    assert ended(before)


def test_no_more_threads_than_the_system_gives(monkeypatch):
    def refuse(function, arguments):
        raise RuntimeError("can't start new thread")

    calls = []
    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    parallel.run_in_threads(lambda: calls.append(1), 4, lambda: None)
    assert calls == [1]


INTERRUPTED = """
import threading
import time
from cbpe._core.calls.parallel import run_in_threads

main = threading.get_ident()

def interrupted(self):    # as by a handler of signals that raises when this returns
    self._lock.acquire()
    if threading.get_ident() == main:
        raise KeyboardInterrupt

threading.Condition.__enter__ = interrupted
try:
    run_in_threads(lambda: None, 3, lambda: None)
except KeyboardInterrupt:
    pass
time.sleep(0.1)    # by now, those that have begun have ended or wait
"""


def test_a_program_ends_after_ctrl_c_while_threads_begin():
    """A thread of the module threading would wait for ever for a lock that its start() left locked."""
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True, timeout=20)


LETTERS = (
    "__import__('random').Random(1).randbytes(8_000_000).translate(bytes(97 + i % 26 for i in range(256))).decode()"
)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no setitimer here")
@pytest.mark.parametrize(
    ("text", "call"),
    [
        (LETTERS, "enc.encode_to_numpy(text)"),
        ("' word' * 8_000_000", "enc.encode_to_numpy(text)"),
        ("' word' * 8_000_000", "enc.count(text, workers=4)"),
        ("[' word' * 1000] * 8_000", "enc.encode_batch_flat(text, num_threads=3)"),
        ("'\\u4e2d' * 6_000_000", "enc.count(text, workers=2)"),
        ("['<|endoftext|>'] * 400_000", "enc.encode_batch_flat(text, allowed_special='all')"),
        ("('word ' * 500 + '<|endoftext|>') * 10_000", "enc.count(text, allowed_special='all')"),
        ("'<|' * 20_000_000", "enc.count(text)"),
        ("'a' * 8_000_000 + '\\ud800'", "enc.count(text)"),
        ("' word' * 8_000_000", "enc.truncate(text, 6_000_000)"),
        ("__import__('random').Random(1).randbytes(2_000_000).hex()", "enc.truncate(text, 1_000_000)"),
        ("'<|endoftext|>' * 1_000_000", "enc.truncate(text, 800_000, allowed_special='all')"),
        ("[0] * 12_000_000", "enc.decode_bytes(text)"),
        ("__import__('numpy').zeros(20_000_000, 'uint32')", "enc.decode_bytes(text)"),
        ("[[0] * 1000] * 100_000", "enc.decode_bytes_batch(text, num_threads=3)"),
    ],
    ids=[
        *["one piece", "many pieces", "workers", "batch", "chinese"],
        *["batch of special tokens", "documents between special tokens", "beginnings of special tokens", "surrogate"],
        *["truncate", "truncate one piece", "truncate special tokens"],
        *["decode a list", "decode an array", "decode a batch"],
    ],
)
def test_ctrl_c_is_answered_while_a_call_works(text, call):
    stop_while_it_works(
        f"import cbpe\nenc = cbpe.get_encoding('o200k_base')\ntext = {text}",
        call,
        "assert enc.encode('hello world') == [24912, 2375]",
    )
