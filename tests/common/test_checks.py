"""Checks of numbers: which types count as integers and as numbers."""

import numpy as np
import pytest

from cbpe.common.checks import checked_int, is_float, is_int


@pytest.mark.parametrize("value", [0, -3, 2**70, np.uint8(7)])
def test_an_integer_of_any_type_is_a_number_too(value):
    assert is_int(value)
    assert is_float(value)


@pytest.mark.parametrize("value", [True, "7", b"7", None, 7.0])
def test_what_is_no_integer(value):
    assert not is_int(value)


@pytest.mark.parametrize(("value", "expected"), [(0.5, True), (np.float32(1), True), (True, False), ("1", False)])
def test_what_is_a_number(value, expected):
    assert is_float(value) is expected


def test_a_checked_integer_is_an_int():
    assert type(checked_int("n", np.int16(5), 0)) is int
    with pytest.raises(ValueError, match="n is 5; it must be at most 4"):
        checked_int("n", 5, 0, most=4)
    with pytest.raises(ValueError, match="n is -1; it must be at least 0, of course"):
        checked_int("n", -1, 0, ", of course")
