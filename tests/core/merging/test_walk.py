"""Walking over long pieces gives what merging them gives, tokens that never come up included."""

import random

import pytest
from hypothesis import given
from reference import encode_with_merges
from vocabularies import SHORT, by_merges, encode, encode_walking, merge_lists, texts

import cbpe
from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.encodings.named import load_vocabulary

A, B, C = b"abc"


def in_order(merges):
    return {pair: 256 + i for i, pair in enumerate(merges)}


@given(merge_lists(max_size=16), texts(min_size=SHORT + 1))
def test_walking_is_merging(merges, text):
    assert encode_walking(by_merges(merges), text) == encode_with_merges(text.encode(), in_order(merges))


@given(merge_lists(alphabet=b"abc", max_size=30), texts("abc", min_size=SHORT + 1, max_size=300))
def test_walking_is_merging_with_three_letters(merges, text):
    assert encode_walking(by_merges(merges), text) == encode_with_merges(text.encode(), in_order(merges))


@given(merge_lists(alphabet=b"a", max_size=20), texts("a", min_size=SHORT + 1, max_size=300))
def test_walking_is_merging_on_runs(merges, text):
    assert encode_walking(by_merges(merges), text) == encode_with_merges(text.encode(), in_order(merges))


@pytest.mark.parametrize(
    "merges",
    [
        [(B, C), (A, B), (A, 256)],  # "abc" is a, bc and then abc: ab never gets its b
        [(A, B), (B, C), (A, 257)],  # "abc" is ab, c: the token of (a, bc) never comes up
        [(A, B), (B, C), (A, 257), (258, A), (256, C)],  # nor what is made of it; abc has another pair, and another id
        [(A, A), (A, 256), (256, A)],  # "aaa" is aa, a: only the later of the two pairs that spell it comes up
        [(A, A), (256, 256), (256, A), (A, 257), (258, 257)],
    ],
)
def test_tokens_that_never_come_up_are_not_walked(merges):
    rng = random.Random(1)
    for _ in range(50):
        text = "".join(rng.choices("abc", [5, 3, 2], k=rng.randint(SHORT + 1, 150)))
        assert encode_walking(by_merges(merges), text) == encode_with_merges(text.encode(), in_order(merges))


def test_borders_that_turn_out_wrong_are_taken_back():
    """The longest token is wrong at the start, and that shows only at the far end of a run."""
    merges = [(A, B), (A, A), (257, 257), (258, 258), (259, 259)]
    for size in range(SHORT, SHORT + 40):
        text = "a" * size + "b"
        assert encode_walking(by_merges(merges), text) == encode_with_merges(text.encode(), in_order(merges))


@pytest.fixture(scope="module")
def both_ways():
    """cl100k_base without splitting, walking and in the heap: two tokens of bytes that no text has make it not
    monotone."""
    vocabulary = load_vocabulary("cl100k_base")
    ranks = {token: rank for rank, token in vocabulary.tokens().items()}
    in_heap = vocabulary_from_ranks({**ranks, b"\xfe\xff\xfe": 200_000, b"\xfe\xff": 200_001})
    assert vocabulary.monotone
    assert not in_heap.monotone
    return cbpe.Tokenizer(vocabulary, None), cbpe.Tokenizer(in_heap, None)


def unbroken(kind, size):
    rng = random.Random(size)
    return {
        "one letter": lambda: "a" * size,
        "letters": lambda: "".join(rng.choices("etaoinshrdlu", k=size)),
        "spaces": lambda: " " * size,
        "Chinese": lambda: "".join(map(chr, rng.choices(range(0x4E00, 0x5000), k=size // 3))),
        "any characters": lambda: "".join(map(chr, rng.choices(range(0xD800), k=size // 3))),
    }[kind]()


@pytest.mark.parametrize("kind", ["one letter", "letters", "spaces", "Chinese", "any characters"])
def test_a_million_bytes_in_one_piece_walk_as_they_merge(both_ways, kind):
    walking, in_heap = both_ways
    text = unbroken(kind, 1_000_000)
    ids = walking._encode_single_piece(text)
    assert walking.decode_bytes(ids) == text.encode()
    assert ids == in_heap._encode_single_piece(text)


def test_vocabularies_with_huge_tokens_are_merged_all_the_same():
    """Doubling runs up to 2**23 letters: too much for tables to walk by, so these merge in the heap."""
    merges = [(A, A)] + [(256 + i, 256 + i) for i in range(22)]
    vocabulary = by_merges(merges)
    text = "a" * (2**20 + 2**19 + 3)
    assert encode(vocabulary, text) == [256 + 19, 256 + 18, 256, A]
