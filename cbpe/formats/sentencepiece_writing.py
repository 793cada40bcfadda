"""Writing SentencePiece's .model: a tokenizer over characters as a message of Protocol Buffers.

SentencePiece merges two neighbours wherever they spell a piece, the one with the highest score first. So what is
written is first made a vocabulary again in this way, which has to be the one that was given.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cbpe._core.conversion.characters import vocabulary_of_characters
from cbpe._core.text.shown import shown
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.formats.hugging_face.characters.writing import user_defined, written_vocabulary
from cbpe.formats.parts import Parts
from cbpe.text.added_tokens import FLAGS, NO_CHANGE_OF_TEXT
from cbpe.text.byte_tokens import byte_token
from cbpe.text.spaces import with_spaces

__all__ = ["written_model"]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, _, BYTE = range(1, 7)  # kinds of pieces
BPE = 2
# What processing says of the added tokens in its lists.
MEANING = {
    "lstrip": "it takes the white space before it",
    "rstrip": "it takes the white space after it",
    "single_word": "it is none within a word",
    "normalized": "it is looked for in normalized text",
    "ordinary": "it is not special",
}
OTHER_SPACES = {
    "first": "a space is put before the first text alone",
    "always": "a space is put before texts that begin with none",
    None: "spaces are not shown as marks",
}


def written_model(parts: Parts) -> bytes:
    """The content of a file. ValueError for what SentencePiece would encode otherwise."""
    settings = settings_of(parts)
    normalizer = normalizer_of(parts, settings)
    texts = texts_by_id(parts, settings)
    kinds = kinds_of(parts, settings, texts)
    merged, single = pieces_in_order(parts, settings, texts, kinds)
    scores = {text: -float(rank) for rank, text in enumerate((*merged, *single))}
    pieces = [field(1, piece(text, scores.get(text, 0.0), kind)) for text, kind in zip(texts, kinds, strict=True)]
    return b"".join([*pieces, field(2, trainer_spec(settings, texts)), field(3, normalizer_spec(normalizer))])


def settings_of(parts: Parts) -> Mapping[str, Any]:
    settings: Mapping[str, Any] | None = parts.processing.get("characters")
    if settings is None:
        raise ValueError("SentencePiece's format is for tokenizers over characters: save this one as .json")
    steps = parts.processing.keys() - NO_CHANGE_OF_TEXT - {"characters", "normalizer"}
    if steps:
        raise ValueError(f"SentencePiece's format cannot hold what is done before merging: {', '.join(sorted(steps))}")
    if settings["unk_token"] is None or not (settings["byte_fallback"] or settings["fuse_unk"]):
        raise ValueError("SentencePiece needs an unknown token, and one for all unknown characters in a row")
    return settings


class Normalizer(NamedTuple):
    """What SentencePiece does to a text first."""

    charsmap: bytes  # compiled
    adds_space: bool
    removes_spaces: bool


def normalizer_of(parts: Parts, settings: Mapping[str, Any]) -> Normalizer:
    """What is done before merging. ValueError for what SentencePiece does not do."""
    owner = settings.get("sentencepiece")
    removes_spaces = owner is not None and owner.get("removes_spaces", False)
    charsmap = b""
    steps = parts.processing.get("normalizer") or ()
    for step in steps:
        if len(steps) > 1 or owner is None or not isinstance(step, Mapping) or step.get("type") != "SentencePiece":
            raise ValueError("SentencePiece's format cannot hold what is done before merging: normalizer")
        charsmap = b64decode(step["charsmap"])
        if step["removes_spaces"] != removes_spaces or {*step["whole"]} != user_defined(parts, settings):
            raise ValueError("SentencePiece's format cannot hold this normalizer: it does not fit the special tokens")
    adds_space = settings["spaces"] == "each"
    strip = "one" if adds_space or removes_spaces else None
    refuse_other_spaces(settings, strip)
    return Normalizer(charsmap, adds_space, removes_spaces)


def refuse_other_spaces(settings: Mapping[str, Any], strip: str | None) -> None:
    """ValueError where spaces are put before a text, split at or dropped in another way than SentencePiece's."""
    spaces = settings["spaces"]
    problem = None
    if spaces in OTHER_SPACES:
        problem = f"{OTHER_SPACES[spaces]}, and SentencePiece puts one before each text between special tokens, or none"
    elif settings["split"]:
        problem = "each space begins a piece, and SentencePiece merges across spaces where a token has one"
    elif settings["strip"] != strip:
        here, there = ("none" if each is None else each for each in (settings["strip"], strip))
        problem = f"decode drops {here} of the spaces at the beginning, and SentencePiece's {there}"
    if problem is not None:
        raise ValueError(f"SentencePiece's format cannot hold this tokenizer: here {problem}. Save it as .json")


