"""Token ids as text, read as they come: numbers between white space, or JSON lists, one on each line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

__all__ = ["read_ids"]

LONGEST_ID = 64  # characters; far more than an id has
SHOWN = 40
WAYS = "write ids between blanks, as 15339 1917, or as a JSON list, [15339, 1917]"


def read_ids(chunks: Iterable[bytes], name: str = "the input") -> Iterator[list[int]]:
    """Read ids from bytes that come in chunks, cut anywhere: b"1 2\\n3" -> [1, 2], [3]. Where one of the lists ends and
    the next begins says nothing.

    If the first character is a bracket, the bytes are JSON: lists of numbers, each on one line. ValueError, with the
    name, for bytes that are neither.

    >>> list(read_ids([b"[15339, 19", b"17]"]))
    [[15339], [1917]]
    """
    chunks = iter(chunks)
    beginning = b""
    for chunk in chunks:
        beginning = chunk.lstrip()
        if beginning:
            break
    read = json_lists if beginning.startswith(b"[") else numbers
    yield from read(joined(beginning, chunks), name)


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
    shown = word[:SHOWN].decode("utf-8", "backslashreplace")
    raise ValueError(f"{name} holds {shown!r}, which is not a token id: {WAYS}")


def json_lists(chunks: Iterable[bytes], name: str) -> Iterator[list[int]]:
    """Ids in JSON lists. A list may be cut at a comma: a 0 at the cut end of each half makes it a list again, and is
    dropped after parsing."""
    held = b""
    inside = False  # of a list whose first part has been read
    for chunk in chunks:
        held += chunk
        cut = held.rfind(b",")
        if cut >= 0:
            yield list_items(opening(inside) + held[:cut] + b",0]", name)[inside:-1]
            held, inside = held[cut:], True
        elif len(held) > LONGEST_ID * 1024:
            raise not_lists(name, "there is no comma in it for long")
    yield list_items(opening(inside) + held, name)[inside:]


def opening(inside: bool) -> bytes:
    return b"[0" if inside else b""


def list_items(lines: bytes, name: str) -> list[int]:
    """The items of lists, one on each line: b"[1]\\n[2, 3]" -> [1, 2, 3]. ValueError for an item that is no id."""
    try:
        lists = [json.loads(line, parse_int=short_int) for line in lines.splitlines() if line.strip()]
    except RecursionError as error:
        raise not_lists(name, "it is nested too deeply") from error
    except ValueError as error:  # a place would be that in this part of the input
        raise not_lists(name, getattr(error, "msg", str(error))) from error
    if not all(isinstance(ids, list) and all(type(i) is int for i in ids) for ids in lists):
        raise not_lists(name, "something in it is no list or no whole number")
    return [i for ids in lists for i in ids]


def short_int(digits: str) -> int:
    if len(digits) > LONGEST_ID:
        raise ValueError(f"{digits[:SHOWN]}... is not a token id")
    return int(digits)


def not_lists(name: str, reason: str) -> ValueError:
    return ValueError(f"{name} is not JSON with a list of token ids on each line: {reason}")
