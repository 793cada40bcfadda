"""tiktoken's vocabulary files: lines of a token in base64 and its rank."""

import base64
from array import array
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import encode_with_merges, encode_with_ranks
from tiktoken.load import load_tiktoken_bpe
from vocabularies import by_merges, merge_lists, rank_dicts

import cbpe
from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.encodings.generate import ranks_of
from cbpe.encodings.named import load_vocabulary
from cbpe.formats.ranks import tiktoken

RANKS = {b"a": 0, b"b": 1, b"ab": 2, b"\x00\xff": 10}
FILE = b"YQ== 0\nYg== 1\nYWI= 2\nAP8= 10\n"


def test_a_small_file_is_written_and_read_to_the_letter():
    assert tiktoken.dumps(RANKS) == FILE
    assert tiktoken.loads(FILE) == RANKS


@given(st.dictionaries(st.binary(min_size=1), st.integers(0, 2**32), max_size=20))
def test_what_is_written_is_read_back_by_rising_rank(ranks):
    assert list(tiktoken.loads(tiktoken.dumps(ranks)).items()) == sorted(ranks.items(), key=lambda item: item[1])


def test_what_is_written_is_read_by_tiktoken(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # no cache
    path = tmp_path / "r50k_base.tiktoken"
    ranks = ranks_of(load_vocabulary("r50k_base"))
    path.write_bytes(tiktoken.dumps(ranks))
    assert load_tiktoken_bpe(str(path)) == tiktoken.loads(path.read_bytes()) == ranks


@pytest.mark.parametrize(
    "data", [FILE.replace(b"\n", b"\r\n"), FILE.rstrip(b"\n"), b"\n" + FILE + b"\n\n", FILE.replace(b" ", b"\t")]
)
def test_other_line_ends_blank_lines_and_tabs_are_read(data):
    assert tiktoken.loads(data) == RANKS


def test_nothing_is_no_ranks():
    assert tiktoken.loads(b"") == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"YQ==", "line 5 of the vocabulary is no token in base64 and its rank"),
        (b"7", "line 5"),
        (b"YWM= 3 3", "line 5"),
        (b"YWM 3", "line 5"),  # its padding is missing
        (b"Y*WM= 3", "line 5"),
        (b"YW\xff= 3", "line 5"),
        ("YWÄ= 3".encode("latin-1"), "line 5"),
        (b"= 3", "line 5"),
        (b"YWM= x", "line 5"),
        (b"YWM= -3", "line 5"),
        (b"YWM= +3", "line 5"),
        (b"YWM= 3_0", "line 5"),
        (b"YWM= 3.0", "line 5"),
        (b"YWM= " + b"9" * 5000, "line 5"),
        (b"   ", "line 5"),
        (b"\x00", "line 5"),
        (b"YWI= 3", "line 5 of the vocabulary gives the token 'ab' again"),
    ],
)
def test_a_wrong_line_is_named(line, message):
    with pytest.raises(ValueError, match=message):
        tiktoken.loads(FILE + line + b"\n")


def test_files_that_are_no_vocabularies_are_refused():
    for data in (b"<!DOCTYPE html>\n<html>\n", b'{"a": 1}', b"\x89PNG\r\n\x1a\n", "YQ== 0\n".encode("utf-16")):
        with pytest.raises(ValueError, match="line 1 of the vocabulary"):
            tiktoken.loads(data)


def test_cut_short_within_a_line_is_refused_or_lacks_tokens():
    """A rank that lost digits is another rank, which the vocabulary has already but for the first few."""
    tokens = [bytes([i]) for i in range(256)] + [b"ab", b"abc", b"abcd"]
    data = tiktoken.dumps({token: i for i, token in enumerate(tokens)})
    last = data.rindex(b"\n", 0, -1) + 1
    for size in range(last + 1, len(data) - 1):
        with pytest.raises(ValueError, match=r"line 259 of the vocabulary|have the same rank"):
            vocabulary_from_ranks(tiktoken.loads(data[:size]))


