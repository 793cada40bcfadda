"""Buckets of tokens: the same as a few lines of Python deal them, for every kind of vocabulary."""

from array import array
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import by_merges, merge_lists

from cbpe._core.vocabulary.buckets import bucket_entries
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.encodings.named import load_vocabulary


def dealt(vocabulary, n_buckets):
    """As docs/store.md says."""
    ranks = {new: rank for rank, (_, _, new) in enumerate(vocabulary.merge_parts())}
    buckets = [b""] * n_buckets
    for token_id, token in sorted(vocabulary.tokens().items()):
        entry = token.replace(b"\xfd", b"\xfd\0").replace(b"\xfe", b"\xfd\1").replace(b"\xff", b"\xfd\2")
        entry = b"\xfe" + entry + b"\xff" + str(token_id).encode()
        if token_id in ranks:
            entry += b"," + (b"" if ranks[token_id] == token_id - 256 else str(ranks[token_id]).encode())
        buckets[crc32(token) % n_buckets] += entry
    return buckets


@given(merge_lists(alphabet=b"a\xfd\xfe\xff"), st.sampled_from([1, 2, 16, 512]))
def test_a_trained_model_is_dealt_as_the_docs_say(merges, n_buckets):
    vocabulary = by_merges(merges)
    assert bucket_entries(vocabulary, n_buckets) == dealt(vocabulary, n_buckets)


@given(st.data())
def test_ids_may_be_any_and_bytes_have_none(data):
    ids = data.draw(st.lists(st.integers(0, 10**6), min_size=4, max_size=4, unique=True))
    single = [2**32 - 1] * 256
    single[97], single[98] = ids[:2]
    merges = array("I", [97, 256]), array("I", [99, 98])  # the byte 99 has no token
    ids_of = array("I", [*single, *ids[2:], 10**6 + 1])
    vocabulary = Vocabulary(*merges, ids_of, [b"\xff\xfe\xfd\0"], whole_pieces=True)
    assert bucket_entries(vocabulary, 4) == dealt(vocabulary, 4)


def test_ids_of_every_length_are_written():
    ids = [0, 9, 10, 99, 100, 255, 256, 9_999, 10_000, 999_999, 1_000_000]
    single = array("I", [*ids, *range(2000, 2256 - len(ids))])
    vocabulary = Vocabulary(array("I"), array("I"), single)
    (entries,) = bucket_entries(vocabulary, 1)
    assert [int(entry.rpartition(b"\xff")[2]) for entry in entries.split(b"\xfe")[1:]] == sorted(single)
    assert [entries] == dealt(vocabulary, 1)


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base"])
def test_a_named_encoding_is_dealt_as_the_docs_say(name):
    vocabulary = load_vocabulary(name)
    assert bucket_entries(vocabulary, 4096) == dealt(vocabulary, 4096)


def test_characters_that_merges_spell_have_no_rank():
    #  U+00E9 is C3 A9, which the first merge spells; the second merges it with "a".
    single = array("I", range(256))
    vocabulary = Vocabulary(
        array("I", [0xC3, 97]), array("I", [0xA9, 256]), array("I", [*single, 256, 300]), characters=True
    )
    assert bucket_entries(vocabulary, 8) == dealt(vocabulary, 8)
    assert any(b"\xfe\xc3\xa9\xff256\xfe" in entries + b"\xfe" for entries in bucket_entries(vocabulary, 8))
    assert any(b"\xfea\xc3\xa9\xff300,0\xfe" in entries + b"\xfe" for entries in bucket_entries(vocabulary, 8))


@pytest.mark.parametrize("n_buckets", [0, 3, 4095])
def test_another_number_of_buckets_is_refused(n_buckets):
    with pytest.raises(ValueError, match="power of two"):
        bucket_entries(by_merges([]), n_buckets)
