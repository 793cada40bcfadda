"""The pages and their files, which lie in the package: read once, and known by their names alone."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined

__all__ = ["PAGES", "Page", "assets", "missing_page", "pages"]

KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Page:
    """A page: its path, the name of its template and its script, its title; the element that comes first in it, for
    those who skip the navigation, and what that is."""

    path: str
    name: str
    title: str
    first: str
    said: str


PAGES = (
    Page("/", "playground", "Playground", "text", "text"),
    Page("/vocabulary", "vocabulary", "Vocabulary", "text", "search"),
    Page("/store", "store", "Store", "prefix", "versions"),
    Page("/compare", "compare", "Compare", "typed", "texts"),
)


def pages() -> dict[str, bytes]:
    """path -> HTML of every page, which holds no words but ours."""
    found = templates()
    return {
        page.path: found.get_template(f"{page.name}.html").render(page=page, pages=PAGES).encode() for page in PAGES
    }


def missing_page() -> bytes:
    """HTML that says that there is no such page, with links to those that there are."""
    return templates().get_template("missing.html").render(pages=PAGES).encode()


def templates() -> Environment:
    folder = resources.files("cbpe.web").joinpath("templates")
    loader = FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8"))
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)


def assets() -> dict[str, tuple[bytes, str]]:
    """name -> (content, content type) of every file that pages load."""
    folder = resources.files("cbpe.web").joinpath("static")
    found = {}
    for file in folder.iterdir():
        kind = KINDS.get(file.name.rpartition(".")[2])
        if kind is not None:
            found[file.name] = (file.read_bytes(), f"{kind}; charset=utf-8")
    return found
