"""Splitting ASCII 64 bytes at a time gives the pieces that the automaton gives, by every instruction set of this
machine."""

from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cbpe._core.c.instructions import instruction_sets
from cbpe._core.splitting.split import Splitter
from cbpe.text.patterns import ASCII_RULES, BY_NAME

# What the rules are about: white space of all kinds, apostrophes that begin contractions and others, capitals within
# words, digits in runs, line breaks and slashes after punctuation, and characters beyond ASCII that continue or end
# each of these.
FRAGMENTS = [
    *"abstdmSTDM", "ll", "ve", "re", "LL", "Re", "word", "CamelCase", " ", "  ", "\t", "\n", "\r\n", "\n\n", "\v",
    "\f", " \n ", "'", "''",
    "'s", "'T", "'ll", "'vE", "'l", "'x", "1", "22", "333", "4444", "1234567", ".", ",", "!", "/", "//", "\n/", ".\n/",
    "(", "\x00", "\x7f",
    "é", "\u017f", "K", "你", "\u3000", "\u2028", "\u0085", "\xa0", "Ü", "ǅ", "\u0301", "😀", "\u0661",
    # Characters of three bytes: letters, marks, punctuation, numbers, spaces, and marks where they matter most.
    *"ẽẼỹ“”\u2019\u2013…\u200b\u2009\u202f\u20d0\u1dc4₂ⁿ₤क\u094dก\u0e31", "e\u0301", "E\u0301", "'s\u0301", "'ll\u0300",
    # Letters of two bytes that blocks know, and what is close to them.
    *"àßÿÀÞĀſƀǅȿɀʯʰаяАЯѐѠѡѿ҂\u00d7÷»¿", "слово", "Слово", "čeština", "ÉCOLE", "'\u017f", "Ǆǅǆ",
    # The mark for a space, and what begins or ends as it does.
    "\u2581", "\u2581the", "\u2580", "\u2582", "\u25c1", "▁▁", "\n▁", "\n \n",
]  # fmt: skip
splitter = cache(Splitter)  # that of a pattern is made once for all texts
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=150).map("".join)
ascii_texts = st.text(st.characters(max_codepoint=127), max_size=300)


@pytest.mark.parametrize("instructions", instruction_sets())
@given(text=texts | ascii_texts, capacity=st.sampled_from([1, 2, 7, 512]))
@example(text="x" * 200, capacity=512)
@example(text=" " * 200 + "x" * 64, capacity=512)
@example(text=("-" * 62 + "'ll ") * 3, capacity=512)
@example(text="a" * 61 + "'re'\u017f" + " b" * 40, capacity=512)
@example(text="1" * 150 + "a", capacity=1)
@example(text=".\n\n/\n//x" * 20, capacity=512)
@example(text="  \n   \n \u3000\n x" * 12, capacity=512)
def test_blocks_give_the_pieces_of_the_automaton(instructions, text, capacity):
    data = text.encode()
    for pattern, rules in ASCII_RULES.items():
        pieces = splitter(pattern, rules, instructions).spans(data, capacity)
        assert pieces == splitter(pattern).spans(data), pattern


# The automaton reads what is left behind the last whole block where the instructions are not wide.
@pytest.mark.parametrize("instructions", [name for name in instruction_sets() if name != "portable"])
@given(text=texts | ascii_texts)
@example(text="I'll say 'sure' 12345 times... \t\n \r\n  ")
@example(text="HTMLParser's x/\n//\n 'VE \u0301")
def test_a_text_may_end_after_each_of_its_characters(instructions, text):
    for pattern, rules in ASCII_RULES.items():
        by_blocks, by_automaton = splitter(pattern, rules, instructions), splitter(pattern)
        for end in range(1, min(len(text), 69) + 1):
            assert by_blocks.split(text[:end]) == by_automaton.split(text[:end]), pattern


ASCII = "".join(map(chr, range(128)))
# Each kind of them: letters of contractions and others, digits, white space, line breaks, controls, punctuation.
KINDS = "stmdlverSTMDLVERabzABZ019 \t\n\v\f\r\x00\x1c\x1f\x7f'/!.-_@[`{~"


@pytest.mark.parametrize("beginning", ["", "a", "the w", "12", " ", "it'", "!"])
def test_a_text_may_end_in_every_pair_of_ascii_characters(beginning):
    """Behind each beginning in every pair of kinds, and behind none in every pair of characters."""
    characters = KINDS if beginning else ASCII
    ends = [f"end {beginning}{a}{b}" for a in characters for b in characters]
    for pattern, rules in ASCII_RULES.items():
        by_blocks, by_automaton = splitter(pattern, rules), splitter(pattern)
        assert [by_blocks.split(text) for text in ends] == [by_automaton.split(text) for text in ends], pattern


@pytest.mark.parametrize("instructions", instruction_sets())
def test_every_pair_of_ascii_characters_at_every_place_of_a_block(instructions):
    """Each pair stands once at each distance from the beginning of a block, between words."""
    pairs = [chr(a) + chr(b) for a in range(128) for b in range(128)]
    data = "".join(pair + "word "[: i % 6] for i, pair in enumerate(pairs)).encode()
    for pattern, rules in ASCII_RULES.items():
        expected = Splitter(pattern).spans(data)
        assert Splitter(pattern, rules, instructions).spans(data) == expected, pattern


@pytest.mark.parametrize("instructions", instruction_sets())
def test_every_character_of_two_bytes_between_letters_and_others(instructions):
    characters = [chr(i) for i in range(128, 0x800)]
    data = "".join(f" {c}a{c}B{c}.{c}1{c}'{c}{c} {c}\n{c}s"[: 8 + i % 9] for i, c in enumerate(characters)).encode()
    for pattern, rules in ASCII_RULES.items():
        expected = Splitter(pattern).spans(data)
        assert Splitter(pattern, rules, instructions).spans(data) == expected, pattern


@pytest.mark.parametrize("instructions", instruction_sets())
def test_every_character_of_three_bytes_between_letters_and_others(instructions):
    characters = [chr(i) for i in range(0x800, 0x10000) if not 0xD800 <= i < 0xE000]
    data = "".join(f"{c}a{c}B{c}.{c}{c}'{c}s "[i % 5 : 7 + i % 7] for i, c in enumerate(characters)).encode()
    for pattern, rules in ASCII_RULES.items():
        expected = Splitter(pattern).spans(data)
        assert Splitter(pattern, rules, instructions).spans(data) == expected, pattern


def test_the_rules_reach_every_named_pattern():
    assert set(ASCII_RULES) >= set(BY_NAME.values())
    assert all(ASCII_RULES.values())


def test_an_unknown_instruction_set_is_refused_by_name():
    with pytest.raises(ValueError, match=r"no instruction set 'mmx' here: there are .*portable"):
        Splitter(None, 0, "mmx")
