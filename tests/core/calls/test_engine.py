"""Encoder: text of any kind to ids, errors that leave it usable, many threads at once."""

import gc
import random
import signal
import sys
import threading
import time
import weakref
from array import array
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import by_merges, encoder

import cbpe
from cbpe._core.calls.encoder import Encoder
from cbpe._core.text.special import SpecialTokens
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.encodings.named import load_vocabulary
from cbpe.patterns import CL100K_SPLIT_PATTERN
from cbpe.text.splitting import RegexSplitter

LONE = "\ud800"
LONE_LOW = "\udc00"


class Text(str):
    """A subclass, as numpy's str_ is."""

    def __str__(self):
        return "something else"


@pytest.fixture(scope="module")
def tok():
    return encoder(by_merges([(97, 98), (256, 99)]), {"<e>": 1000}, pattern=r"\S+|\s+")


# ---- What is encoded


def test_the_three_ways_of_encoding_agree(tok):
    text = "ab abc é😉 <e> ab" * 50
    ids = tok.encode_ordinary(text)
    assert ids[:4] == [256, 32, 257, 32]
    assert tok._encode(text, None, None) == ids
    assert tok._count(text, None, None) == len(ids)
    assert list(memoryview(tok._encode_buffer(text, None, None))) == ids


def test_the_three_ways_of_encoding_agree_on_special_tokens(tok):
    special = tok._special
    assert tok._encode("ab<e>abc", special, None) == [256, 1000, 257]
    assert tok._count("ab<e>abc", special, None) == 3
    assert list(memoryview(tok._encode_buffer("ab<e>abc", special, None))) == [256, 1000, 257]
    for method in (tok._encode, tok._count, tok._encode_buffer):
        with pytest.raises(ValueError, match=r"special token '<e>' \(at character 3\)"):
            method("éab<e>", None, special)
        method("éab<e", None, special)  # no error


def test_a_buffer_is_a_memoryview_and_an_array_that_outlive_the_tokenizer():
    made = encoder(by_merges([(97, 98)]))
    view = memoryview(made._encode_buffer("ab" * 1000, None, None))
    ids = np.frombuffer(made._encode_buffer("ab" * 1000, None, None), dtype=np.uint32)
    del made
    gc.collect()
    assert (view.format, view.itemsize, view.shape, view.nbytes) == ("I", 4, (1000,), 4000)
    assert ids.tolist() == view.tolist() == [256] * 1000
    assert memoryview(encoder(by_merges([]))._encode_buffer("", None, None)).tolist() == []


def test_nothing_is_no_tokens(tok):
    assert tok.encode_ordinary("") == []
    assert tok._count("", None, None) == 0


@pytest.mark.parametrize("kind", [Text, np.str_])
@pytest.mark.parametrize("text", ["abc", "é😉", f"a{LONE}", ""])
def test_subclasses_of_str_are_the_text_they_hold(tok, kind, text):
    assert tok.encode_ordinary(kind(text)) == tok.encode_ordinary(text)
    assert tok._encode(kind(text), tok._special, tok._special) == tok.encode_ordinary(text)


@pytest.mark.parametrize("wrong", [None, b"abc", bytearray(b"abc"), 5, ["abc"], [97], np.array(["abc"]), object()])
def test_what_is_no_str_is_a_type_error_that_says_so(tok, wrong):
    for method in (tok.encode_ordinary, *(lambda text, m=m: m(text, None, None) for m in (tok._encode, tok._count))):
        with pytest.raises(TypeError, match=f"text must be a str, not {type(wrong).__name__}"):
            method(wrong)
    assert tok.encode_ordinary("ab") == [256]


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from([LONE, LONE_LOW, "\ufeff"]), max_size=30))
def test_lone_surrogates_become_what_tiktoken_makes_of_them(tok, text):
    oracle = tiktoken.Encoding(
        "bytes", pat_str="(?s).+", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
    )
    assert encoder(by_merges([])).encode_ordinary(text) == oracle.encode_ordinary(text)


