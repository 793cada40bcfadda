"""The files of the page, which lie in the package: read once, and known by their names alone."""

from __future__ import annotations

from importlib import resources

__all__ = ["PAGES", "assets"]

# The path of each page, and its file.
PAGES = {"/": "index.html", "/vocabulary": "vocabulary.html", "/compare": "compare.html"}
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def assets() -> dict[str, tuple[bytes, str]]:
    """name -> (content, content type) of every file."""
    folder = resources.files("cbpe.web").joinpath("static")
    found = {}
    for file in folder.iterdir():
        kind = KINDS.get(f".{file.name.rpartition('.')[2]}")
        if kind is not None:
            found[file.name] = (file.read_bytes(), f"{kind}; charset=utf-8")
    return found
