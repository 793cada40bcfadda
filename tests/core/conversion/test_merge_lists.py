"""Lists of merges of tokens: what is left of them encodes every text as the whole list does."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import encode, lists_of_merges

from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe._core.vocabulary.vocabulary import Vocabulary

BYTES = {bytes([byte]): byte for byte in range(256)}


def encode_with_list(piece, ids, merges, whole_pieces):
    """The slowest way: of the neighbours that are in the list, those that come first in it are merged, the leftmost of
    several."""
    if whole_pieces and piece in ids:
        return [ids[piece]]
    parts = [bytes([byte]) for byte in piece]
    while True:
        listed = [(merges.index(pair), i) for i, pair in enumerate(pairwise(parts)) if pair in merges]
        if not listed:
            return [ids[part] for part in parts]
        _, i = min(listed)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def last_merge(token, merges):
    """The merge that is left to do at last when the bytes of a token are merged in the slowest way, or None."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        listed = [(merges.index(pair), i) for i, pair in enumerate(pairwise(parts)) if pair in merges]
        if not listed:
            return None
        _, i = min(listed)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return tuple(parts) if tuple(parts) in merges else None


EVERY_TEXT = [bytes(text) for n in range(1, 9) for text in product(b"ab", repeat=n)]


@given(lists_of_merges(), st.booleans())
def test_every_short_text_is_encoded_as_by_the_whole_list(listed, whole_pieces):
    ids, merges = listed
    vocabulary = vocabulary_from_merges(ids, merges, whole_pieces)
    assert vocabulary.whole_pieces == whole_pieces
    assert vocabulary.tokens() == {token_id: token for token, token_id in ids.items()}
    for text in EVERY_TEXT[::7]:
        assert encode(vocabulary, text.decode()) == encode_with_list(text, ids, merges, whole_pieces), text


@given(lists_of_merges())
def test_a_merge_is_kept_just_if_it_is_the_last_of_its_own_result(listed):
    ids, merges = listed
    vocabulary = vocabulary_from_merges(ids, merges)
    tokens = vocabulary.tokens()
    kept = [(tokens[left], tokens[right]) for left, right in vocabulary.merges()]
    assert kept == [pair for pair in merges if last_merge(pair[0] + pair[1], merges) == pair]
    assert set(vocabulary.unmerged()) == {
        token_id for token, token_id in ids.items() if len(token) > 1 and token not in {a + b for a, b in kept}
    }


def test_a_byte_without_a_token_and_a_part_that_nothing_makes_are_no_problem():
    ids = {b"a": 7, b"b": 3, b"ab": 2, b"aab": 1, b"xyz": 9}
    vocabulary = vocabulary_from_merges(ids, [(b"a", b"b"), (b"a", b"ab")])
    assert isinstance(vocabulary, Vocabulary)
    assert encode(vocabulary, "aabab") == [1, 2]
    assert vocabulary.unmerged() == {9: b"xyz"}
    with pytest.raises(KeyError, match="the byte 0x78 has no token"):
        encode(vocabulary, "x")


def test_a_long_token_that_comes_of_a_later_merge_is_done_in_time():
    """Merging in the slow way takes n log n steps, not n * n."""
    token = b"ab" * 20_000
    ids = BYTES | {b"ab": 256, token: 257}
    vocabulary = vocabulary_from_merges(ids | {token + b"c": 258}, [(token, b"c"), (b"a", b"b")])
    assert vocabulary.unmerged() == {257: token, 258: token + b"c"}


@pytest.mark.parametrize(
    ("ids", "merges", "message"),
    [
        (BYTES, [(b"a", b"b")], "merge 0 is of b'a' and b'b', and there is no token b'ab'"),
        (BYTES | {b"abc": 256}, [(b"ab", b"c")], "merge 0 is of b'ab' and b'c', and there is no token b'ab'"),
        (BYTES | {b"ab": 256}, [(b"a", b"b"), (b"a", b"b")], "the merge of b'a' and b'b' is given twice, as 0 and 1"),
        (BYTES | {b"ab": 5}, [(b"a", b"b")], "token id 5 is given to two tokens"),
        (BYTES | {b"ab": -1}, [], "the id -1 of b'ab' is out of range"),
        (BYTES | {b"ab": 2**32 - 1}, [], "the id 4294967295 of b'ab' is out of range"),
        (BYTES | {b"ab": 2**64}, [], "the id 18446744073709551616 of b'ab' is out of range"),
        (BYTES | {b"ab": 10**9}, [(b"a", b"b")], "token id 1000000000 is too large for a vocabulary of 257 tokens"),
    ],
)
def test_what_is_no_list_of_merges_is_refused(ids, merges, message):
    with pytest.raises(ValueError, match=message):
        vocabulary_from_merges(ids, merges)
