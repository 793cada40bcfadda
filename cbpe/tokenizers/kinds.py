"""The classes of tokenizers by name, as parts and stored models say them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from cbpe.formats.parts import Parts
from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["KINDS", "tokenizer_of"]

_HOMES = {
    "Tokenizer": "cbpe.tokenizers.tokenizer",
    "BasicTokenizer": "cbpe.tokenizers.minbpe",
    "RegexTokenizer": "cbpe.tokenizers.minbpe",
    "GPT2Tokenizer": "cbpe.tokenizers.minbpe",
    "GPT4Tokenizer": "cbpe.tokenizers.minbpe",
    "Encoding": "cbpe.tokenizers.tiktoken",
    "HuggingFaceTokenizer": "cbpe.tokenizers.hugging_face",
    "SentencePieceTokenizer": "cbpe.tokenizers.characters.sentencepiece",
    "WordTokenizer": "cbpe.tokenizers.characters.words",
}


class _Kinds(Mapping[str, type[Tokenizer]]):
    """Each class is imported when it is asked for: a program that loads one tokenizer needs one."""

    def __getitem__(self, name: str) -> type[Tokenizer]:
        kind: type[Tokenizer] = getattr(importlib.import_module(_HOMES[name]), name)
        return kind

    def __contains__(self, name: object) -> bool:
        return name in _HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


# One of a program's own may do what parts do not say.
KINDS: Mapping[str, type[Tokenizer]] = _Kinds()


def tokenizer_of(parts: Parts) -> Tokenizer:
    """The tokenizer of these parts, of the class that they say. Raises what the parts' checks raise."""
    return KINDS[parts.kind]._of(parts)
