"""bpeasy's vocabularies, taken over: the same ids."""

import pytest

import cbpe

TEXT = "the cat sat on the mat, the rat sat on the cat; na\u00efve \u00e9t\u00e9 1234567\n\n  x \u4e2d\u6587 \U0001f609"
OTHER = "another text:  the other cats'll sit there \u017f\t12 \u4e2d\u6587\u5b57\n \n"


@pytest.mark.parametrize("pattern", [cbpe.GPT2_SPLIT_PATTERN, r"\S+|\s+"])
def test_a_trained_vocabulary_has_the_same_ids(pattern):
    bpeasy = pytest.importorskip("bpeasy", reason="compares with bpeasy")
    tokenizer = pytest.importorskip("bpeasy.tokenizer")
    vocab = bpeasy.train_bpe(iter([TEXT] * 5), pattern, 8, 300)
    there = tokenizer.BPEasyTokenizer(vocab, pattern, ["<|end|>", "<|pad|>"])
    here = cbpe.from_bpeasy(vocab, pattern, ["<|end|>", "<|pad|>"])
    assert type(here) is cbpe.Encoding
    for text in (TEXT, OTHER, "a<|end|>b<|pad|><|end|>", ""):
        assert here.encode(text, allowed_special="all") == there.encode(text, allowed_special="all")


def test_special_tokens_have_the_ids_behind_the_vocabulary():
    encoding = cbpe.from_bpeasy({b"a": 0, b"b": 1, b"ab": 2}, ".", ["<x>", "<y>", "<x>"], name="own")
    assert encoding.name == "own"
    assert encoding.special_tokens == {"<x>": 3, "<y>": 4}


def test_what_is_no_vocabulary_is_refused():
    with pytest.raises(TypeError, match="mergeable ranks are a dict"):
        cbpe.from_bpeasy([(b"a", 0)], ".")
    with pytest.raises(ValueError, match="the same rank 0"):
        cbpe.from_bpeasy({b"a": 0, b"b": 0}, ".")
