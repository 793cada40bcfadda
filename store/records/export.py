"""The file that carries one version from store to store, self-contained. All numbers are little-endian:

    bytes         what
    8             the magic, 89 63 62 70 65 53 4d 0a ("\\x89cbpeSM\\n")
    4             the version of the format, 1
    4             h, the size of the header, at most 2 MiB
    h             the header, JSON in UTF-8: an object with
                      name, kind, encoding_name, tags, metrics, parent_digest    as in a Version
                      saved_at             when it was saved, in ISO 8601
                      digest               the SHA-256 of the content, in hexadecimal
                      sizes                of the parts that follow, in bytes: an object of content, notes, training,
                                           counts, tokens and vocabulary; null for notes or training: there are none
    content       the canonical form (cbpe.tokenizers.description.canonical_form), at most 2 MiB
    notes         text in UTF-8, at most 16 MiB
    training      the training record but for its two arrays, JSON in UTF-8: an object of its fields, at most 2 MiB
    counts        int64 each, at most 16 MiB
    tokens        int64 each, as many
    vocabulary    the packed vocabulary (Vocabulary.pack), at most 6 MiB
    32            the SHA-256 of all bytes before it

The reader executes and unpickles nothing, and checks every size before it takes memory for it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from cbpe.common.little_endian import little_endian
from cbpe.common.published import EXPORTED as MAGIC
from cbpe.common.wording import NamedErrors
from cbpe.training.record import TrainingRecord
from store.database.sqlite.files import MAGIC as SQLITE
from store.records.limits import MAX_JSON_BYTES, MAX_NOTES_BYTES, MAX_PACKED_BYTES, MAX_TRAINING_BYTES
from store.records.training import ARRAYS, record_from_fields, record_to_fields

__all__ = ["MAGIC", "MAX_FILE_BYTES", "Carried", "bytes_of_file", "parts_of_file", "read_bytes", "read_file"]

VERSION = 1
FIXED = len(MAGIC) + 8  # bytes before the header
DIGEST = 32
CHUNK = 1 << 20
# The parts in order, and the most that each may take.
PARTS = {
    "content": MAX_JSON_BYTES,
    "notes": MAX_NOTES_BYTES,
    "training": MAX_JSON_BYTES,
    "counts": MAX_TRAINING_BYTES,
    "tokens": MAX_TRAINING_BYTES,
    "vocabulary": MAX_PACKED_BYTES,
}
OPTIONAL = ("notes", "training")
MAX_FILE_BYTES = FIXED + MAX_JSON_BYTES + sum(PARTS.values()) + DIGEST


@dataclass(frozen=True)
class Carried:
    """What a file carries. It was read as it was written; whether it is right is not checked yet."""

    about: dict[str, Any]  # the header
    content: str
    vocabulary: bytes
    notes: str | None
    training: TrainingRecord | None


def parts_of_file(carried: Carried) -> Iterator[bytes]:
    """The parts of a file in order. Raises ValueError for a part beyond its limit."""
    fields = {} if carried.training is None else record_to_fields(carried.training)
    arrays = {name: fields.pop(name) if fields else array("q") for name in ARRAYS}
    texts = {
        "content": carried.content,
        "notes": carried.notes,
        "training": json.dumps(fields) if fields else None,
    }
    parts: dict[str, bytes | None] = {
        **{name: None if text is None else text.encode("utf-8") for name, text in texts.items()},
        **{name: little_endian(values[:]).tobytes() for name, values in arrays.items()},
        "vocabulary": carried.vocabulary,
    }
    sizes = {name: None if part is None else len(part) for name, part in parts.items()}
    header = json.dumps({**carried.about, "sizes": sizes}).encode("ascii")
    if len(header) > MAX_JSON_BYTES:
        raise ValueError(f"the tags and the rest of the header take {len(header)} bytes of at most {MAX_JSON_BYTES}")
    for name, size in sizes.items():
        if size is not None and size > PARTS[name]:
            raise ValueError(f"its {name} take {size} bytes of at most {PARTS[name]}")
    digest = hashlib.sha256()
    start = MAGIC + VERSION.to_bytes(4, "little") + len(header).to_bytes(4, "little") + header
    for part in (start, *(part for part in parts.values() if part is not None)):
        digest.update(part)
        yield part
    yield digest.digest()


def read_file(path: str | os.PathLike[str]) -> Carried:
    """What a file carries. Raises OSError if it cannot be read, and ValueError if it is no whole and intact file of
    this kind."""
    with opened(path) as file, NamedErrors(path):
        return read_open(file, os.fstat(file.fileno()).st_size)


def bytes_of_file(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file, for those who look at them more than once. Raises OSError, and ValueError for more bytes
    than an exported tokenizer has."""
    with opened(path) as file, NamedErrors(path):
        data = file.read(MAX_FILE_BYTES + 1)
    check_size(len(data))
    return data


