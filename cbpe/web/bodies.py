"""The JSON that requests bring: read within limits of size and time, and each value checked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import anyio
from starlette.requests import ClientDisconnect, Request

from cbpe.common.checks import bounds_in
from cbpe.common.wording import shown
from cbpe.web.refusals import LONGEST_BODY, LONGEST_TEXT, SECONDS_OF_READING, Refused

__all__ = [
    "body_of",
    "check_keys",
    "ids_in",
    "metric_in",
    "name_in",
    "number_in",
    "offset_in",
    "optional_in",
    "required_in",
    "special_in",
    "string_in",
    "tag_in",
    "text_in",
]

LARGEST = 2**32 - 1  # number that a key takes, as a token id
LONGEST_NUMBER = 20  # characters of a number in an URL
# Bytes of a request that are read before it is refused as too long: who sends all before listening, as Python's client,
# would be told of a lost connection.
MOST_PASSED_OVER = 200_000_000

ANY_SIZE = "the page is for looking at texts; cbpe count and cbpe compare take files of any size"
TOO_LONG = f"a request of more than {LONGEST_BODY:,} bytes: {ANY_SIZE}"


async def body_of(request: Request, known: Iterable[str]) -> dict[str, Any]:
    """The JSON object that a request brings. Refused for one with other keys than these."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"the content type is {shown(kind)}, not 'application/json'")
    length = request.headers.get("content-length", "0")
    too_long = length.isdecimal() and (len(length) > 15 or int(length) > LONGEST_BODY)
    content = bytearray()
    n_bytes = 0
    try:
        with anyio.fail_after(SECONDS_OF_READING):
            async for chunk in request.stream():
                n_bytes += len(chunk)
                too_long = too_long or n_bytes > LONGEST_BODY
                if not too_long:
                    content += chunk
                elif n_bytes > MOST_PASSED_OVER:
                    break
    except TimeoutError as error:
        if too_long:
            raise Refused(413, TOO_LONG) from error
        raise Refused(408, f"the request took longer than {SECONDS_OF_READING:g} s to arrive") from error
    except ClientDisconnect as error:
        raise Refused(400, "the request was cut off") from error
    if too_long:
        raise Refused(413, TOO_LONG)
    values = parsed(bytes(content))
    check_keys(values, known)
    return values


def check_keys(keys: Iterable[str], known: Iterable[str]) -> None:
    """Refused for a key that is not known, or comes twice: what is not read would be taken to have been done."""
    seen = set()
    for key in keys:
        if key not in known:
            raise Refused(400, f"{shown(key)} is no key of this path, which takes {', '.join(known) or 'none'}")
        if key in seen:
            raise Refused(400, f"{key!r} comes twice")
        seen.add(key)


def parsed(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content, object_pairs_hook=each_key_once)
    except ValueError as error:
        raise Refused(400, "the request is not JSON") from error
    except RecursionError as error:
        raise Refused(400, "the request is nested too deeply") from error
    if not isinstance(value, dict):
        raise Refused(400, f"the request is JSON of a {type(value).__name__}, not of an object")
    return value


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Refused for a key that comes twice, of which json.loads would take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise Refused(400, f"{shown(next(key for key in counts if counts[key] > 1))} comes twice")
    return found


def string_in(values: Mapping[str, Any], key: str) -> str:
    """The text of a key."""
    value = required_in(values, key)
    if not isinstance(value, str):
        raise Refused(400, f"{key!r} is {shown(value)}, not a text")
    return value


def name_in(values: Mapping[str, Any], key: str) -> str:
    """The text of a key that names something, and so is not empty."""
    name = string_in(values, key)
    if not name:
        raise Refused(400, f"{key!r} is empty")
    return name


def required_in(values: Mapping[str, Any], key: str) -> Any:
    """What a key has that may not be left out."""
    if key not in values:
        raise Refused(400, f"{key!r} is missing")
    return values[key]


def optional_in(values: Mapping[str, Any], key: str, kind: type[str] | type[int]) -> Any:
    """The text or whole number of a key that may be left out or null; None then."""
    value = values.get(key)
    if value is None:
        return None
    if type(value) is not kind:
        raise Refused(400, f"{key!r} is {shown(value)}, not a {'text' if kind is str else 'whole number'}")
    return in_range(value, key) if isinstance(value, int) else value


def in_range(number: int, key: str) -> int:
    if not 0 <= number <= LARGEST:
        raise Refused(400, f"{key!r} is {shown(number)}, not from 0 to {LARGEST:,}")
    return number


def text_in(values: Mapping[str, Any]) -> str:
    """The text that is to be encoded."""
    text = string_in(values, "text")
    if len(text) > LONGEST_TEXT or len(text.encode("utf-8", "surrogatepass")) > LONGEST_TEXT:
        raise Refused(413, f"a text of more than {LONGEST_TEXT:,} bytes: {ANY_SIZE}")
    return text


def special_in(values: Mapping[str, Any]) -> Any:
    """Whether special tokens in a text are tokens ("tokens") or ordinary text ("text", which is the default)."""
    value = values.get("special", "text")
    if value not in ("tokens", "text"):
        raise Refused(400, f"'special' is {shown(value)}, neither 'tokens' nor 'text'")
    return value


def ids_in(values: Mapping[str, Any]) -> list[int]:
    """The token ids of the key "ids"."""
    ids = required_in(values, "ids")
    if not isinstance(ids, list):
        raise Refused(400, f"'ids' is {shown(ids)}, not a list of numbers")
    wrong = next((each for each in ids if type(each) is not int or each < 0), None)
    if wrong is not None or None in ids:
        raise Refused(400, f"{shown(wrong)} is no token id")
    return ids


def number_in(values: Mapping[str, str], key: str) -> int:
    """The whole number of a key in the query of an URL."""
    value = required_in(values, key)
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        raise Refused(400, f"{key!r} is {shown(value)}, not a whole number")
    if digits != value or len(digits) > LONGEST_NUMBER:
        given = value if len(value) <= LONGEST_NUMBER else f"{value[:LONGEST_NUMBER]}…"
        raise Refused(400, f"{key!r} is {given}, not from 0 to {LARGEST:,}")
    return in_range(int(value), key)


def tag_in(value: str) -> str | tuple[str, str]:
    """A tag to look for: "final" -> "final", any value; "language=en" -> ("language", "en")."""
    key, has_value, text = value.partition("=")
    if not key:
        raise Refused(400, f"'tag' is {shown(value)}, not KEY or KEY=VALUE")
    return (key, text) if has_value else key


def metric_in(value: str) -> str | tuple[str, tuple[float | None, float | None]]:
    """A metric to look for: "loss" -> "loss", any value; "loss=..3" -> ("loss", (None, 3.0))."""
    key, has_value, text = value.partition("=")
    if not key:
        raise Refused(400, f"'metric' is {shown(value)}, not KEY, KEY=NUMBER or KEY=MIN..MAX")
    try:
        return (key, bounds_in(text)) if has_value else key
    except ValueError as error:
        raise Refused(400, f"'metric' is {shown(value)}; it takes KEY, KEY=NUMBER or KEY=MIN..MAX: {error}") from error


def offset_in(values: Mapping[str, str]) -> int:
    """How many of a list the query of an URL leaves out: none, unless it says so."""
    return number_in(values, "offset") if "offset" in values else 0
