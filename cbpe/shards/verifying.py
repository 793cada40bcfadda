"""Reads shards back against their manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cbpe.common.wording import shown
from cbpe.tasks.outputs import missing_in, sha256_of, sizes_in
from cbpe.tasks.run import MANIFEST

__all__ = ["refuse_missing", "verify_shards"]

# What is read of a manifest: the types of values, and of those in lists and under names.
SHAPE = {
    **dict.fromkeys(("documents", "empty", "tokens", "bytes", "dropped_tokens"), int),
    "options": {"dtype": str},
    "tasks": [{"documents": int, "tokens": int}],
    "shards": [{"padding": int, "tokens": int, "files": [{"name": str, "bytes": int, "sha256": str}]}],
}


def refuse_missing(folder: Path, manifest: Mapping[str, Any], *, remake: bool = True) -> None:
    """ValueError where the manifest of a finished run is damaged, and where a file is missing, or has another size; it
    names the file. remake: whether who reads it can make the shards again."""
    damage = unlike(manifest, SHAPE, "")
    if damage is not None:
        anew = f". Remove {folder} to make all shards again" if remake else ""
        raise ValueError(f"{folder / MANIFEST} is damaged: {damage}{anew}")
    sizes = sizes_in(folder)
    files = [(file["name"], file["bytes"]) for shard in manifest["shards"] for file in shard["files"]]
    for name, size in files:
        problem = missing_in(folder, sizes, [{"name": name, "bytes": size}])
        if problem is not None:
            anew = f", or remove {folder} to make all shards again" if remake else ""
            raise ValueError(f"{problem}: put it back{anew}")
    refuse_other_sums(folder, manifest)


def unlike(value: Any, shape: Any, place: str) -> str | None:
    """What is wrong with a part of a manifest, which has not the shape that it should have; None if it has. place: of
    the part, "tasks[3].tokens"."""
    if isinstance(shape, type):
        return None if type(value) is shape else f"{place} is {shown(value)}"
    if not isinstance(value, type(shape)):
        return f"{place} is {shown(value)}"
    if isinstance(shape, list):
        parts = ((each, shape[0], f"{place}[{i}]") for i, each in enumerate(value))
    else:
        before = f"{place}." if place else ""
        parts = ((value.get(name), inside, before + name) for name, inside in shape.items())
    return next((problem for part in parts if (problem := unlike(*part)) is not None), None)


def refuse_other_sums(folder: Path, manifest: Mapping[str, Any]) -> None:
    """ValueError where the manifest does not add up."""
    for name in ("documents", "tokens"):
        total = sum(task[name] for task in manifest["tasks"])
        if total != manifest[name]:
            raise ValueError(f"{folder / MANIFEST}: {manifest[name]:,} {name}, and the tasks have {total:,}")
    in_shards = sum(shard["tokens"] - shard["padding"] for shard in manifest["shards"])
    if in_shards + manifest["dropped_tokens"] != manifest["tokens"]:
        problem = f"{manifest['tokens']:,} tokens, {manifest['dropped_tokens']:,} of them left out"
        raise ValueError(f"{folder / MANIFEST}: {problem}, and the shards have {in_shards:,}")


def verify_shards(folder: Path, manifest: Mapping[str, Any], *, remake: bool = True) -> None:
    """ValueError where a file is not what the manifest says, or the manifest does not add up; it names the file. That
    all are there is known."""
    named = {MANIFEST}
    for shard in manifest["shards"]:
        for file in shard["files"]:
            named.add(file["name"])
            path = folder / file["name"]
            if sha256_of(path) != file["sha256"]:
                anew = f", or remove {folder} to make all shards again" if remake else ""
                raise ValueError(f"{path} is damaged: its SHA-256 is not that of the manifest. Put it back{anew}")
    others = sorted(path.name for path in folder.iterdir() if path.name not in named)
    if others:
        raise ValueError(f"{folder / others[0]} is not in the manifest")
    refuse_other_sums(folder, manifest)