def texts_by_id(parts: Parts, settings: Mapping[str, Any]) -> list[str]:
    """The text of every id. ValueError for a gap between ids, of which SentencePiece has none."""
    ids: dict[str, int] = written_vocabulary(parts, settings)["vocab"]
    texts = {token_id: text for text, token_id in ids.items()}
    for number in range(len(texts)):
        if number not in texts:
            raise ValueError(f"no token has the id {number}: in SentencePiece's format, ids have no gaps")
    return [texts[number] for number in range(len(texts))]


def kinds_of(parts: Parts, settings: Mapping[str, Any], texts: Sequence[str]) -> list[int]:
    """The kind of each piece. What is found in a text is user-defined; all other special tokens are control tokens."""
    flags = sorted(parts.processing.keys() & {*FLAGS})
    unknown, found = settings["unk_token"], user_defined(parts, settings)
    early = sorted(found - {*parts.processing.get("normalized", ())})
    if early:
        raise ValueError(
            f"SentencePiece's format cannot hold the added token {shown(early[0])}, which is found before a space is "
            "put before the text: save as .json"
        )
    expected = {name: sorted(found) for name in ("normalized", "ordinary") if found}
    for name in flags:
        other = sorted({*parts.processing[name]} ^ {*expected.get(name, ())})
        if other:
            says = "says" if other[0] in parts.processing[name] else "does not say"
            raise ValueError(
                f"SentencePiece's format cannot hold the added token {shown(other[0])}, of which this tokenizer {says} "
                f"that {MEANING[name]}: save as .json"
            )
    byte_tokens = {*map(byte_token, range(256))} if settings["byte_fallback"] else ()
    return [
        UNKNOWN
        if text == unknown
        else USER_DEFINED
        if text in found
        else CONTROL
        if text in parts.special_tokens
        else BYTE
        if text in byte_tokens
        else NORMAL
        for text in texts
    ]


def pieces_in_order(
    parts: Parts, settings: Mapping[str, Any], texts: Sequence[str], kinds: Sequence[int]
) -> tuple[list[str], list[str]]:
    """The pieces of several characters, the first to be merged first, and those of one. ValueError where in no order
    SentencePiece would merge as the vocabulary does."""
    normal = {
        with_spaces(text): number
        for number, (text, kind) in enumerate(zip(texts, kinds, strict=True))
        if kind == NORMAL
    }
    single = [text for text in normal if len(text) == 1]
    by_id = [text for text in normal if len(text) > 1]
    ranks = {token_id: rank for rank, token_id in enumerate(parts.vocabulary.merges().values())}
    by_rank = sorted(by_id, key=lambda text: ranks.get(normal[text], len(ranks)))
    byte_ids = [number for number, kind in enumerate(kinds) if kind == BYTE] if settings["byte_fallback"] else None
    for ordered in (by_id, by_rank):
        if merges_as(parts.vocabulary, normal, ordered, byte_ids, texts.index(settings["unk_token"])):
            return [texts[normal[text]] for text in ordered], [texts[normal[text]] for text in single]
    raise ValueError(
        "SentencePiece merges whatever spells a piece, and this vocabulary does not: in its format, other tokens would "
        "come out"
    )


def merges_as(
    vocabulary: Vocabulary, ids: Mapping[str, int], ordered: Iterable[str], byte_ids: list[int] | None, unknown: int
) -> bool:
    """Whether SentencePiece, with the pieces in this order, merges as a vocabulary does."""
    again = vocabulary_of_characters(
        {text.encode(): number for text, number in ids.items()},
        None,
        byte_ids,
        unknown if byte_ids is None else None,
        byte_ids is None,
        {text.encode(): rank for rank, text in enumerate(ordered)},
    )
    return [*again.merges().items()] == [*vocabulary.merges().items()] and again.unmerged() == vocabulary.unmerged()


# ---- The message


def trainer_spec(settings: Mapping[str, Any], texts: Sequence[str]) -> bytes:
    ids = {text: number for number, text in enumerate(texts)}
    owner = settings.get("sentencepiece")
    surface = " \u2047 " if owner is None else owner["unk_surface"]
    numbers = {
        40: ids[settings["unk_token"]],
        41: ids.get("<s>", -1),
        42: ids.get("</s>", -1),
        43: ids.get("<pad>", -1),
    }
    return b"".join(
        [
            field(3, BPE),
            field(4, len(texts)),
            field(35, int(settings["byte_fallback"])),
            *(field(number, value) for number, value in numbers.items()),
            field(44, surface.encode()),
            field(45, settings["unk_token"].encode()),
        ]
    )


def normalizer_spec(normalizer: Normalizer) -> bytes:
    return b"".join(
        [
            field(1, b"user_defined" if normalizer.charsmap else b"identity"),
            field(2, normalizer.charsmap) if normalizer.charsmap else b"",
            field(3, int(normalizer.adds_space)),
            field(4, int(normalizer.removes_spaces)),
            field(5, 1),
        ]
    )


def piece(text: str, score: float, kind: int) -> bytes:
    if "\0" in text:
        raise ValueError(f"SentencePiece's format cannot hold NUL, which is in the token {shown(text)}")
    return field(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) + field(3, kind)


def field(number: int, value: int | bytes) -> bytes:
    """One field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    """A number, seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
