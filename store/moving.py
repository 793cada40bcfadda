"""Moving: one version goes from store to store, directly or in a file, and tokenizers come from a folder of files. The
receiving store checks the digest."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from cbpe.common.atomic_files import write_files
from cbpe.common.public import public_of
from cbpe.common.published import INDEX
from cbpe.common.warning import warn
from cbpe.common.wording import NamedErrors, links_not_followed
from cbpe.formats.files import format_of_name, holds_tokenizer
from cbpe.tokenizers.description import KINDS, Model, build, canonical_form, describe
from cbpe.tokenizers.loading import lacks_pattern, load, tell_of_files_beside
from cbpe.tokenizers.tokenizer import Tokenizer
from store import saving
from store.database.opening import Database
from store.database.outputs import written_file
from store.database.schema import versions
from store.database.sqlite.files import files_of
from store.errors import Damaged, Refused, StoreError
from store.records.content import content_model, model_of, training_of
from store.records.export import MAGIC, Carried, parts_of_file, read_file
from store.records.labels import Labels, checked_labels
from store.records.references import checked_name, checked_new_name
from store.records.versions import STORED, Version, fetch_one, find_row

__all__ = ["ENDING_OF_SIGNATURES", "Imported", "carry", "export", "import_folder", "put_in", "read"]

EXAMPLE = "book.cbpe"  # the name of an exported version, in messages
NO_LABELS = Labels({}, (), None, {})
# Of the names of files that may hold tokenizers, besides .json; and the names of GPT-2's two files.
ENDINGS = (".model", ".tiktoken", ".gguf", ".cbpe-model", ".cbpe", "gpt2_tokenizer.bin")
# How a split pattern that a file lacks is given, to load and to import_folder.
AS_LOAD_TAKES_IT = "give it, as load(path, pattern=..., special_tokens={...}); cbpe.patterns has those in common use"
AS_TAKEN_HERE = "set pattern to it, such as those of cbpe.patterns"
PAIRS = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))
FILES = "files"  # the folder of a published copy that has them
FilesNamed = Callable[[str], Collection[str] | None]
ENDING_OF_SIGNATURES = ".sig"  # of the file beside an exported one that has its signature


# The fields of the header, and what each is.
HEADER: dict[str, tuple[tuple[type, ...], str]] = {
    "name": ((str,), "a str"),
    "kind": ((str,), "a str"),
    "encoding_name": ((str, type(None)), "a str or null"),
    "tags": ((dict,), "an object"),
    "metrics": ((dict,), "an object"),
    "parent_digest": ((str, type(None)), "a str or null"),
    "saved_at": ((str,), "a str"),
    "digest": ((str,), "a str"),
}


def carry(database: Database, reference: str | Version) -> tuple[Version, Carried]:
    """A version, and what moves with it: content, notes, tags, metrics, training record and the parent's digest."""
    return database.read(carried, reference)


def carried(connection: Connection, reference: str | Version) -> tuple[Version, Carried]:
    row = find_row(connection, reference, STORED)
    model_of(row)  # Damaged, if it is
    version = fetch_one(connection, row.id)
    parent = connection.scalar(select(versions.c.parent_digest).where(versions.c.id == row.id))
    about = {
        "name": version.name,
        "kind": version.kind,
        "encoding_name": version.encoding_name,
        "tags": dict(version.tags),
        "metrics": dict(version.metrics),
        "parent_digest": parent,
        "saved_at": version.time.isoformat(),
        "digest": version.digest,
    }
    return version, Carried(about, row.content, row.packed, version.notes, training_of(row))


def export(
    database: Database,
    reference: str | Version,
    path: str | os.PathLike[str],
    sign: Callable[[Version, str], bytes] | None = None,
    refuse_replacing: Callable[[str], None] | None = None,
) -> Version:
    """sign: what makes the file of a signature, of a version and the SHA-256 of its file. refuse_replacing: what raises
    Refused for a path where something else than such a file would be lost."""
    path = written_file(path, EXAMPLE)
    version, content = carry(database, reference)
    beside = path + ENDING_OF_SIGNATURES
    for written in (path,) if sign is None else (path, beside):
        if database.path is not None and os.path.realpath(written) in files_of(os.path.realpath(database.path)):
            raise Refused(f"{written} is the store itself: export to another file")
    refuse_ending(path)
    check_target(path)
    if refuse_replacing is not None:
        refuse_replacing(beside)
    digest = hashlib.sha256()
    files = {path: hashed(parts_of_file(content), digest)}
    if sign is not None:
        # Made when it is asked for, which is after the file that it signs was written.
        files[beside] = (sign(version, digest.hexdigest()) for _ in range(1))
    try:
        write_files(files)
    except ValueError as error:
        raise Refused(f"{version} cannot be exported: {error}") from error
    return version


