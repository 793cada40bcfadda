"""Tokenizer.merge_steps: the tokens of each piece before merging, and after each merge."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece_model import model_file
from tokenizer_json import a_file, as_json
from vocabularies import lists_of_merges, rank_dicts, texts

import cbpe

LOW = {b"lo": 256, b"low": 257, b"er": 258, b"lower": 259}


def encoding(ranks, pattern=r"[\s\S]+", **options):
    single = {bytes([i]): i for i in range(256)}
    return cbpe.Encoding("toy", pat_str=pattern, mergeable_ranks=single | ranks, special_tokens=options)


def check(tok, text):
    """Each step joins two neighbours, from single bytes to what encode_ordinary gives."""
    found = tok.merge_steps(text)
    pieces = tok.pieces(text)
    assert len(found) == len(pieces)
    for piece, steps in zip(pieces, found, strict=True):
        assert steps[0] == [bytes([byte]) for byte in piece.encode()]
        for before, after in pairwise(steps):
            joined = [[*before[:i], before[i] + before[i + 1], *before[i + 2 :]] for i in range(len(before) - 1)]
            assert after in joined
    last = [token for steps in found for token in steps[-1]]
    assert last == tok.decode_tokens_bytes(tok.encode_ordinary(text))
    return found


def test_each_step_is_a_merge_and_the_first_that_was_learned_comes_first():
    expected = [
        [b"l", b"o", b"w", b"e", b"r"],
        [b"lo", b"w", b"e", b"r"],
        [b"low", b"e", b"r"],
        [b"low", b"er"],
        [b"lower"],
    ]
    assert check(encoding(LOW), "lower") == [expected]
    assert check(encoding(LOW, r"\w+|\s"), "low we") == [
        [[b"l", b"o", b"w"], [b"lo", b"w"], [b"low"]],
        [[b" "]],
        [[b"w", b"e"]],
    ]


def test_of_several_places_the_first_comes_first():
    assert encoding({b"aa": 256}).merge_steps("aaaaa") == [
        [[b"a"] * 5, [b"aa", b"a", b"a", b"a"], [b"aa", b"aa", b"a"]],
    ]


def test_a_whole_piece_that_no_merge_makes_is_a_step_of_its_own():
    steps = encoding({b"xyz": 256}).merge_steps("xyz")
    assert steps == [[[b"x", b"y", b"z"], [b"xyz"]]]


@given(rank_dicts(), texts(max_size=20))
def test_steps_of_any_ranks_end_with_the_tokens(ranks, text):
    ranks = {token: 256 + rank for token, rank in ranks.items() if len(token) > 1}
    tok = encoding(ranks)
    found = tok.merge_steps(text)
    assert [t for steps in found for t in steps[-1]] == tok.decode_tokens_bytes(tok.encode_ordinary(text))


@given(lists_of_merges(), texts(max_size=20))
def test_steps_of_any_list_of_merges_end_with_the_tokens(made, text):
    ids, merges = made
    tokens = [token for token in ids if len(token) > 1]
    tok = cbpe.HuggingFaceTokenizer.from_json(as_json(a_file(merges=merges, tokens=tokens)))
    check(tok, text)


@given(st.text(max_size=40))
def test_steps_of_published_and_trained_tokenizers(text):
    for tok in (cbpe.get_encoding("o200k_base"), cbpe.train("low lower lowest, new newer newest " * 3, 270)):
        if not any("\ud800" <= character <= "\udfff" for character in text):
            found = tok.merge_steps(text)
            assert [t for steps in found for t in steps[-1]] == tok.decode_tokens_bytes(tok.encode_ordinary(text))


def test_bytes_in_another_order_and_no_pattern_are_no_difference():
    check(cbpe.GPT4Tokenizer(), "lower caf\u00e9s")
    check(cbpe.BasicTokenizer(), "ab c")
    check(cbpe.get_encoding("gpt2"), "")


def test_marks_of_what_ends_a_word_are_there_from_the_beginning(tmp_path):
    vocab = {"l": 0, "o": 1, "w</w>": 2, "lo": 3, "low</w>": 4, "w": 5}
    model = {"vocab": vocab, "merges": ["l o", "lo w</w>"], "end_of_word_suffix": "</w>"}
    path = tmp_path / "words.json"
    path.write_bytes(as_json(a_file(model=model, pre_tokenizer={"type": "WhitespaceSplit"}, decoder=None)))
    assert cbpe.load(path).merge_steps("low ow") == [
        [[b"l", b"o", b"w</w>"], [b"lo", b"w</w>"], [b"low</w>"]],
        [[b"o", b"w</w>"]],
    ]


def test_over_characters_a_step_begins_with_characters(tmp_path):
    path = tmp_path / "characters.model"
    path.write_bytes(model_file([b"lo", b"low", "\u2581low".encode()]))
    tok = cbpe.load(path)
    assert tok.merge_steps("low") == [
        [[b" ", b"l", b"o", b"w"], [b" ", b"lo", b"w"], [b" ", b"low"], [b" low"]],
    ]
    assert tok.merge_steps("\u65e5")[-1][-1] == [b"<unk>"]


@pytest.mark.parametrize("length", [1000, 1001])
def test_steps_of_long_pieces_are_refused(length):
    tok = encoding({b"aa": 256})
    if length == 1000:
        assert len(tok.merge_steps("a" * length)[0]) == 501
    else:
        with pytest.raises(ValueError, match=r"piece of the text has 1,001 bytes: steps are shown .* at most 1,000"):
            tok.merge_steps("a" * length)


@pytest.mark.parametrize("text", [b"ab", None, ["a"]])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(TypeError, match="text must be a str, not"):
        cbpe.get_encoding("gpt2").merge_steps(text)


def test_a_byte_without_a_token_is_refused_as_in_encoding():
    tok = cbpe.Encoding("toy", pat_str=r"\w+", mergeable_ranks={b"a": 0, b"b": 1, b"ab": 2}, special_tokens={})
    assert tok.merge_steps("ab") == [[[b"a", b"b"], [b"ab"]]]
    with pytest.raises(KeyError, match="0x63"):
        tok.merge_steps("abc")
    lacking = cbpe.Encoding("lacking", pat_str=r"\w+", mergeable_ranks={b"a": 0, b"ab": 1}, special_tokens={})
    assert lacking.merge_steps("a") == [[[b"a"]]]  # though a merge has a byte without a token
