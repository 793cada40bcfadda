"""Split patterns in common use, by the name of what they belong to."""

from cbpe.text.patterns import (
    CL100K_SPLIT_PATTERN,
    GPT2_SPLIT_PATTERN,
    GPT4_SPLIT_PATTERN,
    LLAMA3_SPLIT_PATTERN,
    O200K_SPLIT_PATTERN,
    QWEN2_SPLIT_PATTERN,
    R50K_SPLIT_PATTERN,
)
from cbpe.text.spaces import CHARACTERS_SPLIT_PATTERN

__all__ = [
    "CHARACTERS_SPLIT_PATTERN",
    "CL100K_SPLIT_PATTERN",
    "GPT2_SPLIT_PATTERN",
    "GPT4_SPLIT_PATTERN",
    "LLAMA3_SPLIT_PATTERN",
    "O200K_SPLIT_PATTERN",
    "QWEN2_SPLIT_PATTERN",
    "R50K_SPLIT_PATTERN",
]
