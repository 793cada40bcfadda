"""Writing a tokenizer.json."""

from __future__ import annotations

import json

from cbpe.formats.checks import refuse_shared_bytes
from cbpe.formats.gpt2 import spell
from cbpe.formats.hugging_face.added_tokens import listed_with_special_tokens, written_token
from cbpe.formats.hugging_face.characters.writing import written_characters
from cbpe.formats.hugging_face.model import found_whole
from cbpe.formats.hugging_face.normalizers import written_normalizer
from cbpe.formats.hugging_face.post_processors import written_post_processor
from cbpe.formats.hugging_face.pre_tokenizers import byte_level, written_pre_tokenizer
from cbpe.formats.hugging_face.words.writing import written_words
from cbpe.formats.parts import Parts
from cbpe.text.special_tokens import refuse_shared_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["dumps"]


def dumps(parts: Parts) -> bytes:
    """The content of a tokenizer.json that gives the same ids on every text. ValueError where there is none."""
    refuse_shared_ids(parts.special_tokens, "Hugging Face's format")
    processing = parts.processing
    if "characters" in processing:
        own = written_characters(parts)
    else:
        own = written_words(parts) if "words" in processing else written_bytes(parts)
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [written_token(*item, processing) for item in by_id(parts.special_tokens)],
        "normalizer": own["normalizer"],
        "pre_tokenizer": own["pre_tokenizer"],
        "post_processor": written_post_processor(processing) or own["post_processor"],
        "decoder": own["decoder"],
        "model": own["model"],
    }
    try:
        return json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a special token with a lone surrogate has no place in a JSON file") from None


def written_bytes(parts: Parts) -> dict[str, Any]:
    """The parts of the file that say how text is split and merged, over bytes."""
    vocabulary, processing = parts.vocabulary, parts.processing
    tokens = vocabulary.tokens()
    refuse_shared_bytes("Hugging Face's format", tokens)
    spelled = {token_id: spell(token) for token_id, token in tokens.items()}
    vocab = {text: token_id for token_id, text in spelled.items()}
    whole = found_whole(parts.special_tokens, processing) if vocabulary.whole_pieces else {}
    vocab = listed_with_special_tokens(vocab, parts.special_tokens, None, whole.__contains__)
    return {
        "normalizer": written_normalizer(processing.get("normalizer")),
        "pre_tokenizer": written_pre_tokenizer(
            parts.pattern, bool(processing.get("prefix_space")), processing.get("splits")
        ),
        "post_processor": byte_level(trims=False),
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
            "vocab": vocab,
            "merges": [f"{spelled[left]} {spelled[right]}" for left, right in vocabulary.merges()],
        },
    }


def by_id(ids: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(ids.items(), key=lambda item: item[1])
