"""The format of tokenizer.json, as the table of formats takes it."""

from cbpe.formats.hugging_face.reading import load, recognises
from cbpe.formats.hugging_face.writing import dump

__all__ = ["dump", "load", "recognises"]
