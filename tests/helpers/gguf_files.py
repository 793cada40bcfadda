"""Small GGUF files, byte by byte: a header, and values with their types."""

import struct

from cbpe.formats.gpt2 import BYTE_TO_CHARACTER, spell

TOKENS = [*BYTE_TO_CHARACTER.values(), "th", "the", spell(b" the"), "<s>", "</s>", "[PAD]", "<u>"]
KINDS = [1] * 259 + [3, 3, 5, 4]
MERGES = ["t h", "th e", "Ġ the"]


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def texts(values):
    return 9, struct.pack("<IQ", 8, len(values)) + b"".join(map(text, values))


def numbers(values):
    return 9, struct.pack("<IQ", 5, len(values)) + struct.pack(f"<{len(values)}i", *values)


def scores(values):
    return 9, struct.pack("<IQ", 6, len(values)) + struct.pack(f"<{len(values)}f", *values)


def packed(value):
    """The type of a value and its bytes; of a pair, these as they are."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    return (4, struct.pack("<I", value)) if isinstance(value, int) else (8, text(value))


def gguf_file(values, n=None, version=3):
    """A file of these values, of which the header announces n, and of no weights."""
    data = struct.pack("<4sIQQ", b"GGUF", version, 0, len(values) if n is None else n)
    for name, value in values.items():
        kind, content = packed(value)
        data += text(name) + struct.pack("<I", kind) + content
    return data


def tokenizer(**changes):
    """The values of a small tokenizer; None takes one out."""
    usual = {
        "model": "gpt2",
        "pre": "gpt-2",
        "tokens": texts(TOKENS),
        "token_type": numbers(KINDS),
        "merges": texts(MERGES),
        "bos_token_id": 259,
        "eos_token_id": 260,
    }
    named = {f"tokenizer.ggml.{name}": value for name, value in {**usual, **changes}.items() if value is not None}
    return {"general.architecture": "llama", "general.alignment": 32, **named}
