"""Checks and reads numbers that users give, such as sizes of vocabularies, and refuses sets."""

from __future__ import annotations

import operator
import os

from cbpe.common.wording import shown

N_BYTES = 256  # of the tokens that training begins with, the single bytes
MAX_TOKENS = 2**21 - 1  # in one vocabulary


def merges_asked(vocab_size: int) -> int:
    """The number of merges that make a vocabulary: 276 -> 20. TypeError unless it is an int, ValueError below 256 and
    above what a vocabulary can hold."""
    return checked_int("vocab_size", vocab_size, N_BYTES, " (the single bytes)", MAX_TOKENS) - N_BYTES


def checked_dropout(dropout: float | None, seed: int | None) -> tuple[float, int]:
    """The probability and the seed of BPE-dropout, a random seed for None. TypeError for what is no number, ValueError
    for a probability that is not from 0 to 1, a seed that is not of 64 bits, and a seed without dropout."""
    if dropout is None:
        raise ValueError(f"seed is {shown(seed)}, but without dropout nothing is random: pass dropout, or no seed")
    if not is_float(dropout):
        raise TypeError(f"dropout must be a float, not {type(dropout).__name__}: {shown(dropout)}")
    try:
        probability = float(dropout)
    except OverflowError:  # of an int
        raise ValueError(f"dropout is {shown(dropout)}; it must be a probability, from 0 to 1") from None
    if not 0 <= probability <= 1:  # which NaN is not either
        raise ValueError(f"dropout is {probability}; it must be a probability, from 0 to 1")
    if seed is None:
        return probability, int.from_bytes(os.urandom(8), "little")
    return probability, checked_int("seed", seed, 0, most=2**64 - 1)


def checked_ids_dtype(dtype: str, largest: int) -> None:
    """ValueError for a type of token ids that is none, or too small for the largest of them."""
    if dtype not in ("int32", "uint32"):
        raise ValueError(f"dtype is {shown(dtype)}; the ids in a column are 'int32' or 'uint32'")
    if dtype == "int32" and largest >= 2**31:
        raise ValueError(f"the largest token id, {largest}, is no int32: pass dtype='uint32'")


def checked_int(name: str, value: int, least: int, why: str = "", most: int = 2**62) -> int:
    """The value as an int from least to most. TypeError for what is no integer, ValueError for one out of range."""
    if not is_int(value):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}: {shown(value)}")
    value = operator.index(value)
    if value < least:
        raise ValueError(f"{name} is {shown(value)}; it must be at least {least}{why}")
    if value > most:
        raise ValueError(f"{name} is {shown(value)}; it must be at most {most}")
    return value


def checked_flag(name: str, value: bool) -> bool:
    """True or False, numpy's too. TypeError for anything else: "no" is as true as "yes"."""
    if isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {shown(value)}")


def refuse_unknown_handler(errors: object) -> None:
    """TypeError for what is no name of a way to decode, LookupError for a name that nobody has registered."""
    import codecs

    if not isinstance(errors, str):
        raise TypeError(f"errors must be a str, as 'strict', not {type(errors).__name__}: {shown(errors)}")
    codecs.lookup_error(errors)


def refuse_no_field(field: object) -> None:
    """TypeError for what is no name of a field or a column, nor None."""
    if field is not None and not isinstance(field, str):
        raise TypeError(
            f"field must be a str, the name of a field or column, not {type(field).__name__}: {shown(field)}"
        )


def refuse_no_path(name: str, given: object, what: str = "a file") -> None:
    """TypeError for what is no name of a file; a number would be a file that is open, to Python."""
    if not isinstance(given, (str, bytes, os.PathLike)):
        raise TypeError(
            f"{name} must be the name of {what}, a str or a path, not {type(given).__name__}: {shown(given)}"
        )


def refuse_set(name: str, given: object, chosen: str = "one") -> None:
    """TypeError for a set where the order decides; chosen: about what."""
    if isinstance(given, (set, frozenset)):
        raise TypeError(f"{name} are a set, which has no order, so that chance would choose {chosen}: pass a list")


def refuse_unordered(name: str, texts: object) -> None:
    """TypeError for a set of several texts where their order decides about their ids."""
    if isinstance(texts, (set, frozenset)) and len(texts) > 1:
        refuse_set(name, texts, "their ids")


def bounds_in(text: str) -> tuple[float | None, float | None]:
    """The least and the most that a text allows: "0.25" -> (0.25, 0.25), "..3" -> (None, 3.0). ValueError for what is
    no number, and no MIN..MAX."""
    least, is_range, most = text.partition("..")
    ends = (least, most if is_range else least)
    no_number = f"{text!r} is no number, and no MIN..MAX"
    try:
        found = (float(ends[0]) if ends[0] else None, float(ends[1]) if ends[1] else None)
    except ValueError as error:
        raise ValueError(no_number) from error
    if found == (None, None) or any(end != end for end in found):  # NaN alone is not itself
        raise ValueError(no_number)
    if None not in found and found[0] > found[1]:  # type: ignore[operator]
        raise ValueError(f"of {text!r} MIN is more than MAX: give the smaller number first")
    return found


def is_int(value: object) -> bool:
    """Whether a value is of an integer type, numpy's included; a bool is not."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def is_float(value: object) -> bool:
    """Whether a value is a number that float() takes; a bool or a text is not."""
    return hasattr(value, "__float__") and not isinstance(value, bool)


def is_terminal(stream: object) -> bool:
    """Whether a stream is a terminal: one that is closed or not there is none, nor is what a program has put in its
    place."""
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False
