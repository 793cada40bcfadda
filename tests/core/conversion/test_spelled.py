"""Spelled tokens and merges become the vocabulary that merge_lists.pyx makes of them, or are left to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import lists_of_merges

from cbpe._core.conversion.listed import ListedMerges, ListedTokens
from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe._core.conversion.spelled import resolve
from cbpe.formats.gpt2 import BYTE_TO_CHARACTER, CHARACTER_TO_BYTE, spell

BYTES = {character: byte for byte, character in BYTE_TO_CHARACTER.items()}
IDS = {**BYTES, "ab": 256, "abc": 257, "Ġa": 258}


@given(lists_of_merges(), st.booleans(), st.booleans(), st.lists(st.integers(0, 255), max_size=3))
def test_the_vocabulary_is_that_of_the_slower_way(listed, whole_pieces, as_lists, missing):
    ids, merges = listed
    ids = {token: ids[token] for token in ids if token not in [bytes([byte]) for byte in missing]}
    merges = [pair for pair in merges if all(part in ids for part in pair)]
    vocab = {spell(token): token_id for token, token_id in ids.items()}
    spelled = [[spell(left), spell(right)] for left, right in merges]
    found = resolve(vocab, spelled if as_lists else [" ".join(pair) for pair in spelled], CHARACTER_TO_BYTE)
    assert found.vocabulary(whole_pieces).pack() == vocabulary_from_merges(ids, merges, whole_pieces).pack()


def test_long_tokens_made_in_many_ways_are_resolved():
    tokens = ["a" * n for n in range(2, 300)]
    vocab = BYTES | {token: 256 + i for i, token in enumerate(tokens)}
    merges = [[token[:at], token[at:]] for token in tokens for at in range(1, len(token), 7)]
    ids = {token.encode(): vocab[token] for token in tokens} | {bytes([byte]): byte for byte in range(256)}
    pairs = [(left.encode(), right.encode()) for left, right in merges]
    found = resolve(vocab, merges, CHARACTER_TO_BYTE).vocabulary(False)
    assert found.pack() == vocabulary_from_merges(ids, pairs).pack()


@pytest.mark.parametrize(
    ("vocab", "merges"),
    [
        ({**IDS, "": 300}, []),
        ({**IDS, "a b": 300}, []),  # a space is spelled as another character
        ({**IDS, "\u0144": 300}, []),
        ({**IDS, "中": 300}, []),
        (IDS, ["a c"]),
        (IDS, ["ab d"]),
        (IDS, ["x ab"]),
        (IDS, ["a b", "a b"]),
        (IDS, ["a b", ["a", "b"]]),
        (IDS, [["a ", "b"]]),
        (IDS, ["中 b"]),
        ({"a": 0, "ab": 1}, ["a b"]),
    ],
)
def test_what_is_not_as_it_should_be_is_left_to_the_slower_way(vocab, merges):
    assert resolve(vocab, merges, CHARACTER_TO_BYTE) is None


def test_an_id_that_is_too_large_is_refused_as_a_vocabulary_does():
    with pytest.raises(ValueError, match="token id 4294967294 is too large"):
        resolve({**IDS, "xyz": 2**32 - 2}, [], CHARACTER_TO_BYTE).vocabulary(False)


@pytest.mark.parametrize(
    "merge", ["ab", "a  b", " ab", "ab ", "a b c", "", " ", [], ["a"], ["a", ""], ["a", 1], ("a", "b"), 5, None]
)
def test_what_is_no_pair_is_known(merge):
    assert list(ListedMerges.of([["a", "b"], ["a", "b c"]])) == [["a", "b"], ["a", "b c"]]
    assert list(ListedMerges.of(["a b", "b c"])) == ["a b", "b c"]
    assert ListedMerges.of(["a b", merge]) is None
    assert ListedMerges.of([["a", "b"], merge]) is None


@pytest.mark.parametrize("token_id", [-1, 2**32 - 1, 10**30, True, 1.0, "1", None, 0])
def test_what_is_no_id_or_is_there_twice_is_known(token_id):
    assert dict(ListedTokens.of({"a": 0, "b": 2**32 - 2}).items()) == {"a": 0, "b": 2**32 - 2}
    assert ListedTokens.of({"a": 0, "b": token_id}) is None
