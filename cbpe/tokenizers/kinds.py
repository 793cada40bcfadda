"""The classes of tokenizers by name, as parts and stored models say them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping

from cbpe._core.text.shown import shown
from cbpe.formats.parts import Parts
from cbpe.text.special_tokens import checked_special_tokens
from cbpe.tokenizers.tokenizer import Tokenizer
from cbpe.training.initial import with_next_ids

__all__ = ["KINDS", "tokenizer_of", "with_more_special_tokens"]

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


def with_more_special_tokens(tok: Tokenizer, given: Mapping[str, int] | Iterable[str]) -> Tokenizer:
    """A tokenizer as this one, with these special tokens besides its own: texts with their ids, or texts, which get the
    ids after all others. ValueError for one that another token's id is given to, or that has another id already."""
    old = tok.special_tokens
    new = given if isinstance(given, Mapping) else with_next_ids(old, given, tok.n_vocab)
    for token, token_id in checked_special_tokens(new, tok._vocabulary).items():
        if token in old and old[token] != token_id:
            raise ValueError(f"the special token {shown(token)} is there already, with the id {old[token]}")
        other = next((text for text, its_id in {**old, **new}.items() if its_id == token_id and text != token), None)
        if other is not None and token not in old:
            raise ValueError(
                f"the id {token_id} of the special token {shown(token)} is that of {shown(other)}; the first after all "
                f"is {tok.n_vocab}"
            )
    parts = tok._parts()
    parts.special_tokens = {**old, **new}
    return tokenizer_of(parts)
