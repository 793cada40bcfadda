"""Counting distinct pieces: which there are, how often, and in which order they first appeared."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe._core.count import PieceCounter, utf8
from cbpe._core.split import Splitter

WORDS = Splitter(r"\p{L}+|\P{L}+")
LETTERS_ONLY = Splitter(r"\p{L}+")


def counted(counter):
    """{piece: count} in the counter's order."""
    data, pieces, start = counter.data(), [], 0
    for length in counter.lengths():
        pieces.append(data[start : start + length])
        start += length
    assert start == len(data)
    return dict(zip(pieces, counter.counts(), strict=True))


def in_order(counts):
    return list(counts.items())


# Lengths on both sides of the longest piece that stands in its slot (15 bytes), sharing beginnings and ends.
tails = st.sampled_from([b"", b"b", b"\0", b"ab"])
similar_pieces = st.builds(lambda n, tail: b"a" * n + tail, st.integers(0, 18), tails)


@given(st.lists(similar_pieces | st.binary(max_size=40)))
def test_pieces_are_counted_in_order_of_first_appearance(pieces):
    counter = PieceCounter()
    counter.add_pieces(pieces)
    assert in_order(counted(counter)) == in_order(Counter(piece for piece in pieces if piece))


@given(st.lists(st.text(max_size=50), max_size=5))
def test_texts_are_split_each_on_its_own_and_counted(texts):
    counter = PieceCounter()
    expected = Counter()
    for text in texts:
        clean = utf8(text).decode()
        assert counter.add_text(text, WORDS) == len(clean.encode())
        expected.update(piece.encode() for piece in WORDS.split(clean))
    assert in_order(counted(counter)) == in_order(expected)


def test_many_pieces_make_the_table_grow_and_lose_none():
    pieces = [b"piece number %d" % (i * i % 30_011) for i in range(100_000)]
    counter = PieceCounter()
    counter.add_pieces(pieces)
    assert in_order(counted(counter)) == in_order(Counter(pieces))
    text = " ".join(f"word{i % 5000}" for i in range(50_000))
    counter = PieceCounter()
    counter.add_text(text, Splitter(r"\S+|\s+"))
    assert counted(counter)[b" "] == 49_999
    words = text.replace(" ", "\n \n").split("\n")
    assert in_order(counted(counter)) == in_order(Counter(word.encode() for word in words))


def test_without_a_pattern_each_text_is_one_piece():
    counter = PieceCounter()
    for text in ("one text", "another", "", "one text"):
        counter.add_text(text, Splitter(None))
    assert counted(counter) == {b"one text": 2, b"another": 1}


def test_text_that_the_pattern_does_not_match_is_read_but_not_counted():
    counter = PieceCounter()
    assert counter.add_text("a1b", LETTERS_ONLY) == 3
    assert counted(counter) == {b"a": 1, b"b": 1}


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("\ud83d\ude09", "\U0001f609"),
        ("\ud800\ud83d\ude09", "\ufffd\U0001f609"),
    ],
)
def test_lone_surrogates_are_replaced_as_tiktoken_does(text, replaced):
    counter = PieceCounter()
    counter.add_text(text, Splitter(None))
    assert counter.data() == replaced.encode()


def test_an_empty_counter_is_empty():
    counter = PieceCounter()
    assert (len(counter), counter.data(), list(counter.lengths()), list(counter.counts())) == (0, b"", [], [])


def test_a_counter_cannot_be_used_while_it_counts():
    counter = PieceCounter()

    def pieces():
        yield b"a"
        counter.add_pieces([b"b"])

    with pytest.raises(RuntimeError, match="in use"):
        counter.add_pieces(pieces())
    counter.add_pieces([b"a"])
    assert counted(counter) == {b"a": 2}


def test_pieces_must_be_bytes():
    with pytest.raises(TypeError, match="bytes"):
        PieceCounter().add_pieces(["text"])
    with pytest.raises(TypeError, match="bytes"):
        PieceCounter().add_pieces([None])


def test_counters_of_several_threads_do_not_disturb_each_other():
    text = "many words of a text, " * 20_000
    counters = [PieceCounter() for _ in range(4)]
    threads = [threading.Thread(target=counter.add_text, args=(text, WORDS)) for counter in counters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = Counter(piece.encode() for piece in WORDS.split(text))
    assert all(counted(counter) == expected for counter in counters)
