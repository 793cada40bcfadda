"""What the bytes of a file are: text in UTF-8, or compressed. Archives, and what else is no text, are refused."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from cbpe._core.text.utf8 import count_valid
from cbpe.common.warning import warn

__all__ = [
    "COUNTS_BEGIN",
    "DECOMPRESSORS",
    "IN_OTHER_ENCODINGS",
    "PACKERS",
    "PARQUET",
    "REPLACEMENT",
    "SIGNS",
    "TOO_LARGE_A_WINDOW",
    "ZIP",
    "ZIPPED",
    "Repairs",
    "damage_in_words",
    "decoded",
    "valid_utf8",
    "without_archive",
]

LOOKED_AT = 512  # bytes at the beginning of a file: the header of the first member of a tar archive
# Of that header, as POSIX (pax, "ustar interchange format") and GNU tar have it.
MAGIC = slice(257, 265)  # with the version
MAGICS = (b"ustar\0", b"ustar  \0")
CHECKSUM = slice(148, 156)  # of all bytes, where these count as spaces
PARQUET = b"PAR1"
COUNTS_BEGIN = b"\x89cbpeWC\n"  # a file of word counts (WordCounts.save)
ZIP, ZIPPED = b"PK\x03\x04", "a zip archive, as .docx and .npz are too: unpack it first, and name its files"
ARROW = "Arrow (Feather): write it as Parquet, as pyarrow.parquet.write_table does, and name its column"
ARROW_STREAM = re.compile(rb"\xff{4}..\0\0", re.DOTALL)  # a sign, and how long the schema is
# Byte order marks -> what is said of a file that begins with one. That of UTF-32 begins as that of UTF-16 does.
IN_OTHER_ENCODINGS = {
    mark: f"is {name}, as its first {n_bytes} bytes say: convert it to UTF-8 first"
    for marks, name, n_bytes in (
        ((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "UTF-32", "four"),
        ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "UTF-16", "two"),
    )
    for mark in marks
}
PDF = b"%PDF-"
# How files begin that are no text in UTF-8 -> what they are, and what to do.
OTHER_KINDS = {
    COUNTS_BEGIN: "is no text, but word counts, which are known by the ending .words: rename it so",
    ZIP: f"is no text, but {ZIPPED}",
    PARQUET: "is no text, but Parquet: name a file that ends in .parquet",
    b"ARROW1": f"is no text, but {ARROW}",
    PDF: "is no text, but a PDF: convert it to text first",
    **{
        sign: f"is no text, but {what}: name files of text"
        for sign, what in (
            (b"\x89PNG\r\n", "a picture (PNG)"),
            (b"\xff\xd8\xff", "a picture (JPEG)"),
            (b"SQLite format 3\0", "a SQLite database"),
            (b"\x89HDF\r\n", "HDF5"),
            (b"\x93NUMPY", "an array of NumPy's"),
            (b"GGUF", "GGUF, which holds a model"),
            (b"\x7fELF", "a program"),
        )
    },
    **IN_OTHER_ENCODINGS,
}
REPLACEMENT = "\ufffd"
FEWEST_ZEROS = 8  # of the bytes of characters that make a file look as if it were UTF-16
OCTAL = re.compile(rb"[ \0]*([0-7]+)[ \0]*")


# ---- Archives, and compressed files that are taken for text


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


def refuse_other_kinds(data: bytes, name: str) -> None:
    """ValueError for what is no UTF-8 and begins as a compressed file, whose name does not say so, or as another that
    holds no text in UTF-8."""
    if ARROW_STREAM.match(data):
        raise ValueError(f"{name} is no text, but {ARROW}")
    for sign, kind in OTHER_KINDS.items():
        if data.startswith(sign):
            raise ValueError(f"{name} {kind}")
    for sign, (program, ending) in SIGNS.items():
        if data.startswith(sign):
            if name.lower().endswith(TAR_ENDINGS):
                raise ValueError(f"{name} is no text, but a packed tar archive: unpack it first, and name its files")
            known = f", or name a file that ends in {ending}" if ending in DECOMPRESSORS else ""
            raise ValueError(f"{name} is no text, but compressed by {program}: decompress it first{known}")


# ---- UTF-8


class Repairs:
    """What becomes of bytes that are not UTF-8, and how often that was done.

    errors: "replace" puts U+FFFD in their place, as bytes.decode does; "strict" refuses them.
    """

    def __init__(self, errors: str) -> None:
        self.errors = errors
        self.replaced = 0  # how many U+FFFD were put
        self.halves = 0  # in place of how many halves of surrogate pairs, which JSON may have, there will be U+FFFD too

    def as_row(self) -> dict[str, int]:
        """What a row of results says of them: nothing, unless they may be replaced."""
        return {"replaced": self.total} if self.errors == "replace" else {}

    @property
    def total(self) -> int:
        """How many U+FFFD the texts have that were not in them."""
        return self.replaced + self.halves

    def made_of(self, data: bytes, final: bool = True) -> tuple[str, int]:
        """The text of some bytes, and how many of them it is of: all, unless they are not the final ones and end within
        a character. UnicodeDecodeError for what is refused."""
        try:
            return codecs.utf_8_decode(data, "strict", final)
        except UnicodeDecodeError:
            if self.errors == "strict":
                raise
        text, used = codecs.utf_8_decode(data, self.errors, final)
        self.replaced += text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
        return text, used


def valid_utf8(chunks: Iterable[bytes | memoryview], name: str, repairs: Repairs) -> Iterator[bytes]:
    """The same bytes, in chunks that end between two characters. What is not UTF-8 becomes U+FFFD where repairs are
    made; otherwise it is a ValueError, which says the name and the place. Whole files of other kinds, of which no text
    would come (compressed ones, archives, PDF, UTF-16 and UTF-32, word counts), are a ValueError anyway."""
    pending = b""  # the beginning of a character
    offset = 0
    first = b""  # bytes of all
    for chunk in chunks:
        data = pending + chunk if pending else bytes(chunk)
        if len(first) < LOOKED_AT:
            first = begun(first, chunk, name)
            if offset == 0 and not first.startswith(tuple(IN_OTHER_ENCODINGS)):
                tell_of_zeros(first, name)
        valid = count_valid(data)
        if valid == len(data):
            if offset == 0 and data.startswith(PDF):  # of ASCII alone, which few are
                warn(f"{name} begins as a PDF does, and is read as text: convert it to text first if it is one")
            pending = b""
            yield data
        else:
            refuse_other_kinds(first, name)
            text, pending = decoded_part(data[valid:], name, repairs, offset + valid)
            yield data[:valid] + text.encode()
        offset += len(data) - len(pending)
    yield decoded(pending, name, repairs, offset).encode()


def tell_of_zeros(first: bytes, name: str) -> None:
    """A UserWarning for a file whose first bytes are zero at most odd or at most even places, and at no others: ASCII
    in UTF-16 without a byte order mark is UTF-8 as well."""
    for zeros, others in ((first[1::2], first[::2]), (first[::2], first[1::2])):
        n_zeros = zeros.count(0)
        if n_zeros >= FEWEST_ZEROS and 2 * n_zeros > len(zeros) and 0 not in others:
            warn(
                f"{name} is read as UTF-8, with a zero byte beside most others at its beginning: it looks like UTF-16 "
                "without a byte order mark; convert it to UTF-8 if so"
            )


def decoded_part(data: bytes, name: str, repairs: Repairs, offset: int) -> tuple[str, bytes]:
    """As decoded, but for a character that is cut off at the end, whose bytes come second."""
    try:
        text, used = repairs.made_of(data, final=False)
    except UnicodeDecodeError as error:
        raise not_utf8(error, name, offset) from error
    return text, data[used:]


def decoded(data: bytes, name: str, repairs: Repairs, offset: int = 0) -> str:
    """UTF-8 as a str. ValueError for what is not UTF-8 and not repaired, with the name, and the place from offset."""
    try:
        return repairs.made_of(data)[0]
    except UnicodeDecodeError as error:
        if offset == 0:
            refuse_other_kinds(data, name)
        raise not_utf8(error, name, offset) from error


def not_utf8(error: UnicodeDecodeError, name: str, offset: int) -> ValueError:
    """The exception that says what is not UTF-8, and where."""
    wrong = f"byte 0x{error.object[error.start]:02x} at offset {offset + error.start}"
    if error.reason == "unexpected end of data":
        problem = f"{name} is not UTF-8: it ends within a character ({wrong}), as what was cut there does"
        return ValueError(f"{problem}: cut it between two characters, convert it, or set errors to 'replace'")
    return ValueError(f"{name} is not UTF-8 ({wrong}): convert it, or set errors to 'replace'")


# ---- Decompressors, each with what it raises where the file is damaged.


def open_gzip(stored: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    import gzip
    import zlib

    return gzip.GzipFile(fileobj=stored), (EOFError, OSError, zlib.error)


def open_xz(stored: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    import lzma

    return XzStreams(stored), (EOFError, lzma.LZMAError)


class XzStreams:
    """A .xz file, decompressed: its streams, one after the other, with padding between them, as section 2 of the .xz
    file format has it. lzma.LZMAFile leaves out without a word what follows padding, and what is no stream."""

    def __init__(self, stored: BinaryIO) -> None:
        import lzma

        self._lzma = lzma
        self._stored = stored
        self._decoder = lzma.LZMADecompressor()
        self._compressed = b""  # what is read, and not given to the decoder yet

    def read(self, size: int) -> bytes:
        """At most so many bytes, and none at the end of the last stream. EOFError if that is cut short, LZMAError for
        what is damaged."""
        while not self._decoder.eof or self._next_stream():
            if self._decoder.needs_input and not self._compressed:
                self._compressed = self._stored.read(COMPRESSED_BYTES)
                if not self._compressed:
                    raise EOFError(CUT_SHORT)
            data = self._decoder.decompress(self._compressed, size)
            self._compressed = b""
            if data:
                return data
        return b""

    def _next_stream(self) -> bool:
        """Go on to the stream that follows, if there is one."""
        rest = self._decoder.unused_data
        n_zeros = 0
        while not (stream := rest.lstrip(b"\0")):
            n_zeros += len(rest)
            rest = self._stored.read(COMPRESSED_BYTES)
            if not rest:
                break
        n_zeros += len(rest) - len(stream)
        if n_zeros % 4:
            raise self._lzma.LZMAError(f"{n_zeros} zero bytes follow a stream, and padding comes in fours")
        if not stream:
            return False
        if not stream.startswith(XZ[: len(stream)]):
            raise self._lzma.LZMAError("what follows a stream is none")
        self._decoder = self._lzma.LZMADecompressor(self._lzma.FORMAT_XZ)
        self._compressed = stream
        return True


def open_zstandard(stored: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise ImportError(f'reading {stored.name} takes backports.zstd: pip install "cbpe[zstd]"') from error
    return zstd.ZstdFile(stored), (EOFError, zstd.ZstdError)


def damage_in_words(error: Exception) -> str:
    """What is wrong with a compressed file, in words of its own where the library's are those of Python."""
    said = str(error)
    return next((words for begins, words in DAMAGE.items() if said.startswith(begins)), said)


