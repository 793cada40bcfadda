"""Opening the model store that --store, CBPE_STORE or the user's data folder says. `store` is imported here only when a
command needs it. And what is said of aliases and labels that a save there moves or sets."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from cbpe.cli.input.settings import settings
from cbpe.common.atomic_files import check_writable
from cbpe.common.wording import number_text

if TYPE_CHECKING:
    from store import ModelStore, Version

__all__ = [
    "filled",
    "moved_in_words",
    "newest_of",
    "notes_of",
    "notes_of_standard_input",
    "open_store",
    "opened",
    "places_of_aliases",
    "refuse_unsavable",
    "replaced",
    "set_in_words",
    "stored_names",
]

T = TypeVar("T")
V = TypeVar("V", str, float)  # of a tag, or of a metric


def open_store(*, read_only: bool = False, make: bool = False) -> ModelStore:
    """The store. FileNotFoundError for one that is not there, unless it is to be made."""
    from store import ModelStore

    missing = None if make else ModelStore.missing_file(settings.store)
    if missing is not None:
        raise FileNotFoundError(f"there is no model store at {missing}: train --save and models save make one")
    return opened(settings.store, read_only)


def opened(url_or_path: str | None, read_only: bool = False) -> ModelStore:
    """A store that outlives the command. ValueError for one in memory, which would keep nothing."""
    from store import ModelStore

    # Where Ctrl-C comes while a connection is closed, SQLAlchemy would print a traceback as a remark.
    logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())
    if ModelStore.is_in_memory(url_or_path):
        raise ValueError("a store in memory is gone when the command ends: name a file, as in --store models.db")
    return ModelStore(url_or_path, read_only=read_only)


def filled(url_or_path: str | None, work: Callable[[ModelStore], T]) -> T:
    """What work returns, which puts something into a store. One that is not there is made, but not by work that is
    refused, or puts nothing in: it is done in memory first."""
    from store import ModelStore

    if ModelStore.missing_file(url_or_path) is not None:
        with ModelStore(":memory:") as trial:
            result = work(trial)
            if not trial.names():
                return result
    with opened(url_or_path) as models:
        return work(models)


def refuse_unsavable(name: str, tags: dict[str, str], aliases: list[str], notes: str | None) -> None:
    """Before long work: an error for a name, a label or a store that a save after it would fail for."""
    from store import ModelStore

    ModelStore.check_labels(name, tags=tags, aliases=aliases, notes=notes)
    missing = ModelStore.missing_file(settings.store)
    if missing is not None:
        refuse_unmakable(missing)
        return
    with open_store() as models:
        models.check_writable()


def places_of_aliases(models: ModelStore, name: str, aliases: Collection[str]) -> dict[str, str]:
    """Where aliases of a name point, as far as they are there: {"prod": "book@1"}."""
    return {
        alias: version.reference for version in models.versions(name) for alias in version.aliases if alias in aliases
    }


def moved_in_words(before: Mapping[str, str], reference: str) -> str:
    """Which aliases a save moved to this version: "prod, which was book@1"; empty for none."""
    return "; ".join(f"{alias}, which was {place}" for alias, place in before.items() if place != reference)


def newest_of(models: ModelStore, name: str) -> Version | None:
    """The newest version of a name, if there is one."""
    found = models.versions(name, order="-number", limit=1)
    return found[0] if found else None


def replaced(before: Mapping[str, V], given: Mapping[str, V]) -> dict[str, V]:
    """Of tags or metrics, those that got another value."""
    return {key: before[key] for key, value in given.items() if key in before and before[key] != value}


def set_in_words(
    before: Version | None, now: Version, tags: Mapping[str, str], notes: str | None, metrics: Mapping[str, float]
) -> str:
    """What is said of labels that were given with what is the newest version already: that they are set on it, and what
    they took the place of. before, now: the version without and with them."""
    gone: list[str] = []
    if before is not None:
        gone += [f"parent {before.parent}"] if before.parent not in (None, now.parent) else []
        gone += (f"{key}={value}" for key, value in replaced(before.tags, tags).items())
        gone += (f"{key}={number_text(value)}" for key, value in replaced(before.metrics, metrics).items())
        gone += ["other notes"] if notes and before.notes not in (None, notes) else []
    return f"what was given is set on it{', in place of ' if gone else ''}{' and '.join(gone)}"


def refuse_unmakable(path: str) -> None:
    """OSError where no store could be made, folders included. None is made: the work may fail."""
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    try:
        check_writable(os.path.join(folder, os.path.basename(path)))
    except OSError as error:
        reason = f"no store can be made there, since nothing can be written to {folder}: --store names another place"
        raise type(error)(error.errno, reason, path) from error


def notes_of_standard_input(instead: str) -> str:
    """ValueError where there are none, which says what to do instead: notes that a version has would be lost."""
    from cbpe.cli.input.texts import text_of_standard_input
    from store.records.limits import MAX_NOTES_BYTES  # slow to import

    text = text_of_standard_input(MAX_NOTES_BYTES, "give the notes as TEXT")
    if not text.strip():
        raise ValueError(f"standard input holds no notes: {instead}")
    return text


def notes_of(text: str | None) -> str | None:
    """The notes on a version that is saved; those of standard input for "-". BadParameter for empty ones."""
    if text is not None and not text.strip():
        import typer

        raise typer.BadParameter("these notes are empty: leave --notes out", param_hint="--notes")
    return notes_of_standard_input("leave --notes out") if text == "-" else text


def stored_names() -> list[str]:
    """The names in the store; none if there is no store or it cannot be read. For completion, where no shell shows an
    error."""
    try:
        with open_store(read_only=True) as models:
            return models.names()
    except (LookupError, OSError, ValueError):
        return []
