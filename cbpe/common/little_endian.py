"""Numbers in files: their bytes are little-endian, whatever the machine has."""

from __future__ import annotations

import sys
from array import array

__all__ = ["little_endian"]


def little_endian(numbers: array[int]) -> array[int]:
    """The same array, its bytes changed in place from the order of the machine to that of a file, or back."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
