"""Checked numbers: sizes of vocabularies and other whole numbers that users give."""

from __future__ import annotations

import operator
import os

N_BYTES = 256  # the ids below are the single bytes
MAX_TOKENS = 2**21 - 1  # that a vocabulary holds


def merges_asked(vocab_size: int) -> int:
    """The number of merges that make a vocabulary: 276 -> 20. TypeError unless it is an int, ValueError below 256,
    and above what a vocabulary can hold."""
    return checked_int("vocab_size", vocab_size, N_BYTES, " (the single bytes)", MAX_TOKENS) - N_BYTES


def checked_dropout(dropout: float | None, seed: int | None) -> tuple[float, int]:
    """The probability and the seed of BPE-dropout, a random seed for None. TypeError for what are no numbers,
    ValueError for a probability that is not from 0 to 1, a seed that is not of 64 bits, and a seed of nothing."""
    if dropout is None:
        raise ValueError(f"seed is {seed!r}, but without dropout nothing is random: pass dropout, or no seed")
    if isinstance(dropout, bool) or not hasattr(dropout, "__float__"):
        raise TypeError(f"dropout must be a float, not {type(dropout).__name__}: {dropout!r}")
    probability = float(dropout)
    if not 0 <= probability <= 1:  # which NaN is not either
        raise ValueError(f"dropout is {dropout}; it must be a probability, from 0 to 1")
    if seed is None:
        return probability, int.from_bytes(os.urandom(8), "little")
    return probability, checked_int("seed", seed, 0, most=2**64 - 1)


def checked_int(name: str, value: int, least: int, why: str = "", most: int = 2**62) -> int:
    """The value as an int from least to most; any integer type will do, but not bool."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}: {value!r}")
    value = operator.index(value)
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}{why}")
    if value > most:
        raise ValueError(f"{name} is {value}; it must be at most {most}")
    return value