def test_known_lone_surrogates():
    ours = encoder(by_merges([]))
    assert ours.encode_ordinary(LONE) == list("\ufffd".encode())
    assert ours.encode_ordinary("\ud83d\ude09") == list("😉".encode())
    assert ours.encode_ordinary(f"{LONE_LOW}\ufeffa{LONE}{LONE}") == list("\ufffd\ufeffa\ufffd\ufffd".encode())


def test_texts_of_all_sizes_around_a_batch_of_pieces_and_a_slice_of_text():
    """Pieces are looked up 256 at a time; a text is encoded 4 MB at a time, up to 4 KB without giving up the GIL."""
    ours = encoder(by_merges([(97, 32)]), pattern=r"a |b")
    for n in [1, 255, 256, 257, 511, 512, 513, 2047, 2048, 2049, 1 << 21, (1 << 21) + 1, 1 << 22]:
        assert ours._count("a " * n, None, None) == n
        assert ours._count("b" * n, None, None) == n


def test_text_that_the_pattern_does_not_match_is_dropped():
    ours = encoder(by_merges([]), pattern=r"a+")
    assert ours.encode_ordinary("xaaxé😉ax") == list(b"aaa")
    assert ours.encode_ordinary("x" * 10_000) == []


def test_a_splitter_that_is_not_native_gives_the_same():
    native = encoder(by_merges([(97, 98)]), {"<e>": 1000}, pattern=r"\S+|\s+")
    other = Encoder()
    other._install(by_merges([(97, 98)]), RegexSplitter(r"\S+|\s+"), {"<e>": 1000})
    for text in ("", "ab ab<e>é 😉 ", f"ab{LONE}", "ab " * 5000):
        assert other.encode_ordinary(text) == native.encode_ordinary(text)
        assert other._encode(text, other._special, None) == native._encode(text, native._special, None)


def test_ids_are_shared_objects_or_new_ones_all_the_same():
    ours = encoder(by_merges([]), {"<far>": 4_000_000_000})
    assert ours._encode("a<far>a<far>", ours._special, None) == [97, 4_000_000_000] * 2


class Witness:
    """Has weak references, which a list has not."""


def is_freed_with_a_cycle(make, *arguments):
    """Close a cycle through the list that make(*arguments) returns: whether the garbage collector frees it."""
    gc.freeze()  # it has only to look at what is made from here on, as for all tests (conftest.py)
    ids = make(*arguments)
    witness = Witness()
    ids += [witness, ids]
    reference = weakref.ref(witness)
    del witness, ids
    gc.collect()
    return reference() is None


@pytest.mark.parametrize("n", [1, 63, 64, 5000])
@pytest.mark.parametrize(
    "make",
    [
        lambda enc, text: enc.encode(text),
        lambda enc, text: enc.encode(text + "<|endoftext|>", allowed_special="all"),
        lambda enc, text: enc.encode(text, workers=2),
        lambda enc, text: enc.encode_ordinary(text),
        lambda enc, text: enc.encode_ordinary(text, workers=2),
        lambda enc, text: enc.encode_batch([text, text])[1],
        lambda enc, text: enc.encode_ordinary_batch([text] * 100, num_threads=2)[50],
        lambda enc, text: enc._encode_batch([text * 10] * 10, None, None, 2, 64)[5],
        lambda enc, text: max(enc.encode_stream([text, text]), key=len),
        lambda enc, text: enc.encode_with_offsets(text)[0],
        lambda enc, text: enc.encode_with_offsets(text)[1],
        lambda enc, text: enc.encode_with_unstable(text + " hel")[0],
        lambda enc, text: enc._encode_single_piece(text),
        lambda enc, text: enc._encode_dropping(text, None, None, 0.5, 1),
    ],
    ids=[
        *["encode", "special tokens", "threads", "ordinary", "ordinary, threads", "batch", "ordinary batch"],
        *["texts in parts", "stream", "ids with offsets", "offsets", "unstable", "single piece", "dropout"],
    ],
)
def test_a_cycle_through_a_list_of_ids_is_freed(make, n):
    enc = cbpe.get_encoding("cl100k_base")
    text = " a" * n
    assert len(make(enc, text)) >= n
    assert gc.is_tracked(make(enc, text))
    assert is_freed_with_a_cycle(make, enc, text)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that sends signals")
