"""Any value as a message shows it, however long it is and whatever its methods do."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["shown"]

MOST = 80  # characters of a text, or bytes
MOST_BITS = 256  # of an int: Python takes long to write longer ones, and refuses very long ones


def shown(value: object) -> str:
    """The repr of a value; of a long one, the beginning or its size. That its repr fails is no error here.

    >>> shown(5), shown("a" * 100)[-4:], shown(10**5000)
    ('5', "a'..", '(an int of 16,610 bits)')
    """
    if isinstance(value, int) and int.bit_length(value) > MOST_BITS:
        return f"(an int of {int.bit_length(value):,} bits)"
    kind: Any  # whose methods are taken in place of those of the value
    for kind in (str, bytes, bytearray):
        if isinstance(value, kind) and kind.__len__(value) > MOST:
            return f"{kind.__getitem__(value, slice(0, MOST))!r}.."
    try:
        text = repr(value)
    except Exception:
        return f"(a {type(value).__name__})"
    return text if len(text) <= 2 * MOST else f"{text[: 2 * MOST]}.."
