"""Token ids as text, read as they come: numbers between white space, or JSON lists, one on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import count

__all__ = ["lines_of_ids", "read_ids"]

LONGEST_ID = 64  # characters; far more than an id has
SHOWN = 40
BYTES_SHOWN = 8
LIST_IN_LIST = re.compile(r"\s*\[[\s\d,]*\[")
WAYS = "write ids between blanks, as 15339 1917, or as a JSON list, [15339, 1917]"


def read_ids(chunks: Iterable[bytes], name: str = "the input") -> Iterator[list[int]]:
    """Read ids from bytes that come in chunks, cut anywhere: b"1 2\\n3" -> [1, 2], [3]. Where one of the lists ends and
    the next begins says nothing, and a list may be empty.

    If the first character is a bracket, the bytes are JSON: lists of numbers, each on one line. ValueError, with the
    name, for bytes that are neither.

    >>> list(read_ids([b"[15339, 19", b"17]"]))
    [[15339], [], [1917]]
    """
    chunks = iter(chunks)
    beginning, line = b"", 1
    for chunk in chunks:
        beginning = chunk.lstrip()
        line += chunk[: len(chunk) - len(beginning)].count(b"\n")
        if beginning:
            break
    if beginning.startswith(b"["):
        yield from json_lists(joined(beginning, chunks), name, line)
    else:
        yield from numbers(joined(beginning, chunks), name)


def lines_of_ids(chunks: Iterable[bytes], name: str) -> Iterator[tuple[int, list[int]]]:
    """The ids on each line, which are numbers or a JSON list, with its number; of an empty line none. ValueError, with
    the name, for a line that is neither.

    >>> list(lines_of_ids([b"15339 19", b"17\\n\\n[1917]\\n"], "a file"))
    [(1, [15339, 1917]), (2, []), (3, [1917])]
    """
    parts: list[bytes] = []  # of a line that may go on
    numbers_of_lines = count(1)
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        parts.append(first)
        if others:
            *lines, last = b"".join(parts), *others
            parts = [last]
            for line, number in zip(lines, numbers_of_lines, strict=False):
                yield number, ids_of_line(line, name, number)
    if any(parts):
        number = next(numbers_of_lines)
        yield number, ids_of_line(b"".join(parts), name, number)


def ids_of_line(line: bytes, name: str, number: int) -> list[int]:
    if line.lstrip().startswith(b"["):
        return list_items([line], name, number)
    return [parsed(word, f"line {number:,} of {name}") for word in line.split()]


def joined(first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from others


def numbers(chunks: Iterable[bytes], name: str) -> Iterator[list[int]]:
    """Ids between white space."""
    begun = b""  # a number that may go on
    for chunk in chunks:
        words = (begun + chunk).split()
        begun = words.pop() if words and not chunk[-1:].isspace() else b""
        if len(begun) > LONGEST_ID:
            words.append(begun)  # which is an error
        yield [parsed(word, name) for word in words]
    if begun:
        yield [parsed(begun, name)]


def parsed(word: bytes, name: str) -> int:
    if word.isdigit() and len(word) <= LONGEST_ID:
        return int(word)
    try:
        held = f"{word[:SHOWN].decode()!r}, which is not a token id"
    except UnicodeDecodeError:
        held = f"bytes that are no text ({word[:BYTES_SHOWN].hex(' ')})"
    raise ValueError(f"{name} holds {held}: {WAYS}")


def json_lists(chunks: Iterable[bytes], name: str, line: int) -> Iterator[list[int]]:
    """Ids in JSON lists, of which the first is on this line. A list may be cut at a comma: a 0 at the cut end of each
    half makes it a list again, and is dropped after parsing."""
    held = b""
    inside = False  # of a list whose first part has been read
    for chunk in chunks:
        held += chunk
        cut = held.rfind(b",")
        if cut >= 0:
            lines = (opening(inside) + held[:cut] + b",0]").splitlines()
            yield list_items(lines, name, line)[inside:-1]
            held, inside = held[cut:], True
            line += len(lines) - 1
        elif len(held) > LONGEST_ID * 1024:
            raise not_lists(name, line, "there is no comma in it for long")
    yield list_items((opening(inside) + held).splitlines(), name, line)[inside:]


def opening(inside: bool) -> bytes:
    return b"[0" if inside else b""


def list_items(lines: Iterable[bytes], name: str, first: int) -> list[int]:
    """The items of lists, one on each line, of which this is the number of the first: [b"[1]", b"[2, 3]"] -> [1, 2, 3].
    ValueError for an item that is no id."""
    items: list[int] = []
    for number, line in enumerate(lines, first):
        if line.strip():
            try:
                ids = json.loads(line, parse_int=short_int)
            except (ValueError, RecursionError) as error:
                raise not_lists(name, number, problem_of(error)) from error
            if not isinstance(ids, list):
                raise not_lists(name, number, f"no list is there, but {of_json(ids)}")
            if not all(type(item) is int for item in ids):
                wrong = next(item for item in ids if type(item) is not int)
                raise not_lists(name, number, f"the list holds {of_json(wrong)}")
            items += ids
    return items


def problem_of(error: ValueError | RecursionError) -> str:
    """What is wrong with a line, of which this may be a part: without the place in it."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"it has the byte 0x{error.object[error.start]:02x}, and is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        if LIST_IN_LIST.match(error.doc):
            return "the list holds a list"
        return "more follows the list" if error.msg == "Extra data" else "it is no whole JSON"
    return str(error)


def of_json(item: object) -> str:
    """A value as it stood there, or its beginning."""
    if isinstance(item, (dict, list)):
        return "a list" if isinstance(item, list) else "an object"
    text = json.dumps(item)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def short_int(digits: str) -> int:
    if len(digits) > LONGEST_ID:
        raise ValueError(f"{digits[:SHOWN]}... is not a token id")
    return int(digits)


def not_lists(name: str, line: int, reason: str) -> ValueError:
    return ValueError(f"{name} is not JSON with a list of token ids on each line: on line {line:,}, {reason}")
