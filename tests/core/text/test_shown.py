"""What messages show of values, however long they are, and whatever their methods do."""

import pytest

from cbpe._core.text.shown import shown


class Odd(str):
    __slots__ = ()

    def __len__(self):
        return -1

    def __repr__(self):
        raise RuntimeError


class NoText:
    def __repr__(self):
        return 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (True, "True"),
        (-(2**200), str(-(2**200))),
        (10**5000, "(an int of 16,610 bits)"),
        (-(10**5000), "(an int of 16,610 bits)"),
        ("a" * 80, repr("a" * 80)),
        ("a" * 81, repr("a" * 80) + ".."),
        (b"a" * 81, repr(b"a" * 80) + ".."),
        (bytearray(b"a" * 81), repr(bytearray(b"a" * 80)) + ".."),
        ([1] * 100, repr([1] * 100)[:160] + ".."),
        ([10**5000], "(a list)"),
        (Odd("a"), "(a Odd)"),
        (Odd("a" * 81), repr("a" * 80) + ".."),
        (NoText(), "(a NoText)"),
        (None, "None"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_message_shows_a_value_briefly(value, text):
    assert shown(value) == text