XZ = b"\xfd7zXZ\0"  # how a stream begins
COMPRESSED_BYTES = 1 << 16  # that are read at once
CUT_SHORT = "Compressed file ended before the end-of-stream marker was reached"  # as Python says of the other kinds
OTHER_BYTES = "it is not compressed, or not to its end, or in another way"
TOO_LARGE_A_WINDOW = (
    "takes more memory to decompress than is given to a file (zstd --long): decompress it first, by zstd -d --long=31"
)
DAMAGE = {
    "Unable to decompress Zstandard data: Frame requires too much memory": TOO_LARGE_A_WINDOW,
    "Not a gzipped file": OTHER_BYTES,
    "Input format not supported by decoder": OTHER_BYTES,
    "Unable to decompress Zstandard data: Unknown frame descriptor": OTHER_BYTES,
    "CRC check failed": "its checksum is another one",
    CUT_SHORT: "it is cut short",
}
DECOMPRESSORS = {".gz": open_gzip, ".xz": open_xz, ".zst": open_zstandard}
TAR_ENDINGS = (".tgz", ".txz", ".tzst", ".tbz", ".tbz2")  # of archives that are packed
# The endings of files that are compressed in a way that is not read -> by what.
PACKERS = {".bz2": "bzip2", ".7z": "7-Zip", ".br": "Brotli", ".lz4": "LZ4", ".lzma": "LZMA", ".zip": "zip"}
# How compressed files begin -> what they are compressed by, and the ending of their names.
SIGNS = {
    b"\x1f\x8b\x08": ("gzip", ".gz"),
    XZ: ("xz", ".xz"),
    b"(\xb5/\xfd": ("zstd", ".zst"),
    **{b"BZh%d1AY&SY" % size: ("bzip2", ".bz2") for size in range(1, 10)},
}
