"""Text is cut between all characters that have no bond, and nowhere else."""

import pickle
from array import array
from itertools import pairwise

import pytest
from borders import check_borders, check_what_is_sure
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from cbpe._core.splitting.bonds import Bonds
from cbpe._core.splitting.split import Splitter

CHARACTERS = "ab ,\u00e9\u042f\u4e2d\u6587\U0001f600\U0010ffff"
CODES = list(map(ord, CHARACTERS))


def packed(pairs):
    return array("Q", [first << 32 | second for first, second in pairs]).tobytes()


def cut_by(bonds, text, at_spaces=False, known=None):
    """The pieces of a text by the definition."""
    pieces = [text[:1]] if text else []
    for first, second in pairwise(text):
        unknown = known is not None and ord(first) not in known and ord(second) not in known
        if ((ord(first), ord(second)) in bonds or unknown) and not (at_spaces and second == " "):
            pieces[-1] += second
        else:
            pieces.append(second)
    return pieces


pairs_of_codes = st.frozensets(st.tuples(st.sampled_from(CODES), st.sampled_from(CODES)), max_size=30)
texts = st.text(CHARACTERS, max_size=150)


@examples(300)
@given(pairs_of_codes, st.booleans(), st.none() | st.frozensets(st.sampled_from(CODES)), texts)
def test_text_is_cut_between_all_characters_without_a_bond(bonds, at_spaces, known, text):
    packed_known = None if known is None else array("I", known).tobytes()
    splitter = Splitter(None, bonds=Bonds(packed(bonds), at_spaces, packed_known))
    assert splitter.split(text) == cut_by(bonds, text, at_spaces, known)
    assert splitter.spans(text.encode(), 3) == splitter.spans(text.encode())


@examples(30)
@given(pairs_of_codes, st.text(CHARACTERS, max_size=90))
def test_pieces_that_are_sure_stay_the_same_however_the_text_goes_on(bonds, text):
    splitter = Splitter(r" *[^ ]+| +", bonds=Bonds(packed(bonds)))
    check_what_is_sure(splitter, text.encode())
    check_borders(splitter, text.encode())


@pytest.mark.parametrize("size", [62, 63, 64, 65, 127, 128, 129, 5000])
@pytest.mark.parametrize("character", "a\u00e9\u4e2d\U0001f600")
def test_pieces_of_any_length_are_found_whole(size, character):
    code = ord(character)
    splitter = Splitter(None, bonds=Bonds(packed([(code, code), (code, ord("b"))])))
    run = character * size
    assert splitter.split(f"b{run}b{run},") == ["b", f"{run}b", run, ","]


def test_very_long_pieces_are_read_in_several_turns():
    splitter = Splitter(None, bonds=Bonds(packed([(97, 97)])))
    data = b"a" * ((1 << 24) + 100)
    assert splitter.spans(data + b"b") == [(0, len(data)), (len(data), len(data) + 1)]
    assert splitter.sure_spans(data) == ([], 0)


def test_a_splitter_with_bonds_is_pickled_with_them():
    splitter = Splitter(None, bonds=Bonds(packed([(97, 98)]), False, array("I", [97]).tobytes()))
    copy = pickle.loads(pickle.dumps(splitter))
    # b and c have no token, so that they stay together.
    assert copy.split("abcca") == splitter.split("abcca") == ["abcc", "a"]


@pytest.mark.parametrize("pairs", [[(0x110000, 97)], [(97, 0xFFFFFFFF)]])
def test_what_are_no_code_points_is_refused(pairs):
    with pytest.raises(ValueError, match="no code points"):
        Bonds(packed(pairs))
    with pytest.raises(ValueError, match="no code point"):
        Bonds(b"", known=array("I", [0x110000]).tobytes())
