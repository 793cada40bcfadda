"""Analysis: a token that is called unreachable comes up in no text, and the others are found wherever that is known."""

import random
from array import array
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import by_merges, merge_lists, rank_dicts

import cbpe
from cbpe._core.analysis.reach import judge
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.analysis.vocabulary import ALWAYS_SPLIT, BYTE_ALONE, IMPOSSIBLE_BYTES, NEVER_MERGED, NORMALIZED
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer
from cbpe.tokenizers.tokenizer import Tokenizer

LETTERS = "ab é"
TEXTS = ["".join(letters) for n in range(7) for letters in product(LETTERS, repeat=n)]
PATTERNS = [
    *(None, cbpe.GPT4_SPLIT_PATTERN, cbpe.GPT2_SPLIT_PATTERN, r" ?\p{L}", "a+b?|[^ab]", r"\s+(?!\S)|b| a|."),
    r"(\w)\1*|.",  # not native
]


def found_in_texts(tok):
    return {token for text in TEXTS for token in tok.encode_ordinary(text)}


def judged(pattern, *merges):
    return Tokenizer(by_merges(merges), pattern).analyze()


# ---- Against all short texts


@given(merge_lists(LETTERS.encode()), st.sampled_from(PATTERNS))
def test_an_unreachable_token_comes_up_in_no_text(merges, pattern):
    tok = Tokenizer(by_merges(merges), pattern)
    unreachable = tok.analyze().unreachable
    assert not found_in_texts(tok) & unreachable.keys()


@given(rank_dicts(LETTERS.encode()), st.sampled_from(PATTERNS))
def test_an_unreachable_rank_comes_up_in_no_text(ranks, pattern):
    tok = cbpe.Encoding("x", pat_str=pattern or "(?s).+", mergeable_ranks=ranks, special_tokens={})
    unreachable = tok.analyze().unreachable
    for text in TEXTS[:2000]:
        try:
            assert not unreachable.keys() & tok.encode_ordinary(text)
        except KeyError:  # a byte without a token
            assert len(ranks) < 260


@given(merge_lists(LETTERS.encode(), max_size=20))
def test_without_a_pattern_every_other_text_token_is_its_own_text(merges):
    tok = Tokenizer(by_merges(merges), None)
    analysis = tok.analyze()
    for token_id, token in tok.vocab.items():
        try:
            text = token.decode()
        except UnicodeDecodeError:
            assert token_id in analysis.not_utf8
            continue
        assert token_id not in analysis.not_utf8
        assert (token_id in analysis.unreachable) == (tok.encode(text) != [token_id])


def test_bytes_that_no_utf8_holds_are_told_from_parts_of_characters():
    """Every run of two, three and four of the bytes where the rules change, against Python's decoder."""
    bounds = bytes.fromhex("41 7f 80 8f 90 9f a0 bf c1 c2 df e0 e1 ed ee ef f0 f1 f3 f4 f5")
    of_four = bytes.fromhex("41 80 90 bf c2 ed f0 f4")
    tokens = [bytes(run) for n, some in ((2, bounds), (3, bounds), (4, of_four)) for run in product(some, repeat=n)]
    vocabulary = Vocabulary(array("I"), array("I"), array("I", range(256 + len(tokens))), tokens)
    verdicts = judge(vocabulary, None)
    impossible, partial = set(verdicts.impossible_bytes), set(verdicts.partial_characters)
    for token_id, token in enumerate(tokens, 256):
        assert (token_id in impossible) == (not is_part_of_utf8(token)), token
        assert (token_id in partial) == (is_part_of_utf8(token) and not is_utf8(token)), token
    assert [i for i in verdicts.impossible_bytes if i < 256] == [0xC0, 0xC1, *range(0xF5, 0x100)]


# ---- What was found out


def test_each_reason():
    unreachable = judged(
        cbpe.GPT4_SPLIT_PATTERN,
        (97, 98),  # 256 ab
        (98, 99),  # 257 bc: after ab
        (97, 257),  # 258 abc: made of a and bc, but "abc" is ab, c
        (97, 32),  # 259 "a ": a letter, and then a blank
        (0xF5, 97),  # 260
        (256, 99),  # 261 abc again
    ).unreachable
    assert {i: reason for i, reason in unreachable.items() if i >= 256} == {
        258: NEVER_MERGED,
        259: ALWAYS_SPLIT,
        260: IMPOSSIBLE_BYTES,
    }
    assert [i for i in unreachable if i < 256] == [0xC0, 0xC1, *range(0xF5, 0x100)]


