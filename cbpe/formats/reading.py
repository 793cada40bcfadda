"""What the readers of all formats share: a file's bytes, of which there may not be too many, and strict JSON."""

from __future__ import annotations

import errno
import functools
import json
import os
import stat
from functools import cached_property

from cbpe._core.text.json_members import count_members, scan
from cbpe.common.wording import NamedErrors, json_problem, nesting_problem, not_utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

__all__ = ["MAX_FILE_BYTES", "File", "parse_json", "read_start", "read_text", "read_whole"]

ENOUGH_TO_TELL = 1 << 16  # bytes of a file by which its format is told

MAX_FILE_BYTES = 1 << 28  # the largest tokenizers that are published have some 40 MB
WORTH_ORJSON = 1 << 22  # bytes of JSON that take longer than to import orjson
MAX_DIGITS = 20  # of a number; longer ones are no ids, and int() has no time for endless ones


class File:
    """A file whose format is to be told. It is read when first asked for. OSError where it cannot be read, and for a
    pipe, which would be empty the second time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if not stat.S_ISREG(os.stat(path).st_mode):
            problem = "a pipe or a device, and a tokenizer is read more than once: write it to a file, and name that"
            raise OSError(errno.ESPIPE, problem, self.path)
        self._made: dict[Callable[[bytes], Any], Any] = {}

    @cached_property
    def start(self) -> bytes:
        """Its first ENOUGH_TO_TELL bytes."""
        return read_start(self.path, ENOUGH_TO_TELL)

    @cached_property
    def data(self) -> bytes:
        """All its bytes. Raises as read_whole does."""
        return read_whole(self.path)

    @property
    def stem(self) -> str:
        """Its name without the folder and the ending."""
        return os.path.splitext(os.path.basename(self.path))[0]

    @property
    def looks_like_json(self) -> bool:
        """Whether it starts as an object of JSON does."""
        return self.start.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").startswith(b"{")

    @cached_property
    def json(self) -> Any:
        """The value in it. Raises as read_whole and parse_json do."""
        return parse_json(self.data, "this")

    def once(self, reader: Callable[[bytes], Any]) -> Any:
        """What a reader makes of its bytes, which is asked once."""
        if reader not in self._made:
            self._made[reader] = reader(self.data)
        return self._made[reader]


def read_start(path: str | os.PathLike[str], n_bytes: int) -> bytes:
    """The first bytes of a file."""
    with open(path, "rb") as file, NamedErrors(path):
        return file.read(n_bytes)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. OSError where it cannot be read, ValueError where they are more than MAX_FILE_BYTES."""
    data = read_start(path, MAX_FILE_BYTES + 1)  # no more, whatever the file system says of its size
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"{os.path.basename(path)} has more than {MAX_FILE_BYTES:,} bytes: that is no tokenizer")
    return data


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8. Raises as read_whole does, and ValueError for what is not UTF-8."""
    data = read_whole(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it {not_utf8(error)}: it is damaged, or no model") from None


class TooLongError(ValueError):
    """A number that JSON may have, and that is not read."""


def parse_json(data: bytes, name: str, most_digits: int = MAX_DIGITS) -> Any:
    """The value in a JSON file called `name`. ValueError for anything that is not JSON in UTF-8, for an object that
    has a key twice, and for nesting or numbers without end: those with more than most_digits."""
    n_members, longest = scan(data)
    if longest < most_digits:
        try:  # without looking at each object and number, which takes twice as long
            value = fast_json(data)
        except (RecursionError, ValueError):
            pass  # the other way says what is wrong, or takes what that does not
        else:
            if count_members(value) == n_members:
                return value
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is no JSON: it {not_utf8(error)}") from None
    number = functools.partial(short_int, most_digits=most_digits)
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_int=number, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError(f"{name} is no JSON that can be read: it {nesting_problem(text)}") from None
    except TooLongError as error:
        raise ValueError(f"{name} is no JSON that can be read: {error}") from None
    except ValueError as error:
        raise ValueError(f"{name} is no JSON: {json_problem(error)}") from None


def fast_json(data: bytes) -> Any:
    """The value in JSON, of which some kinds are refused with any ValueError."""
    if len(data) >= WORTH_ORJSON:
        try:
            import orjson
        except ImportError:  # it is there for speed alone
            pass
        else:
            return orjson.loads(data)
    return json.loads(data.decode(), parse_constant=refuse_constant)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. ValueError if a key is there twice, of which json.loads would take the later one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key[:80]!r} is there twice in one object")
            seen.add(key)
    return found


def short_int(digits: str, most_digits: int) -> int:
    if len(digits) > most_digits:
        raise TooLongError(f"the number {digits[:MAX_DIGITS]}... of {len(digits):,} digits is too large")
    return int(digits)


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
