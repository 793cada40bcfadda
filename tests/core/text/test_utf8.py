"""Making UTF-8 of Python's strings: what Python makes, by every instruction set, and nothing left behind."""

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cbpe
from cbpe._core.c.instructions import instruction_sets
from cbpe._core.text.utf8 import to_utf8

# Of one, two and four bytes a character in Python's strings, and one to four in UTF-8: the edges, and what is between.
CHARACTERS = [*"a\x00\x7f", *"\x80é\xff", *"\u0100\u07ff\u0800\ud7ff\ue000中\uffff", *"\U00010000😀\U0010ffff"]
texts = st.integers(1, len(CHARACTERS)).flatmap(lambda n: st.text(st.sampled_from(CHARACTERS[:n]), max_size=70))


@pytest.mark.parametrize("instructions", instruction_sets())
@given(text=texts)
@example(text="a" * 15 + "é")
@example(text="a" * 16 + "中" * 16 + "😀" * 16 + "é" * 17)
def test_utf8_is_pythons(instructions, text):
    assert to_utf8(text, instructions) == text.encode()


@pytest.mark.parametrize("instructions", instruction_sets())
def test_every_character_is_pythons(instructions):
    for first in range(0, 0x110000, 0x1000):
        text = "".join(chr(c) for c in range(first, first + 0x1000) if not 0xD800 <= c < 0xE000)
        assert to_utf8(text, instructions) == text.encode()


@pytest.mark.parametrize("instructions", instruction_sets())
@given(before=texts, surrogate=st.integers(0xD800, 0xDFFF).map(chr), behind=texts)
def test_a_lone_surrogate_is_told(instructions, before, surrogate, behind):
    assert to_utf8(before + surrogate + behind, instructions) is None


@pytest.mark.parametrize("letters", ["aé ", "a中 ", "a😀é中 "])
def test_long_texts_have_the_tokens_of_their_parts_however_often_they_come(letters):
    enc = cbpe.get_encoding("o200k_base")
    part = f"{letters * 5}x\n"
    expected = enc.encode(part) * 2000  # a line break before a letter is a border
    text = part * 2000
    for _ in range(3):
        assert enc.encode(text) == expected
        assert enc.count(text) == len(expected)
        assert enc.encode_batch([text, "", text], num_threads=2) == [expected, [], expected]
    assert enc.encode(text + "\ud800") == expected + enc.encode("\ufffd")


def test_a_long_text_keeps_nothing_of_a_call():
    enc = cbpe.get_encoding("cl100k_base")
    # The first one, still there, is the last that the encoding knows: a freed one may have stood where the next does.
    first, encoded, counted, batched, again = ("".join(["é", letter] * 5000) for letter in "abcde")
    before = sys.getsizeof(encoded)
    enc.encode(first)
    enc.encode(encoded)
    enc.count(counted)
    enc.encode_batch_flat([batched], num_threads=1)
    assert sys.getsizeof(encoded) == sys.getsizeof(counted) == sys.getsizeof(batched) == before
    enc.encode(again)
    enc.encode(again)
    assert sys.getsizeof(again) > before  # a text that comes again keeps its UTF-8: the next call finds it


def test_a_special_token_behind_long_text_is_found():
    enc = cbpe.get_encoding("cl100k_base")
    text = "é" * 5000 + "<|endoftext|>"
    assert enc.encode(text, allowed_special="all")[-1] == enc.eot_token
    with pytest.raises(ValueError, match=r"at character 5000"):
        enc.encode(text)
    with pytest.raises(ValueError, match=r"at character 5000"):
        enc.encode_batch([text])
