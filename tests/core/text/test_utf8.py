"""Making UTF-8 of Python's strings: what Python makes, by every instruction set, and nothing left behind."""

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cbpe
from cbpe._core.c.instructions import instruction_sets
from cbpe._core.text.utf8 import count_valid, to_utf8

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
    with pytest.raises(ValueError, match=r"at character 5,000"):
        enc.encode(text)
    with pytest.raises(ValueError, match=r"at character 5,000"):
        enc.encode_batch([text])


# ---- Whether bytes are UTF-8


def valid_bytes(data):
    """How many bytes of data Python decodes."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return len(data)


EDGES = [
    bytes([first, second]) + rest
    for first in (0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF)
    for second in (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0)
    for rest in (b"", b"\x80", b"\x80\xbf", b"\x80\xbf\x80", b"\x80a", b"\xc2")
]


@pytest.mark.parametrize("instructions", instruction_sets())
def test_what_is_utf8_python_decides(instructions):
    for edge in EDGES:
        for before in (0, 29, 30, 31, 32, 61, 62, 63, 64, 95):
            for filling in (b"a", "é".encode(), "中".encode(), "😀".encode()):
                for after in (b"", b"a" * 70):
                    data = filling * (before // len(filling)) + b"a" * (before % len(filling)) + edge + after
                    assert count_valid(data, instructions) == valid_bytes(data), data


@pytest.mark.parametrize("instructions", instruction_sets())
@given(
    text=st.text(st.sampled_from(CHARACTERS), min_size=30, max_size=90), place=st.integers(0), byte=st.integers(0, 255)
)
def test_one_wrong_byte_is_found_where_python_finds_it(instructions, text, place, byte):
    data = bytearray(text.encode())
    assert count_valid(bytes(data), instructions) == len(data)
    data[place % len(data)] = byte
    assert count_valid(bytes(data), instructions) == valid_bytes(bytes(data))
