"""Bare streams of tokens: nanoGPT's train.bin and val.bin, and the shards of llm.c and modded-nanogpt.

nanoGPT's have nothing but tokens: uint16, or uint32 for large vocabularies. llm.c's begin with 256 int32: the magic,
the version and the number of tokens, the rest 0. Magic and version say of which type the tokens are: 20240520 and 1 for
uint16, 20240801 and 7 for uint32. There is an end-of-text token in front of every document. Shard 0 is for validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.shards.formats.writing import Format, Shard
from cbpe.tasks.outputs import Output, Outputs

if TYPE_CHECKING:
    from cbpe.shards.formats.writing import Lengths, Tokens

__all__ = ["BIN", "LLM_C"]

HEADER = 256  # int32
SIGNS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
MOST_TOKENS = 2**31 - 1  # the header's int32


class StreamWriter:
    """A bare stream."""

    def __init__(self, outputs: Outputs, shard: Shard) -> None:
        self.tokens = outputs.open(f"{shard.name}.bin")
        self.bare: Output | None = self.tokens

    def write(self, tokens: Tokens) -> None:
        self.tokens.write(tokens)

    def end(self, lengths: Lengths, rows: Any) -> None:
        """A stream does not say where documents end."""

    def close(self) -> None:
        """All is written."""


class LlmCWriter(StreamWriter):
    """A stream with a header."""

    def __init__(self, outputs: Outputs, shard: Shard) -> None:
        super().__init__(outputs, shard)
        self.bare = None
        header = np.zeros(HEADER, "<i4")
        header[:3] = *SIGNS[shard.dtype], shard.tokens
        self.tokens.write(header)


BIN = Format(StreamWriter, small="uint16", large="uint32", small_below=2**16 + 1, eot="after", stream=True)
LLM_C = Format(
    LlmCWriter,
    small="uint16",
    large="uint32",
    small_below=2**16 + 1,
    eot="before",
    stream=True,
    shard_tokens=100_000_000,
    most_tokens=MOST_TOKENS,
    first_is_val=True,
)
