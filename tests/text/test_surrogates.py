"""Halves of surrogate pairs."""

import pytest

from cbpe.text.surrogates import ends_within_pair, without_surrogates


@pytest.mark.parametrize(("text", "expected"), [("", False), ("a", False), ("a\ud83d", True), ("a\ude00", False)])
def test_the_first_half_of_a_pair_at_the_end(text, expected):
    assert ends_within_pair(text) is expected


def test_a_pair_is_its_character_and_a_lone_half_the_replacement():
    assert without_surrogates("plain") == "plain"
    assert without_surrogates("é \ud83d\ude00 \ud83d \ude00") == "é \U0001f600 \ufffd \ufffd"
