"""The model of a tokenizer.json: its tokens with their ids, and its merges."""

from __future__ import annotations

from cbpe._core.conversion.listed import ListedMerges, ListedTokens
from cbpe.formats.gpt2 import BYTE_TO_CHARACTER, CHARACTER_TO_BYTE, spells_other_text
from cbpe.formats.hugging_face.normalizers import normalizer_of
from cbpe.formats.hugging_face.values import MAX_ID, fields, flag, is_id, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, NoReturn

__all__ = [
    "MODEL_FIELDS",
    "found_whole",
    "pair_of_merge",
    "read_merges",
    "read_model",
    "read_vocab",
    "refuse_as_ordinary",
    "refuse_ordinary",
]

MADE_BY_NFC = frozenset("K;`")
UNUSED = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback")
MODEL_FIELDS = ("type", "ignore_merges", *UNUSED)  # beside vocab and merges


def read_model(value: object) -> tuple[Mapping[str, int], list[Any] | ListedMerges, bool]:
    """The tokens as the file spells them with their ids, the merges, each of which pair_of_merge reads, and whether
    whole pieces are looked up first."""
    model = fields(value, "model", ("vocab", "merges"), MODEL_FIELDS)
    if model.get("type", "BPE") != "BPE":
        refuse("model.type", model["type"], "only BPE is supported")
    vocab = model["vocab"]
    check_vocab(vocab)
    if model.get("dropout") not in (None, 0) or isinstance(model.get("dropout"), bool):
        refuse("model.dropout", model["dropout"], "set it to null")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name) not in (None, ""):
            refuse(f"model.{name}", model[name], "byte-level BPE has none: set it to null")
    missing = [character for character in BYTE_TO_CHARACTER.values() if character not in vocab]
    flag(model, "model", "fuse_unk", False)
    unknown = model.get("unk_token")
    if unknown is not None and not isinstance(unknown, str):
        refuse("model.unk_token", unknown, "a token should be here, or null")
    if missing and unknown is not None:
        refuse("model.unk_token", unknown, f"it stands for bytes without a token, such as {missing[0]!r}")
    if flag(model, "model", "byte_fallback", False) and missing:
        refuse("model.byte_fallback", True, f"it is for bytes without a token, such as {missing[0]!r}")
    merges = model["merges"]
    if not isinstance(merges, (list, ListedMerges)):
        refuse("model.merges", merges, "a list should be here")
    for i, merge in enumerate(merges) if isinstance(merges, list) else ():
        pair_of_merge(merge, i)
    return vocab, merges, flag(model, "model", "ignore_merges", False)


def check_vocab(vocab: object) -> None:
    """ValueError for what is no object of tokens and ids, each of which is there once."""
    if isinstance(vocab, ListedTokens):
        return
    if not isinstance(vocab, dict):
        refuse("model.vocab", vocab, "an object of tokens and their ids should be here")
    texts: dict[int, str] = {}
    for text, token_id in vocab.items():
        if not is_id(token_id):
            refuse(f"model.vocab[{text[:80]!r}]", token_id, f"an id from 0 to {MAX_ID} should be here")
        if texts.setdefault(token_id, text) != text:
            raise ValueError(f"model.vocab gives the id {token_id} to {texts[token_id][:80]!r} and to {text[:80]!r}")


def pair_of_merge(merge: Any, number: int) -> tuple[str, str]:
    """The two tokens of a merge, which is written as "a b" or as ["a", "b"]."""
    pair = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(path, str) and path for path in pair):
        refuse(f"model.merges[{number}]", merge, "two tokens should be here")
    return pair[0], pair[1]


def refuse_ordinary(
    listed: list[str], merges: list[tuple[str, str]], whole_pieces: bool, processing: Mapping[str, Any]
) -> None:
    """ValueError for an added token of those that the vocabulary lists that other text could become as well."""
    merged = {path for left, right in merges for path in (left, right, left + right)}
    whole = found_whole(listed, processing) if whole_pieces else {}
    for text in listed:
        if text in merged:
            refuse_as_ordinary(text, "a merge makes it, or takes it")
        if text in CHARACTER_TO_BYTE:
            refuse_as_ordinary(text, "it stands for a byte")
        if text in whole:
            advice = "save the file with ignore_merges false, if each token has its merges"
            refuse_as_ordinary(text, f"{whole[text]}, and is this token by model.ignore_merges: {advice}")


def refuse_as_ordinary(text: str, reason: str) -> NoReturn:
    """The error about an added token that other text becomes as well."""
    raise ValueError(f"added_tokens has {text[:80]!r}, which is also an ordinary token of model.vocab: {reason}")


def found_whole(texts: Iterable[str], processing: Mapping[str, Any]) -> dict[str, str]:
    """Those of some added tokens that a piece can be, so that they are found by ignore_merges in other text too; and
    which text that is.

    A piece can be what spells other text; what stands within a word, where one that is none within a word is left
    alone, and shorter ones in it with it; what the normalizer makes of other text; and what it leaves alone in a text,
    where it makes another one of the token, which is then looked for.
    """
    words = processing.get("single_word", ())
    normalized = processing.get("normalized", ())
    normalizer = processing.get("normalizer")
    steps = normalizer_of(normalizer)
    forms = map(steps.normalized, {*words} & {*normalized})
    longest = max(map(len, [*words, *forms]), default=0)

    def as_a_piece(text: str) -> str | None:
        if spells_other_text(text):
            return "other text is spelled so"
        if not CHARACTER_TO_BYTE.keys() >= set(text):
            return None
        if len(text) < longest or text in words:
            return "it may stand in a text within a word, where none is looked for (single_word)"
        if normalizer is not None and text not in normalized and not (normalizer == "NFC" and not_made_by_nfc(text)):
            return "the normalizer may make it of other text, after it was looked for"
        if text in normalized and not steps.is_partwise and steps.normalized(text) != text:
            return "the normalizer makes other text of it, which is looked for, and may leave it alone in a longer text"
        return None

    return {text: reason for text in texts if (reason := as_a_piece(text)) is not None}


def not_made_by_nfc(text: str) -> bool:
    """Whether no other text has this one as its NFC: of ASCII, three characters are those of others."""
    return text.isascii() and MADE_BY_NFC.isdisjoint(text)


def read_vocab(texts: Iterable[str]) -> dict[str, bytes]:
    """The bytes that tokens are spelled for. ValueError for one that is not of characters that stand for bytes."""
    tokens = {}
    for text in texts:
        try:
            tokens[text] = bytes([CHARACTER_TO_BYTE[character] for character in text])
        except KeyError as error:
            wrong = error.args[0]
            problem = f"the character {wrong!r} stands for no byte, and it is no added token"
            raise ValueError(f"model.vocab has {text[:80]!r}: {problem}") from None
    if "" in tokens:
        raise ValueError("model.vocab has a token without any bytes")
    return tokens


def read_merges(merges: list[tuple[str, str]], tokens: dict[str, bytes]) -> list[tuple[bytes, bytes]]:
    pairs = []
    for number, (left, right) in enumerate(merges):
        if left not in tokens or right not in tokens or left + right not in tokens:
            missing = next(text for text in (left, right, left + right) if text not in tokens)
            raise ValueError(f"model.merges[{number}] needs the token {missing[:80]!r}, which is not in model.vocab")
        pairs.append((tokens[left], tokens[right]))
    return pairs
