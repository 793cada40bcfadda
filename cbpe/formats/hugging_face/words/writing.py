"""Writing a tokenizer.json whose model is over words."""

from __future__ import annotations

from cbpe.formats.gpt2 import spell
from cbpe.formats.hugging_face.added_tokens import listed_with_special_tokens
from cbpe.formats.hugging_face.normalizers import written_normalizer
from cbpe.formats.hugging_face.pre_tokenizers import (
    byte_level,
    written_plain_pre_tokenizer,
    written_pre_tokenizer,
)
from cbpe.formats.parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["written_words"]


def written_words(parts: Parts) -> dict[str, Any]:
    """The parts of the file that say how text is split and merged, over words."""
    settings, processing, vocabulary = parts.processing["words"], parts.processing, parts.vocabulary
    over_bytes = settings["alphabet"] == "bytes"
    splits = processing.get("splits")
    if over_bytes:
        prefix_space = bool(processing.get("prefix_space"))
        pre_tokenizer: dict[str, Any] | None = written_pre_tokenizer(parts.pattern, prefix_space, splits)
    else:
        pre_tokenizer = written_plain_pre_tokenizer(parts.pattern, splits)
    texts = {
        token_id: spell(token) if over_bytes else token.decode() for token_id, token in vocabulary.tokens().items()
    }
    vocab = {text: token_id for token_id, text in texts.items()}
    if len(vocab) < len(texts):
        raise ValueError("Hugging Face's format cannot hold two tokens with the same text")
    prefix, suffix = vocabulary.prefix.decode(), vocabulary.suffix.decode()

    def is_ordinary(text: str) -> bool:
        return len(text.removeprefix(prefix).removesuffix(suffix)) == 1

    vocab = listed_with_special_tokens(vocab, parts.special_tokens, settings["unk_token"], is_ordinary)
    decoder = settings["decoder"]
    return {
        "normalizer": written_normalizer(processing.get("normalizer")),
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": byte_level(use_regex=True) if over_bytes else decoder,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": settings["unk_token"],
            "continuing_subword_prefix": prefix or None,
            "end_of_word_suffix": suffix or None,
            "fuse_unk": settings["fuse_unk"],
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [[texts[left], texts[right]] for left, right in vocabulary.merges()],
        },
    }