def read_bytes(data: bytes) -> Carried:
    """What the bytes of a file carry. Raises ValueError as read_file does."""
    return read_open(io.BytesIO(data), len(data))


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):  # reading a pipe would wait
        raise ValueError("this is a pipe or a device, and an exported tokenizer a file")
    return open(path, "rb")


def check_size(size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise ValueError(f"it has {size} bytes, and the largest exported tokenizer {MAX_FILE_BYTES}")


def read_open(file: BinaryIO, size: int) -> Carried:
    start = file.read(FIXED)
    if start.startswith(SQLITE):
        raise ValueError(
            "this is an SQLite database, as a model store is: open that by ModelStore(path), and copy from it"
        )
    if not start.startswith(MAGIC):
        raise ValueError(
            "this is no exported tokenizer; one that cbpe.load reads is saved by ModelStore.save(cbpe.load(path), name)"
        )
    version = int.from_bytes(start[len(MAGIC) : len(MAGIC) + 4], "little")
    if len(start) == FIXED and version != VERSION:
        raise ValueError(f"this exported tokenizer is of version {version}; only {VERSION} is known here")
    check_size(size)
    header_size = int.from_bytes(start[FIXED - 4 :], "little")
    if size < FIXED + header_size + DIGEST or not is_intact(file, size):
        raise ValueError("this exported tokenizer is cut short or damaged: its checksum is another one")
    if header_size > MAX_JSON_BYTES:
        raise ValueError(f"its header has {header_size} bytes, of at most {MAX_JSON_BYTES}")
    file.seek(FIXED)
    try:
        return read_parts(file, json.loads(file.read(header_size).decode("utf-8")), size - header_size)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this exported tokenizer was not written as it should be: {error!r:.300}") from error


def is_intact(file: BinaryIO, size: int) -> bool:
    """Whether a file ends in the SHA-256 of all bytes before it."""
    file.seek(0)
    digest, left = hashlib.sha256(), size - DIGEST
    while left > 0:
        chunk = file.read(min(left, CHUNK))
        if not chunk:
            return False
        digest.update(chunk)
        left -= len(chunk)
    return file.read(DIGEST) == digest.digest()


def read_parts(file: BinaryIO, about: dict[str, Any], size: int) -> Carried:
    """What the parts after the header carry. size: that of the file without the header."""
    sizes = about.pop("sizes")
    for name, most in PARTS.items():
        length = sizes[name]
        if length is None and name in OPTIONAL:
            continue
        if not isinstance(length, int) or isinstance(length, bool) or not 0 <= length <= most:
            raise ValueError(f"its {name} have {length!r:.80} bytes, of at most {most}")
    if FIXED + sum(sizes[name] or 0 for name in PARTS) + DIGEST != size:
        raise ValueError("its sizes do not fit the size of the file")
    parts = {name: None if sizes[name] is None else file.read(sizes[name]) for name in PARTS}
    content, notes, training = parts["content"] or b"", parts["notes"], parts["training"]
    if training is None and (parts["counts"] or parts["tokens"]):
        raise ValueError("it has the numbers of a training record that it does not have")
    return Carried(
        about,
        content.decode("ascii"),
        parts["vocabulary"] or b"",
        None if notes is None else notes.decode("utf-8"),
        None if training is None else read_training(training, {name: parts[name] or b"" for name in ARRAYS}),
    )


def read_training(text: bytes, arrays: dict[str, bytes]) -> TrainingRecord:
    fields = json.loads(text.decode("utf-8"))
    return record_from_fields({**fields, **{name: little_endian(array("q", data)) for name, data in arrays.items()}})
