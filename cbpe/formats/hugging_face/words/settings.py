"""What a tokenizer of words does besides merging: `processing["words"]`, checked."""

from __future__ import annotations

from cbpe.formats.hugging_face.pre_tokenizers import read_byte_level
from cbpe.formats.hugging_face.values import fields, flag, flattened, kind_of, refuse, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["checked_words", "read_words_decoder"]

ALPHABETS = ("bytes", "characters")
DECODERS = ("ByteLevel", "BPEDecoder", "WordPiece", "Fuse")
MAX_AFFIX = 100  # characters


def checked_words(value: Any) -> dict[str, Any]:
    """A copy of it. ValueError for what WordTokenizer does not know."""
    path = "words"
    fields(value, path, ("alphabet", "decoder", "fuse_unk", "unk_token"))
    if value["alphabet"] not in ALPHABETS:
        refuse(f"{path}.alphabet", value["alphabet"], f"one of {', '.join(ALPHABETS)} should be here")
    if value["unk_token"] is not None and not isinstance(value["unk_token"], str):
        refuse(f"{path}.unk_token", value["unk_token"], "a token should be here, or null")
    return {
        "alphabet": value["alphabet"],
        "decoder": read_words_decoder(value["decoder"], value["alphabet"], f"{path}.decoder"),
        "fuse_unk": flag(value, path, "fuse_unk", False),
        "unk_token": value["unk_token"],
    }


def read_words_decoder(value: Any, alphabet: str, path: str = "decoder") -> dict[str, Any] | None:
    """How tokens become text, in one form; None: with spaces between them."""
    steps = flattened(value, path, "decoders")
    if value is None and alphabet == "characters":
        return None
    kind = kind_of(steps[0][1], steps[0][0]) if len(steps) == 1 else None
    if kind not in DECODERS or (kind == "ByteLevel") != (alphabet == "bytes"):
        known = "ByteLevel" if alphabet == "bytes" else f"{', '.join(DECODERS[1:])} and null"
        refuse(path, value, f"over {alphabet}, only {known} is supported")
    where, step = steps[0]
    if kind == "ByteLevel":
        read_byte_level(step, where)
        return {"type": kind}
    if kind == "BPEDecoder":
        fields(step, where, ("type", "suffix"))
        return {"type": kind, "suffix": text_of(step["suffix"], f"{where}.suffix", MAX_AFFIX)}
    if kind == "WordPiece":
        fields(step, where, ("type", "prefix", "cleanup"))
        prefix = text_of(step["prefix"], f"{where}.prefix", MAX_AFFIX)
        return {"type": kind, "prefix": prefix, "cleanup": flag(step, where, "cleanup", True)}
    fields(step, where, ("type",))
    return {"type": kind}
