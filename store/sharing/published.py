"""Loading a version from a published copy: cbpe.load finds this by an entry point, where a reference asks for it."""

from __future__ import annotations

import hashlib
from urllib.parse import unquote

from cbpe.tokenizers.description import build
from cbpe.tokenizers.tokenizer import Tokenizer
from store import moving
from store.errors import Damaged, NotFound
from store.records.export import read_bytes
from store.records.references import parse
from store.sharing import index
from store.sharing.fetching import Folder, Server, Source

__all__ = ["load"]


def load(reference: str, allow_http: bool = False) -> Tokenizer:
    """The tokenizer of a version in a published copy: "https://host/folder/name@3", or "folder/name@3". The last part
    is a name, name@3 or name@alias, in which % and what may not stand in a URL are written as %XX.

    Each step is held to the one before: the file to the SHA-256 and size in the index, the content to its digest there.
    Raises NotFound, OSError, Damaged, and ValueError for a reference that is none.
    """
    place, _, last = reference.rpartition("/")
    source: Source = Server(place, allow_http) if "://" in reference else Folder(place or "/")
    wanted = parse(unquote(last, errors="strict"))
    try:
        names = index.load(source.read(index.INDEX, index.MAX_INDEX_BYTES))
        entry = index.entry_of(names, wanted)
        return tokenizer_of(wanted.name, entry, source.read(entry.file, entry.size))
    except NotFound as error:
        raise NotFound(f"{place}: {error}") from error
    except ValueError as error:
        raise Damaged(f"{place}: {error}") from error


def tokenizer_of(name: str, entry: index.Entry, data: bytes) -> Tokenizer:
    """The tokenizer in the file of an entry. Raises ValueError if it is not what the index says."""
    if len(data) != entry.size or hashlib.sha256(data).hexdigest() != entry.sha256:
        raise ValueError(f"{entry.file} is not the file that the index says: its size or its SHA-256 is another one")
    carried = read_bytes(data)
    said = carried.about.get("name"), carried.about.get("digest")
    if said != (name, entry.digest):
        raise ValueError(f"{entry.file} holds {said!r:.200}, and not what the index says of {name!r:.100}")
    try:
        tok = build(moving.checked_model(carried))
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{entry.file} is not written as it should be: {error!r:.200}") from error
    tok.training = carried.training
    return tok
