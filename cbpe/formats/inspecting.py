"""What a file says of itself, whether a tokenizer can be made of it or not: its format, and kinds and counts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cbpe.common.public import public
from cbpe.common.published import EXPORTED
from cbpe.common.wording import NamedErrors
from cbpe.corpus.stored_bytes import COUNTS_BEGIN
from cbpe.corpus.word_counts import FIXED, header_of, start_checked
from cbpe.formats import sentencepiece
from cbpe.formats.files import recognise
from cbpe.formats.gguf import loading as gguf
from cbpe.formats.gguf.metadata import read_metadata
from cbpe.formats.ranks import tiktoken
from cbpe.formats.reading import MAX_FILE_BYTES, File
from cbpe.text.splitting import pattern_in_words
from cbpe.views.html import block, cell_text, pairs, visible

__all__ = ["Inspection", "found_in", "title_of"]

# What files begin with that hold no tokenizer, and are of this project all the same.
OTHERS = {COUNTS_BEGIN: "word counts of cbpe", EXPORTED: "a version exported from a model store"}
MOST_KINDS = 20  # of one part, in a row
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
INNER = ("normalizers", "pretokenizers", "processors", "decoders")  # what a Sequence of each calls its steps


@public
@dataclass(frozen=True)
class Inspection:
    """What a file holds. `refused` says why no tokenizer is made of it; then what only a tokenizer has is None."""

    path: str
    size: int  # bytes
    format: str | None  # None for a file of no known format
    found: Mapping[str, str | int]  # the parts of the file by name, as it says: kinds, and numbers of things
    refused: str | None = None
    kind: str | None = None  # the class that cbpe.load gives
    vocab_size: int | None = None  # special tokens aside
    n_merges: int | None = None
    semantics: str | None = None  # "pairs" or "ranks"
    pattern: str | None = None
    splits_natively: bool | None = None
    special_tokens: Mapping[str, int] | None = None
    processing: Mapping[str, Any] | None = None  # what is done before splitting and after merging
    all_tokens: int | None = None  # special ones included, each id once

    def pairs(self) -> list[tuple[str, object]]:
        """Names and values for people, as `cbpe inspect` prints them: of long lists the first items, the steps around
        splitting and merging in words. A name that is "" goes with the one before."""
        from cbpe.views.inspected import inspected

        return [*inspected(self)]

    def __str__(self) -> str:
        """A name and its value a line."""
        pairs = self.pairs()
        wide = max(len(name) for name, _ in pairs)
        return "\n".join(f"{name:{wide}}  {visible(cell_text(value))}".rstrip() for name, value in pairs)

    def __repr__(self) -> str:
        """<Inspection of book.json: Hugging Face's tokenizer.json, 300 tokens>"""
        held = "refused" if self.refused is not None else f"{self.vocab_size:,} tokens"
        return f"<Inspection of {self.path}: {self.format or 'unknown'}, {held}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return block(pairs(self.path, self.pairs()[1:]))


def title_of(file: File) -> str | None:
    """What the format of a file is called; None for one that is of no known format."""
    for beginning, title in OTHERS.items():
        if file.start.startswith(beginning):
            return title
    try:
        return recognise(file).title
    except ValueError:
        return None


def found_in(file: File) -> dict[str, str | int]:
    """What can be told without making a tokenizer: the parts of a file by name, as far as it is whole."""
    try:
        if file.start.startswith(COUNTS_BEGIN):
            return in_word_counts(file.path)
        if gguf.recognises(file):
            return in_gguf(read_metadata(file.path, gguf.WANTED))
        if file.looks_like_json:
            return in_json(file.json)
        if sentencepiece.recognises(file):
            return sentencepiece.described(file.data)
        if tiktoken.recognises(file):
            return {"ranks": sum(1 for line in file.data.splitlines() if line)}
    except ValueError:
        pass  # what loading says of it is enough
    return {}


def in_word_counts(path: str) -> dict[str, str | int]:
    """What the header of a file of word counts says. ValueError for one that is not as it should be."""
    with open(path, "rb") as opened, NamedErrors(path):
        start = opened.read(FIXED)
        start_checked(memoryview(start), os.path.getsize(path))
        try:
            header = header_of(opened.read(min(int.from_bytes(start[-4:], "little"), MAX_FILE_BYTES)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"this file of word counts was not written as it should be: {error}") from error
    return {"words": header.words, "text_bytes": header.text_bytes, "split by": pattern_in_words(header.pattern)}


def in_gguf(values: dict[str, Any]) -> dict[str, str | int]:
    """The texts, numbers and lengths of lists among the values of a GGUF file's tokenizer."""
    return {name: len(value) if isinstance(value, list) else value for name, value in sorted(values.items())}


def in_json(value: Any) -> dict[str, str | int]:
    """The kinds and sizes of the parts of a tokenizer.json or a tekken.json."""
    found: dict[str, str | int] = {}
    if not isinstance(value, dict):
        return found
    for name in ("model", "config"):
        part = value.get(name)
        if not isinstance(part, dict):
            continue
        for key, inner in part.items():
            if isinstance(inner, (dict, list)):
                found[f"{name}.{key}"] = len(inner)
            elif inner is not None:
                found[f"{name}.{key}"] = inner
    for name in ("vocab", "added_tokens", "special_tokens"):
        if isinstance(value.get(name), (dict, list)):
            found[name] = len(value[name])
    for name in PARTS:
        kinds = kinds_of(value.get(name))
        if kinds:
            found[name] = ", ".join(kinds[:MOST_KINDS]) + (", ..." if len(kinds) > MOST_KINDS else "")
    found.update({name: "there" for name in ("truncation", "padding") if isinstance(value.get(name), dict)})
    return found


def kinds_of(part: Any) -> list[str]:
    """The types of the steps of a part: of a Sequence, those in it."""
    kinds: list[str] = []
    waiting = [part]
    while waiting and len(kinds) <= MOST_KINDS:
        step = waiting.pop()
        kind = step.get("type") if isinstance(step, dict) else None
        inner = next((step[name] for name in INNER if isinstance(step.get(name), list)), None) if kind else None
        if kind == "Sequence" and inner is not None:
            waiting += reversed(inner)
        elif isinstance(kind, str):
            kinds.append(kind)
    return kinds
