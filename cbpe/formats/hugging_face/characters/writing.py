"""Writing a tokenizer.json whose model is over characters."""

from __future__ import annotations

from cbpe._core.text.shown import shown
from cbpe.formats.hugging_face.added_tokens import listed_with_special_tokens
from cbpe.formats.hugging_face.characters.reading import may_be_missed
from cbpe.formats.hugging_face.characters.steps import refuse_lost_beginnings
from cbpe.formats.hugging_face.normalizers import written_normalizer
from cbpe.formats.hugging_face.values import flattened
from cbpe.formats.parts import Parts
from cbpe.text.byte_tokens import byte_token
from cbpe.text.spaces import MARK, with_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["user_defined", "written_characters", "written_vocabulary"]


def written_characters(parts: Parts) -> dict[str, Any]:
    """The parts of the file that say how text is changed and merged, over characters."""
    settings = parts.processing["characters"]
    marks, pre_tokenizer = written_spaces(settings)
    before = written_normalizer(parts.processing.get("normalizer"))
    refuse_lost_beginnings(settings["spaces"], flattened(before, "normalizer", "normalizers"))
    refuse_user_defined(parts, settings)
    steps = [*([] if before is None else [before]), *marks]
    return {
        "normalizer": {"type": "Sequence", "normalizers": steps} if steps else None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": written_decoder(settings),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": settings["unk_token"],
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": settings["fuse_unk"],
            "byte_fallback": settings["byte_fallback"],
            "ignore_merges": False,
            **written_vocabulary(parts, settings),
        },
    }


def user_defined(parts: Parts, settings: Mapping[str, Any]) -> set[str]:
    """The special tokens that SentencePiece finds in a text."""
    owner = settings.get("sentencepiece")
    return set() if owner is None else {*parts.special_tokens} - {*owner["controls"]}


def refuse_user_defined(parts: Parts, settings: Mapping[str, Any]) -> None:
    """ValueError where SentencePiece finds tokens in a text that has one space before it: in this format, what is
    looked for in normalized text gets a space before it as well, and what is looked for before gets one behind it."""
    found = sorted(user_defined(parts, settings) & {*parts.processing.get("normalized", ())})
    if settings["spaces"] == "each" and found:
        raise ValueError(
            f"Hugging Face's format has no way to find the user-defined token {shown(found[0])} where SentencePiece "
            "does, as a space is put before each text: save as .model"
        )


def written_spaces(settings: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """The normalizers and the pre-tokenizer that make marks of spaces."""
    spaces = settings["spaces"]
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    if spaces is None:
        return [], None
    if spaces == "each":
        return [{"type": "Prepend", "prepend": MARK}, replace], None
    if spaces == "never" and not settings["split"]:
        return [replace], None
    return [], metaspace(spaces, settings["split"])


def metaspace(scheme: str, split: bool) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": split}


def written_decoder(settings: Mapping[str, Any]) -> dict[str, Any]:
    if settings["strip"] == "spaces":
        return metaspace("always", True)
    steps: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": MARK}, "content": " "}]
    if settings["byte_fallback"]:
        steps.append({"type": "ByteFallback"})
    steps.append({"type": "Fuse"})
    if settings["strip"] == "one":
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": steps}


def written_vocabulary(parts: Parts, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The tokens with their ids, special tokens included, and the merges."""
    vocabulary = parts.vocabulary
    texts: dict[int, str] = {}
    unmerged = vocabulary.unmerged()
    twice = {token for token in unmerged.values() if len(token) == 1}
    for token_id, token in vocabulary.tokens().items():
        is_byte = settings["byte_fallback"] and len(token) == 1 and (token_id in unmerged or token not in twice)
        if is_byte:
            texts[token_id] = byte_token(token[0])
        else:
            texts[token_id] = with_marks(token.decode()) if settings["spaces"] is not None else token.decode()
    vocab = {text: token_id for token_id, text in texts.items()}
    if len(vocab) < len(texts):
        raise ValueError("Hugging Face's format cannot hold two tokens with the same text")
    is_missed = may_be_missed(parts.processing)
    vocab = listed_with_special_tokens(vocab, parts.special_tokens, settings["unk_token"], is_missed)
    merges = [[texts[left], texts[right]] for left, right in vocabulary.merges()]
    return {"vocab": vocab, "merges": merges}
