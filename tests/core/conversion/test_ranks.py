"""Vocabularies by ranks give what joining by rank gives: the reference, and tiktoken itself."""

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from interrupts import stop_while_it_works
from reference import encode_with_ranks
from vocabularies import encode, encoder, rank_dicts, texts

from cbpe._core.conversion.ranks import vocabulary_from_ranks


@given(rank_dicts(), texts(max_size=100))
def test_any_ranks_encode_as_the_reference(ranks, text):
    expected = encode_with_ranks(text.encode(), ranks) if text else []
    assert encode(vocabulary_from_ranks(ranks), text) == expected


@given(rank_dicts(alphabet=b"abc", max_size=30, max_length=4), texts("abc", max_size=60))
def test_any_ranks_of_three_letters_encode_as_the_reference(ranks, text):
    expected = encode_with_ranks(text.encode(), ranks) if text else []
    assert encode(vocabulary_from_ranks(ranks), text) == expected


@given(rank_dicts(alphabet=b"a", max_size=12, max_length=14), st.integers(1, 150))
def test_any_ranks_of_runs_encode_as_the_reference(ranks, size):
    assert encode(vocabulary_from_ranks(ranks), "a" * size) == encode_with_ranks(b"a" * size, ranks)


@given(rank_dicts(), st.lists(texts(min_size=1, max_size=150), min_size=1, max_size=5))
def test_any_ranks_encode_as_tiktoken(ranks, texts):
    oracle = tiktoken.Encoding("test", pat_str="(?s).+", mergeable_ranks=ranks, special_tokens={})
    ours = encoder(vocabulary_from_ranks(ranks))
    for text in texts:
        assert ours.encode_ordinary(text) == oracle.encode_ordinary(text)


@given(rank_dicts())
def test_every_token_encodes_to_itself(ranks):
    ours = encoder(vocabulary_from_ranks(ranks))
    assert [ours.encode_ordinary(token.decode()) for token in ranks] == [[rank] for rank in ranks.values()]


@given(rank_dicts())
def test_tokens_are_those_of_the_ranks(ranks):
    vocabulary = vocabulary_from_ranks(ranks)
    assert vocabulary.tokens() == {rank: token for token, rank in sorted(ranks.items(), key=lambda item: item[1])}
    assert vocabulary.whole_pieces


@given(rank_dicts())
def test_merges_and_unmerged_tokens_are_all_tokens_of_several_bytes(ranks):
    """A token is unmerged exactly if its own bytes, joined by the ranks of the others, never become it."""
    vocabulary = vocabulary_from_ranks(ranks)
    for (left, right), token_id in vocabulary.merges().items():
        tokens = vocabulary.tokens()
        assert tokens[left] + tokens[right] == tokens[token_id]
    unmerged = {token for token, rank in ranks.items() if len(token) > 1 and not joins(token, ranks)}
    assert set(vocabulary.unmerged().values()) == unmerged
    assert vocabulary.n_merges == sum(len(token) > 1 for token in ranks) - len(unmerged)


def joins(token, ranks):
    """Whether joining within a longer piece can make the token: without the short cut for whole pieces."""
    return len(encode_with_ranks(token, {other: rank for other, rank in ranks.items() if other != token})) == 2


@given(rank_dicts(all_bytes=False), texts(min_size=1, max_size=20))
def test_missing_bytes_are_an_error_only_where_they_are_left(ranks, text):
    ours = encoder(vocabulary_from_ranks(ranks))
    try:
        expected = encode_with_ranks(text.encode(), ranks)
    except KeyError as error:
        with pytest.raises(KeyError, match=f"the byte 0x{error.args[0][0]:02x} has no token"):
            ours.encode_ordinary(text)
    else:
        assert ours.encode_ordinary(text) == expected


def test_where_a_token_is_joined():
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"abc": 5, b"cab": 6, b"cabcab": 7}
    vocabulary = vocabulary_from_ranks(ranks)
    assert vocabulary.merges() == {(0, 1): 3, (1, 2): 4, (3, 2): 5, (2, 3): 6}
    assert vocabulary.unmerged() == {7: b"cabcab"}  # c, abc and ab are what is left