def test_two_tokens_of_one_rank_are_refused_by_what_is_made_of_them():
    ranks = tiktoken.loads(base64.b64encode(b"a") + b" 0\n" + base64.b64encode(b"b") + b" 0\n")
    with pytest.raises(ValueError, match="the tokens b'a' and b'b' have the same rank 0"):
        cbpe.Encoding("x", pat_str=".", mergeable_ranks=ranks, special_tokens={})


# ---- Ranks for a vocabulary that merges pairs


EVERY_TEXT = [bytes(text) for n in range(1, 10) for text in product(b"ab", repeat=n)]


@given(merge_lists())
def test_ranks_are_given_just_where_they_give_the_same_ids(merges):
    """On every short text over the alphabet of the merges; where they are refused, some text tells why."""
    vocabulary = by_merges(merges)
    pairs = {pair: 256 + i for i, pair in enumerate(merges)}
    tokens = vocabulary.tokens()
    ranks = {token: token_id for token_id, token in tokens.items()}
    same = len(ranks) == len(tokens) and all(
        encode_with_merges(text, pairs) == encode_with_ranks(text, ranks) for text in EVERY_TEXT
    )
    try:
        assert tiktoken.exported_ranks(vocabulary) == ranks
        assert same
    except ValueError:
        assert not same or max(map(len, ranks)) > 9  # what tells them apart may be longer


@given(rank_dicts())
def test_what_was_made_from_ranks_gives_them_back(ranks):
    assert tiktoken.exported_ranks(vocabulary_from_ranks(ranks)) == ranks


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        # "aaa" is made in two ways, as two tokens.
        ([(97, 97), (256, 97), (97, 256)], r"cannot hold two tokens with the same bytes: 'aaa' is 257 and 258"),
        # "abcd" merges to a, bc and d, so that (ab, cd) never comes up.
        (
            [(98, 99), (97, 98), (99, 100), (257, 258)],
            r"would find 'abcd' \(259\) as a whole piece, and merging never",
        ),
        # "abc" merges to a and bc, which ranks would join to the token that (ab, c) never makes.
        ([(98, 99), (97, 98), (257, 99)], r"joining by rank would make 'abc' \(258\) in another way"),
        # "ba" + "b" never comes up either; joined by rank, b + ab would be the token.
        ([(97, 98), (98, 97), (257, 98), (98, 256)], "two tokens with the same bytes: 'bab' is 258 and 259"),
    ],
)
def test_vocabularies_that_ranks_cannot_stand_for_are_refused_with_the_tokens_named(merges, message):
    with pytest.raises(ValueError, match=message):
        tiktoken.exported_ranks(by_merges(merges))


def test_a_token_that_ranks_would_join_from_other_parts_is_named():
    """(ba, b) never comes up, as "bab" merges to b and ab, which only ranks join."""
    with pytest.raises(ValueError, match=r"joining by rank would make 'bab' \(258\) in another way"):
        tiktoken.exported_ranks(by_merges([(97, 98), (98, 97), (257, 98)]))


def test_ids_that_are_not_in_the_order_of_the_merges_are_named():
    vocabulary = Vocabulary(array("I", [97, 98]), array("I", [98, 99]), array("I", [*range(256), 300, 299]))
    with pytest.raises(ValueError, match=r"would make 'bc' \(299\) in another way or in another order"):
        tiktoken.exported_ranks(vocabulary)


def test_a_token_that_nothing_merges_and_no_whole_piece_finds_is_refused():
    vocabulary = vocabulary_from_merges({**{bytes([i]): i for i in range(256)}, b"xyz": 256}, [])
    with pytest.raises(ValueError, match=r"would find 'xyz' \(256\) as a whole piece"):
        tiktoken.exported_ranks(vocabulary)
