"""The index of a published copy: what is in the copy, in one file of JSON in ASCII, index.json:

    format       "cbpe published 1"
    names        an object; for each name
        newest       the number of its newest version
        aliases      an object of aliases and numbers
        versions     an object; for each number, as a text
            digest       of the version: the SHA-256 of its canonical form
            file         "files/", the SHA-256 of the file, ".cbpe-model"
            sha256       of that file, which is an exported version (store.records.export)
            size         of that file, in bytes
    signature    only where it was published with a key: of ed25519, 128 hexadecimal digits

What is signed is the text PREFIX, and after it the object without its signature, its keys in order and no spaces
between. So the signature covers which names, versions and aliases there are, and by their SHA-256 all files.

No text of a user's becomes the name of a file. A reader takes an index for hostile: it refuses one that is not wholly
of this form, and looks at its size and at how many values it has before it takes memory for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from cbpe.common.wording import listed, meant
from store.errors import NotFound
from store.records.export import MAX_FILE_BYTES
from store.records.limits import MAX_NUMBER
from store.records.references import LATEST, Reference, checked_alias, checked_name, shown

__all__ = ["INDEX", "MAX_INDEX_BYTES", "Entry", "Index", "dump", "entry_of", "file_of", "files_in", "load"]

INDEX = "index.json"
MOST_NAMED = 10  # in a message
FORMAT = "cbpe published 1"
PREFIX = b"cbpe published copy, signature 1\n"
MAX_INDEX_BYTES = 8 << 20
MAX_VALUES = 300_000  # of all kinds in an index, keys included; a version takes about ten
MAX_DIGITS = 15  # of a number
HEXADECIMAL = re.compile("[0-9a-f]{64}")
NUMBER = re.compile("[1-9][0-9]{0,9}")
SIGNATURE = re.compile("[0-9a-f]{128}")


class Index(NamedTuple):
    """What an index says."""

    names: dict[str, Any]
    signature: bytes | None

    def message(self) -> bytes:
        """The bytes that are signed."""
        return PREFIX + as_json({"format": FORMAT, "names": self.names})


class Entry(NamedTuple):
    """What an index says of one version."""

    digest: str
    file: str
    sha256: str
    size: int


def file_of(sha256: str) -> str:
    """Where a file stands in the folder."""
    return f"files/{sha256}.cbpe-model"


def files_in(path: str) -> frozenset[str] | None:
    """The names of the files of versions that the index at this path names; None for a file that is no index."""
    try:
        with open(path, "rb") as file:
            index = load(file.read(MAX_INDEX_BYTES + 1))
    except ValueError:
        return None
    named = (entry["file"] for about in index.names.values() for entry in about["versions"].values())
    return frozenset(each.rpartition("/")[2] for each in named)


def dump(names: dict[str, dict[str, Any]], sign: Callable[[bytes], bytes] | None = None) -> bytes:
    """The bytes of an index, signed by what makes a signature of a message. Raises ValueError for more than a reader
    takes."""
    said: dict[str, Any] = {"format": FORMAT, "names": names}
    if sign is not None:
        said["signature"] = sign(Index(names, None).message()).hex()
    data = as_json(said)
    check_size(data)
    return data


def as_json(said: dict[str, Any]) -> bytes:
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode("ascii")


def check_size(data: bytes) -> None:
    if len(data) > MAX_INDEX_BYTES:
        raise ValueError(f"an index has at most {MAX_INDEX_BYTES} bytes, and this one {len(data)}")
    values = sum(map(data.count, (b",", b":", b"[", b"{")))
    if values > MAX_VALUES:
        raise ValueError(f"an index has at most {MAX_VALUES} keys and values, and this one about {values}")


def load(data: bytes) -> Index:
    """What an index says, whose signature is not verified. Raises ValueError for bytes that are none."""
    check_size(data)
    try:
        said = json.loads(
            data.decode("ascii"), object_pairs_hook=without_twins, parse_int=short_int, parse_constant=refuse_constant
        )
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            raise ValueError(f"it does not say that it is {FORMAT!r}")
        signature = said.pop("signature", None)
        if signature is not None and not (isinstance(signature, str) and SIGNATURE.fullmatch(signature)):
            raise ValueError(f"its signature is {signature!r:.80}")
        check_keys("it", said, {"format", "names"})
        for name, about in items("names", said["names"]):
            check_one(checked_name(name), about)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this is no index of a published copy: {error!s:.300}") from error
    return Index(said["names"], None if signature is None else bytes.fromhex(signature))


def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it has a key twice in one object")
    return found


def short_int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"it has a number of {len(text)} digits")
    return int(text)


def refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def check_one(name: str, about: Any) -> None:
    """Raise ValueError unless this may be said of a name."""
    check_keys(shown(name), about, {"aliases", "newest", "versions"})
    versions = items("versions", about["versions"])
    for number, entry in versions:
        if not NUMBER.fullmatch(number) or int(number) > MAX_NUMBER:
            raise ValueError(f"{shown(number)} is no number of a version")
        check_entry(f"{shown(name)}, {number}", entry)
    numbers = {int(number) for number, _ in versions}
    if not numbers or about["newest"] != max(numbers):
        raise ValueError(f"the newest version of {shown(name)} is not {about['newest']!r:.80}")
    for alias, number in items("aliases", about["aliases"]):
        checked_alias(alias)
        if type(number) is not int or number not in numbers:
            raise ValueError(f"the alias {shown(alias)} of {shown(name)} points to {number!r:.80}")


def check_entry(what: str, entry: Any) -> None:
    check_keys(what, entry, set(Entry._fields))
    for key in ("digest", "sha256"):
        if not isinstance(entry[key], str) or not HEXADECIMAL.fullmatch(entry[key]):
            raise ValueError(f"the {key} of {what} is {entry[key]!r:.80}")
    if entry["file"] != file_of(entry["sha256"]):
        raise ValueError(f"the file of {what} is {entry['file']!r:.80}")
    if type(entry["size"]) is not int or not 0 < entry["size"] <= MAX_FILE_BYTES:
        raise ValueError(f"the size of {what} is {entry['size']!r:.80} bytes, of at most {MAX_FILE_BYTES}")


def check_keys(what: str, said: Any, keys: set[str]) -> None:
    if not isinstance(said, dict) or set(said) != keys:
        raise ValueError(f"{what} is no object of {', '.join(sorted(keys))}")


def items(what: str, said: Any) -> list[tuple[str, Any]]:
    if not isinstance(said, dict):
        raise ValueError(f"its {what} are no object but {said!r:.80}")
    return list(said.items())


def has_names(names: dict[str, Any]) -> str:
    """The end of a message about a name that is not there: which names are.

    >>> has_names({"book": {}, "shells": {}})
    "; the names in this copy are 'book', 'shells'"
    """
    return f"; the names in this copy are {listed(map(shown, names), MOST_NAMED)}" if names else "; the copy is empty"


def entry_of(names: dict[str, Any], reference: Reference) -> Entry:
    """What an index says of the version that is meant. Raises NotFound, and ValueError for a reference by digest."""
    if reference.digest is not None:
        raise ValueError("a version of a published copy is named, as name, name@3 or name@alias, and not by its digest")
    about = names.get(reference.name)
    if about is None:
        raise NotFound(
            f"no version is called {shown(reference.name)}{meant(reference.name, names) or has_names(names)}"
        )
    number = reference.number
    if reference.alias is not None:
        number = about["aliases"].get(reference.alias, about["newest"] if reference.alias == LATEST else None)
    elif number is None:
        number = about["newest"]
    entry = about["versions"].get(str(number))
    if entry is None:
        which = f"{reference.name}@{reference.number if reference.alias is None else reference.alias}"
        raise NotFound(f"there is no {shown(which)}; the newest version is {reference.name}@{about['newest']}")
    return Entry(**entry)
