"""What a tokenizer over characters does besides merging: `processing["characters"]`, checked."""

from __future__ import annotations

from cbpe.formats.hugging_face.values import as_list, fields, flag, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["checked_characters"]

CHOICES = {"spaces": ("each", "always", "first", "never", None), "strip": ("one", "spaces", None)}
FLAGS = ("split", "byte_fallback", "fuse_unk")
MAX_SURFACE = 1000  # characters for an unknown token


def checked_characters(value: Any) -> dict[str, Any]:
    """A copy of it. ValueError for what SentencePieceTokenizer does not know."""
    path = "characters"
    fields(value, path, (*CHOICES, *FLAGS, "unk_token"), ("sentencepiece",))
    for name, known in CHOICES.items():
        if value[name] not in known:
            refuse(f"{path}.{name}", value[name], f"one of {', '.join(map(str, known))} should be here")
    for name in FLAGS:
        flag(value, path, name, False)
    if value["unk_token"] is not None and not isinstance(value["unk_token"], str):
        refuse(f"{path}.unk_token", value["unk_token"], "a token should be here, or null")
    if value["split"] and value["spaces"] in (None, "each"):
        refuse(f"{path}.split", True, "only where the pre-tokenizer is Metaspace")
    checked = {name: value[name] for name in (*CHOICES, *FLAGS, "unk_token")}
    if value.get("sentencepiece") is not None:
        checked["sentencepiece"] = checked_sentencepiece(value["sentencepiece"], f"{path}.sentencepiece")
    return checked


def checked_sentencepiece(value: Any, path: str) -> dict[str, Any]:
    """What SentencePiece does otherwise than `tokenizers`: the texts of its control tokens, which it never finds in a
    text and leaves out of decoded text, what it writes for the unknown token, and whether it leaves out the spaces of
    all tokens at the beginning that have nothing else."""
    fields(value, path, ("controls", "unk_surface"), ("removes_spaces",))
    controls, surface = as_list(value["controls"], f"{path}.controls"), value["unk_surface"]
    if not all(isinstance(text, str) for text in controls):
        refuse(f"{path}.controls", controls, "a list of tokens should be here")
    if not isinstance(surface, str) or len(surface) > MAX_SURFACE:
        refuse(f"{path}.unk_surface", surface, f"a text of up to {MAX_SURFACE:,} characters should be here")
    checked: dict[str, Any] = {"controls": sorted(controls), "unk_surface": surface}
    if flag(value, path, "removes_spaces", False):
        checked["removes_spaces"] = True
    return checked