def test_a_byte_over_characters_whose_character_has_a_token_is_told_as_such():
    tok = cbpe.train("the cat sat on the mat", 275, alphabet="characters")
    unreachable = tok.analyze().unreachable
    a = 3 + ord("a")  # after <unk>, <s> and </s>
    assert tok.vocab[a] == b"a"
    assert unreachable[a] == BYTE_ALONE
    assert tok.encode("a") != [a]
    assert unreachable.keys().isdisjoint({3 + ord("x"), *tok.encode("a x")})  # "x" has no other token
    for token_id, reason in unreachable.items():
        byte = tok.vocab[token_id]
        assert (reason == BYTE_ALONE) == (byte.decode("ascii", "replace") in "the cat sat on the mat")


def test_half_a_character_at_the_end_of_a_token_does_not_hide_that_it_is_split():
    e_acute, blank = "é".encode(), 32
    merges = [(97, blank), (256, e_acute[0]), (blank, e_acute[0])]  # "a " and half an é; " " and half an é
    assert {i: reason for i, reason in judged(cbpe.GPT4_SPLIT_PATTERN, *merges).unreachable.items() if i > 255} == {
        256: ALWAYS_SPLIT,
        257: ALWAYS_SPLIT,
    }


def test_duplicates_are_grouped_special_tokens_included():
    tok = Tokenizer(by_merges([(97, 98), (98, 99), (97, 257), (256, 99)]), None, {"ab": 300, "x": 301})
    assert tok.analyze().duplicates == [[120, 301], [256, 300], [258, 259]]
    assert (
        repr(tok.analyze()) == "<VocabularyAnalysis: 260 tokens, 14 unreachable, 128 not UTF-8, 3 groups of duplicates>"
    )


@pytest.mark.parametrize("name", ["gpt2", "p50k_base", "cl100k_base", "o200k_base"])
def test_all_of_a_named_encoding_can_come_up_but_the_bytes_that_utf8_leaves_out(name):
    encoding = cbpe.get_encoding(name)
    analysis = encoding.analyze()
    impossible = {encoding.encode_single_token(bytes([byte])) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))}
    assert analysis.unreachable == dict.fromkeys(sorted(impossible), IMPOSSIBLE_BYTES)
    assert analysis.duplicates == []
    not_utf8 = {i for i, token in encoding.vocab.items() if not is_utf8(token)}
    assert set(analysis.not_utf8) == not_utf8


# ---- What the tests compare with


def is_utf8(token):
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


# Beginnings and ends of characters that go with any part of one.
BEFORE = [b"", b"\xc3", b"\xe1", b"\xe1\x80", b"\xf1", b"\xf1\x80", b"\xf1\x80\x80", b"\xe0", b"\xed", b"\xf0", b"\xf4"]
BEHIND = [b"", b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\xa0\x80", b"\xa0\x80\x80", b"\xa0"]


def is_part_of_utf8(token):
    return any(is_utf8(before + token + behind) for before in BEFORE for behind in BEHIND)


def test_a_vocabulary_is_analyzed_once_and_nobody_changes_what_another_gets(monkeypatch):
    from cbpe.analysis import vocabulary

    tok = Tokenizer(by_merges([(97, 98)]), None)
    found = tok.analyze()
    monkeypatch.setattr(vocabulary, "analyze", None)  # which nothing calls again
    expected = dict(found.unreachable), list(found.not_utf8)
    found.unreachable.clear()
    found.not_utf8.clear()
    assert (tok.analyze().unreachable, tok.analyze().not_utf8) == expected


@pytest.mark.parametrize("name", ["Lowercase", "NFC", "NFD", "NFKC", "StripAccents"])
def test_tokens_with_characters_that_the_normalizer_changes_are_unreachable_and_never_come_up(name):
    text = (
        "Low LOWER Lowest caf\u00e9 cafe\u0301 \ufb01ne \u00c9 na\u00efve nai\u0308ve \u212bngstrom \u1100\u1161 " * 5
    )
    trained = cbpe.train(text, 330, pattern=None)
    tok = HuggingFaceTokenizer.from_tokenizer(trained, {"normalizer": [{"type": name}]})
    new = {i: why for i, why in tok.analyze().unreachable.items() if i not in trained.analyze().unreachable}
    assert {*new.values()} == {NORMALIZED}
    assert b"Low" in {tok.vocab[i] for i in new} if name == "Lowercase" else len(new) > 0
    chance = random.Random(name)
    for _ in range(300):
        assert new.keys().isdisjoint(tok.encode("".join(chance.choices(text, k=20))))
