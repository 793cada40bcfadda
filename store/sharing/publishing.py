"""Publishing: a read-only copy of a store in a folder of plain files, which any web server may serve."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from cbpe.common.atomic_files import write_files
from cbpe.common.warning import warn
from cbpe.common.wording import listed
from store import asking, moving
from store.database.opening import Database
from store.database.outputs import check_folder_name
from store.errors import NotFound, Refused
from store.records.export import parts_of_file
from store.records.versions import Version
from store.sharing import index, signatures

__all__ = ["publish"]

MOST_NAMED = 5  # versions in a message


def publish(database: Database, folder: str | os.PathLike[str], key: signatures.PrivateKey | None = None) -> int:
    """Write all versions to a folder, the index last, which the key signs. Returns how many files of versions were
    written: those that are there already stay as they are."""
    sign = None if key is None else signatures.private_key(key).sign
    check_folder_name(folder, "public")
    place = Path(os.fsdecode(folder))
    if place.exists() and not place.is_dir():
        raise NotADirectoryError(f"{place} is a file: name a folder, which is made if it is not there")
    before = replaced_index(place / index.INDEX, signs=sign is not None)
    (place / "files").mkdir(parents=True, exist_ok=True)
    names: dict[str, dict[str, Any]] = {}
    written = 0
    for version in database.read(asking.list_versions, "name", None, 0):
        try:
            entry, is_new = write_version(database, version, place)
        except NotFound:  # it was deleted or renamed meanwhile
            continue
        written += is_new
        about = names.setdefault(version.name, {"aliases": {}, "newest": 0, "versions": {}})
        about["versions"][str(version.number)] = entry._asdict()
        about["aliases"].update(dict.fromkeys(version.aliases, version.number))
        about["newest"] = max(about["newest"], version.number)
    try:
        data = index.dump(names, sign)
    except ValueError as error:
        raise Refused(f"the store cannot be published as a whole: {error}") from error
    write_files({os.fspath(place / index.INDEX): [data]})
    tell_of_unnamed(place, before, names)
    return written


def tell_of_unnamed(place: Path, before: dict[str, Any], now: dict[str, dict[str, Any]]) -> None:
    """Warn of versions that the index named before and does not name now: they were deleted from the store or renamed,
    or are of another store that was published to the same folder."""
    gone = []
    for name, about in before.items():
        there = now.get(name, {"versions": {}})["versions"]
        for number, entry in about["versions"].items():
            if number not in there or there[number]["digest"] != entry["digest"]:
                gone.append(f"{name}@{number}")
    if gone:
        files = "the file stays" if len(gone) == 1 else "the files stay"
        warn(
            f"{place / index.INDEX} named {listed(gone, MOST_NAMED)} until now, and this store has no such version: no "
            f"name leads there any more, and {files}"
        )


def replaced_index(path: Path, *, signs: bool) -> dict[str, Any]:
    """The names in the index that will be replaced. Raises Refused where that is a file of another kind, or a signed
    index and the new one is not."""
    if not os.path.lexists(path):
        return {}
    try:
        if not path.is_file() or path.stat().st_size > index.MAX_INDEX_BYTES:
            raise ValueError("it is no file, or too large")
        found = index.load(path.read_bytes())
    except ValueError as error:
        raise Refused(f"{path} would be replaced, and did not come from publishing: {error}") from error
    if found.signature is not None and not signs:
        raise Refused(f"{path} is signed, and whoever asks for that takes no unsigned one: set key, or delete it first")
    return found.names


def write_version(database: Database, version: Version, place: Path) -> tuple[index.Entry, bool]:
    """Write a version to the file that is called as its SHA-256 says. So a file that others read is never another one,
    and one that is damaged is written anew."""
    found, carried = moving.carry(database, version)
    if found.digest != version.digest:
        raise NotFound(f"{version} is another version now")
    try:
        data = b"".join(parts_of_file(carried))
    except ValueError as error:
        raise Refused(f"{version} cannot be published: {error}") from error
    sha256 = hashlib.sha256(data).hexdigest()
    entry = index.Entry(version.digest, index.file_of(sha256), sha256, len(data))
    path = place / entry.file
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return entry, False
    write_files({os.fspath(path): [data]})
    return entry, True
