"""Files within files: decompresses them, and refuses archives and compressed files that are taken for text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

__all__ = ["DECOMPRESSORS", "LOOKED_AT", "SIGNS", "begun", "refuse_compressed", "without_archive"]

LOOKED_AT = 512  # bytes at the beginning of a file: the header of the first member of a tar archive
# Of that header, as POSIX (pax, "ustar interchange format") and GNU tar have it.
MAGIC = slice(257, 265)  # with the version
MAGICS = (b"ustar\0", b"ustar  \0")
CHECKSUM = slice(148, 156)  # of all bytes, where these count as spaces
OCTAL = re.compile(rb"[ \0]*([0-7]+)[ \0]*")


def without_archive(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The same chunks, of a whole file. ValueError for a tar archive, which says the name."""
    first = b""
    for chunk in chunks:
        if len(first) < LOOKED_AT:
            first = begun(first, chunk, name)
        yield chunk


def begun(first: bytes, chunk: bytes | memoryview, name: str) -> bytes:
    """The bytes that a file begins with, up to LOOKED_AT, with those of one more chunk. ValueError for those of a tar
    archive, which is UTF-8 if its members are, and would be read as one text with their names and padding."""
    first += bytes(chunk[: LOOKED_AT - len(first)])
    if first[MAGIC].startswith(MAGICS) and is_tar_header(first):
        raise ValueError(f"{name} is no text, but a tar archive: unpack it first, and name the files that were in it")
    return first


def is_tar_header(data: bytes) -> bool:
    """Whether these are the 512 bytes of a header, by their checksum: a text may have the magic by chance."""
    said = OCTAL.fullmatch(data[CHECKSUM])
    others = sum(data) - sum(data[CHECKSUM])
    return len(data) == LOOKED_AT and said is not None and int(said[1], 8) == others + 8 * ord(" ")


def refuse_compressed(data: bytes, name: str) -> None:
    """ValueError for what is no UTF-8 and begins as a compressed file, whose name does not say so."""
    for sign, (program, ending) in SIGNS.items():
        if data.startswith(sign):
            known = f", or name a file that ends in {ending}" if ending in DECOMPRESSORS else ""
            raise ValueError(f"{name} is no text, but compressed by {program}: decompress it first{known}")


# Each decompressor with what it raises where the file is damaged.


def open_gzip(stored: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    import gzip
    import zlib

    return gzip.GzipFile(fileobj=stored), (EOFError, OSError, zlib.error)


def open_xz(stored: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    import lzma

    return lzma.LZMAFile(stored), (EOFError, lzma.LZMAError)


def open_zstandard(stored: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise ImportError(f'reading {stored.name} takes backports.zstd: pip install "cbpe[zstd]"') from error
    return zstd.ZstdFile(stored), (EOFError, zstd.ZstdError)


DECOMPRESSORS = {".gz": open_gzip, ".xz": open_xz, ".zst": open_zstandard}
# How compressed files begin -> what they are compressed by, and the ending of their names.
SIGNS = {
    b"\x1f\x8b\x08": ("gzip", ".gz"),
    b"\xfd7zXZ\0": ("xz", ".xz"),
    b"(\xb5/\xfd": ("zstd", ".zst"),
    **{b"BZh%d1AY&SY" % size: ("bzip2", ".bz2") for size in range(1, 10)},
}
