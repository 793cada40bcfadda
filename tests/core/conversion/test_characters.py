"""Vocabularies over characters: text is merged character by character, and what has no token becomes its bytes or the
unknown token, as the slowest way does it."""

from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe._core.conversion.characters import vocabulary_of_characters
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.tokenizers.tokenizer import Tokenizer

KNOWN = "ab\u00e9\u4e2d\u4e2e\U0001f600 "
OTHERS = "c\u00e8\u4e2f\U0001f601\n"
BYTE_IDS = list(range(1000, 1256))
UNKNOWN = 2000
ABSENT = 0xFFFFFFFF

texts = st.text(KNOWN + OTHERS, max_size=40)


@st.composite
def models(draw):
    """The ids of tokens and a list of merges, some of which make what others make, and some that never happen."""
    tokens = list(KNOWN)
    merges = []
    for _ in range(draw(st.integers(0, 12))):
        pair = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        if pair not in merges and len("".join(pair)) <= 6:
            merges.insert(draw(st.integers(0, len(merges))), pair)
            if "".join(pair) not in tokens:
                tokens.append("".join(pair))
    ids = draw(st.permutations(range(len(tokens))))
    return dict(zip(tokens, ids, strict=True)), merges


def merge_slowly(text, ids, priority):
    """The characters of a text, of which the two neighbours that come first by `priority` are joined, the leftmost of
    several, again and again."""
    parts = list(text)
    while True:
        ranked = [(priority(pair), i) for i, pair in enumerate(pairwise(parts)) if priority(pair) is not None]
        if not ranked:
            return parts
        _, i = min(ranked)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def made_of(ids, merges, **options):
    listed = None if merges is None else [(left.encode(), right.encode()) for left, right in merges]
    return vocabulary_of_characters({text.encode(): i for text, i in ids.items()}, listed, **options)


def encode(vocabulary, text):
    return Tokenizer(vocabulary, None).encode(text)


def by_list(merges):
    return lambda pair: merges.index(pair) if pair in merges else None


def by_rank(ids):
    return lambda pair: ids.get("".join(pair))


@given(models(), texts, st.booleans())
def test_text_is_merged_by_characters_and_others_become_their_bytes(model, text, ranks):
    ids, merges = model
    vocabulary = made_of(ids, None if ranks else merges, byte_ids=BYTE_IDS)
    expected = []
    for part in merge_slowly(text, ids, by_rank(ids) if ranks else by_list(merges)):
        expected += [ids[part]] if part in ids else [BYTE_IDS[byte] for byte in part.encode()]
    assert encode(vocabulary, text) == expected
    assert Tokenizer(vocabulary, None).count(text) == len(expected)
    assert Tokenizer(vocabulary, None).decode(expected) == text


@given(models(), texts, st.booleans())
def test_characters_without_a_token_become_the_unknown_one(model, text, fuses):
    ids, merges = model
    vocabulary = made_of(ids, merges, unknown=UNKNOWN, fuses_unknown=fuses)
    expected = []
    for part in merge_slowly(text, ids, by_list(merges)):
        if part in ids or not (fuses and expected[-1:] == [UNKNOWN]):
            expected.append(ids.get(part, UNKNOWN))
    assert encode(vocabulary, text) == expected


@given(models())
def test_what_it_is_made_of_is_told_and_kept_packed(model):
    ids, merges = model
    vocabulary = made_of(ids, merges, byte_ids=BYTE_IDS)
    tokens = {i: text.encode() for text, i in ids.items()} | {i: bytes([i - 1000]) for i in BYTE_IDS}
    assert vocabulary.tokens() == tokens
    assert len(vocabulary) == len(tokens)
    assert vocabulary.characters
    assert vocabulary.unknown is None
    assert {(tokens[a].decode(), tokens[b].decode()) for a, b in vocabulary.merges()} <= {*merges}
    assert [vocabulary.token(i) for i in (ids["a"], 1000, 5000)] == [b"a", b"\0", None]
    unpacked = Vocabulary.unpack(vocabulary.pack())
    assert unpacked.pack() == vocabulary.pack()
    assert (unpacked.tokens(), unpacked.merges()) == (tokens, vocabulary.merges())


@pytest.mark.parametrize("fuses", [False, True])
def test_the_unknown_token_is_kept_packed(fuses):
    vocabulary = Vocabulary.unpack(made_of({"a": 0}, [], unknown=7, fuses_unknown=fuses).pack())
    assert (vocabulary.unknown, vocabulary.fuses_unknown) == (7, fuses)
    assert encode(vocabulary, "\u4e2d\u4e2da") == ([7, 0] if fuses else [7, 7, 0])


def test_a_long_text_without_spaces_is_the_same_in_parts_and_in_threads():
    ids = {"a": 0, "\u4e2d": 1, "\u4e2da": 2, "a\u4e2d": 3}
    vocabulary = made_of(ids, [("\u4e2d", "a"), ("a", "\u4e2d")], byte_ids=BYTE_IDS)
    text = "\u4e2da\u4e2e\U0001f600" * 20_000
    expected = [2, *(BYTE_IDS[byte] for byte in "\u4e2e\U0001f600".encode())] * 20_000
    tokenizer = Tokenizer(vocabulary, None)
    assert tokenizer.encode(text) == expected
    assert tokenizer.encode_batch([text, "a"], num_threads=2) == [expected, [0]]


def test_a_character_without_any_token_is_named():
    with pytest.raises(KeyError, match="0xe4 has no token"):
        encode(made_of({"a": 0}, []), "a\u4e2d")


BYTES = [ABSENT] * 256


@pytest.mark.parametrize(
    ("left", "right", "ids", "problem"),
    [
        ([97], [98], [ABSENT], "merge 0 makes has no id"),
        ([0xE4], [0xB8], [5], "has the id 5, and is no character"),
        ([0xC3, 256], [0xA9, 0xA9], [5, 6], "merge 1 is not of characters"),
        ([0xA9], [0xC3], [5], "merge 0 is not of characters"),
        ([97, 0xC3], [98, 0xA9], [5, 6], "merge 1 is not of characters"),
        ([0xC3], [256], [5], "made of itself|not of characters|byte by byte"),
    ],
)
def test_merges_that_spell_no_characters_are_refused(left, right, ids, problem):
    with pytest.raises(ValueError, match=problem):
        Vocabulary(array("I", left), array("I", right), array("I", BYTES + ids), characters=True)


@pytest.mark.parametrize("options", [{"unknown": 3}, {"characters": True, "fuses_unknown": True}, {"unknown": -1}])
def test_an_unknown_token_is_one_of_a_vocabulary_over_characters(options):
    with pytest.raises(ValueError, match="no id of an unknown token"):
        Vocabulary(array("I"), array("I"), array("I", BYTES), **options)


def test_a_token_that_is_empty_or_a_merge_of_no_token_is_refused():
    with pytest.raises(ValueError, match="has no characters"):
        made_of({"": 3}, [])
    with pytest.raises(ValueError, match="there is no token b'ab'"):
        made_of({"a": 0, "b": 1}, [("a", "b")])
