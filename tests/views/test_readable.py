"""Text and bytes on one line, with nothing that a terminal would act upon."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe.views.readable import printable, readable, readable_bytes


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\ufe0f", r"\ufe0f"),
        ("\ufe0f\ufe0e a", r"\ufe0f\ufe0e a"),
        ("a \ufe0f", r"a \ufe0f"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("\u3164\u115fa\u17b5", r"\u3164\u115fa\u17b5"),
        ("\u034f", r"\u034f"),
        ("a\u034fb", "a\u034fb"),
        ("\U000e0100", r"\U000e0100"),
        ("plain [red] text 안녕 😉", "plain [red] text 안녕 😉"),
        ("a\tb\nc\r", "a\\tb\\nc\\r"),
        ("\x1b[31m", "\\u001b[31m"),
        ("\u202eabc\u200b\u2028\x85\x9b", "\\u202eabc\\u200b\\u2028\\u0085\\u009b"),
        ("back\\slash", "back\\\\slash"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_what_does_not_print_is_escaped(text, shown):
    assert readable(text) == shown


def test_what_is_quoted_already_keeps_its_backslashes():
    assert printable("'a\\n' \x1b") == "'a\\n' \\u001b"


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (b"caf\xc3\xa9", "café"),
        (b"\xc3", "\\xc3"),
        (b"\xa9 x\xf0\x9f", "\\xa9 x\\xf0\\x9f"),
        (b"\x1b\x00\n", "\\u001b\\u0000\\n"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
        (b"\\xff", "\\\\xff"),
        ("\u0301x".encode(), "\u25cc\u0301x"),  # an accent stands on a dotted circle, as a vowel sign does
        ("\u093f".encode(), "\u25cc\u093f"),
        ("\u25cc\u0301".encode(), "\\u25cc\u0301"),  # a circle of the token's own
        ("\u25ccx".encode(), "\u25ccx"),
    ],
)
def test_bytes_that_are_no_characters_are_shown_one_by_one(token, shown):
    assert readable_bytes(token) == shown


@given(st.binary())
def test_what_is_shown_prints_on_one_line(token):
    assert readable_bytes(token).isprintable()


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_different_bytes_look_different(one, other):
    assert (readable_bytes(one) == readable_bytes(other)) == (one == other)
