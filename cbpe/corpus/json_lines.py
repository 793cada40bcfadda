"""The texts in JSON Lines: on each line an object with a text in one field. Lines come many at a time, as bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from typing import Any

from cbpe._core.arrow.exported import ArrowColumn, memory_of
from cbpe._core.arrow.json_lines import FieldOfLines
from cbpe._core.text.shown import shown
from cbpe._core.text.utf8 import utf8
from cbpe.common.wording import json_problem, listed, nesting_problem
from cbpe.corpus.stored_bytes import REPLACEMENT, Repairs, decoded, without_archive

__all__ = [
    "MOST_AT_ONCE",
    "NullTextError",
    "Nulls",
    "checked_missing",
    "columns_of_lines",
    "decoded_line",
    "names_in",
    "row_of",
    "texts_in",
    "texts_of_lines",
    "whole_lines",
]

SHOWN_FIELDS = 10  # in a message
HALF = re.compile("[\ud800-\udfff]")
PRIVATE_USE = range(0xF0000, 0x10FFFE)  # characters that nearly no text has
# What has to be held in memory at once, a line of JSON Lines or a column of a row group of Parquet, may be so large, or
# some times as large as the file: a small file that is compressed may hold one without end.
MOST_AT_ONCE = 1 << 25


# ---- Texts that are null


def checked_missing(missing: str) -> str:
    if missing not in ("error", "skip"):
        raise ValueError(f"missing is {shown(missing)}; it must be 'error' or 'skip'")
    return missing


class NullTextError(ValueError):
    """A row, or a line, whose text is null."""


class Nulls:
    """What becomes of rows and lines whose text is null, and how many there were.

    missing: "skip" leaves them out, "error" refuses them and says so, and None is "error" where nothing else may be
    asked for. ValueError for another value.
    """

    def __init__(self, missing: str | None) -> None:
        self.missing = None if missing is None else checked_missing(missing)
        self.skipped = 0

    def as_row(self) -> dict[str, int]:
        """What a row of results says of them: nothing, unless they may be skipped."""
        return {"skipped": self.skipped} if self.missing == "skip" else {}

    def pass_over(self, error: NullTextError | TypeError, n: int = 1) -> None:
        """Skip rows, of which the error tells the first; or raise it."""
        if self.missing == "skip":
            self.skipped += n
        else:
            way = "" if self.missing is None else ", or set missing to 'skip'"
            raise type(error)(f"{error}{way}")


# ---- Lines


def columns_of_lines(
    parts: Iterable[tuple[int, bytes]],
    field: str,
    name: str,
    place_of: Callable[[int, int], str],
    n_bytes: int,
    nulls: Nulls,
    repairs: Repairs,
) -> Iterator[ArrowColumn | str]:
    """The texts in a field of JSON Lines, without lines of white space and a byte order mark, in columns of about
    n_bytes. A text with half of a surrogate pair, which no column holds, comes as a str.

    parts: whole lines, and where they begin. name, place_of: what messages call the file, and a line of it."""
    texts = FieldOfLines(field)
    others = 0  # lines that were read in another way
    for offset, part in parts:
        at = 0
        while (at := texts.read(part, at)) < len(part):
            stop = part.find(b"\n", at)
            line = part[at : stop if stop >= 0 else len(part)]
            others += 1
            place = place_of(texts.lines_read + others, offset + at)
            try:
                text = text_of_line(line, field, name, repairs, place, offset + at)
            except NullTextError as error:
                nulls.pass_over(error)
                text = None
            at = min(at + len(line) + 1, len(part))
            if text is None:
                continue
            try:
                texts.add(text.encode())
            except UnicodeEncodeError:
                yield texts.take()
                yield text
        if texts.n_bytes >= n_bytes:
            yield texts.take()
    yield texts.take()


def text_of_line(line: bytes, field: str, name: str, repairs: Repairs, place: str, offset: int) -> str | None:
    """The text in a field of one line; None for a line of white space."""
    found = decoded_line(line, field, name, repairs, place, offset)
    return None if found is None else found[1]


def decoded_line(
    line: bytes, field: str, name: str, repairs: Repairs, place: str, offset: int
) -> tuple[str, str] | None:
    """A line and the text in its field; None for a line of white space. Of the bytes that are not UTF-8, those in that
    text count as replaced."""
    of_line = Repairs(repairs.errors)
    whole = decoded(line, name, of_line, offset)
    if offset == 0:
        whole = whole.removeprefix("\ufeff")
    if not whole.strip():
        return None
    text = field_of(whole, place, field)
    if of_line.replaced:
        repairs.replaced += replaced_in(line, text, place, field)
    if not text.isascii():
        repairs.halves += len(HALF.findall(text))
    return whole, text


def replaced_in(line: bytes, text: str, place: str, field: str) -> int:
    """How many U+FFFD of the text in a field of a line were put for bytes that are not UTF-8. The others are marked by
    one character that the text does not have, and these by another; of a text that has nearly all, all U+FFFD count."""
    unused = [*islice((chr(code) for code in PRIVATE_USE if chr(code) not in text), 2)]
    if len(unused) < 2:
        return text.count(REPLACEMENT)
    other, own = unused
    marked = line.replace(REPLACEMENT.encode(), other.encode()).decode("utf-8", "replace").replace(REPLACEMENT, own)
    return field_of(marked.removeprefix("\ufeff"), place, field).count(own)


def texts_in(texts: ArrowColumn | str) -> Iterator[bytes]:
    """The UTF-8 of each text of columns_of_lines."""
    if isinstance(texts, str):
        yield utf8(texts)
        return
    places, data = memory_of(texts)
    ends = places.cast("i" if places.nbytes == 4 * (len(texts) + 1) else "q").tolist()
    for start, stop in pairwise(ends):
        yield data[start:stop].tobytes()


def texts_of_lines(chunks: Iterable[bytes], field: str, name: str, nulls: Nulls, repairs: Repairs) -> Iterator[bytes]:
    """The texts in a field of JSON Lines that come in chunks, as from a pipe; name: what messages call them. The texts
    of a chunk are given before the next one is waited for."""

    def parts() -> Iterator[tuple[int, bytes]]:
        offset = 0
        for part in whole_lines(without_archive(chunks, name), MOST_AT_ONCE, name):
            yield offset, part
            offset += len(part)

    def place_of(number: int, offset: int) -> str:
        return f"{name}, line {number}"

    for texts in columns_of_lines(parts(), field, name, place_of, 0, nulls, repairs):
        yield from texts_in(texts)


# ---- One line


def row_of(line: str, place: str, field: str, parse_int: Callable[[str], Any] = float) -> dict[str, Any]:
    """The object on a line of JSON Lines, which has this field; ValueError says what is there instead. parse_int: what
    makes numbers, which mostly do not matter, while int() refuses long ones."""
    try:
        row = json.loads(line, parse_int=parse_int)
    except json.JSONDecodeError as error:
        if line.strip() in ("[", "{", "[{"):  # as indented JSON begins
            jq = "jq -c ." if line.strip() == "{" else "jq -c '.[]'"
            raise ValueError(
                f"{place}, is not JSON by itself: it goes on over several lines, or was cut. Write each object on a "
                f"line of its own, as {jq} does"
            ) from error
        problem = json_problem(error, f"character {error.pos + 1:,} of the line")
        raise ValueError(f"{place}, is not JSON: {problem}") from error
    except RecursionError as error:
        raise ValueError(f"{place}, {nesting_problem(line)}: leave such lines out") from error
    except ValueError as error:
        raise ValueError(f"{place}, has a number of too many digits for Python to read") from error
    if not isinstance(row, dict):
        has_objects = isinstance(row, list) and row and all(isinstance(each, dict) for each in row)
        instead = ": write each object on a line of its own, as jq -c '.[]' does" if has_objects else ""
        raise ValueError(f"{place}, is no object with the field {shown(field)}, but {json_type(row)}{instead}")
    if field not in row:
        raise ValueError(f"{place}, has no field {shown(field)}; it has {names_in(row)}")
    return row


def field_of(line: str, place: str, field: str) -> str:
    """The text in a field of one line of JSON Lines; ValueError says what is there instead."""
    text = row_of(line, place, field)[field]
    if not isinstance(text, str):
        problem = f"{place}, has no text in the field {shown(field)}, but {json_type(text)}"
        raise NullTextError(f"{problem}: leave such lines out") if text is None else ValueError(problem)
    return text


# ---- Bytes to lines, and names


def whole_lines(chunks: Iterable[bytes], most: int, name: str) -> Iterator[bytes]:
    """The same bytes in parts that end with a line break, but for the last one: [b"ab", b"c\\nd"] -> b"abc\\n", b"d"
    ValueError for a line of more than `most` bytes, which says the name."""
    begun: list[bytes] = []
    held = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        held = (0 if end else held) + len(chunk) - end
        if held > most:
            raise ValueError(f"{name} has a line of more than {most:,} bytes")
        if end:
            first = chunk.find(b"\n") + 1
            yield b"".join([*begun, chunk[:first]])
            begun = []
            if first < end:
                yield chunk[first:end]
        begun.append(chunk[end:])
    rest = b"".join(begun)
    if rest:
        yield rest


def json_type(value: Any) -> str:
    """What JSON calls a value: {} -> "an object" """
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def names_in(names: Iterable[str]) -> str:
    """Names of fields for a message: ["a", "b"] -> "'a', 'b'" """
    return listed(map(shown, names), SHOWN_FIELDS) or "none"
