"""Counting distinct pieces: which there are, how often, and in which order they first appeared."""

import threading
from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe._core.counting.count import PieceCounter
from cbpe._core.splitting.split import Splitter
from cbpe._core.text.utf8 import utf8

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


def add_text(counter, text, splitter):
    encoded = utf8(text)
    counter.add_texts(encoded, array("q", [len(encoded)]), splitter)


def counter_of(pieces):
    counter = PieceCounter()
    counter.add_pieces(pieces)
    return counter


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
        add_text(counter, text, WORDS)
        expected.update(piece.encode() for piece in WORDS.split(utf8(text).decode()))
    assert in_order(counted(counter)) == in_order(expected)


def test_many_pieces_make_the_table_grow_and_lose_none():
    pieces = [b"piece number %d" % (i * i % 30_011) for i in range(100_000)]
    counter = PieceCounter()
    counter.add_pieces(pieces)
    assert in_order(counted(counter)) == in_order(Counter(pieces))
    text = " ".join(f"word{i % 5000}" for i in range(50_000))
    counter = PieceCounter()
    add_text(counter, text, Splitter(r"\S+|\s+"))
    assert counted(counter)[b" "] == 49_999
    words = text.replace(" ", "\n \n").split("\n")
    assert in_order(counted(counter)) == in_order(Counter(word.encode() for word in words))


def test_without_a_pattern_each_text_is_one_piece():
    counter = PieceCounter()
    for text in ("one text", "another", "", "one text"):
        add_text(counter, text, Splitter(None))
    assert counted(counter) == {b"one text": 2, b"another": 1}


