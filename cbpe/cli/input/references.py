"""Which tokenizer is meant: a file, a named encoding, or a version in the model store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import cbpe
from cbpe.cli.input.model_store import open_store, stored_names
from cbpe.cli.input.settings import settings
from cbpe.common.published import is_published
from cbpe.encodings.named import SPECS

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from store import ModelStore, Version

__all__ = [
    "DIGEST",
    "complete_reference",
    "complete_version",
    "is_file",
    "open_store_to_compare",
    "pinned",
    "side_of",
    "tokenizer_of",
    "version_of",
]

T = TypeVar("T")

DIGEST = "sha256:"


def tokenizer_of(reference: str) -> Tokenizer:
    """The tokenizer that a reference means, as a user types it.

    It is a file, if the reference has a separator or an ending and the file is there; or else a named encoding; or else
    a version in the store. ValueError says what was tried.
    """
    if is_file(reference):
        return cbpe.load(reference)
    if is_encoding(reference):
        return cbpe.get_encoding(reference)
    return load_version(reference)


def is_file(reference: str) -> bool:
    """Whether it is a file that is there, or is in a published copy of a store."""
    return looks_like_a_path(reference) and (os.path.exists(reference) or is_published(reference))


def is_encoding(reference: str) -> bool:
    return reference in SPECS or reference in plugin_names()


def plugin_names() -> list[str]:
    """The encodings of plug-ins; none if a plug-in is broken, which `cbpe encodings` tells and no other command needs
    to."""
    try:
        return [name for name in cbpe.list_encoding_names() if name not in SPECS]
    except Exception:
        return []


def version_of(reference: str) -> str | None:
    """The reference itself if it can only mean a version in the store; None for a file or a named encoding."""
    return None if is_file(reference) or is_encoding(reference) else reference


def looks_like_a_path(reference: str) -> bool:
    """ "book.model", "./book" and "~/models/x" do, "book", "book@3" and "sha256:ab" do not."""
    separators = [os.sep, *([os.altsep] if os.altsep else [])]
    return any(separator in reference for separator in separators) or Path(reference).suffix != ""


def pinned(reference: str) -> str:
    """The reference that still means the same version after others are saved, "book" -> "book@3"; of a file or a named
    encoding the reference itself."""
    version = version_of(reference)
    return reference if version is None else ask_store(version, lambda models: models.version(version).reference)


def load_version(reference: str) -> Tokenizer:
    from store import quick

    found = quick.load(settings.store, reference)
    return found if found is not None else ask_store(reference, lambda models: models.load(reference))


def ask_store(reference: str, ask: Callable[[ModelStore], T]) -> T:
    """What the store answers about a reference. ValueError says what was tried."""
    try:
        with open_store(read_only=True) as models:
            return ask(models)
    except (LookupError, OSError) as error:
        raise ValueError(unknown(reference, str(error))) from error


def unknown(reference: str, of_the_store: str) -> str:
    """The message about a reference that means nothing; of_the_store is what the store said."""
    tried = []
    if looks_like_a_path(reference):
        tried.append(f"there is no such file ({reference})")
    elif os.path.exists(reference):
        tried.append(f"a file without an ending is named as {os.path.join('.', reference)}")
    model_of = encoding_of_model(reference)
    if model_of is not None:
        tried.append(f"it is a model of OpenAI's, whose encoding is {model_of}")
    elif not reference.startswith(DIGEST):
        tried.append(f"the named encodings are {', '.join([*SPECS, *plugin_names()])}")
    tried.append(of_the_store)
    return f"no tokenizer {reference!r}: {'; '.join(tried)}"


def encoding_of_model(name: str) -> str | None:
    """ "gpt-4" -> "cl100k_base"; None for an unknown model."""
    try:
        return cbpe.encoding_name_for_model(name)
    except KeyError:
        return None


def open_store_to_compare(*references: str) -> ModelStore:
    """The store. Where there is none, an empty one in memory, if all references are to files and named encodings."""
    from store import ModelStore

    try:
        return open_store(read_only=True)
    except FileNotFoundError:
        if any(version_of(reference) for reference in references):
            raise
        return ModelStore(":memory:")


def side_of(models: ModelStore, reference: str) -> Version | Tokenizer:
    """The version that a reference means, or else the tokenizer of a file or a named encoding. ValueError says what was
    tried."""
    from store import NotFound

    try:
        return models.version(reference)
    except (NotFound, ValueError) as error:
        if version_of(reference) is None:
            return tokenizer_of(reference)
        if isinstance(error, NotFound):
            raise ValueError(unknown(reference, str(error))) from error
        raise


def complete_reference(incomplete: str) -> Iterator[str]:
    """Names of encodings and names in the store that begin like this."""
    yield from (name for name in [*SPECS, *plugin_names()] if name.startswith(incomplete))
    yield from complete_version(incomplete)


def complete_version(incomplete: str) -> Iterator[str]:
    """Names in the store that begin like this."""
    yield from (name for name in stored_names() if name.startswith(incomplete))
