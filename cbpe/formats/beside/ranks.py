"""What belongs to a file of ranks and is not in it: found in the tokenizer_config.json beside it, by the class that
this names, or by the file's SHA-256.

Other people's models (Kimi, Qwen, Llama) keep their ranks in tiktoken's form, and the split pattern in a program. Here
are the patterns of the programs that are known, as facts: a class counts as known by its module and its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cbpe.formats.beside.config import CONFIG, class_named, config_in
from cbpe.formats.hugging_face.values import is_id, refuse
from cbpe.formats.parts import Parts
from cbpe.formats.reading import parse_json, read_whole
from cbpe.text.patterns import LLAMA3_SPLIT_PATTERN, QWEN2_SPLIT_PATTERN

__all__ = ["PATTERNS_BY_SHA256", "Beside", "look_beside"]

MODEL_CONFIG = "config.json"
MAX_ADDED_TOKENS = 100_000
MAX_ADDED_LENGTH = 1000

# Files whose pattern is known by their content: Llama 3's tokenizer.model.
PATTERNS_BY_SHA256 = {"82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": LLAMA3_SPLIT_PATTERN}

# After (?V1), && is what it is in tiktoken: the characters that both classes have.
_NO_HAN = r"&&[^\p{Han}]]"
_LOWER, _UPPER = rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}{_NO_HAN}", rf"[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}{_NO_HAN}"
KIMI_PATTERN = "(?V1)" + "|".join(
    [
        r"[\p{Han}]+",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
KIMI_RESERVED = 256  # special tokens, which follow the ranks
QWEN_SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{i}|>" for i in range(205)))


class Known(NamedTuple):
    """What a class does besides merging by rank."""

    pattern: str
    normalizer: str | None
    special_tokens: Callable[[Beside, int], dict[str, int]]  # of a model with so many ranks


class Beside(NamedTuple):
    """What a tokenizer_config.json says."""

    folder: str
    class_name: str | None  # with its module, as "tokenization_kimi.TikTokenTokenizer"
    added_tokens: dict[str, int]

    @property
    def known(self) -> Known | None:
        """What is known of the class."""
        return KNOWN.get(self.class_name or "")

    def complete(self, parts: Parts, known: Known, special_tokens: Mapping[str, int] | None) -> Parts:
        """The parts of a tokenizer that does what the class does by default: text of a special token is that token."""
        if special_tokens is None:
            special_tokens = known.special_tokens(self, len(parts.vocabulary))
        processing: dict[str, Any] = {}
        if known.normalizer is not None:  # of the whole text, before special tokens are looked for
            processing = {"normalizer": known.normalizer, "normalized": list(special_tokens)}
        return Parts(parts.vocabulary, known.pattern, special_tokens, processing, kind="HuggingFaceTokenizer")


def look_beside(path: str) -> Beside | None:
    """What the tokenizer_config.json in the folder of a file says; None where there is none. ValueError for one that is
    not valid."""
    folder = os.path.dirname(path)
    config = config_in(folder)
    if config is None:
        return None
    return Beside(folder, class_named(config), read_added_tokens(config.get("added_tokens_decoder")))


def read_added_tokens(value: Any) -> dict[str, int]:
    """The tokens of added_tokens_decoder, with their ids."""
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > MAX_ADDED_TOKENS:
        refuse("added_tokens_decoder", value, f"an object of up to {MAX_ADDED_TOKENS:,} ids and tokens should be here")
    added: dict[str, int] = {}
    for number, token in value.items():
        path = f"added_tokens_decoder[{number[:20]!r}]"
        if not number.isascii() or not number.isdecimal() or not is_id(int(number[:20])):
            refuse(path, number, "an id should be here")
        text = token.get("content") if isinstance(token, dict) else None
        if not isinstance(text, str) or not 0 < len(text) <= MAX_ADDED_LENGTH or text in added:
            refuse(path, token, f"a token of 1 to {MAX_ADDED_LENGTH:,} characters, and not there twice, should be here")
        for flag in ("single_word", "lstrip", "rstrip"):
            if token.get(flag, False) is not False:
                refuse(f"{path}.{flag}", token[flag], f"only false is supported ({text[:80]!r})")
        added[text] = int(number)
    return added


def kimi_special_tokens(beside: Beside, n_ranks: int) -> dict[str, int]:
    """Those that the file names, and <|reserved_token_ID|> for the other ids of 256."""
    texts = {token_id: text for text, token_id in beside.added_tokens.items()}
    for token_id, text in texts.items():
        if not n_ranks <= token_id < n_ranks + KIMI_RESERVED:
            expected = f"{n_ranks} to {n_ranks + KIMI_RESERVED - 1}"
            raise ValueError(f"{CONFIG}: the id {token_id} of {text[:80]!r} is none of the special tokens', {expected}")
    return {texts.get(i, f"<|reserved_token_{i}|>"): i for i in range(n_ranks, n_ranks + KIMI_RESERVED)}


def qwen_special_tokens(beside: Beside, n_ranks: int) -> dict[str, int]:
    """Those of Qwen's models of text. Its models of pictures and sound name the same class, and have others."""
    of_model = os.path.join(beside.folder, MODEL_CONFIG)
    config = parse_json(read_whole(of_model), MODEL_CONFIG) if os.path.isfile(of_model) else {}
    if not isinstance(config, dict) or config.get("model_type") != "qwen" or {"visual", "audio"} & config.keys():
        raise ValueError(
            f"{CONFIG} names {beside.class_name}, which has other special tokens in other models, and no "
            f"{MODEL_CONFIG} of one of Qwen's models of text is beside it: give them, as "
            "load(path, special_tokens={...})"
        )
    return {text: n_ranks + i for i, text in enumerate(QWEN_SPECIAL_TOKENS)}


KNOWN = {
    "tokenization_kimi.TikTokenTokenizer": Known(KIMI_PATTERN, None, kimi_special_tokens),
    "tokenization_qwen.QWenTokenizer": Known(QWEN2_SPLIT_PATTERN, "NFC", qwen_special_tokens),
}