def test_text_that_the_pattern_does_not_match_is_not_counted():
    counter = PieceCounter()
    add_text(counter, "a1b", LETTERS_ONLY)
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
    assert utf8(text) == replaced.encode()


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
    threads = [threading.Thread(target=add_text, args=(counter, text, WORDS)) for counter in counters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = Counter(piece.encode() for piece in WORDS.split(text))
    assert all(counted(counter) == expected for counter in counters)


# ---- Texts together, and parts of a text


@given(st.lists(st.text("ab 1", max_size=12), max_size=6))
def test_texts_that_are_counted_together_are_split_each_on_its_own(texts):
    expected = Counter(piece.encode() for text in texts for piece in WORDS.split(text))
    counter = PieceCounter()
    ends = array("q", [sum(map(len, texts[: i + 1])) for i in range(len(texts))])
    counter.add_texts("".join(texts).encode(), ends, WORDS)
    assert in_order(counted(counter)) == in_order(expected)


@given(st.text("ab 1\u4e2d", max_size=12), st.text("ab 1\u4e2d", max_size=12))
def test_a_part_of_a_text_is_counted_up_to_its_border(before, part):
    data = (before + part).encode()
    border, behind = WORDS.last_border(data[len(before.encode()) :])
    counter = PieceCounter()
    ends = array("q", [len(before.encode()), len(before.encode()) + border])
    counter.add_texts(data[: len(before.encode()) + behind], ends, WORDS)
    expected = WORDS.split(before) + WORDS.split(part.encode()[:border].decode())
    assert in_order(counted(counter)) == in_order(Counter(piece.encode() for piece in expected))


@pytest.mark.parametrize("ends", [[4], [-1], [2, 1]])
def test_ends_must_lie_within_the_data(ends):
    with pytest.raises(ValueError, match="ends at"):
        PieceCounter().add_texts(b"abc", array("q", ends), WORDS)


# ---- Counts that have been made before


piece_lists = st.lists(similar_pieces.filter(bool), max_size=30)


@given(piece_lists, piece_lists)
def test_merged_counters_are_one_counter_of_both(first, second):
    expected = in_order(Counter(first + second))
    a, b = counter_of(first), counter_of(second)
    a.merge(b)
    assert in_order(counted(a)) == expected
    assert (a.total, counted(b)) == (len(first + second), Counter(second))
    again = counter_of(first)
    again.add_counts(b.data(), b.lengths(), b.counts())
    assert in_order(counted(again)) == expected


@given(piece_lists)
def test_a_copy_lives_on_its_own(pieces):
    counter = counter_of(pieces)
    copy = counter.copy()
    assert (in_order(counted(copy)), copy.total) == (in_order(Counter(pieces)), len(pieces))
    copy.add_pieces([b"new", *pieces])
    assert in_order(counted(counter)) == in_order(Counter(pieces))
    assert in_order(counted(copy)) == in_order(Counter([*pieces, b"new", *pieces]))


def test_many_pieces_are_merged_and_copied():
    first, second = ([b"piece number %d" % (i * k % 30_011) for i in range(40_000)] for k in (7, 11))
    counter = counter_of(first)
    counter.merge(counter_of(second))
    assert in_order(counted(counter)) == in_order(Counter(first + second))
    assert in_order(counted(counter.copy())) == in_order(Counter(first + second))


@given(piece_lists, st.integers(0, 8))
def test_the_rarest_pieces_are_dropped_and_those_that_appeared_last_before_others(pieces, most):
    counts = Counter(pieces)
    by_frequency = sorted(counts, key=counts.get, reverse=True)  # stable: equal ones in order of first appearance
    kept = set(by_frequency[:most])
    counter = counter_of(pieces)
    dropped = [piece for piece in counts if piece not in kept]
    assert counter.drop_rarest(most) == (len(dropped), sum(counts[piece] for piece in dropped))
    assert in_order(counted(counter)) == [(piece, count) for piece, count in counts.items() if piece in kept]
    counter.add_pieces(pieces)  # those that were dropped can come back
    assert counted(counter) == {piece: 2 * n if piece in kept else n for piece, n in counts.items()}


def test_a_counter_that_was_cleared_counts_anew():
    counter = counter_of([b"a", b"a piece of more than 15 bytes"])
    counter.clear()
    assert (len(counter), counter.total, counter.data()) == (0, 0, b"")
    counter.add_pieces([b"b", b"a"])
    assert in_order(counted(counter)) == [(b"b", 1), (b"a", 1)]


def test_counts_go_beyond_32_bits_up_to_63():
    counter = PieceCounter()
    counter.add_counts(b"ab", array("q", [1, 1]), array("q", [2**61, 2**33]))
    counter.merge(counter.copy())
    assert in_order(counted(counter)) == [(b"a", 2**62), (b"b", 2**34)]
    assert counter.total == 2**62 + 2**34
    with pytest.raises(OverflowError, match=r"2\^63"):
        counter.add_counts(b"c", array("q", [1]), array("q", [2**62]))
    with pytest.raises(OverflowError, match=r"2\^63"):
        counter.merge(counter.copy())
    assert in_order(counted(counter)) == [(b"a", 2**62), (b"b", 2**34)]
    counter.add_counts(b"c", array("q", [1]), array("q", [2**62 - 2**34 - 1]))
    assert counter.total == 2**63 - 1
    with pytest.raises(OverflowError, match=r"2\^63"):
        add_text(counter, "one more", WORDS)
    with pytest.raises(OverflowError, match=r"2\^63"):
        counter.add_pieces([b"one more"])


@pytest.mark.parametrize(
    ("data", "lengths", "counts", "message"),
    [
        (b"ab", [1], [1], "add up to 1 bytes, but data holds 2"),
        (b"ab", [3], [1], "does not lie inside"),
        (b"ab", [0, 2], [1, 1], "length 0 does not lie inside"),
        (b"ab", [2], [0], "count 0"),
        (b"ab", [1, 1], [1], "2 lengths and 1 counts"),
    ],
)
def test_counts_that_do_not_fit_their_pieces_are_refused(data, lengths, counts, message):
    with pytest.raises(ValueError, match=message):
        PieceCounter().add_counts(data, array("q", lengths), array("q", counts))


def test_a_counter_cannot_be_merged_with_itself():
    counter = PieceCounter()
    with pytest.raises(ValueError, match="itself"):
        counter.merge(counter)


def test_a_counter_that_is_told_to_stop_stops():
    splitter = Splitter("a+b|a")  # goes over the rest of the text at each place: minutes, if it is not stopped
    counter = PieceCounter()
    raised = []

    def count():
        try:
            add_text(counter, "a" * 300_000, splitter)
        except RuntimeError as error:
            raised.append(str(error))

    thread = threading.Thread(target=count)
    thread.start()
    counter.stop()
    thread.join(20)
    assert not thread.is_alive()
    assert raised == ["this counter was told to stop"]