def test_a_handler_of_signals_finds_no_list_that_is_not_full():
    """Signals have their turn after each 2**24 ints."""
    n = (1 << 24) + 1
    ours = encoder(by_merges([]), pattern="a")
    calls, found = [], []

    def look(*_):
        calls.append(None)
        long = [o for o in gc.get_objects() if type(o) is list and len(o) >= n]
        found.extend(len(o) for o in long if len(gc.get_referents(o)) < len(o))
        signal.setitimer(signal.ITIMER_REAL, 0.005)  # the next one comes after this one has ended

    text = "a" * n
    before = signal.signal(signal.SIGALRM, look)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        ids = ours.encode_ordinary(text)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert calls
        assert found == []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert gc.is_tracked(ids)
    assert ids.count(97) == n


def test_lists_of_ids_go_with_their_last_owner_and_are_lists_as_others():
    ours = encoder(by_merges([]))
    for n in (0, 1, 63, 64, 5000):
        ids = ours.encode_ordinary("a" * n)
        assert type(ids) is list
        assert ids == [97] * n
        ids += [1]
        ids.append(ids)
        gc.collect()
        assert ids[-2:] == [1, ids]
    references = sys.getrefcount(text := "".join(["a"] * 100))
    made = [ours.encode_ordinary(text) for _ in range(10)]
    copies = [list(ids) for ids in made]
    del made
    gc.collect()
    assert copies == [[97] * 100] * 10
    assert sys.getrefcount(text) == references


# ---- Errors leave it usable


def test_a_byte_without_a_token_is_a_key_error_that_names_it():
    ids = [*range(256)]
    ids[ord("x")] = 0xFFFFFFFF
    ours = encoder(Vocabulary(array("I"), array("I"), array("I", ids)), pattern=r"\S+|\s+")
    for text in ("abx", "ab " * 5000 + "x", "é" * 1000 + "x", "x"):
        for method in (ours._encode, ours._count, ours._encode_buffer):
            with pytest.raises(KeyError, match="the byte 0x78 has no token in this vocabulary"):
                method(text, None, None)
        assert ours.encode_ordinary("ab ab") == list(b"ab ab")


@pytest.mark.parametrize(
    ("missing", "text", "place"),
    [
        (b"x", "abx", "'x', at character 2"),
        (b"x", "\u00e9" * 1000 + " x x", "'x', at character 1,001"),
        ("\u5b89".encode()[1:2], "\u00e9 \u5b89 ", "'\u5b89', at character 2"),
        ("\U0001f44b".encode()[3:], "a" * 9000 + "\U0001f44b", "'\U0001f44b', at character 9,000"),
    ],
)
def test_a_byte_without_a_token_is_told_with_its_character_and_the_first_place(missing, text, place):
    ids = [*range(256)]
    ids[missing[0]] = 0xFFFFFFFF
    ours = encoder(Vocabulary(array("I"), array("I"), array("I", ids)), pattern=r"\S+|\s+")
    told = f"the byte 0x{missing[0]:02x} has no token in this vocabulary (the text has it first in {place})"
    told += ": leave such text out, or take a tokenizer that has a token for each byte"
    with pytest.raises(KeyError) as caught:
        ours.encode_ordinary(text)
    assert caught.value.args == (told,)


class FailingSplitter:
    """Splits once, then fails."""

    pattern = None
    native = False

    def __init__(self):
        self.fail = False

    def spans(self, text):
        yield 0, 1
        if self.fail:
            raise OSError("failed")
        yield 1, len(text)


def test_an_exception_while_splitting_leaves_it_usable():
    splitter = FailingSplitter()
    ours = Encoder()
    ours._install(by_merges([]), splitter, {})
    for _ in range(50):
        splitter.fail = True
        with pytest.raises(OSError, match="failed"):
            ours.encode_ordinary("abc")
        splitter.fail = False
        assert ours.encode_ordinary("abc") == list(b"abc")


