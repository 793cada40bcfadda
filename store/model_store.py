"""ModelStore: the face of the store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import TracebackType

from sqlalchemy import URL

from cbpe.tokenizers.description import describe
from cbpe.tokenizers.tokenizer import Tokenizer
from cbpe.training.record import TrainingRecord
from store import asking, changing, comparing, loading, moving, saving, verifying
from store.database.locations import find_store, sqlite_path
from store.database.opening import Database
from store.errors import NotFound
from store.records import audit
from store.records.content import STORED, training_of
from store.records.labels import checked_labels, checked_notes, checked_tags
from store.records.references import checked_name
from store.records.versions import Version, fetch_one, find_row

__all__ = ["ModelStore"]


class ModelStore:
    """Tokenizers, kept as versions under names.

    url_or_path: a file, or the SQLAlchemy URL of an SQLite or PostgreSQL database; None: the environment's CBPE_STORE,
    or else a file in the user's data folder. A store that is not there is made, folders included, and one of an older
    schema is migrated; with read_only=True neither, and nothing in it can be changed. Threads may share a store. Use it
    as a context manager, or close it.

    Raises CannotOpen where no store can be opened or made (Outdated for one of an older schema that is to be read), and
    NotAStore for a file that is none, is cut short or was written by a newer cbpe; the file is as before then. Any
    method may raise Damaged, Busy where others keep the store locked for half a minute, Failed where the database
    cannot do it (a full disk; the store is as before), and Closed.

    >>> with ModelStore("models.db") as models:
    ...     models.save(tok, "shakespeare", aliases=["prod"])
    ...     tok = models.load("shakespeare@prod")
    """

    def __init__(self, url_or_path: str | os.PathLike[str] | URL | None = None, *, read_only: bool = False) -> None:
        self._database = Database(find_store(url_or_path), read_only)

    def close(self) -> None:
        """Give back all connections. The store is not to be used from then on."""
        self._database.close()

    def __enter__(self) -> ModelStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The SQLAlchemy URL, without a password."""
        return self._database.url.render_as_string(hide_password=True)

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading alone."""
        return self._database.read_only

    def __repr__(self) -> str:
        return f"<ModelStore: {self._database}>"

    @staticmethod
    def missing_file(url_or_path: str | os.PathLike[str] | URL | None = None) -> str | None:
        """The file that opening this store would make; None where it is there already, in memory or on a server.
        CannotOpen for what names no store.

        >>> ModelStore.missing_file("models.db")
        '/home/ada/models.db'
        """
        path = sqlite_path(find_store(url_or_path))
        return None if path is None or os.path.exists(path) else path

    # ---- Saving and loading

    @staticmethod
    def check_labels(
        name: str,
        *,
        tags: Mapping[str, str] | Iterable[str] | None = None,
        aliases: Iterable[str] = (),
        notes: str | None = None,
        metrics: Mapping[str, float] | None = None,
    ) -> None:
        """Raise what save would raise for this name and these labels: to call before a long training."""
        checked_name(name)
        checked_labels(tags, aliases, notes, metrics)

    def save(
        self,
        tok: Tokenizer,
        name: str,
        *,
        tags: Mapping[str, str] | Iterable[str] | None = None,
        aliases: Iterable[str] = (),
        notes: str | None = None,
        parent: str | Version | None = None,
        metrics: Mapping[str, float] | None = None,
    ) -> Version:
        """Make a tokenizer the next version of a name.

        Nothing is made if the newest version of that name already is it, with the same class and results: that version
        is returned, with `created` False. The labels are put on it in either case: tags (a dict, or a list of those
        without a value), aliases that point to it from now on, notes in place of those before, metrics, and the parent,
        the version that its training went on from. Its training record is kept. When this returns, it is on disk.

        TypeError for a class that the store does not know, ValueError for names and labels that cannot be, NotFound for
        a parent that is not there.
        """
        labels = checked_labels(tags, aliases, notes, metrics)
        entry = saving.entry_of(describe(tok), tok.training)
        return saving.save(self._database, entry, checked_name(name), labels, parent)

    def load(self, reference: str | Version) -> Tokenizer:
        """The tokenizer of a version, of the class that was saved and equal in every result.

        reference: "name" (its newest version), "name@3", "name@alias", or "sha256:" and the first digits of a digest.
        NotFound where there is none, Ambiguous where those digits are several contents', Damaged where it is not what
        was saved, ValueError where this version of cbpe cannot build it.
        """
        return loading.load(self._database, reference)

    def version(self, reference: str | Version) -> Version:
        """What is known about a version, without loading it. Raises as load does."""
        with self._database.reading() as connection:
            return fetch_one(connection, find_row(connection, reference).id)

    def training(self, reference: str | Version) -> TrainingRecord | None:
        """The record of how a version was trained, if it was trained here. Raises as load does."""
        with self._database.reading() as connection:
            return training_of(find_row(connection, reference, STORED))

    # ---- Asking

    def names(self) -> list[str]:
        """The names that have a version, in order."""
        with self._database.reading() as connection:
            return asking.list_names(connection)

    def versions(
        self,
        name: str | None = None,
        *,
        tag: str | tuple[str, str] | None = None,
        vocab_size: int | tuple[int | None, int | None] | None = None,
        semantics: str | None = None,
        since: datetime | None = None,
        has_token: str | bytes | None = None,
        pattern: str | None = None,
        order: str = "name",
    ) -> list[Version]:
        """The versions of a name, or of all, that meet all filters.

        tag: one that they have, or (tag, value). vocab_size: tokens in the vocabulary, or (least, most). semantics:
        "pairs" or "ranks". since: saved then or later, in the machine's time zone if it says none. has_token: it is a
        token, or a special token. pattern: the split pattern. order: "name", "number", "time", "vocab_size" or
        "digest", with a "-" in front to turn it around. ValueError or TypeError for what none of these can be.
        """
        filters = {"name": name, "tag": tag, "vocab_size": vocab_size, "semantics": semantics, "since": since}
        with self._database.reading() as connection:
            return asking.list_versions(connection, order, **filters, has_token=has_token, pattern=pattern)

    def find_token(self, token: str | bytes) -> list[asking.TokenPlace]:
        """Where a token is, as (version, id, rank): special tokens too; by name, number and id. The rank is that of the
        merge that makes it, 0 for the first, or None.

        >>> models.find_token(b" the")
        [TokenPlace(version=Version(name='cl100k_base', ...), id=279, rank=23)]
        """
        with self._database.reading() as connection:
            return asking.find_token(connection, token)

    def history(self, name: str) -> list[Version]:
        """The versions of a name, the first one first; the `parent` of each says what it was trained on from. NotFound
        where there are none."""
        found = self.versions(checked_name(name), order="number")
        if not found:
            raise NotFound(f"no version is called {name!r}")
        return found

    def diff(self, a: str | Version | Tokenizer, b: str | Version | Tokenizer) -> comparing.Diff:
        """What differs between two versions, or tokenizers that need not be in the store: tokens, merges, special
        tokens, pattern. Raises as load does."""
        with self._database.reading() as connection:
            (side_a, model_a), (side_b, model_b) = (comparing.find_side(connection, given) for given in (a, b))
        return comparing.diff(side_a, side_b, model_a, model_b)

    def compare(
        self, a: str | Version | Tokenizer, b: str | Version | Tokenizer, texts: str | Iterable[str]
    ) -> comparing.Comparison:
        """How many tokens two versions, or tokenizers that need not be in the store, make of each text, and of how many
        bytes a token is; special tokens in the texts are ordinary text. Raises as load does, and TypeError for what is
        no text."""
        side_a, side_b = (given if isinstance(given, Tokenizer) else self.version(given) for given in (a, b))
        tok_a, tok_b = (side if isinstance(side, Tokenizer) else self.load(side) for side in (side_a, side_b))
        return comparing.compare(side_a, side_b, tok_a, tok_b, texts)

    # ---- Aliases, tags, notes and what else may be edited. Each is one transaction, and one row in the audit log.

    def set_alias(self, name: str, alias: str, reference: str | Version) -> Version:
        """Make name@alias point to a version of that name, wherever it pointed before.

        ValueError for what cannot be an alias, Refused for a version of another name.
        """
        return changing.set_alias(self._database, name, alias, reference)

    def remove_alias(self, name: str, alias: str) -> None:
        """Remove an alias; where it pointed stays in its history. NotFound where there is none."""
        changing.remove_alias(self._database, name, alias)

    def alias_history(self, name: str, alias: str | None = None) -> list[changing.AliasMove]:
        """Where an alias of a name, or each of them, pointed from when on; the oldest first."""
        with self._database.reading() as connection:
            return changing.list_alias_moves(connection, name, alias)

    def tag(self, reference: str | Version, tags: Mapping[str, str] | Iterable[str]) -> Version:
        """Put tags on a version; one that it has gets the new value."""
        return changing.tag(self._database, reference, checked_tags(tags))

    def untag(self, reference: str | Version, tags: Iterable[str]) -> Version:
        """Take tags off a version. NotFound for one that it does not have; then none is taken off."""
        return changing.untag(self._database, reference, tags)

    def set_notes(self, reference: str | Version, notes: str | None) -> Version:
        """Put other notes in place of those of a version."""
        return changing.set_notes(self._database, reference, checked_notes(notes))

    def set_metrics(self, reference: str | Version, metrics: Mapping[str, float | None]) -> Version:
        """Give a version these metrics, with others left as they are; None removes one."""
        return changing.set_metrics(self._database, reference, metrics)

    def set_parent(self, reference: str | Version, parent: str | Version | None) -> Version:
        """Say which version the training of this one went on from.

        Refused for the version itself, and for one whose own training went on from it.
        """
        return changing.set_parent(self._database, reference, parent)

    def set_training(self, reference: str | Version, record: TrainingRecord | None) -> Version:
        """Put another training record in place of that of a version."""
        return changing.set_training(self._database, reference, record)

    def rename(self, old: str, new: str) -> None:
        """Call all versions of a name by another one, with their numbers and aliases.

        What is saved under the old name from then on has numbers that it has not given yet. Refused where there are
        versions under the new name, or were others with the same numbers.
        """
        changing.rename(self._database, old, new)

    def delete(self, reference: str | Version, force: bool = False) -> Version:
        """Delete a version, whose number is not given again, and return what it was.

        Refused where an alias points to it, unless forced: these aliases then go too. Its vocabulary stays until
        vacuum(). With a digest, there must be one version that has it.
        """
        return changing.delete_version(self._database, reference, force)

    def vacuum(self) -> int:
        """Remove the vocabularies that no version has any more, and make the file as small as it can be.

        Returns how many were removed.
        """
        removed = changing.remove_unused(self._database)
        self._database.compact()
        return removed

    def audit_log(self, name: str | None = None, limit: int | None = None) -> list[audit.Change]:
        """The changes to all, or under one name (as it was at the time) and the renames to it, the newest first. limit:
        at most so many."""
        with self._database.reading() as connection:
            return audit.changes(connection, name, limit)

    # ---- Moving

    def export(self, reference: str | Version, path: str | os.PathLike[str]) -> Version:
        """Write one version to a self-contained file, with its tags, notes, metrics and training record.

        store.records.export describes the file's form. The file appears under its name when it is whole. Raises as load
        does, and OSError.
        """
        return moving.export(self._database, reference, path)

    def import_(self, path: str | os.PathLike[str], name: str | None = None) -> Version:
        """Put in the version in a file that export wrote, under its name or another one, as save would.

        Damaged for a file that is no such file, or whose content does not have its digest, or cannot be loaded here;
        OSError where it cannot be read. Nothing is changed then.
        """
        return moving.put_in(self._database, moving.read(path), name, "import", os.fspath(path))

    def copy(self, reference: str | Version, other: ModelStore, name: str | None = None) -> Version:
        """Save a version in another store, under its name or another one, with its tags, notes, metrics and training
        record. Raises as load does."""
        if not isinstance(other, ModelStore):
            raise TypeError(f"the other store is a ModelStore, not {type(other).__name__}")
        version, carried = moving.carry(self._database, reference)
        return moving.put_in(other._database, carried, name, "copy", f"{version} of {self.url}")

    # ---- Keeping

    def verify(self, reference: str | Version | None = None) -> verifying.Report:
        """Prove that packed form, rows and digest agree, for one version or all that is stored.

        Damage is not raised but listed: the report's `problems`, each a sentence, and `ok`. Raises as load does where
        there is no such version.
        """
        return verifying.verify(self._database, reference)
