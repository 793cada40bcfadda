"""The normalizer of a tokenizer.json: what is done to the text before it is split."""

from __future__ import annotations

from cbpe.formats.hugging_face.values import fields, flattened, kind_of, refuse

__all__ = ["read_normalizer"]


def read_normalizer(value: object) -> bool:
    """Whether text is normalized, to NFC."""
    steps = flattened(value, "normalizer", "normalizers")
    for path, step in steps:
        if kind_of(step, path) != "NFC":
            refuse(path, step, "of the normalizers, only NFC is supported")
        fields(step, path, ("type",))
    return bool(steps)
