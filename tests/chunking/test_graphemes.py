"""Borders of graphemes that are known by two characters are those of the expression \\X."""

import random
from unicodedata import category

import pytest
import regex

import cbpe
from cbpe._core.text.chunks import is_sure
from cbpe.chunking.graphemes import borders, is_border, last_borders, next_border

# All of the first plane, and where others have characters that join.
CODES = [
    *range(0xD800),
    *range(0xE000, 0x12000),
    *range(0x1F000, 0x1FB00),
    *range(0x20000, 0x20100),
    *range(0xE0000, 0xE0200),
]
CHARACTERS = [chr(code) for code in CODES]
PARTNERS = "a \r\u00e9\uac00中\u0915\u0e01\u200d\u0301\u1100"


@pytest.mark.parametrize("partner", PARTNERS)
def test_a_border_that_is_sure_is_one_before_and_behind_every_character(partner):
    after = [each for each in CHARACTERS if is_sure(partner + each, 1)]
    before = [each for each in CHARACTERS if is_sure(each + partner, 1)]
    # U+0000, which stands alone, parts the pairs; a long run of others would only repeat the same.
    for pairs in ([partner + each for each in after], [each + partner for each in before]):
        text = "\0".join(pairs)
        expected = [part for pair in pairs for part in ("\0", *pair)][1:]
        assert regex.findall(r"\X", text) == expected


def test_most_borders_of_most_texts_are_sure():
    simple = [each for each in CHARACTERS if is_sure(each + each, 1) and is_sure("a" + each, 1)]
    assert len(simple) > 40_000
    assert not [each for each in simple if category(each) in ("Mn", "Me", "Mc", "Cf")]
    for text in ("คำ ", "पढ़ी ", "읽다 ", "d\u0301 ", "他\n", "👍🏽 ", "นี้ก"):
        assert is_sure(text, len(text) - 1)


def test_a_place_that_is_not_within_the_text_is_refused():
    for place in (-1, 0, 2, 3):
        with pytest.raises(IndexError, match="not within a text of 2 characters"):
            is_sure("ab", place)


@pytest.mark.parametrize(
    "text",
    [
        "a\r\nb\n\u0301c",
        "🇩🇪🇫🇷🇮",
        "e\u0301\u0301x👨\u200d👩\u200d👧y",
        "각\u11a8한\u1161",
        "x" * 100 + "\u0301" * 90 + "y",
        "क्षिक",
        "😀😀😀",
    ],
)
def test_borders_are_those_of_the_expression(text):
    expected = [match.end() for match in regex.finditer(r"\X", text)]
    assert [place for place in range(1, len(text) + 1) if is_border(text, place, 0)] == expected
    for limit in range(len(text) + 1):
        assert list(last_borders(text, 0, limit)) == [place for place in reversed(expected) if place <= limit]


def test_borders_are_found_from_any_border_on_in_random_texts():
    rng = random.Random(3)
    alphabet = [
        "🇩",
        "🇪",
        "a",
        " ",
        "\u0301",
        "\u200d",
        "👩",
        "🏽",
        "\r",
        "\n",
        "ᄀ",
        "ᅡ",
        "ᆨ",
        "가",
        "क",
        "\u094d",
        "ष",
        "ำ",
    ]
    for _ in range(2000):
        text = "".join(rng.choices(rng.sample(alphabet, rng.randint(1, 8)), k=rng.randint(1, 200)))
        expected = [0, *(match.end() for match in regex.finditer(r"\X", text))]
        k = rng.randrange(len(expected) - 1)
        end = rng.randint(expected[k], len(text))
        assert list(borders(text, expected[k], end)) == [place for place in expected[k + 1 :] if place <= end]
        assert next_border(text, expected[k]) == expected[k + 1]


def test_a_long_row_of_flags_is_cut_between_flags():
    text = "🇩🇪" * 20_000 + "🇩"
    encoding = cbpe.get_encoding("cl100k_base")
    chunks = encoding.split(text, 100)
    assert [a for a, _ in chunks] == [0, *(b for _, b in chunks[:-1])]
    assert chunks[-1][1] == len(text)
    assert all(start % 2 == 0 for start, _ in chunks)
    assert max(encoding.count(text[start:end]) for start, end in chunks) <= 100


def test_a_long_grapheme_is_found_whole():
    assert next_border("a" + "\u0301" * 1000 + "b", 0) == 1001
    assert next_border("xa" + "\u0301" * 1000, 1) == 1002
