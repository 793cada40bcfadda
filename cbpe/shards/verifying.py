"""Reads shards back against their manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cbpe.tasks.outputs import missing_in, sha256_of, sizes_in
from cbpe.tasks.run import MANIFEST

__all__ = ["refuse_missing", "verify_shards"]


def refuse_missing(folder: Path, manifest: Mapping[str, Any]) -> None:
    """ValueError where a file of a finished run is missing, or has another size; it names the file."""
    sizes = sizes_in(folder)
    try:
        files = [(file["name"], file["bytes"]) for shard in manifest["shards"] for file in shard["files"]]
    except (KeyError, TypeError) as error:
        damaged = f"{folder / MANIFEST} is damaged: it does not say which files there are"
        raise ValueError(f"{damaged}. Remove {folder} to make all shards again") from error
    for name, size in files:
        problem = missing_in(folder, sizes, [{"name": name, "bytes": size}])
        if problem is not None:
            raise ValueError(f"{problem}: put it back, or remove {folder} to make all shards again")


def verify_shards(folder: Path, manifest: Mapping[str, Any]) -> None:
    """ValueError where a file is not what the manifest says, or the manifest does not add up; it names the file. That
    all are there is known."""
    named = {MANIFEST}
    for shard in manifest["shards"]:
        for file in shard["files"]:
            named.add(file["name"])
            path = folder / file["name"]
            if sha256_of(path) != file["sha256"]:
                raise ValueError(
                    f"{path} is damaged: its SHA-256 is not that of the manifest. Put it back, or remove {folder} to "
                    "make all shards again"
                )
    others = sorted(path.name for path in folder.iterdir() if path.name not in named)
    if others:
        raise ValueError(f"{folder / others[0]} is not in the manifest")
    for name in ("documents", "tokens"):
        total = sum(task[name] for task in manifest["tasks"])
        if total != manifest[name]:
            raise ValueError(f"{folder / MANIFEST}: {manifest[name]:,} {name}, and the tasks have {total:,}")
