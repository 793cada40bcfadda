"""Bare streams of tokens: nanoGPT's train.bin and val.bin, and the shards of llm.c and modded-nanogpt.

nanoGPT's have nothing but tokens: uint16, or uint32 for large vocabularies. llm.c's begin with 256 int32: the magic,
the version and the number of tokens, the rest 0. Magic and version say of which type the tokens are: 20240520 and 1 for
uint16, 20240801 and 7 for uint32. There is an end-of-text token in front of every document. Shard 0 is for validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.shards.formats.mapped import DamagedError, file_ending_in, mapped
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


def stream(files: Sequence[Path], dtype: str) -> Iterator[Tokens]:
    yield mapped(file_ending_in(files, ".bin"), dtype)


def stream_with_header(files: Sequence[Path], dtype: str) -> Iterator[Tokens]:
    path = file_ending_in(files, ".bin")
    header = np.fromfile(path, "<i4", HEADER)
    tokens = mapped(path, dtype, header.nbytes)
    if (*header[:3].tolist(),) != (*SIGNS[dtype], len(tokens)):
        raise DamagedError(path, f"its header is not that of {len(tokens):,} tokens as {dtype}")
    yield tokens


BIN = Format(StreamWriter, stream, small="uint16", large="uint32", small_below=2**16 + 1, eot="after", stream=True)
LLM_C = Format(
    LlmCWriter,
    stream_with_header,
    small="uint16",
    large="uint32",
    small_below=2**16 + 1,
    eot="before",
    stream=True,
    shard_tokens=100_000_000,
    most_tokens=MOST_TOKENS,
    first_is_val=True,
)
