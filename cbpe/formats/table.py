"""The formats that are known: how a file of each is recognised and loaded, and by which names one is saved.

A new format is a module beside this one, or a folder of several, and a line in FORMATS. Its module is imported when a
file may be of it, since importing all takes longer than loading some vocabularies.
"""

from __future__ import annotations

import importlib

from cbpe.formats.gpt2 import FILE_NAMES as GPT2_FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from cbpe.formats.parts import Parts
    from cbpe.formats.reading import File

    class Module(Protocol):
        """What the module of a format has. One whose tokenizers are saved in several files has files(path) as well: the
        paths that saving to a path writes, in the order of dump."""

        def recognises(self, file: File, /) -> bool:
            """Whether a file is of this format, by what it holds. ValueError for one that looks like it and cannot be
            loaded."""

        def load(self, file: File, /) -> Parts:
            """The parts in a file. ValueError for what is not whole and valid."""

        def dump(self, parts: Parts, /) -> list[bytes]:
            """The contents of the files that are saved. ValueError for what the format cannot hold."""


__all__ = ["FORMATS", "Format", "known_formats"]


class Format:
    """How tokenizers are kept in files of one format.

    title: what messages call it. home: the name of its module. json: whether a file starts as JSON does; None where one
    may and another not. endings: of names by which it is saved: ".json", or a whole name; none if it is only read.
    in_folders: names of files by which a folder is loaded: any group that is whole. for_characters: ends of names that
    are another format's, unless a tokenizer is over these. leaves_out: what a file does not hold: "pattern",
    "template", "special_tokens", "special" (which tokens are special, but for GPT-2's own), "never_found" (that special
    tokens are in no text), "found" (that they are in one), "decoded" (that their characters stand for no bytes),
    "flags" (how added tokens are found).
    """

    __slots__ = ("endings", "for_characters", "home", "in_folders", "json", "leaves_out", "title")

    def __init__(
        self,
        title: str,
        home: str,
        json: bool | None,
        endings: tuple[str, ...],
        *,
        in_folders: tuple[tuple[str, ...], ...] = (),
        for_characters: tuple[str, ...] = (),
        leaves_out: tuple[str, ...] = (),
    ) -> None:
        self.title = title
        self.home = home
        self.json = json
        self.endings = endings
        self.in_folders = in_folders
        self.for_characters = for_characters
        self.leaves_out = leaves_out

    @property
    def module(self) -> Module:
        """The module that reads and writes it."""
        module: Module = importlib.import_module(self.home)
        return module

    @property
    def is_complete(self) -> bool:
        """Whether a file alone makes a tokenizer. If not, its split pattern has to be given."""
        return "pattern" not in self.leaves_out

    def recognises(self, file: File) -> bool:
        """Whether a file is of this format. Raises as its module does."""
        return self.json in (None, file.looks_like_json) and self.module.recognises(file)

    def files(self, path: str) -> list[str]:
        """The paths that saving to a path writes, in the order of dump."""
        several = getattr(self.module, "files", None)
        return [path] if several is None else several(path)


GPT2_TITLE = "GPT-2's encoder.json with vocab.bpe (or vocab.json with merges.txt)"

FORMATS = (
    Format("minbpe's .model", "cbpe.formats.minbpe", False, (".model", ".vocab"), leaves_out=("flags",)),
    Format(
        "tiktoken's .tiktoken",
        "cbpe.formats.ranks.tiktoken",
        False,
        (".tiktoken",),
        in_folders=(("tiktoken.model",), ("qwen.tiktoken",), ("tokenizer.model",)),
        leaves_out=("pattern", "template", "special_tokens"),
    ),
    Format(
        "llm.c's gpt2_tokenizer.bin",
        "cbpe.formats.ranks.llm_c",
        False,
        ("gpt2_tokenizer.bin",),
        leaves_out=("pattern", "template", "flags"),
    ),
    Format(
        "Hugging Face's tokenizer.json",
        "cbpe.formats.hugging_face.tokenizer_json",
        True,
        (".json",),
        in_folders=(("tokenizer.json",),),
        leaves_out=("never_found", "decoded"),
    ),
    Format(
        "Mistral's tekken.json",
        "cbpe.formats.ranks.tekken",
        True,
        ("tekken.json",),
        in_folders=(("tekken.json",),),
        leaves_out=("template", "flags"),
    ),
    Format("GGUF", "cbpe.formats.gguf.loading", False, ()),
    Format(
        "SentencePiece's .model",
        "cbpe.formats.sentencepiece",
        False,
        (),
        in_folders=(("tokenizer.model",),),
        for_characters=(".model",),
        leaves_out=("template", "found"),
    ),
    Format(
        GPT2_TITLE,
        "cbpe.formats.gpt2",
        None,
        tuple(name for pair in GPT2_FILES for name in pair),
        in_folders=GPT2_FILES,
        leaves_out=("flags", "special"),
    ),
)


def known_formats() -> str:
    """The formats in words, for a message."""
    titles = [known.title for known in FORMATS]
    return f"{', '.join(titles[:-1])}, and {titles[-1]}"
