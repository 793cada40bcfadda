"""Loading a version from a published copy: cbpe.load finds this by an entry point, where a reference asks for it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from cbpe.encodings.references import shadowed
from cbpe.tokenizers.description import build
from cbpe.tokenizers.tokenizer import Tokenizer
from store import moving
from store.errors import BadSignature, Damaged, NotFound
from store.records.export import read_bytes
from store.records.references import parse
from store.sharing import index, signatures
from store.sharing.fetching import NO_FILE, Folder, Server, Source

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["load"]


def load(
    reference: str, allow_http: bool = False, keys: signatures.PublicKey | Iterable[signatures.PublicKey] | None = None
) -> Tokenizer:
    """The tokenizer of a version in a published copy: "https://host/folder/name@3", or "folder/name@3". The last part
    is a name, name@3 or name@alias, in which % and what may not stand in a URL are written as %XX.

    Each step is held to the one before: the index to its signature by one of the keys, if there are any; the file to
    the SHA-256 and size in the index; the content to its digest there. Raises NotFound, OSError, Damaged, BadSignature,
    and ValueError for a reference that is none, or what is no key.
    """
    place, _, last = reference.rpartition("/")
    if not last or place.endswith(":/"):
        example = f"{'https://host/' if '://' in reference else ''}folder/name@3"
        raise ValueError(f"{reference} names no version in a published copy: one is as {example}")
    source: Source = Server(place, allow_http) if "://" in reference else Folder(place or "/")
    wanted = parse(unquote(last, errors="strict"))
    trusted = None if keys is None else signatures.public_keys(keys)
    try:
        said = index.load(source.read(index.INDEX, index.MAX_INDEX_BYTES))
        if trusted is not None:
            check_signature(said, trusted)
        entry = index.entry_of(said.names, wanted)
        return tokenizer_of(wanted.name, entry, source.read(entry.file, entry.size))
    except NotFound as error:
        raise NotFound(f"{place}: {error}") from error
    except OSError as error:
        if "://" in reference and shadowed(wanted.name) == "a file" and NO_FILE not in str(error):
            raise OSError(f"{error}. {NO_FILE}") from error
        raise
    except BadSignature as error:
        raise BadSignature(f"{place}: {error}") from error
    except ValueError as error:
        raise Damaged(f"{place}: {error}") from error


def check_signature(said: index.Index, trusted: list[Ed25519PublicKey]) -> None:
    """Raise BadSignature unless one of the keys has signed an index."""
    if said.signature is None:
        raise BadSignature(f"{index.INDEX} is not signed: it was published without a key")
    message = said.message()
    if not any(signatures.is_signed_by(key, said.signature, message) for key in trusted):
        raise BadSignature(
            f"{index.INDEX} is not signed by any of the keys that are given: it was altered, or is another key's"
        )


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
