"""What a pattern of names with *, ?, [..] and ** matches on this machine."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from cbpe.corpus.storage import has_wildcards

__all__ = ["matched_by", "matches", "refuse_closed"]

ANY_FOLDERS = "**"


def matched_by(pattern: Path) -> tuple[list[Path], list[str]]:
    """All that a pattern matches, and the links to folders that its ** came to and left: they may lead anywhere, and in
    a circle. Links that another part of the pattern matches are followed."""
    links: dict[str, None] = {}
    found = [*dict.fromkeys(expanded(pattern.parts, links))]
    passed = {str(above) for path in found for above in path.parents} if links else set()
    return found, [link for link in links if link not in passed]


def expanded(parts: Sequence[str], links: dict[str, None]) -> Iterator[Path]:
    """What glob finds, but for what is behind links to folders that ** comes to; these are put into links."""
    if ANY_FOLDERS not in parts:
        yield from map(Path, glob.glob(os.path.join(*parts)))
        return
    at = parts.index(ANY_FOLDERS)
    rest = parts[at + 1 :]
    for top in glob.glob(os.path.join(*parts[:at], "")) if at else [os.curdir]:
        if not rest:
            yield Path(top)
        for where, folders, files in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith(".")]
            linked = [path for name in folders if (path := Path(where, name)).is_symlink()]
            links.update((str(path), None) for path in linked)
            if rest:
                yield from expanded((*map(glob.escape, Path(where).parts), *rest), links)
            else:
                found = (Path(where, name) for name in folders + files if not name.startswith("."))
                yield from (path for path in found if path not in linked)


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a pattern matches a path, both in parts."""
    if not pattern or not parts:
        return not parts and all(part == ANY_FOLDERS for part in pattern)
    if pattern[0] == ANY_FOLDERS:
        return matches(parts, pattern[1:]) or (not parts[0].startswith(".") and matches(parts[1:], pattern))
    hidden = parts[0].startswith(".") and not pattern[0].startswith(".")
    return not hidden and fnmatchcase(parts[0], pattern[0]) and matches(parts[1:], pattern[1:])


def refuse_closed(pattern: Path) -> None:
    """PermissionError for a folder that a pattern asks to look into and that cannot be read: nothing is found there."""
    parts = pattern.parts
    first = next(i for i, part in enumerate(parts) if has_wildcards(part))
    for i in range(first, len(parts)):
        above = parts[:i] + ((ANY_FOLDERS,) if parts[i] == ANY_FOLDERS else ())
        for folder in expanded(above, {}) if above else [Path()]:
            if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK if has_wildcards(parts[i]) else os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
