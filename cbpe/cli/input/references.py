"""Which tokenizer is meant: a file, a named encoding, or a version in the model store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

import cbpe
from cbpe.cli.input.settings import settings
from cbpe.encodings.named import SPECS

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from store import ModelStore, Version

__all__ = [
    "TokenizerOption",
    "complete_reference",
    "complete_version",
    "is_file",
    "open_store",
    "open_store_to_compare",
    "pinned",
    "side_of",
    "tokenizer_of",
    "version_of",
]

T = TypeVar("T")

DIGEST = "sha256:"


def tokenizer_of(reference: str) -> Tokenizer:
    """The tokenizer that is meant by a reference, as a user types it.

    A file, if there is one and the reference has a separator or an ending; or else a named encoding; or else a version
    in the store. ValueError says what was tried.
    """
    if is_file(reference):
        return cbpe.load(reference)
    if is_encoding(reference):
        return cbpe.get_encoding(reference)
    return load_version(reference)


def is_file(reference: str) -> bool:
    return looks_like_a_path(reference) and os.path.exists(reference)


def is_encoding(reference: str) -> bool:
    return reference in SPECS or reference in plugin_names()


def plugin_names() -> list[str]:
    """The encodings of plug-ins. One that is broken is in nobody's way here: it is told to who asks for all encodings,
    by the command for that."""
    try:
        return [name for name in cbpe.list_encoding_names() if name not in SPECS]
    except Exception:
        return []


def version_of(reference: str) -> str | None:
    """The reference itself if it is one to a version in the store."""
    return None if is_file(reference) or is_encoding(reference) else reference


def looks_like_a_path(reference: str) -> bool:
    """ "book.model", "./book" and "~/models/x" do, "book", "book@3" and "sha256:ab" do not."""
    separators = [os.sep, *([os.altsep] if os.altsep else [])]
    return any(separator in reference for separator in separators) or Path(reference).suffix != ""


def pinned(reference: str) -> str:
    """The reference of the very version that is meant now, "book" -> "book@3"; the reference itself if it is to no
    version."""
    version = version_of(reference)
    return reference if version is None else ask_store(version, lambda models: models.version(version).reference)


def load_version(reference: str) -> Tokenizer:
    return ask_store(reference, lambda models: models.load(reference))


def ask_store(reference: str, ask: Callable[[ModelStore], T]) -> T:
    """What the store answers about a reference. ValueError says what was tried."""
    try:
        with open_store(read_only=True) as models:
            return ask(models)
    except (LookupError, OSError) as error:
        raise ValueError(unknown(reference, str(error))) from error


def unknown(reference: str, of_the_store: str) -> str:
    """What is told of a reference that nothing answers to."""
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
    """ "gpt-4" -> "cl100k_base"; None for what is no model that is known."""
    try:
        return cbpe.encoding_name_for_model(name)
    except KeyError:
        return None


def open_store_to_compare(*references: str) -> ModelStore:
    """The store; an empty one in memory where there is none, and it takes none to know what is referred to."""
    from store import ModelStore

    try:
        return open_store(read_only=True)
    except FileNotFoundError:
        if any(version_of(reference) for reference in references):
            raise
        return ModelStore(":memory:")


def side_of(models: ModelStore, reference: str) -> Version | Tokenizer:
    """The version of a reference, or else the tokenizer of a file or a named encoding. ValueError says what was
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


def open_store(*, read_only: bool = False, make: bool = False) -> ModelStore:
    """The store of --store, CBPE_STORE or the user's data folder; one of an older schema is migrated. FileNotFoundError
    for one that is not there, unless it is to be made."""
    from store import ModelStore, Outdated
    from store.database.locations import find_store, sqlite_path

    path = sqlite_path(find_store(settings.store))
    if not make and path is not None and not os.path.exists(path):
        raise FileNotFoundError(f"there is no model store at {path}: train --save and models save make one")
    try:
        return ModelStore(settings.store, read_only=read_only)
    except Outdated:
        ModelStore(settings.store).close()
        return ModelStore(settings.store, read_only=read_only)


def complete_reference(incomplete: str) -> Iterator[str]:
    """Names of encodings and, if a store is there, of its models, that begin like this."""
    yield from (name for name in [*SPECS, *plugin_names()] if name.startswith(incomplete))
    yield from complete_version(incomplete)


def complete_version(incomplete: str) -> Iterator[str]:
    """Names in the store, if one is there, that begin like this."""
    try:
        with open_store(read_only=True) as models:
            names = models.names()
    except (LookupError, OSError, ValueError):  # a shell that completes a word is no place for errors
        return
    yield from (name for name in names if name.startswith(incomplete))


TokenizerOption = Annotated[
    str,
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="REF",
        help="A file, a named encoding, or a version in the model store.",
        autocompletion=complete_reference,
        show_default=False,
    ),
]
