"""ModelStore: the class that programs use. Each method opens a transaction and calls the module that does the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import NoReturn

from sqlalchemy import URL

from cbpe.common.checks import checked_flag, refuse_no_path
from cbpe.common.progress import ProgressCallback
from cbpe.common.public import public_of
from cbpe.corpus.describing import tell_of_plain_text
from cbpe.corpus.sources import Reader, Source
from cbpe.tokenizers.description import describe
from cbpe.tokenizers.tokenizer import Tokenizer
from cbpe.training.record import TrainingRecord
from store import asking, changing, comparing, expanding, keeping, moving, quick, saving, tables, verifying
from store.database.locations import find_store, is_in_memory, shown_url, sqlite_path
from store.database.opening import Database
from store.errors import NotFound
from store.records import audit
from store.records.content import stored_tokenizer, training_of
from store.records.labels import checked_labels, checked_notes, checked_tags
from store.records.references import checked_name, checked_new_name, parse
from store.records.versions import STORED, Version, fetch_one, find_row, unknown_name
from store.sharing import publishing, signatures, watching
from store.sharing.index import files_in

__all__ = ["ModelStore", "load_by_reference"]


@public_of("store")
class ModelStore:
    """Tokenizers, kept as versions under names.

    url_or_path: a file, or the SQLAlchemy URL of an SQLite or PostgreSQL database. With None, the environment's
    CBPE_STORE says where the store is, or else it is a file in the user's data folder. Opening makes a store that is
    not there, folders included. With read_only=True it does not, and nothing in the store can be changed. A store of an
    older schema is read as it is; to change it raises Outdated, until migrate() has brought it up to date. timeout:
    seconds that each call waits for others who have the store locked. Threads may share a store. Use it as a context
    manager, or close it.

    Raises CannotOpen if no store can be opened or made, and NotAStore for a file that is no store, is cut short, or
    comes from a newer cbpe; the file stays as it was. Any method may raise Damaged; Busy if others keep the store
    locked for longer; Failed if the database cannot do what is asked, as on a full disk, which leaves the store as it
    was (unless it is Uncertain); and Closed.

    >>> with ModelStore("models.db") as models:
    ...     models.save(tok, "shakespeare", aliases=["prod"])
    ...     tok = models.load("shakespeare@prod")
    """

    def __init__(
        self, url_or_path: str | os.PathLike[str] | URL | None = None, *, read_only: bool = False, timeout: float = 30.0
    ) -> None:
        self._database = Database(find_store(url_or_path), checked_flag("read_only", read_only), timeout)

    def close(self) -> None:
        """Give back all connections. The store cannot be used after that."""
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
        return shown_url(self._database.url)

    @property
    def read_only(self) -> bool:
        """Whether the store was opened for reading only."""
        return self._database.read_only

    def __repr__(self) -> str:
        return f"<ModelStore: {self._database}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a ModelStore is not pickled or copied, as its connections are not: pass its url, and open that"
        )

    @staticmethod
    def missing_file(url_or_path: str | os.PathLike[str] | URL | None = None) -> str | None:
        """The file that opening this store would make; None where it is there already, in memory or on a server.
        CannotOpen for what names no store; PermissionError where nobody may look whether it is there.

        >>> ModelStore.missing_file("models.db")
        '/home/ada/models.db'
        """
        path = sqlite_path(find_store(url_or_path))
        if path is None:
            return None
        try:
            os.stat(path)
        except PermissionError:
            raise
        except OSError:
            return path
        return None

    @staticmethod
    def is_in_memory(url_or_path: str | os.PathLike[str] | URL | None = None) -> bool:
        """Whether this is SQLite's database in memory, which is gone when it is closed. CannotOpen for what names no
        store."""
        return is_in_memory(find_store(url_or_path))

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
        checked_new_name(name)
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

        If the newest version of that name has the same class and the same results, no version is made: save returns
        that one, with `created` False. Either way, the version gets the labels: tags (a dict, or a list of tags without
        a value), aliases that point to it from now on, notes in place of earlier ones ("" is none), metrics, and the
        parent, which is the version that its training went on from. (Where no version was made, one that is this
        version, or goes on from it, is left out with a UserWarning.) The store keeps the tokenizer's training record.
        When save returns, all of this is on disk.

        Raises TypeError for a class that the store does not know, ValueError for a name or label that is not allowed,
        and NotFound for a parent that is not there.
        """
        labels = checked_labels(tags, aliases, notes, metrics)
        entry = saving.entry_of(describe(tok), tok.training)
        return saving.save(self._database, entry, checked_name(name), labels, parent)

    def load(self, reference: str | Version) -> Tokenizer:
        """The tokenizer of a version: of the class that was saved, and equal in every result.

        reference: "name" or "name@latest" (its newest version), "name@3", "name@alias", or "sha256:" and at least the
        first 8 digits of a digest.
        Raises NotFound if there is no such version, Ambiguous if several contents have a digest with these digits,
        Damaged if what is stored is not what was saved, and ValueError if this version of cbpe cannot build it.
        """
        return stored_tokenizer(self._database.read(find_row, reference, STORED))

    def version(self, reference: str | Version) -> Version:
        """What is known about a version, without loading it. Raises as load does."""
        return self._database.read(lambda connection: fetch_one(connection, find_row(connection, reference).id))

    def training(self, reference: str | Version) -> TrainingRecord | None:
        """The record of how a version was trained, if it was trained here. Raises as load does."""
        return training_of(self._database.read(find_row, reference, STORED))

    # ---- Asking

    def names(self) -> list[str]:
        """The names that have a version, in order."""
        return self._database.read(asking.list_names)

    def versions(
        self,
        name: str | None = None,
        *,
        prefix: str | None = None,
        tag: str | tuple[str, str] | list[str | tuple[str, str]] | None = None,
        metric: asking.Metric | list[asking.Metric] | None = None,
        vocab_size: int | tuple[int | None, int | None] | None = None,
        semantics: str | None = None,
        since: datetime | None = None,
        has_token: str | bytes | None = None,
        pattern: str | list[str] | None = None,
        order: str = "name",
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Version]:
        """The versions of a name, or of all names, that meet all filters; a notebook shows the list as a table.

        prefix: what their names begin with. tag: a tag that they have, "tag=value", or (tag, value). metric: a metric
        that they have, (metric, value), or (metric, (least, most)) with None for no limit. Of tags and of metrics, a
        list names several, all of which they have. vocab_size: tokens in the vocabulary, or (least, most). semantics:
        "pairs" or "ranks". since: saved at this time or later; a time without a zone is in the machine's. has_token: a
        token or special token that they have. pattern: the split pattern, or several, one of which they have.

        order: "name", "number", "time", "vocab_size", "digest", or "metric:NAME", which has the versions without that
        metric last, with a warning if no version at all has it; a "-" in front turns it around. limit: the most to
        return, after the first `offset` of them.

        Raises ValueError or TypeError for a filter or order of another kind.
        """
        filters: dict[str, object] = {"name": name, "prefix": prefix, "tag": tag, "metric": metric}
        filters |= {"vocab_size": vocab_size, "semantics": semantics, "since": since, "has_token": has_token}
        filters |= {"pattern": pattern}
        found = tables.VersionList(self._database.read(asking.list_versions, order, limit, offset, **filters))
        by = asking.metric_of(order)
        if by is not None and found and not any(by in version.metrics for version in found):
            self._database.read(asking.tell_of_no_metric, by)
        return found

    def find_token(self, token: str | bytes) -> list[asking.TokenPlace]:
        """The places of a token or special token, as (version, id, rank), in order of name, number and id. rank is the
        place of the merge that makes the token, 0 for the first merge, or None if no merge makes it.

        >>> models.find_token(b" the")
        [TokenPlace(version=<Version pylib@2: RegexTokenizer, ...>, id=279, rank=23)]
        """
        return tables.PlaceList(self._database.read(asking.find_token, token))

    def history(self, name: str) -> list[Version]:
        """The versions of a name, the first one first. The `parent` of each is the version that its training went on
        from. Raises NotFound if there are none."""
        found = self.versions(checked_name(name), order="number")
        if not found:
            raise self._database.read(unknown_name, name)
        return found

    def diff(self, a: str | Version | Tokenizer, b: str | Version | Tokenizer) -> comparing.Diff:
        """What differs between two versions, or tokenizers that need not be in the store: tokens, merges, special
        tokens, pattern. Raises as load does."""
        (side_a, model_a), (side_b, model_b) = self._database.read(comparing.find_sides, a, b)
        return comparing.diff(side_a, side_b, model_a, model_b)

    def compare(
        self,
        a: str | Version | Tokenizer,
        b: str | Version | Tokenizer,
        texts: Source,
        *,
        field: str | None = None,
        errors: str = "strict",
    ) -> comparing.VersionComparison:
        """How many tokens two versions, or tokenizers that need not be in the store, make of each text, and how many
        bytes of text they make one token of, without what a split pattern leaves out. Special tokens in the texts count
        as ordinary text. texts, field, errors: as the source of cbpe.count_words. Raises as load does, and what reading
        the texts raises."""
        reader = Reader(texts, field=field, errors=errors)
        tell_of_plain_text(texts, field=field)
        side_a, side_b = (given if isinstance(given, Tokenizer) else self.version(given) for given in (a, b))
        tok_a, tok_b = (side if isinstance(side, Tokenizer) else self.load(side) for side in (side_a, side_b))
        return comparing.compare(side_a, side_b, tok_a, tok_b, reader)

    # ---- Aliases, tags, notes and what else may be edited. Each is one transaction, and one row in the audit log.

    def set_alias(self, name: str, alias: str, reference: str | Version) -> Version:
        """Make name@alias point to a version of that name, wherever it pointed before.

        Raises ValueError for a text that is no alias, and Refused for a version of another name.
        """
        return changing.set_alias(self._database, name, alias, reference)

    def remove_alias(self, name: str, alias: str) -> None:
        """Remove an alias. Its history still says where it pointed. Raises NotFound if there is no such alias."""
        changing.remove_alias(self._database, name, alias)

    def alias_history(self, name: str, alias: str | None = None) -> list[changing.AliasMove]:
        """Where one alias of a name, or each of them, pointed, and since when; the oldest first. Raises NotFound for a
        name that never had an alias and has no version, and for an alias that it never had."""
        moves = tables.MoveList(self._database.read(changing.list_alias_moves, name, alias))
        if not moves:
            self.history(name)
            if alias is not None:
                raise self._database.read(changing.unknown_alias, name, alias)
        return moves

    def tag(self, reference: str | Version, tags: Mapping[str, str] | Iterable[str]) -> Version:
        """Put tags on a version. A tag that it has already gets the new value."""
        if tags is None:
            raise TypeError("tags are a dict or a list, not NoneType")
        return changing.tag(self._database, reference, checked_tags(tags))

    def untag(self, reference: str | Version, tags: Iterable[str]) -> Version:
        """Take tags off a version. Raises NotFound for a tag that it does not have, and then takes none off."""
        return changing.untag(self._database, reference, tags)

    def set_notes(self, reference: str | Version, notes: str | None) -> Version:
        """Replace the notes of a version; None removes them."""
        return changing.set_notes(self._database, reference, checked_notes(notes))

    def set_metrics(self, reference: str | Version, metrics: Mapping[str, float | None]) -> Version:
        """Give a version these metrics, and leave its others as they are. The value None removes a metric."""
        return changing.set_metrics(self._database, reference, metrics)

    def _relabel(
        self,
        reference: str | Version,
        decide: Callable[[Version], tuple[Mapping[str, float | None], Mapping[str, str | None]]],
    ) -> Version:
        """Give a version other metrics and tags, by what it has, while nobody else changes it."""
        return changing.relabel(self._database, reference, decide)

    def set_parent(self, reference: str | Version, parent: str | Version | None) -> Version:
        """Say which version the training of this one went on from.

        Raises Refused for the version itself, and for one whose own training went on from it.
        """
        return changing.set_parent(self._database, reference, parent)

    def set_training(self, reference: str | Version, record: TrainingRecord | None) -> Version:
        """Replace the training record of a version; None removes it."""
        return changing.set_training(self._database, reference, record)

    def rename(self, old: str, new: str) -> None:
        """Give all versions of a name another name; they keep their numbers and aliases.

        A later save under the old name gets a number that the old name has not given yet. Raises Refused if the new
        name is the old one, has versions, or has given one of these numbers to another version before.
        """
        changing.rename(self._database, old, new)

    def delete(self, reference: str | Version, force: bool = False) -> Version:
        """Delete a version and return what was known of it. Its number is not given again.

        Raises Refused if an alias points to it; with force=True such aliases are removed too. The vocabulary stays
        until vacuum(). A digest must be that of one version alone, and a name alone one of a single version: Refused
        if it has several.
        """
        return changing.delete_version(self._database, reference, checked_flag("force", force))

    def delete_name(self, name: str, force: bool = False) -> list[Version]:
        """Delete all versions of a name, or none, and return what was known of them. Raises as delete does, and
        NotFound if there are none."""
        return tables.VersionList(changing.delete_name(self._database, name, checked_flag("force", force)))

    def vacuum(self) -> int:
        """Remove the vocabularies that no version has any more, and make the file as small as possible.

        Returns how many vocabularies it removed.
        """
        removed = changing.remove_unused(self._database)
        self._database.compact()
        return removed

    def write_rows(self, reference: str | Version | None = None) -> int:
        """Write the tokens and merges of a version's vocabulary, or of all vocabularies, as rows of the tables `tokens`
        and `merges`, for SQL to ask. The store itself needs none of them.

        Returns of how many vocabularies it wrote rows: not of those that had them already. Raises as load does.
        """
        return expanding.write_rows(self._database, reference)

    def remove_rows(self, reference: str | Version | None = None) -> int:
        """Remove the rows that write_rows wrote; the room that they took is free after vacuum(). Returns of how many
        vocabularies it removed rows. Raises as load does."""
        return expanding.remove_rows(self._database, reference)

    def audit_log(self, name: str | None = None, limit: int | None = None) -> list[audit.Change]:
        """All changes, the newest first. With a name: the changes under that name, as it was at the time, and the
        renames to it. limit: the most to return. Raises NotFound for a name of no change and no version."""
        found = tables.ChangeList(self._database.read(audit.changes, name, limit))
        if name is not None and not found and limit != 0:
            self.history(name)
        return found

    def was_done(self, operation: str) -> bool:
        """Whether a change was made that ended in Uncertain; `operation` is that error's. If the change is only now
        being committed, this waits for that.

        >>> try:
        ...     models.delete("shakespeare@1")
        ... except Uncertain as error:
        ...     if not models.was_done(error.operation):
        ...         models.delete("shakespeare@1")
        """
        if not isinstance(operation, str):
            raise TypeError(f"an operation is a str, not {type(operation).__name__}")
        return self._database.was_done(operation)

    # ---- Moving

    def export(
        self, reference: str | Version, path: str | os.PathLike[str], *, key: signatures.PrivateKey | None = None
    ) -> Version:
        """Write one version to a self-contained file, with its tags, notes, metrics and training record.

        store.records.export describes the file's form. The file appears under its name when it is whole, in place of
        an exported version that was there. key: a private ed25519 key, as a PEM file without a password or as
        cryptography's Ed25519PrivateKey, which signs the file in another one beside it, path.sig. Without key, a
        warning says where a path.sig signs something else. Raises as load does, OSError, Refused for a file with
        something else, for a folder or a URL and for a path that ends as a file of another format does (.json, .model),
        and TypeError or ValueError for what is no such key.
        """
        refuse_no_path("path", path)
        return signatures.export(self._database, reference, path, key)

    def import_(
        self,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        keys: signatures.PublicKey | Iterable[signatures.PublicKey] | None = None,
    ) -> Version:
        """Save the version that export wrote to a file, under its own name or another one. Where the newest version of
        that name is the same, it keeps its tags, notes and metrics, and gets those that it has not.

        keys: public ed25519 keys, as PEM files or as cryptography's Ed25519PublicKeys, one of which has to be that of
        the signature in path.sig. With None no signature is looked at.

        Raises Damaged for a file that export did not write, whose content does not have its digest, or that cannot be
        loaded here, BadSignature for one that is not signed by any of the keys or not as it was signed, TypeError or
        ValueError for what is no key and for a name that is not allowed, and OSError if a file cannot be read. The
        store stays as it was then.
        """
        refuse_no_path("path", path)
        if keys is None:
            return moving.put_in(self._database, moving.read(path), name, "import", os.fspath(path))
        carried, source = signatures.read_signed(path, keys)
        return moving.put_in(self._database, carried, name, "import", source)

    def import_folder(self, folder: str | os.PathLike[str], *, pattern: str | None = None) -> moving.Imported:
        """Save the tokenizers in the files of a folder and of those in it: exported versions under their names, and
        files that cbpe.load reads (.model, .json, .tiktoken, .gguf, GPT-2's two) under those of the files, without the
        ending; tokenizer.json and GPT-2's files, under that of their folder; the names of folders in it go before, with
        a hyphen. pattern: the split pattern for files that hold none, as .tiktoken files, "" if nothing splits.

        Of a published copy, the versions are imported that its index names.

        The result has the versions, and what kept each other file from being imported. Importing again makes no version
        of what is the newest already, and of exported versions none of those that are there in the same order. Links to
        folders are not followed, of which a UserWarning tells. Raises OSError if a folder cannot be read, and Refused
        for one without any such file.

        >>> models.import_folder("tokenizers").versions
        (<Version book@1: RegexTokenizer, ...>, <Version web@1: HuggingFaceTokenizer, ...>)
        """
        refuse_no_path("folder", folder, "a folder")
        return moving.import_folder(self._database, folder, pattern, files_in)

    def copy(self, reference: str | Version, other: ModelStore, name: str | None = None) -> Version:
        """Save a version in another store, under its name or another one, with its tags, notes, metrics and training
        record. What the same version has there already stays, as with import_(). Raises as load does, and ValueError
        for a name that is not allowed, and for a copy under the same name in this very store.
        """
        if not isinstance(other, ModelStore):
            raise TypeError(f"the other store is a ModelStore, not {type(other).__name__}")
        version, carried = moving.carry(self._database, reference)
        if name in (None, version.name) and other.url == self.url and not is_in_memory(self._database.url):
            raise ValueError(f"{version} is in {self._database} already: give the copy a name of its own")
        return moving.put_in(other._database, carried, name, "copy", f"{version} of {self.url}")

    def publish(self, folder: str | os.PathLike[str], *, key: signatures.PrivateKey | None = None) -> int:
        """Write a read-only copy of all versions and aliases to a folder, as files that any web server can serve and
        cbpe.load reads. The folder is made if it is not there.

        Publishing again adds what is new: no file of a version is changed or removed, and the index takes the place of
        the one before when it is whole; a warning names the versions that only the one before had. Returns how many
        files of versions were written. Raises Refused for a URL, for a folder with an index of another kind, or a
        signed one and no key, or a store too large for an index; Damaged, OSError, and as export for what is no key.
        key: a private ed25519 key, as export takes it, which signs the index; cbpe.load(..., keys=) then takes no other
        index.

        >>> models.publish("/srv/www/tokenizers")
        2
        >>> tok = cbpe.load("https://example.org/tokenizers/shakespeare@prod")
        """
        refuse_no_path("folder", folder, "a folder")
        return publishing.publish(self._database, folder, key)

    # ---- Watching

    def watch(self, reference: str, *, since: Version | None = None, interval: float = 1.0) -> watching.Watch:
        """A Watch, which tells when a name's newest version, or what name@alias points to, becomes another one.

        since: the version that the caller has, so that a move before this call is told too; None: what the reference
        means now, which may be nothing yet. interval: seconds between two looks at an SQLite file; a PostgreSQL server
        tells at once. Raises ValueError for a reference that always means the same version, and as version does.

        >>> tok = models.load("shakespeare@prod")
        >>> with models.watch("shakespeare@prod") as watch:
        ...     for version in watch:
        ...         if version is not None:
        ...             tok = models.load(version)
        """
        return watching.Watch(self._database, reference, since, interval)

    # ---- Keeping

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write all that is in the store, as it is at one moment, to an SQLite file, also while others write to it.

        The file is a store that can be opened as it is, of the same revision of the schema. It is verified, appears
        under its name when it is whole, and replaces an older backup of this store that was there. A damaged store
        replaces none; a new backup of it is made with a warning that says what is damaged.

        Raises Damaged for a damaged store and an older backup, or pages that cannot all be read; Refused for the store
        itself, a store with a change that is not in this one's log, a file that is no store, a folder and a URL;
        Failed, and OSError.
        """
        refuse_no_path("path", path)
        keeping.backup(self._database, path)

    def restore(
        self, path: str | os.PathLike[str], *, backup: str | os.PathLike[str] | None = None, force: bool = False
    ) -> str | None:
        """Replace all that is in the store by what is in a backup, of this store or of another one, in one transaction.
        Others may have the store open, and see all of the backup or nothing.

        If the store holds versions, a backup of it is made before: in the file `backup`, which is not there yet; by
        default, beside the store's file (NAME.before-restore). Returns where that is; None if none was made. force:
        make none, as for a store that is damaged.

        Raises ValueError for `backup` together with force, Damaged for a backup that verify() finds something wrong
        with, NotAStore and CannotOpen for a file that is none, Refused for the store itself, and, unless force is set,
        for a file that is there and for no file where the store is in PostgreSQL; the store is as before then.
        """
        refuse_no_path("path", path)
        if backup is not None:
            refuse_no_path("backup", backup)
        return keeping.restore(self._database, path, backup, checked_flag("force", force))

    @staticmethod
    def _check_backup(path: str | os.PathLike[str], backup: str | os.PathLike[str] | None = None) -> None:
        """Raise what restore would raise for this backup, and for the file of the backup that is made before."""
        keeping.checked_backup(path, backup).close()

    def check_writable(self) -> None:
        """Raise what any change would raise for this store: ReadOnly, or Outdated for an older schema. To call before a
        long training."""
        self._database.check_writable()

    @property
    def revision(self) -> str:
        """The revision of the schema that the store has. An older one than this cbpe writes is read as it is."""
        return self._database.revision

    def migrate(self, backup: str | os.PathLike[str] | None = None) -> str | None:
        """Bring a store of an older schema to the one that this cbpe writes, after a backup, for good: releases that do
        not know the new schema cannot open the store then.

        backup: a file that is not there yet; by default, beside the store's file. Returns where the backup is; None if
        the schema was the newest already. Raises Refused for a file that is there, and for None where the store is in
        PostgreSQL; if it fails, the store is as before.
        """
        if backup is not None:
            refuse_no_path("backup", backup)
        return keeping.migrate(self._database, backup)

    def verify(
        self, reference: str | Version | None = None, *, progress: bool | ProgressCallback | None = None
    ) -> verifying.Report:
        """Prove that packed form, rows and digest agree, for one version or all that is stored.

        All that is stored is checked in parts: no transaction is held for long, and changes meanwhile are no problem.
        progress: True for a bar on stderr, or a function, which is called with ("verifying", done, total).

        Damage is not raised but listed: the report's `problems`, each a sentence, and `ok`. Raises as load does where
        there is no such version.
        """
        return verifying.verify(self._database, reference, progress)


def load_by_reference(reference: str) -> Tokenizer:
    """The tokenizer of a version in the store that is opened where no other is named. cbpe.load finds this by an entry
    point. Raises NotFound where there is no such store, and what ModelStore and load raise."""
    found = quick.load(None, reference)
    if found is not None:
        return found
    parse(reference)
    missing = ModelStore.missing_file()
    if missing is not None:
        raise NotFound(f"there is no model store at {missing}")
    with ModelStore(read_only=True) as models:
        try:
            return models.load(reference)
        except NotFound as error:
            raise NotFound(f"{error} ({models._database})") from error
