"""Tokenizer.pieces: what the split pattern cuts out of a text, before merging."""

from itertools import accumulate

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_json import BYTE_LEVEL, DIGITS, NO_REGEX, a_file, as_json, sequence_of, tokenizers

import cbpe
from cbpe.formats.gpt2 import unspell

TEXTS = st.text(st.sampled_from(" \t\n'sStLl1a.\u00e9\u4e2d\u0301") | st.characters(codec="utf-8"), max_size=30)
PATTERNS = {
    "gpt2": cbpe.GPT2_SPLIT_PATTERN,
    "cl100k_base": cbpe.GPT4_SPLIT_PATTERN,
    "o200k_base": cbpe.patterns.O200K_SPLIT_PATTERN,
}


@pytest.mark.parametrize("name", PATTERNS)
@given(text=TEXTS)
def test_pieces_of_an_encoding_are_what_regex_finds(name, text):
    assert cbpe.get_encoding(name).pieces(text) == regex.findall(PATTERNS[name], text)


@pytest.mark.parametrize(
    ("pattern", "text", "pieces"),
    [
        (r" ?\p{L}+|\s", "a cat, 2 dogs", ["a", " cat", " ", " dogs"]),
        (r"(\w)\1*|.", "aab b", ["aa", "b", " ", "b"]),  # which the regex module splits
        (None, "a b\n", ["a b\n"]),
        (None, "", []),
        (r"\w+|\W+", "a\ud83d\ude00b \ud800", ["a", "\U0001f600", "b", " \ufffd"]),
    ],
)
def test_pieces_of_a_pattern_of_ones_own(pattern, text, pieces):
    tok = cbpe.BasicTokenizer() if pattern is None else cbpe.RegexTokenizer(pattern)
    assert tok.pieces(text) == pieces


@given(TEXTS)
def test_no_token_reaches_over_the_end_of_a_piece(text):
    for tok in (cbpe.get_encoding("o200k_base"), cbpe.train("the cat on the mat, the hat", 280)):
        pieces = [piece.encode() for piece in tok.pieces(text)]
        tokens = tok.decode_tokens_bytes(tok.encode_ordinary(text))
        assert b"".join(pieces) == b"".join(tokens) == text.encode()
        assert {*accumulate(map(len, pieces))} <= {*accumulate(map(len, tokens))}


@given(TEXTS)
def test_pieces_of_a_tokenizer_json_are_those_of_tokenizers(text):
    for steps in ([BYTE_LEVEL], [DIGITS, BYTE_LEVEL], [{"type": "WhitespaceSplit"}, NO_REGEX]):
        for normalizer in (None, {"type": "Lowercase"}, {"type": "NFD"}):
            content = as_json(a_file(pre_tokenizer=sequence_of("pretokenizers", *steps), normalizer=normalizer))
            there = tokenizers().Tokenizer.from_str(content.decode())
            changed = text if normalizer is None else there.normalizer.normalize_str(text)
            expected = [unspell(piece).decode() for piece, _ in there.pre_tokenizer.pre_tokenize_str(changed)]
            assert cbpe.HuggingFaceTokenizer.from_json(content).pieces(text) == expected


def test_special_tokens_are_ordinary_text():
    enc = cbpe.get_encoding("cl100k_base")
    assert "<|endoftext|>" in enc.special_tokens
    assert enc.pieces("a<|endoftext|>") == ["a", "<|", "endoftext", "|>"]  # letters, and what is none


@pytest.mark.parametrize("text", [b"ab", None, ["a", "b"]])
def test_what_is_no_text_is_refused(text):
    for tok in (cbpe.get_encoding("gpt2"), cbpe.BasicTokenizer()):
        with pytest.raises(TypeError, match="text must be a str, not"):
            tok.pieces(text)
