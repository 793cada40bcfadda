"""Which tokenizer is meant: a file, a named encoding, or a version in the model store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import cbpe
from cbpe.cli.input.model_store import open_store, stored_names
from cbpe.cli.input.settings import settings
from cbpe.encodings.named import SPECS
from cbpe.encodings.references import DIGEST, is_encoding, is_file, plugin_names, refuse_empty, unknown
from cbpe.formats.files import find_in_folder

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from store import ModelStore, Version

__all__ = [
    "BY_METRIC",
    "DIGEST",
    "complete_order",
    "complete_reference",
    "complete_version",
    "empty_store",
    "files_of",
    "is_encoding",
    "is_file",
    "load_version",
    "open_store_to_compare",
    "pinned",
    "refuse_no_template",
    "side_of",
    "smaller_of",
    "tokenizer_of",
    "version_of",
]

T = TypeVar("T")
BY_METRIC = "metric:"  # before the name of a metric, in an order of versions


def smaller_of(tokenizer: Tokenizer, reference: str, vocab_size: str | None) -> Tokenizer:
    """Of a tokenizer, which the user has called so, the smaller one of the size that --vocab-size names; itself without
    one."""
    from cbpe.cli.input.values import size_of

    return tokenizer if vocab_size is None else tokenizer._shrunk(size_of(vocab_size, "--vocab-size"), reference)


def moved_tokens(whole: Tokenizer, tok: Tokenizer) -> dict[str, tuple[int, int]]:
    """The special tokens that have other ids in a smaller tokenizer, each with both."""
    ids = tok.special_tokens
    return {token: (old, ids[token]) for token, old in whole.special_tokens.items() if ids[token] != old}


def tokenizer_of(reference: str) -> Tokenizer:
    """The tokenizer that a reference means, as a user types it.

    It means what it means to cbpe.load: a file, or else a named encoding, or else a version in the store, which is the
    one that --store names, if that is given. ValueError says what was tried.
    """
    refuse_empty(reference)
    if settings.keys is not None:
        settings.keys_are_used = True
        return cbpe.load(reference, keys=settings.keys)
    if is_file(reference):
        return cbpe.load(reference)
    if is_encoding(reference):
        return cbpe.get_encoding(reference)
    return load_version(reference)


def refuse_no_template(tok: Tokenizer, reference: str, asked: bool) -> None:
    """BadParameter for --template with a tokenizer that has none."""
    if asked and tok._template is None:
        import typer  # slow to import, and rarely needed

        raise typer.BadParameter(
            f"{reference} has no template: it puts no tokens around a text", param_hint="--template"
        )


def version_of(reference: str) -> str | None:
    """The reference itself if it can only mean a version in the store; None for a file or a named encoding."""
    return None if is_file(reference) or is_encoding(reference) else reference


def files_of(reference: str) -> list[str]:
    """The file that a tokenizer is loaded from, if the reference means one on this machine."""
    if not is_file(reference) or not os.path.exists(reference):
        return []
    return [find_in_folder(reference) if os.path.isdir(reference) else reference]


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
    from store import NotFound

    try:
        with open_store(read_only=True) as models:
            try:
                return ask(models)
            except NotFound as error:
                raise ValueError(unknown(reference, f"{error} ({models.url.removeprefix('sqlite:///')})")) from error
    except (LookupError, OSError) as error:
        is_of_file = isinstance(error, OSError) and error.filename is not None
        said = f"{error.filename}: {error.strerror}" if is_of_file else str(error)  # type: ignore[union-attr]
        raise ValueError(unknown(reference, said)) from error


def open_store_to_compare(*references: str) -> ModelStore:
    """The store; an empty one if all references are to files and named encodings, for which none need be there."""
    return open_store(read_only=True) if any(version_of(reference) for reference in references) else empty_store()


def empty_store() -> ModelStore:
    """A store in memory, which compares what is in no store."""
    from store import ModelStore

    return ModelStore(":memory:")


def side_of(models: ModelStore, reference: str) -> Version | Tokenizer:
    """The version that a reference means, or the tokenizer of a file or a named encoding. ValueError says what was
    tried."""
    from store import NotFound

    if version_of(reference) is None:
        return tokenizer_of(reference)
    try:
        return models.version(reference)
    except NotFound as error:
        raise ValueError(unknown(reference, str(error))) from error


def complete_reference(incomplete: str) -> Iterator[str]:
    """Names of encodings and names in the store that begin like this."""
    yield from (name for name in [*SPECS, *plugin_names()] if name.startswith(incomplete))
    yield from complete_version(incomplete)


def complete_version(incomplete: str) -> Iterator[str]:
    """Names in the store that begin like this."""
    yield from (name for name in stored_names() if name.startswith(incomplete))


def complete_order(incomplete: str) -> Iterator[str]:
    """What versions may be in order of that begins like this."""
    from store.asking import ORDERS

    yield from (by for by in (*ORDERS, BY_METRIC) if by.startswith(incomplete))
