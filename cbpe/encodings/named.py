"""The named encodings: what each one is made of, and its vocabulary in packed form beside this file. All work offline.

The vocabularies are OpenAI's; generate.py makes the packed files from tiktoken's and proves that they hold the same.
"""

from __future__ import annotations

import os

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.text.patterns import CL100K_SPLIT_PATTERN, O200K_SPLIT_PATTERN, R50K_SPLIT_PATTERN
from cbpe.text.special_tokens import END_OF_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FILL_IN_THE_MIDDLE = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")


class Spec:
    """What makes a named encoding, besides the vocabulary in its file.

    vocabulary is the name of the packed file; explicit_n_vocab the number of tokens of all kinds, where there are no
    gaps among the ids. special_tokens may be a function that makes them, where they are so many that programs which use
    another encoding should not wait for them.
    """

    def __init__(
        self,
        vocabulary: str,
        pattern: str,
        special_tokens: dict[str, int] | Callable[[], dict[str, int]],
        explicit_n_vocab: int | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.pattern = pattern
        self.explicit_n_vocab = explicit_n_vocab
        self._special_tokens = special_tokens

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids."""
        return self._special_tokens() if callable(self._special_tokens) else self._special_tokens


def _harmony_special_tokens() -> dict[str, int]:
    """Those of o200k_harmony: roles and channels of a conversation, and every id up to 201087 that has no other use."""
    named = {
        "<|startoftext|>": 199998,
        END_OF_TEXT: 199999,
        "<|return|>": 200002,
        "<|constrain|>": 200003,
        "<|channel|>": 200005,
        "<|start|>": 200006,
        "<|end|>": 200007,
        "<|message|>": 200008,
        "<|call|>": 200012,
    }
    used = set(named.values())
    reserved = {f"<|reserved_{i}|>": i for i in range(200000, 201088) if i not in used}
    return {**named, **reserved, "<|endofprompt|>": 200018}


_CL100K_SPECIAL_TOKENS = {
    END_OF_TEXT: 100257,
    **{token: 100258 + i for i, token in enumerate(FILL_IN_THE_MIDDLE)},
    "<|endofprompt|>": 100276,
}

SPECS = {
    "gpt2": Spec("r50k_base", R50K_SPLIT_PATTERN, {END_OF_TEXT: 50256}, 50257),
    "r50k_base": Spec("r50k_base", R50K_SPLIT_PATTERN, {END_OF_TEXT: 50256}, 50257),
    "p50k_base": Spec("p50k_base", R50K_SPLIT_PATTERN, {END_OF_TEXT: 50256}, 50281),
    "p50k_edit": Spec(
        "p50k_base",
        R50K_SPLIT_PATTERN,
        {END_OF_TEXT: 50256, **{token: 50281 + i for i, token in enumerate(FILL_IN_THE_MIDDLE)}},
    ),
    "cl100k_base": Spec("cl100k_base", CL100K_SPLIT_PATTERN, _CL100K_SPECIAL_TOKENS),
    "o200k_base": Spec("o200k_base", O200K_SPLIT_PATTERN, {END_OF_TEXT: 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": Spec("o200k_base", O200K_SPLIT_PATTERN, _harmony_special_tokens),
}


_loaded: dict[str, Vocabulary] = {}


def packed_file(name: str) -> str:
    """The path of the packed vocabulary of this name."""
    return os.path.join(os.path.dirname(__file__), f"{name}.cbpe")


def load_vocabulary(name: str) -> Vocabulary:
    """The vocabulary of this name, loaded once: encodings that differ only in special tokens share it."""
    if name not in _loaded:
        with open(packed_file(name), "rb") as file:
            _loaded.setdefault(name, Vocabulary.unpack(file.read(), merges_happen=True))
    return _loaded[name]
