"""Writing a tokenizer.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cbpe._core.analysis.coverage import covers_all_text
from cbpe._core.text.shown import shown
from cbpe.formats.checks import refuse_shared_bytes
from cbpe.formats.gpt2 import PATTERNS, spell, spells_other_text, unspell
from cbpe.formats.hugging_face.oniguruma import to_oniguruma
from cbpe.formats.parts import Parts
from cbpe.text.special_tokens import refuse_shared_ids

__all__ = ["dump", "dumps"]


def dump(parts: Parts) -> list[bytes]:
    """The content of a tokenizer.json, the one file. Raises as dumps does."""
    return [dumps(parts)]


def dumps(parts: Parts) -> bytes:
    """The content of a tokenizer.json that gives the same ids on every text. ValueError where there is none."""
    vocabulary, processing = parts.vocabulary, parts.processing
    tokens = vocabulary.tokens()
    refuse_shared_bytes("Hugging Face's format", tokens)
    refuse_shared_ids(parts.special_tokens)
    spelled = {token_id: spell(token) for token_id, token in tokens.items()}
    vocab = {text: token_id for token_id, text in spelled.items()}
    for text, token_id in parts.special_tokens.items():
        if vocab.setdefault(text, token_id) != token_id:
            raise ValueError(
                f"the special token {shown(text)} is spelled like the ordinary token {vocab[text]} in Hugging Face's "
                "format"
            )
        if vocabulary.whole_pieces and spells_other_text(text):
            spelled_text = unspell(text).decode()
            raise ValueError(
                f"Hugging Face's format, where whole pieces are looked up, would take {shown(spelled_text)} for the "
                f"special token {shown(text)}"
            )
    normalizer = {"type": "NFC"} if processing.get("normalizer") else None
    template = processing.get("template")
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [written_token(*item, processing) for item in by_id(parts.special_tokens)],
        "normalizer": normalizer,
        "pre_tokenizer": written_pre_tokenizer(parts.pattern, bool(processing.get("prefix_space"))),
        "post_processor": {"type": "TemplateProcessing", **template} if template else byte_level(use_regex=True),
        "decoder": byte_level(use_regex=True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": vocabulary.whole_pieces,
            "vocab": dict(by_id(vocab)),
            "merges": [f"{spelled[left]} {spelled[right]}" for left, right in vocabulary.merges()],
        },
    }
    try:
        return json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a special token with a lone surrogate has no place in a JSON file") from None


def by_id(ids: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(ids.items(), key=lambda item: item[1])


def written_token(text: str, token_id: int, processing: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": token_id,
        "content": text,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": text in processing.get("normalized", ()),
        "special": text not in processing.get("ordinary", ()),
    }


def byte_level(*, use_regex: bool, prefix_space: bool = False) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": True, "use_regex": use_regex}


def written_pre_tokenizer(pattern: str | None, prefix_space: bool) -> dict[str, Any]:
    if pattern is None or pattern in PATTERNS:
        return byte_level(use_regex=pattern is not None, prefix_space=prefix_space)
    regex = to_oniguruma(pattern)
    covers = covers_all_text(pattern)
    split = {
        "type": "Split",
        "pattern": {"Regex": regex},
        "behavior": "Isolated" if covers else "Removed",
        "invert": not covers,
    }
    return {"type": "Sequence", "pretokenizers": [split, byte_level(use_regex=False)]}
