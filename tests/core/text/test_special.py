"""Special tokens are found where a naive search finds them: the leftmost, of several the longest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import by_merges, encoder

from cbpe._core.text.special import SpecialTokens

LETTERS = "ab<é😉"


def naive(text, special_tokens):
    """The ids of text by bytes, special tokens first: at every place, the longest that begins there."""
    ids = []
    while text:
        found = max((token for token in special_tokens if text.startswith(token)), key=len, default=None)
        ids += list(text[0].encode()) if found is None else [special_tokens[found]]
        text = text[len(found) :] if found else text[1:]
    return ids


def encode(text, special_tokens):
    tok = encoder(by_merges([]), special_tokens)
    return tok._encode(text, tok._special, None)


def numbered(tokens):
    return {token: 1000 + i for i, token in enumerate(tokens)}


@given(st.sets(st.text(LETTERS, min_size=1, max_size=4), max_size=8), st.text(LETTERS, max_size=60))
def test_found_as_by_a_naive_search(tokens, text):
    special_tokens = numbered(sorted(tokens))
    assert encode(text, special_tokens) == naive(text, special_tokens)


@given(st.sets(st.text("<|x", min_size=1, max_size=12), min_size=1, max_size=20), st.data())
def test_found_among_many_that_overlap(tokens, data):
    special_tokens = numbered(sorted(tokens))
    text = "".join(data.draw(st.lists(st.sampled_from([*special_tokens, "<", "|", "x", " "]), max_size=30)))
    assert encode(text, special_tokens) == naive(text, special_tokens)


@given(st.sets(st.text(min_size=1, max_size=3), max_size=5), st.text(max_size=30))
def test_found_in_any_text(tokens, text):
    special_tokens = numbered(sorted(tokens))
    encodable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert encode(text, special_tokens) == naive(encodable, special_tokens)


def test_the_longest_of_several_wins_whatever_their_order():
    for order in (["<a", "<a>", "<"], ["<", "<a>", "<a"]):
        special_tokens = numbered(order)
        assert encode("<a><a<", special_tokens) == [special_tokens[token] for token in ("<a>", "<a", "<")]


def test_the_leftmost_wins_over_a_longer_one_behind_it():
    assert encode("abcd", numbered(["ab", "bcd"])) == [1000, *b"cd"]


def test_thousands_of_them():
    special_tokens = numbered(f"<|{i}|>" for i in range(5000))
    text = "".join(f"x<|{i}|>" for i in range(0, 6000, 7))
    expected = []
    for i in range(0, 6000, 7):
        expected += [ord("x"), *([1000 + i] if i < 5000 else f"<|{i}|>".encode())]
    assert encode(text, special_tokens) == expected


def test_at_the_very_ends_and_side_by_side():
    assert encode("<e>", numbered(["<e>"])) == [1000]
    assert encode("<e><e>a<e>", numbered(["<e>"])) == [1000, 1000, ord("a"), 1000]
    assert encode("<e><e", numbered(["<e>"])) == [1000, *b"<e"]
    assert encode("", numbered(["<e>"])) == []


def test_none_at_all():
    assert encode("<e>", {}) == list(b"<e>")


def test_the_replacement_of_a_lone_surrogate_can_be_one():
    assert encode("a\ud800b", {"\ufffd": 1000}) == [ord("a"), 1000, ord("b")]
    assert encode("\ud83d\ude09", {"😉": 1000}) == [1000]


def test_their_ids_are_a_copy():
    given_ids = {"<e>": 5}
    special = SpecialTokens(given_ids)
    given_ids["<f>"] = 6
    assert special.ids == {"<e>": 5}


@pytest.mark.parametrize(
    ("ids", "error"),
    [
        ({"": 5}, ValueError),
        ({"<e>": -1}, OverflowError),
        ({"<e>": 2**32}, OverflowError),
        ({"<e>": "5"}, TypeError),
        ({5: 5}, TypeError),
        (None, TypeError),
    ],
)
def test_what_are_no_special_tokens_is_refused(ids, error):
    with pytest.raises(error):
        SpecialTokens(ids)


@pytest.mark.parametrize("false_beginnings", [10, 5_000, 40_000])
def test_among_very_many_false_beginnings(false_beginnings):
    """The search stops now and then, to look at the signals, and goes on."""
    tokens = numbered(["<|e|>", "<|e|>>", "<|other|>"])
    text = "<|" * false_beginnings + "<|e|>>" + "x" * 70_000 + "<|" * false_beginnings + "<|e|>"
    ids = encode(text, tokens)
    assert [i for i in ids if i >= 1000] == [1001, 1000]
    assert ids.index(1001) == 2 * false_beginnings
    assert len(ids) == 4 * false_beginnings + 70_002


def test_far_apart_in_a_long_text():
    tokens = numbered(["<e>", "[x]", "(y)", "{z}", "#w#"])
    text = "a" * 3_000_000 + "[x]" + "b" * 1_500_000 + "<e>"
    for some in (tokens, {"<e>": 1000, "[x]": 1001}):
        assert [i for i in encode(text, some) if i >= 1000] == [1001, 1000]


def test_a_very_long_one_is_found_and_its_parts_are_not():
    long_one = "<" + "a" * 100_000 + ">"
    tokens = {long_one: 1000, "<a": 1001}
    assert encode(long_one + "<" + "a" * 99_999 + ">", tokens)[:2] == [1000, 1001]