class RecursiveSplitter:
    """Encodes with the encoder that it splits for."""

    pattern = None
    native = False

    def spans(self, text):
        return [(0, len(self.encoder.encode_ordinary(text[1:])) + 1)] if text else []


def test_encoding_within_encoding():
    splitter = RecursiveSplitter()
    splitter.encoder = Encoder()
    splitter.encoder._install(by_merges([]), splitter, {})
    assert splitter.encoder.encode_ordinary("a" * 40) == [97] * 40


@pytest.mark.parametrize("text", [None, b"", 5])
def test_methods_without_a_vocabulary_raise(text):
    empty = [Encoder(), Encoder.__new__(Encoder), cbpe.Tokenizer.__new__(cbpe.Tokenizer)]
    empty += [kind.__new__(kind) for kind in (cbpe.BasicTokenizer, cbpe.Encoding, cbpe.GPT4Tokenizer)]
    for made in empty:
        for use in (
            lambda made: made.encode_ordinary("a"),
            lambda made: made.encode_ordinary(text),
            lambda made: made._encode("a", None, None),
            lambda made: made._count("a", None, None),
            lambda made: made._encode_buffer("a", None, None),
            lambda made: made.decode([1]),
            lambda made: made.decode_bytes([1]),
            lambda made: made._vocabulary,
            lambda made: made._splitter,
            lambda made: made._special,
        ):
            with pytest.raises(RuntimeError, match=f"this {type(made).__name__} has no vocabulary"):
                use(made)


@pytest.mark.parametrize(
    "arguments", [(None, None, {}), (by_merges([]), None, None), ("text", None, {}), (by_merges([]), None, {"<e>": -1})]
)
def test_installing_what_is_no_model_changes_nothing(arguments):
    ours = encoder(by_merges([(97, 98)]))
    with pytest.raises((TypeError, OverflowError)):
        ours._install(*arguments)
    assert ours.encode_ordinary("ab") == [256]


def test_special_tokens_of_the_wrong_kind_are_refused(tok):
    for wrong in ({"<e>": 1}, {"<e>"}, "all"):
        with pytest.raises(TypeError):
            tok._encode("a", wrong, None)
        with pytest.raises(TypeError):
            tok._encode("a", None, wrong)


def test_a_refused_text_changes_nothing(tok):
    forbidden = SpecialTokens({"ab": 0})
    with pytest.raises(ValueError, match=r"the special token 'ab' \(at character 0\)"):
        tok._encode("ab", None, forbidden)
    assert tok.encode_ordinary("ab") == [256]


# ---- Threads


def mixed_texts():
    rng = random.Random(1)
    letters = ["e", "t", " ", " ", "a", "\n", "é", "中", "😉", "1", "'s", LONE, "<|endoftext|>"]
    return ["".join(rng.choices(letters, k=rng.choice([0, 1, 10, 100, 3000, 20_000]))) for _ in range(60)]


@pytest.mark.parametrize("cache_bytes", [0, 100_000, 1 << 26])
def test_many_threads_at_once_agree_with_one(cache_bytes):
    """More threads than workspaces are kept (16), all starting at once on a tokenizer that nobody has used yet."""
    texts = mixed_texts()
    special_tokens = {"<|endoftext|>": 100257}
    alone = encoder(load_vocabulary("cl100k_base"), special_tokens, CL100K_SPLIT_PATTERN, cache_bytes=0)
    expected = [alone._encode(text, alone._special, None) for text in texts]
    shared = encoder(load_vocabulary("cl100k_base"), special_tokens, CL100K_SPLIT_PATTERN, cache_bytes=cache_bytes)
    n_threads = 24
    barrier = threading.Barrier(n_threads)

    def work(seed):
        barrier.wait()
        order = random.Random(seed).sample(range(len(texts)), len(texts))
        return {i: shared._encode(texts[i], shared._special, None) for i in order}

    with ThreadPoolExecutor(n_threads) as pool:
        for result in pool.map(work, range(n_threads)):
            assert [result[i] for i in range(len(texts))] == expected