def refuse_ending(path: str) -> None:
    """Refused for the name of a file of another format, which no program could read."""
    known = format_of_name(path)
    if known is not None:
        raise Refused(
            f"{path} ends as {known.title} does, and an exported version is read by model stores alone: name another "
            "file, as x.cbpe; for that format, load the version, and tok.save(path)"
        )


def check_target(path: str) -> None:
    """Refused for a file that an export would destroy: one that holds something else."""
    if os.path.lexists(path):
        may_go = os.path.isfile(path) and (is_exported(path) or os.path.getsize(path) == 0)
        if not may_go:
            raise Refused(
                f"{path} is there already, and is no exported version that another could replace: name another file, "
                "or remove it"
            )


def hashed(parts: Iterable[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    """The parts as they are, each of which goes into the digest as well."""
    for part in parts:
        digest.update(part)
        yield part


def read(path: str | os.PathLike[str]) -> Carried:
    """What a file carries. Raises OSError if it cannot be read, and Damaged if it is no exported version."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder: ModelStore.import_folder(folder) takes it")
    try:
        return read_file(path)
    except ValueError as error:
        raise Damaged(f"{os.fspath(path)}: {error}") from error


def put_in(
    database: Database, carried: Carried, name: str | None, action: str, source: str, since: int | None = None
) -> Version:
    """Save what was carried as a version. One that is the same, the newest of that name or the first from the number
    `since` on, keeps its own labels, and gets those that it has not. Raises Damaged if it is not what was exported, or
    cannot be loaded here, and ValueError for a name that is none."""
    if name is not None:
        checked_name(name)
    about = carried.about
    try:
        check_header(about)
        model = checked_model(carried)
        labels = checked_labels(about["tags"], (), carried.notes, about["metrics"])
        entry = saving.entry_of(model, carried.training, about["parent_digest"])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise Damaged(f"{source} cannot be put in: {error!s:.500}") from error
    name = checked_new_name(about["name"]) if name is None else name
    details = {"source": source, "saved_at": about["saved_at"]}
    return saving.save(database, entry, name, labels, None, action, from_elsewhere=True, since=since, **details)


def check_header(about: dict[str, Any]) -> None:
    """Raise ValueError or TypeError for a header in which a field is missing, or is not what export writes."""
    for field, (kinds, what) in HEADER.items():
        if field not in about:
            raise ValueError(f"its header has no {field}")
        if not isinstance(about[field], kinds):
            raise TypeError(f"the {field} in its header is {what}, not {about[field]!r:.80}")
    checked_name(about["name"])
    for field in ("digest", "parent_digest"):
        if about[field] is not None and not re.fullmatch("[0-9a-f]{64}", about[field]):
            raise ValueError(f"the {field} in its header is 64 hexadecimal digits, not {about[field]!r:.80}")
    datetime.fromisoformat(about["saved_at"])


def checked_model(carried: Carried) -> Model:
    """The model that was carried, which this version of cbpe can build. Raises ValueError if it does not have the
    digest that the file says."""
    kind, encoding_name = carried.about["kind"], carried.about["encoding_name"]
    is_known = isinstance(kind, str) and kind in KINDS
    if not is_known or (encoding_name is not None) != (kind == "Encoding"):
        raise ValueError(f"a {kind!r:.80} named {encoding_name!r:.80} is no tokenizer")
    if encoding_name is not None and not isinstance(encoding_name, str):
        raise TypeError(f"the name of an Encoding is a str, not {encoding_name!r:.80}")
    model = content_model(carried.about["digest"], carried.content, kind, encoding_name, carried.vocabulary)
    saving.checked_vocabulary(model.vocabulary)
    saving.check_pattern(model.pattern)
    if canonical_form(model).decode("ascii") != carried.content:
        raise ValueError("its canonical form is not as cbpe writes it")
    build(model)
    return model


# ---- Folders of tokenizer files


@public_of("store")
@dataclass(frozen=True)
class Imported:
    """What import_folder did."""

    versions: tuple[Version, ...]  # in the order in which they were saved here; `created` says whether it is new
    problems: tuple[str, ...]  # of each file that was not imported: its path, and why


def import_folder(
    database: Database, folder: str | os.PathLike[str], pattern: str | None, files_named: FilesNamed
) -> Imported:
    """Save the tokenizer of each file in a folder and those in it. What cannot be saved is told, and stops nothing.
    files_named: what says which files the index of a published copy names; None for what is no index."""
    saved: list[Version] = []
    problems: list[str] = []
    files_by_name: dict[str, str] = {}
    known = KnownVersions(database)
    for path, name in in_saved_order([*tokenizer_files(folder, files_named)]):
        try:
            if not os.path.isfile(path):  # reading a pipe would wait
                raise Refused("it is no file")
            if is_exported(path):
                saved.append(known.brought(read(path), path))
                continue
            if name in files_by_name:
                raise Refused(
                    f"it would be called {name!r}, as {files_by_name[name]} is: ModelStore.save(cbpe.load(path), name) "
                    "gives it another name"
                )
            tok = loaded(path, pattern)
            tell_of_files_beside(path, tok)
            entry = saving.entry_of(describe(tok), tok.training)
            saved.append(saving.save(database, entry, checked_name(name), NO_LABELS, None, "import", source=path))
            files_by_name[name] = path
        except (OSError, TypeError, ValueError) as error:
            if isinstance(error, StoreError) and not isinstance(error, (Damaged, Refused)):
                raise  # it is the store that cannot go on
            problems.append(f"{path}: {str(error).removeprefix(f'{path}: ')}")
    if not saved and not problems:
        raise Refused(
            f"the folder {os.fspath(folder)} holds no tokenizer files, which end in "
            f"{', '.join(('.json', *ENDINGS))}; nor do the folders in it"
        )
    return Imported(tuple(saved), tuple(problems))


class KnownVersions:
    """What a store has already of exported versions that come one after the other. As long as those of a name are there
    in the same order, beside others or not, none is made again: so a folder may be imported again, and by two at the
    same time."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.last: dict[str, int] = {}  # of a name, the number of the version that the last one is

    def brought(self, content: Carried, path: str) -> Version:
        """The version that this one is already, or becomes. Raises as put_in does."""
        name = content.about.get("name")
        since = self.last.get(name, 0) if isinstance(name, str) else 0  # several exports may be of one version
        version = self.unchanged(content, since) or put_in(self.database, content, None, "import", path, since)
        self.last[version.name] = version.number
        return version

    def unchanged(self, content: Carried, since: int) -> Version | None:
        """The version that this one is already, if nothing is to be added to it, and a newer one is there: a save of
        the newest is noted."""
        try:
            check_header(content.about)
        except (TypeError, ValueError):
            return None  # it is told when it is put in
        version = self.database.read(version_before_newest, content.about, since)
        return None if version is None or self.lacks(version, content) else version

    def lacks(self, version: Version, content: Carried) -> bool:
        """Whether a version has no such tag or metric, no notes or no record of training, and the content has."""
        return bool(
            content.about["tags"].keys() - version.tags.keys()
            or content.about["metrics"].keys() - version.metrics.keys()
            or (content.notes is not None and version.notes is None)
            or (content.training is not None and not self.database.read(has_record, version))
        )


def has_record(connection: Connection, version: Version) -> bool:
    return saving.has_training(connection, find_row(connection, version).id)


def version_before_newest(connection: Connection, about: dict[str, Any], since: int) -> Version | None:
    """The first version, from a number on, of the name and the content that a header says, unless it is the newest."""
    content = about["digest"], about["kind"], about["encoding_name"]
    number = saving.first_same(connection, about["name"], content, since)
    if number is None or number == find_row(connection, about["name"]).number:
        return None
    return fetch_one(connection, find_row(connection, f"{about['name']}@{number}").id)


def tokenizer_files(folder: str | os.PathLike[str], files_named: FilesNamed) -> Iterator[tuple[str, str]]:
    """The paths of files that may hold tokenizers, in order, and what each would be called: by its own name, or by that
    of its folder where all such files have the same name. Not those that are hidden, nor manifests of runs, nor those
    of a published copy that its index does not name any more. A UserWarning for links to folders, which are not
    followed."""
    top = os.fspath(folder)
    links = []
    published: dict[str, Collection[str]] = {}  # the files that indices name, by their folders
    for where, folders, names in os.walk(top, onerror=raise_it):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links += [link for name in folders if os.path.islink(link := os.path.join(where, name))]
        names = [name for name in names if not name.startswith(".") and not is_manifest(name)]
        if INDEX in names and FILES in folders:  # of a published copy
            names.remove(INDEX)
            named = files_named(os.path.join(where, INDEX))
            if named is not None:
                published[os.path.join(where, FILES)] = named
        if where in published:
            names = [name for name in names if name in published[where]]
        own = os.path.relpath(where, top).replace(os.sep, "-")  # no name has a slash
        of_folder = os.path.basename(os.path.abspath(top)) if own == "." else own
        json_files = [name for name in names if name.lower().endswith(".json")]
        of_pair = [pair[0] for pair in PAIRS if set(pair) <= set(names)]
        if of_pair or not {"tokenizer.json", "tokenizer.model"}.isdisjoint(names):
            usual = ["tokenizer.json"] if "tokenizer.json" in names else of_pair
            beside = {*json_files} - {*usual, *of_pair}  # mostly its settings, of which nothing is told
            json_files = [*usual, *(name for name in beside if seems_tokenizer(os.path.join(where, name)))]
        no_json = (name for name in names if not name.lower().endswith(".json"))
        others = [name for name in no_json if may_be_one(os.path.join(where, name))]
        for name in sorted([*json_files, *others]):
            stem = name.rpartition(".")[0]
            is_usual = name in ("tokenizer.json", *of_pair)
            yield os.path.join(where, name), of_folder if is_usual else stem if own == "." else f"{own}-{stem}"
    if links:
        told = links_not_followed(f"the folder {top}", (os.path.relpath(link, top) for link in links))
        warn(f"{told}: import what is behind by itself")


def in_saved_order(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same files, with the exported versions among them in the order in which they were saved: so the newest of a
    name is the newest here, too."""
    places = [i for i, (path, _) in enumerate(found) if os.path.isfile(path) and is_exported_there(path)]
    ordered = sorted((found[i] for i in places), key=lambda item: saved_at(item[0]))
    for i, item in zip(places, ordered, strict=True):
        found[i] = item
    return found


def is_exported_there(path: str) -> bool:
    """As is_exported; not of a file that cannot be read, which is told when it is imported."""
    try:
        return is_exported(path)
    except OSError:
        return False


def saved_at(path: str) -> str:
    """When an exported version was saved; empty for a file that is none, which is told when it is imported."""
    try:
        said = read(path).about["saved_at"]
    except (KeyError, OSError, ValueError):
        return ""
    return said if isinstance(said, str) else ""


def is_manifest(name: str) -> bool:
    """Whether a file has the name of a manifest: of shards, or of a file of word counts."""
    return name == "manifest.json" or name.endswith(".words.json")


def raise_it(error: OSError) -> None:
    raise error


def may_be_one(path: str) -> bool:
    """Whether a file has the ending of a tokenizer's, or holds an exported version, whatever it is called."""
    return path.lower().endswith(ENDINGS) or (os.path.isfile(path) and is_exported_there(path))


def seems_tokenizer(path: str) -> bool:
    """Whether a file holds a tokenizer, or cannot be read, which is told when it is imported."""
    try:
        return not os.path.isfile(path) or holds_tokenizer(path)
    except OSError:
        return True


def is_exported(path: str) -> bool:
    with open(path, "rb") as file, NamedErrors(path):
        return file.read(len(MAGIC)) == MAGIC


def loaded(path: str, pattern: str | None) -> Tokenizer:
    """The tokenizer in a file; with a split pattern if the file holds none, and is not known by what it holds."""
    try:
        return load(path)
    except ValueError as error:
        if pattern is None:
            raise ValueError(str(error).replace(AS_LOAD_TAKES_IT, AS_TAKEN_HERE)) from error
        if not lacks_pattern(path):
            raise
    return load(path, pattern=pattern)
