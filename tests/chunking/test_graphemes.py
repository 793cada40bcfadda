"""Borders of graphemes that are known by two characters are those of the expression \\X."""

import re
import sys
from unicodedata import category

import pytest
import regex

from cbpe.chunking.graphemes import SIMPLE, is_border, last_borders

SIMPLE_ONES = re.compile(SIMPLE.pattern.replace("{2}", ""))


def test_there_is_a_border_between_any_two_simple_characters():
    simple = [chr(code) for code in range(sys.maxunicode + 1) if SIMPLE_ONES.match(chr(code))]
    assert len(simple) > 30_000
    for partner in ("a", "가", "각", "中", "\t"):
        text = "".join(character + partner for character in simple if character != "\r")
        assert regex.findall(r"\X", text) == list(text)
    assert not [character for character in simple if category(character) in ("Mn", "Me", "Mc", "Cf")]


@pytest.mark.parametrize(
    "text",
    [
        "a\r\nb\n\u0301c",
        "🇩🇪🇫🇷🇮",
        "e\u0301\u0301x👨\u200d👩\u200d👧y",
        "각\u11a8한\u1161",
        "x" * 100 + "\u0301" * 90 + "y",
        "क्षिक",
    ],
)
def test_borders_are_those_of_the_expression(text):
    expected = [match.end() for match in regex.finditer(r"\X", text)]
    assert [place for place in range(1, len(text) + 1) if is_border(text, place, 0)] == expected
    assert list(last_borders(text, 0, len(text))) == expected[::-1]
