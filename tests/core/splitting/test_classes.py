"""Classes of characters: patterns that name as many different sets as there may be, against the `regex` module."""

import random
import string

import pytest
from large_patterns import ALPHABET, MAX_SETS, overlapping_pattern, subsets
from unicode16 import pieces_by_regex

from cbpe._core.splitting.split import PatternNotSupported, Splitter

MIXED = "ab, 12 (c)! xyz XYZ\n\t\u00e9\u4e2d\u0301\u0663-_aeiou'QRS'"


def pattern_of_letters(n):
    """A pattern that names n + 2 sets: one for each of n letters, blanks, and the rest."""
    return "|".join(string.ascii_letters[:n]) + r"|\s+|[^\s\p{L}]+"


@pytest.mark.parametrize("n", [29, 30, 31, 32, 33, 45, 52])
def test_a_pattern_of_many_letters_splits_as_regex_does(n):
    pattern = pattern_of_letters(n)
    assert Splitter(pattern).split(MIXED) == pieces_by_regex(pattern, MIXED)


def test_a_pattern_of_33_letters_keeps_all_of_a_text():
    assert Splitter(pattern_of_letters(33)).split("ab, 12 (c)!") == ["a", "b", ",", " ", "12", " ", "(", "c", ")!"]


@pytest.mark.parametrize("n_sets", [2, 30, 31, 32, 33, 62, 63, 64, 65, 66, 100, 127, 128, 129, MAX_SETS])
def test_generated_patterns_of_any_number_of_sets_split_as_regex_does(n_sets):
    generator = random.Random(n_sets)
    for _ in range(5):
        pattern = overlapping_pattern(generator, n_sets)
        splitter = Splitter(pattern)
        for _ in range(20):
            text = "".join(generator.choices(ALPHABET + "z1 \n\u00e9", k=generator.randint(0, 60)))
            assert splitter.split(text) == pieces_by_regex(pattern, text), (pattern, text)


def test_one_set_more_than_the_limit_is_refused():
    with pytest.raises(PatternNotSupported, match=f"more than {MAX_SETS} different classes of characters"):
        Splitter("|".join(subsets(random.Random(1), MAX_SETS + 1)))