def test_a_token_made_of_one_of_higher_rank():
    """abc comes before ab: where ab is joined, abc is at once."""
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"abc": 3, b"ab": 4, b"bc": 5}
    vocabulary = vocabulary_from_ranks(ranks)
    assert not vocabulary.monotone
    assert encode(vocabulary, "aabcab") == encode_with_ranks(b"aabcab", ranks) == [0, 3, 4]


def test_a_token_that_is_never_joined_is_found_as_a_whole_piece_only():
    ranks = {b"a": 0, b"b": 1, b"ab": 2, b"aba": 3, b"bb": 4, b"abb": 5}
    vocabulary = vocabulary_from_ranks({**ranks, b"bab": 6, b"xyz": 7, b"x": 8, b"y": 9, b"z": 10})
    assert vocabulary.unmerged() == {7: b"xyz"}
    assert encode(vocabulary, "xyz") == [7]
    assert encode(vocabulary, "xyzx") == [8, 9, 10, 8]


@pytest.mark.parametrize(
    ("ranks", "error", "message"),
    [
        ({"a": 0}, TypeError, "a token is bytes, not str: 'a'"),
        ({b"a": "0"}, TypeError, "the rank of b'a' is an int, not str"),
        ({b"a": True}, TypeError, "not bool"),
        ({b"a": 1.0}, TypeError, "not float"),
        ({b"": 3}, ValueError, "the token with rank 3 is empty"),
        ({b"a": -1}, ValueError, "rank -1 of b'a' is out of range"),
        ({b"a": 2**32 - 1}, ValueError, "rank 4294967295 of b'a' is out of range"),
        ({b"a": 10**30}, ValueError, "out of range"),
        ({b"a": 2**31}, ValueError, "token id 2147483648 is too large"),
        ({b"a": 7, b"b": 8, b"ab": 7}, ValueError, "b'a' and b'ab' have the same rank 7"),
    ],
)
def test_what_are_no_ranks_is_refused(ranks, error, message):
    with pytest.raises(error, match=message):
        vocabulary_from_ranks(ranks)


def test_ctrl_c_ends_a_conversion():
    stop_while_it_works(
        """
from cbpe._core.conversion.ranks import vocabulary_from_ranks
text = [(number.to_bytes(3, "big"), number) for number in range(300_000)]
""",
        "vocabulary_from_ranks(dict(text))",
    )


def test_a_long_token_that_comes_before_its_parts_is_done_in_time():
    """n log n steps for all, not n * n for each token."""
    chain = [b"a" * n for n in range(3000, 0, -1)]
    long = b"ab" * 100_000
    vocabulary = vocabulary_from_ranks({token: rank for rank, token in enumerate([*chain, b"b", b"ab", long])})
    assert vocabulary.unmerged() == {3002: long}
    assert not vocabulary.monotone


class OddBytes(bytes):
    """Bytes whose methods do not tell what they are."""

    def __len__(self):
        return 100_000

    def __eq__(self, other):
        return False

    __hash__ = bytes.__hash__


class OddInt(int):
    def __lt__(self, other):
        return True

    def __index__(self):
        return -5

    __le__ = __gt__ = __ge__ = __lt__


def test_odd_bytes_and_ints_are_the_bytes_and_ints_that_they_are():
    ranks = {OddBytes(b"a"): 1, OddBytes(b"b"): OddInt(0), OddBytes(b"ab"): OddInt(2)}
    vocabulary = vocabulary_from_ranks(ranks)
    assert vocabulary.tokens() == {0: b"b", 1: b"a", 2: b"ab"}
    with pytest.raises(ValueError, match="a token is given twice"):
        vocabulary_from_ranks({**ranks, OddBytes(b"ab"): 7})
    with pytest.raises(ValueError, match=r"rank \(an int of 16,610 bits\) of b'ab' is out of range"):
        vocabulary_from_ranks({OddBytes(b"ab"): OddInt(10**5000)})
