"""A piece that is a token is that token, whatever the merges say, in a vocabulary with whole pieces."""

from array import array

from hypothesis import given
from hypothesis import strategies as st
from reference import encode_with_merges
from vocabularies import by_merges, encoder, merge_lists, shuffled_merge_lists

from cbpe._core.vocabulary.vocabulary import Vocabulary

WORDS = r"\S+|\s"
# Two characters whose bytes have much in common, so that merges make and cross them.
ALPHABET = "㐐㐑".encode()


def with_whole_pieces(merges, **options):
    left, right = (array("I", [pair[side] for pair in merges]) for side in (0, 1))
    return Vocabulary(left, right, array("I", range(256 + len(merges))), whole_pieces=True, **options)


def expected_ids(vocabulary, merged, text):
    """A word at a time: its token, or what merging makes of it."""
    first = {}
    for token_id, token in vocabulary.tokens().items():
        first.setdefault(token.decode(errors="surrogateescape"), token_id)
    ids = []
    for i, word in enumerate(text.split(" ")):
        ids += [ord(" ")] * (i > 0)
        ids += [first[word]] if word in first else merged(word)
    return ids


def by_the_reference(merges):
    in_order = {pair: 256 + i for i, pair in enumerate(merges)}
    return lambda word: encode_with_merges(word.encode(), in_order)


def check_both_passes(vocabulary, text, expected):
    for one in (vocabulary, Vocabulary.unpack(vocabulary.pack())):
        tok = encoder(one, pattern=WORDS)
        assert [tok.encode_ordinary(text) for _ in range(2)] == [expected, expected]


def with_all_tokens(vocabulary, words):
    known = [token.decode() for token in vocabulary.tokens().values() if b"a" <= token < b"c" and len(token) < 40]
    return " ".join(words + known)


def test_tokens_that_merging_does_not_make_are_found_whole_and_nowhere_else():
    merges = [(ord("b"), ord("c")), (ord("a"), ord("b")), (257, ord("c"))]
    tok = encoder(with_whole_pieces(merges), pattern=WORDS)
    assert tok.encode_ordinary("abc abcd abc") == [258, 32, ord("a"), 256, ord("d"), 32, 258]


@given(merge_lists(), st.lists(st.text("ab", max_size=8), max_size=12))
def test_whole_pieces_are_found_whatever_the_merges_make(merges, words):
    vocabulary = with_whole_pieces(merges)
    text = with_all_tokens(vocabulary, words)
    check_both_passes(vocabulary, text, expected_ids(vocabulary, by_the_reference(merges), text))


@given(shuffled_merge_lists(), st.lists(st.text("ab", max_size=8), max_size=12))
def test_whole_pieces_are_found_where_merges_are_made_of_later_ones(merges, words):
    """What is no token is merged as in a vocabulary without whole pieces."""
    vocabulary, merged = with_whole_pieces(merges), encoder(by_merges(merges)).encode_ordinary
    text = with_all_tokens(vocabulary, words)
    check_both_passes(vocabulary, text, expected_ids(vocabulary, merged, text))


@given(merge_lists(alphabet=ALPHABET), st.lists(st.text("㐐㐑", max_size=8), max_size=8))
def test_parts_of_a_piece_are_not_looked_up(merges, words):
    """What merges would make of a part that is cut off a piece is no matter of whole pieces."""
    vocabulary = with_whole_pieces(merges)
    text = " ".join(words)
    check_both_passes(vocabulary, text, expected_ids(vocabulary, by_the_reference(merges), text))
