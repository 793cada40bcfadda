"""Merging one piece: the pair that was learned first is merged first, of several the leftmost, at every length."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import encode_with_merges, encode_with_ranks
from vocabularies import SHORT, by_merges, by_merges_in_heap, encode, encode_walking, merge_lists, rank_dicts, texts

from cbpe._core.conversion.ranks import vocabulary_from_ranks

A, B, C = b"abc"


def apply_one_by_one(piece, merges):
    """Merge the pair of the earliest merge, the leftmost only, and look again: merging with merges in any order."""
    ids = list(piece)
    while True:
        known = [(merges.index(pair), i) for i, pair in enumerate(pairwise(ids)) if pair in merges]
        if not known:
            return ids
        merge, i = min(known)
        ids[i : i + 2] = [256 + merge]


@given(merge_lists(), texts(max_size=SHORT))
def test_short_pieces_merge_as_the_reference(merges, text):
    expected = encode_with_merges(text.encode(), {pair: 256 + i for i, pair in enumerate(merges)})
    assert encode(by_merges(merges), text) == expected


@given(merge_lists(), texts(min_size=SHORT + 1))
def test_long_pieces_merge_in_a_heap_as_the_reference(merges, text):
    expected = encode_with_merges(text.encode(), {pair: 256 + i for i, pair in enumerate(merges)})
    vocabulary = by_merges_in_heap(merges)
    assert not vocabulary.monotone
    assert encode(vocabulary, text) == expected


@given(merge_lists(alphabet="aé".encode()), st.text("aéb", max_size=90))
def test_merges_of_parts_of_characters(merges, text):
    expected = encode_with_merges(text.encode(), {pair: 256 + i for i, pair in enumerate(merges)})
    assert encode(by_merges(merges), text) == expected


@pytest.mark.parametrize("size", [*range(2 * SHORT + 4), 1000])
@pytest.mark.parametrize("vocabulary_of", [by_merges, by_merges_in_heap])
def test_runs_of_one_character_at_every_threshold(size, vocabulary_of):
    doubling = [(A, A), (256, 256), (257, 257), (257, 256), (257, A)]
    expected = encode_with_merges(b"a" * size, {pair: 256 + i for i, pair in enumerate(doubling)})
    assert encode(vocabulary_of(doubling), "a" * size) == expected
    if vocabulary_of is by_merges:
        assert encode_walking(by_merges(doubling), "a" * size) == expected


@given(st.data())
def test_merges_in_any_order_apply_one_by_one(data):
    """Not monotone: a merge may be made of later ones, as in vocabularies by rank."""
    merges = data.draw(merge_lists())
    order = data.draw(st.permutations(range(len(merges))))
    place = {256 + old: 256 + new for new, old in enumerate(order)}
    shuffled = [tuple(place.get(part, part) for part in merges[old]) for old in order]
    for text in (data.draw(texts(max_size=SHORT)), data.draw(texts(min_size=SHORT + 1, max_size=120))):
        vocabulary = by_merges(shuffled)
        way = by_merges_in_heap(shuffled) if vocabulary.monotone else vocabulary
        assert encode(way, text) == apply_one_by_one(text.encode(), shuffled)


@given(rank_dicts(), texts(min_size=SHORT + 1, max_size=150))
def test_long_pieces_join_by_rank_as_the_reference(ranks, text):
    assert encode(vocabulary_from_ranks(ranks), text) == encode_with_ranks(text.encode(), ranks)


def test_a_piece_beyond_a_million_characters_in_the_heap():
    """Property: with (a, a) and (aa, aa) an even run becomes fours, and a rest of two or one."""
    vocabulary = by_merges_in_heap([(A, A), (256, 256)])
    assert encode(vocabulary, "a" * 1_000_003) == [257] * 250_000 + [256, A]
