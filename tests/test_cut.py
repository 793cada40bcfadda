"""Cutting long pieces between characters that no merge joins changes nothing."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import encode_with_merges
from vocabularies import by_merges, encode, encoder, merge_lists

from cbpe._core.vocab import Vocabulary
from cbpe.encodings import load_vocabulary

# One to four bytes long; some share their first bytes, some their last ones, some lie beyond the table of characters.
CHARACTERS = "ab éèøñ中丮且人😉😊🚀🏳"
BYTES = bytes(sorted(set(CHARACTERS.encode())))


@given(merge_lists(alphabet=BYTES, max_size=20), st.text(CHARACTERS, min_size=8, max_size=60))
def test_merges_across_and_within_characters(merges, text):
    """Any merges of any bytes: ends of characters with beginnings, halves with halves."""
    expected = encode_with_merges(text.encode(), {pair: 256 + i for i, pair in enumerate(merges)})
    assert encode(by_merges(merges), text) == expected


@st.composite
def merges_of_characters(draw):
    """Merges as they are learned: characters first, then some across their borders, whole or in parts."""
    merges = []
    ids = {bytes([i]): i for i in range(256)}

    def add(left, right):
        if left in ids and right in ids and (ids[left], ids[right]) not in merges:
            merges.append((ids[left], ids[right]))
            ids.setdefault(left + right, 255 + len(merges))

    texts = draw(st.lists(st.text(CHARACTERS, min_size=1, max_size=3), max_size=12))
    for text in texts:
        data = text.encode()
        start = draw(st.integers(0, len(data) - 1))
        end = draw(st.integers(start + 1, len(data)))
        for i in range(start + 1, end):
            add(data[start:i], data[i : i + 1])
            add(data[i - 1 : i], data[i:end])
    return merges, "".join(texts)


@given(merges_of_characters(), st.data())
def test_merges_learned_from_the_text(learned, data):
    merges, text = learned
    text = text + data.draw(st.text(CHARACTERS, max_size=30)) + text[::-1] + text
    expected = encode_with_merges(text.encode(), {pair: 256 + i for i, pair in enumerate(merges)})
    assert encode(by_merges(merges), text) == expected


def uncut(vocabulary):
    """The same with a token that nothing is merged to, because of which nothing is cut."""
    ids = [token_id for token_id, _ in sorted(vocabulary.tokens().items())]
    symbol_of = {}
    byte_ids = [vocabulary.find(bytes([i])) for i in range(256)]
    symbol_of.update({token_id: i for i, token_id in enumerate(byte_ids)})
    merges = vocabulary.merges()
    symbol_of.update({token_id: 256 + i for i, token_id in enumerate(merges.values())})
    left, right = (array("I", [symbol_of[pair[side]] for pair in merges]) for side in (0, 1))
    return Vocabulary(
        left, right, array("I", [*byte_ids, *merges.values(), max(ids) + 1]), [b"\xf9\xfa\xfb"], vocabulary.whole_pieces
    )


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_a_real_vocabulary_on_all_characters(name):
    """Every character beside characters near it and far from it, in one piece."""
    vocabulary = load_vocabulary(name)
    cut, whole = (encoder(v, cache_bytes=0) for v in (vocabulary, uncut(vocabulary)))
    assert whole._vocabulary.tokens() == {**vocabulary.tokens(), vocabulary.max_id + 1: b"\xf9\xfa\xfb"}
    characters = [chr(i) for i in range(0x80, 0x30000) if not 0xD800 <= i < 0xE000]
    for step in (1, 61, 1009):
        text = "".join(characters[i] for start in range(step) for i in range(start, len(characters), step))
        assert cut.encode_ordinary(text) == whole.encode_ordinary(text)
