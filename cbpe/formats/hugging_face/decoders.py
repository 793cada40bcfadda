"""The decoder of a tokenizer.json: how tokens become text again."""

from __future__ import annotations

from cbpe.formats.hugging_face.pre_tokenizers import read_byte_level
from cbpe.formats.hugging_face.values import flattened, kind_of, refuse

__all__ = ["read_decoder"]


def read_decoder(value: object) -> None:
    steps = flattened(value, "decoder", "decoders")
    if len(steps) != 1 or kind_of(steps[0][1], steps[0][0]) != "ByteLevel":
        refuse("decoder", value, "only ByteLevel is supported")
    read_byte_level(steps[0][1], steps[0][0])
