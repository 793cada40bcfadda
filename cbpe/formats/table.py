"""The formats that are known: how a file of each is recognised and loaded, and by which names one is saved.

A new format is a module beside this one, or a folder of several, and a line in FORMATS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from cbpe.formats import gpt2, minbpe, sentencepiece
from cbpe.formats.gguf import loading as gguf
from cbpe.formats.hugging_face import tokenizer_json
from cbpe.formats.parts import Parts
from cbpe.formats.ranks import llm_c, tekken, tiktoken
from cbpe.formats.reading import File

__all__ = ["FORMATS", "Format", "known_formats"]


class Module(Protocol):
    """What the module of a format has."""

    def recognises(self, file: File, /) -> bool:
        """Whether a file is of this format, by what it holds. ValueError for one that looks like it and cannot be
        loaded."""

    def load(self, file: File, /) -> Parts:
        """The parts in a file. ValueError for what is not whole and valid."""

    def dump(self, parts: Parts, /) -> list[bytes]:
        """The contents of the files that are saved. ValueError for what the format cannot hold."""


def only_itself(path: str) -> list[str]:
    return [path]


class Format(NamedTuple):
    """How tokenizers are kept in files of one format."""

    title: str  # what messages call it
    module: Module
    endings: tuple[str, ...]  # of names by which it is saved: ".json", or a whole name; none if it is only read
    files: Callable[[str], list[str]] = only_itself  # the paths that saving to a path writes, in the order of dump
    in_folders: tuple[tuple[str, ...], ...] = ()  # names of files by which a folder is loaded: any group that is whole
    for_characters: tuple[str, ...] = ()  # ends of names that are another format's, unless a tokenizer is over these
    leaves_out: tuple[str, ...] = ()  # what a file does not hold: "pattern", "template", "special_tokens"

    @property
    def is_complete(self) -> bool:
        """Whether a file alone makes a tokenizer. If not, its split pattern has to be given."""
        return "pattern" not in self.leaves_out


GPT2_TITLE = "GPT-2's encoder.json with vocab.bpe (or vocab.json with merges.txt)"

FORMATS = (
    Format("minbpe's .model", minbpe, (".model", ".vocab"), minbpe.files),
    Format(
        "tiktoken's .tiktoken",
        tiktoken,
        (".tiktoken",),
        in_folders=(("tiktoken.model",), ("qwen.tiktoken",), ("tokenizer.model",)),
        leaves_out=("pattern", "template", "special_tokens"),
    ),
    Format("llm.c's gpt2_tokenizer.bin", llm_c, ("gpt2_tokenizer.bin",), leaves_out=("pattern", "template")),
    Format("Hugging Face's tokenizer.json", tokenizer_json, (".json",), in_folders=(("tokenizer.json",),)),
    Format("Mistral's tekken.json", tekken, ("tekken.json",), in_folders=(("tekken.json",),), leaves_out=("template",)),
    Format("GGUF", gguf, ()),
    Format(
        "SentencePiece's .model",
        sentencepiece,
        (),
        in_folders=(("tokenizer.model",),),
        for_characters=(".model",),
        leaves_out=("template",),
    ),
    Format(GPT2_TITLE, gpt2, gpt2.NAMES, gpt2.files, gpt2.FILE_NAMES),
)


def known_formats() -> str:
    """The formats in words, for a message."""
    titles = [known.title for known in FORMATS]
    return f"{', '.join(titles[:-1])}, and {titles[-1]}"
