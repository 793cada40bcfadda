"""Reads shards back against their manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cbpe.tasks.outputs import sha256_of
from cbpe.tasks.run import MANIFEST

__all__ = ["verify_shards"]


def verify_shards(folder: Path, manifest: Mapping[str, Any]) -> None:
    """ValueError where a file is missing, or is not what the manifest says, or the manifest does not add up; it names
    the file."""
    named = {MANIFEST}
    for shard in manifest["shards"]:
        for file in shard["files"]:
            named.add(file["name"])
            path = folder / file["name"]
            if not path.is_file():
                raise ValueError(f"{path} is missing, and the manifest has it")
            size = path.stat().st_size
            if size != file["bytes"]:
                raise ValueError(f"{path} has {size:,} bytes, and {file['bytes']:,} by the manifest")
            if sha256_of(path) != file["sha256"]:
                raise ValueError(f"{path} is damaged: its SHA-256 is not that of the manifest")
    others = sorted(path.name for path in folder.iterdir() if path.name not in named)
    if others:
        raise ValueError(f"{folder / others[0]} is not in the manifest")
    for name in ("documents", "tokens"):
        total = sum(task[name] for task in manifest["tasks"])
        if total != manifest[name]:
            raise ValueError(f"{folder / MANIFEST}: {manifest[name]:,} {name}, and the tasks have {total:,}")
