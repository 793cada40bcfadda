"""The format of tokenizer.json, as the table of formats takes it."""

from __future__ import annotations

from cbpe.formats.hugging_face.reading import load, recognises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cbpe.formats.parts import Parts

__all__ = ["dump", "load", "recognises"]


def dump(parts: Parts) -> list[bytes]:
    """The content of a tokenizer.json, the one file. ValueError where there is none that gives the same ids."""
    from cbpe.formats.hugging_face.writing import dumps  # loading takes none of it

    return [dumps(parts)]