def test_many_threads_make_the_tables_for_walking_once_and_agree():
    text = "ab" * 100_000
    shared = encoder(by_merges([(97, 98), (256, 256)]))
    barrier = threading.Barrier(8)

    def work(_):
        barrier.wait()
        return shared.encode_ordinary(text)

    with ThreadPoolExecutor(8) as pool:
        assert all(ids == [257] * 50_000 for ids in pool.map(work, range(8)))


def test_a_model_that_is_replaced_while_others_encode():
    """Each call is all of one model or all of the other."""
    models = [by_merges([]), by_merges([(97, 97)])]
    made = encoder(models[0])
    results, stop = set(), threading.Event()

    def work():
        while not stop.is_set():
            results.add(tuple(made.encode_ordinary("a" * 5000)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(200):
        made._install(models[i % 2], made._splitter, {})
    stop.set()
    for thread in threads:
        thread.join()
    assert results
    assert results <= {(97,) * 5000, (256,) * 2500}


def test_encoders_give_their_memory_back():
    """A reference to each of the shared ints, and to the parts, is given back with the encoder."""
    vocabulary = load_vocabulary("r50k_base")
    references = sys.getrefcount(vocabulary)
    for _ in range(20):
        made = encoder(vocabulary, pattern=CL100K_SPLIT_PATTERN)
        ids = made.encode_ordinary("hello there, world " * 100)
        assert made.decode(ids) == "hello there, world " * 100
    large = max(ids, key=ids.count)  # an int that Python itself does not share
    del made
    gc.collect()
    assert sys.getrefcount(vocabulary) == references
    assert large > 256
    assert ids.count(large) >= 100
    del ids
    assert sys.getrefcount(large) <= 3


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="there is no GIL to be released")
@pytest.mark.parametrize(
    "call",
    [
        lambda enc, text: enc.encode_to_numpy(text, "all"),
        lambda enc, text: enc.encode(text, "all"),
        lambda enc, text: enc.count(text, "all"),
        lambda enc, text: enc.count("<|" * 2_000_000),
        lambda enc, text: enc.encode_batch_flat([text] * 2, allowed_special="all", num_threads=1),
        lambda enc, text: enc.encode_batch([text[:8000]] * 500, allowed_special="all", num_threads=2),
        lambda enc, text: enc.count("a" * 5_000_000),
        lambda enc, text: enc.truncate(text[:100_000].replace("<", "(") * 100, 2_000_000),
        lambda enc, text: enc.decode(np.zeros(20_000_000, np.uint32)),
        lambda enc, text: enc.decode_bytes_batch([[0] * 20_000] * 200, num_threads=1),
    ],
    ids=[
        *["numpy", "list", "count", "false special tokens", "flat batch", "batch", "one piece", "truncate"],
        *["decode an array", "decode a batch"],
    ],
)
def test_other_threads_run_meanwhile(call):
    """With documents between special tokens, none of which is long. The GIL is not taken away from who has it for an
    hour, so another thread gets on only if it is given up, and it gives it back itself."""
    enc = cbpe.get_encoding("cl100k_base")
    text = ("hello world " * 300 + "<|endoftext|>") * 3000
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    thread = threading.Thread(target=count)
    try:
        thread.start()
        for _ in range(30):
            before = turns[0]
            call(enc, text)
            if turns[0] - before >= 20:
                break
        else:
            raise AssertionError(f"{turns[0] - before} turns of the other thread")
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()


def test_a_text_between_special_tokens_of_every_length():
    """Slices of text end within, at and behind special tokens."""
    tok = encoder(by_merges([(97, 98)]), {"<e>": 1000, "<e>>": 1001}, pattern=r"[a-z]+|.")
    for stretch in (0, 1, 2, 3, 100, 4094, 4095, 4096, 4097):
        n = 9_000_000 // (stretch + 3) if stretch > 100 else 1000
        text = ("ab" * stretch + "<e>") * n
        ids = tok._encode(text, tok._special, None)
        assert len(ids) == tok._count(text, tok._special, None) == (stretch + 1) * n
        assert ids[stretch :: stretch + 1] == [1000] * n
