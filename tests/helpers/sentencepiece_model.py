"""Small files of SentencePiece's: messages of Protocol Buffers, field by field."""

import struct

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text, score=0.0, kind=NORMAL):
    """A piece; the score may also be the four bytes of one."""
    packed = score if isinstance(score, bytes) else struct.pack("<f", score)
    return field(1, field(1, text) + b"\x15" + packed + field(3, kind))


SPECS = field(2, field(3, 2)) + field(3, field(4, 0))  # BPE, and no white space is removed


def model_file(tokens, user_defined=()):
    """A model with the printable ASCII, and tokens that are merged in their order."""
    ascii_pieces = [piece(bytes([byte])) for byte in range(ord("!"), 127)]
    pieces = [piece(token, -float(rank + 1)) for rank, token in enumerate(tokens)]
    found = [piece(text, kind=USER_DEFINED) for text in user_defined]
    return b"".join([piece(b"<unk>", kind=UNKNOWN), piece("\u2581".encode()), *ascii_pieces, *pieces, *found, SPECS])
