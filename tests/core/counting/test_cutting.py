"""Counted pieces, cut by a hash and put into another order."""

from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe._core.counting.count import PieceCounter
from cbpe._core.counting.cutting import cut_by_hash, in_order

PIECES = st.lists(st.binary(min_size=1, max_size=40), max_size=60)


def flat(pieces):
    return b"".join(pieces), array("q", map(len, pieces))


@given(PIECES, st.integers(1, 70))
def test_each_piece_is_in_one_partition_which_depends_on_its_bytes_alone(pieces, n):
    order, ends = cut_by_hash(*flat(pieces), n)
    assert sorted(order) == list(range(len(pieces)))
    assert len(ends) == n
    starts = [0, *ends[:-1]]
    partition = {}
    for p, (start, end) in enumerate(zip(starts, ends, strict=True)):
        inside = list(order[start:end])
        assert inside == sorted(inside)
        for i in inside:
            assert partition.setdefault(pieces[i], p) == p
    for piece in pieces:
        alone = cut_by_hash(*flat([piece]), n)[1]
        assert alone.index(1) == partition[piece]


def test_the_partitions_are_the_same_on_every_machine():
    order, ends = cut_by_hash(*flat([b"to", b"be", b"or", b"not", b"x" * 16, b"x" * 17, b"y" * 300]), 4)
    assert sum(ends[i] > (ends[i - 1] if i else 0) for i in range(4)) > 1
    assert (list(order), list(ends)) == EXPECTED


def expected():
    """The same hash in Python: 16 bytes at a time, the last 16 overlapping, both halves of the products folded."""
    bits = (1 << 64) - 1
    first, second = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03

    def mix(a, b):
        return (a * b & bits) ^ (a * b >> 64)

    def word(data):
        return int.from_bytes(data[:8], "little")

    def hashed(piece):
        h = 0x6362706543757473 ^ (len(piece) * first & bits)
        if len(piece) >= 16:
            for i in range(0, len(piece) - 16, 16):
                h = mix(word(piece[i:]) ^ h, word(piece[i + 8 :]) ^ second)
            low, high = word(piece[-16:]), word(piece[-8:])
        else:
            low, high = word(piece), word(piece[8:])
        return mix(mix(low ^ h, high ^ second), first)

    pieces = [b"to", b"be", b"or", b"not", b"x" * 16, b"x" * 17, b"y" * 300]
    parts = [hashed(piece) % 4 for piece in pieces]
    order = [i for p in range(4) for i in range(len(pieces)) if parts[i] == p]
    return order, [sum(part <= p for part in parts) for p in range(4)]


EXPECTED = expected()


@given(PIECES, st.randoms(use_true_random=False))
def test_pieces_are_put_into_any_order(pieces, chance):
    order = [chance.randrange(len(pieces)) for _ in range(20)] if pieces else []
    assert bytes(in_order(*flat(pieces), array("q", order))) == b"".join(pieces[i] for i in order)


@given(PIECES, st.lists(st.binary(min_size=1, max_size=3), max_size=60, unique=True))
def test_new_pieces_are_known_by_their_numbers(before, added):
    counter = PieceCounter()
    counter.add_pieces(before)
    new = counter.add_new(*flat(added), array("q", [2] * len(added)))
    assert [added[i] for i in new] == [piece for piece in added if piece not in before]
    whole = Counter(before) + Counter(dict.fromkeys(added, 2))
    assert dict(zip(split(counter), counter.counts(), strict=True)) == whole
    assert counter.word_bytes == len(counter.data())


def split(counter):
    data, start = counter.data(), 0
    for length in counter.lengths():
        yield data[start : start + length]
        start += length


@pytest.mark.parametrize("lengths", [[0, 2], [3], [1], [2**62, 2**62], [-1, 3]])
def test_lengths_that_do_not_fit_are_refused(lengths):
    with pytest.raises(ValueError, match=r"does not lie inside|add up to"):
        cut_by_hash(b"ab", array("q", lengths), 2)
    with pytest.raises(ValueError, match=r"does not lie inside|add up to"):
        in_order(b"ab", array("q", lengths), array("q", [0]))


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ValueError, match="there are 0 partitions"):
        cut_by_hash(b"ab", array("q", [2]), 0)
    for number in (-1, 1):
        with pytest.raises(IndexError, match=f"there is no piece {number} of 1"):
            in_order(b"ab", array("q", [2]), array("q", [number]))
