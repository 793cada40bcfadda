"""SentencePiece's .model, where it holds a BPE model: a message of Protocol Buffers (sentencepiece_model.proto).

Only what encoding and decoding need is read: the pieces with their scores and types, and of the specifications of the
trainer and the normalizer what changes ids or texts. What cannot be honoured exactly is refused by name.
"""

from __future__ import annotations

import math
import struct
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from itertools import count, pairwise
from typing import NamedTuple, NoReturn

from cbpe._core.conversion.characters import vocabulary_of_characters
from cbpe._core.text.shown import shown
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File
from cbpe.formats.sentencepiece_writing import written_model
from cbpe.text.byte_tokens import byte_of
from cbpe.text.spaces import MARK, with_spaces

__all__ = ["Piece", "described", "dump", "load", "recognises", "sorted_pieces", "vocabulary_of"]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
MODEL_TYPES = {1: "unigram", 2: "BPE", 3: "word", 4: "char"}
KINDS = {1: "normal", 2: "unknown", 3: "control", 4: "user-defined", 5: "unused", 6: "byte"}
SPECS = {2: "trainer_spec", 3: "normalizer_spec", 5: "denormalizer_spec"}
PIECE = 0x0A  # with which the field of a piece begins
MAX_PIECES = 1 << 21
MAX_USER_DEFINED = 1000  # characters: they are looked for at every place of a text
MAX_DESCRIBED = 1 << 18  # pieces whose kinds are counted
MAX_TIES = 16  # characters whose runs have pieces with one score
MAX_RUN = 48  # of one character, by which pieces with one score are tried

Message = list[tuple[int, "int | bytes"]]


class Piece(NamedTuple):
    """A piece of the vocabulary. Its number in the file is its id."""

    text: str
    score: float
    kind: int


class Content(NamedTuple):
    """The messages in a .model: those of the pieces as they are, the others as fields."""

    pieces: list[bytes]
    trainer: dict[int, int | bytes]
    normalizer: dict[int, int | bytes]
    denormalizer: dict[int, int | bytes]

    @property
    def model_type(self) -> str:
        if not self.trainer:
            return "not said"
        kind = self.trainer.get(3, 1)
        return MODEL_TYPES.get(int_of(kind), shown(kind))

    def read_pieces(self) -> Iterator[Piece]:
        return map(read_piece, self.pieces, count())


# ---- The file


def recognises(file: File) -> bool:
    """Whether a file begins as a message whose first field is a piece."""
    start = file.start
    if start[:1] != b"\n":
        return False
    try:
        number, value = next(fields_of(start, whole=False))
        return number == 1 and isinstance(value, bytes) and value[:1] == b"\n"
    except ValueError:
        return False


def load(file: File) -> Parts:
    """The parts in a .model. ValueError for one that is damaged, that is no BPE model, or that cannot be honoured
    exactly."""
    content = content_of(file.data)
    if not content.trainer:
        raise ValueError("it has no trainer_spec, which says its kind: it is cut short behind one of its pieces")
    if content.model_type != "BPE":
        refuse("trainer_spec.model_type", f"it is {content.model_type}, and only BPE is supported")
    if content.denormalizer.get(2):
        refuse("denormalizer_spec.precompiled_charsmap", "it changes decoded text")
    return parts_of(list(content.read_pieces()), content.trainer, content.normalizer)


def described(data: bytes) -> dict[str, str | int]:
    """What a .model says of itself, by the names of sentencepiece_model.proto; nothing of specifications that it does
    not have, as one that is cut short."""
    content = content_of(data)
    trainer, normalizer = content.trainer, content.normalizer
    found: dict[str, str | int] = {"trainer_spec.model_type": content.model_type, "pieces": len(content.pieces)}
    if len(content.pieces) <= MAX_DESCRIBED:
        kinds = Counter(piece.kind for piece in content.read_pieces())
        found |= {f"pieces, {KINDS[kind]}": kinds[kind] for kind in KINDS if kinds[kind]}
    if trainer:
        found |= {
            "trainer_spec.byte_fallback": bool(trainer.get(35, 0)),
            "trainer_spec.treat_whitespace_as_suffix": bool(trainer.get(24, 0)),
        }
    if normalizer:
        name = message_in(normalizer.get(1, b""), "normalizer_spec.name").decode("utf-8", "replace")
        charsmap = message_in(normalizer.get(2, b""), "normalizer_spec.precompiled_charsmap")
        found |= {
            "normalizer_spec.name": name or ("none" if not charsmap else "not named"),
            "normalizer_spec.precompiled_charsmap": f"{len(charsmap):,} bytes" if charsmap else "none",
            "normalizer_spec.add_dummy_prefix": bool(normalizer.get(3, 1)),
            "normalizer_spec.remove_extra_whitespaces": bool(normalizer.get(4, 1)),
            "normalizer_spec.escape_whitespaces": bool(normalizer.get(5, 1)),
        }
    return found


def dump(parts: Parts) -> list[bytes]:
    """The content of the file. ValueError for what SentencePiece would encode otherwise."""
    return [written_model(parts)]


def content_of(data: bytes) -> Content:
    """The messages in a .model. The pieces, which may be millions, are found and not read yet."""
    pieces, at = first_pieces(data)
    specs: dict[int, dict[int, int | bytes]] = {2: {}, 3: {}, 5: {}}
    for number, value in fields_of(data, at):
        if number == 1:
            pieces.append(message_in(value, "a piece"))
        elif number in specs:
            specs[number].update(fields_of(message_in(value, SPECS[number])))
    if len(pieces) > MAX_PIECES:
        raise ValueError(f"it has more than {MAX_PIECES:,} pieces")
    return Content(pieces, *specs.values())


def first_pieces(data: bytes) -> tuple[list[bytes], int]:
    """The pieces of fewer than 128 bytes with which a file begins, as nearly all are, and where they end: of these,
    millions are found in a second."""
    pieces: list[bytes] = []
    at, last = 0, len(data) - 1
    while at < last and data[at] == PIECE and data[at + 1] < 0x80 and len(pieces) <= MAX_PIECES:
        end = at + 2 + data[at + 1]
        if end > last + 1:
            break
        pieces.append(data[at + 2 : end])
        at = end
    return pieces, at


def fields_of(data: bytes, at: int = 0, *, whole: bool = True) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message from a byte on: their numbers and values. ValueError where the bytes are no message; if
    they are not the whole one, the fields up to where they end."""
    while at < len(data):
        key, at = read_varint(data, at)
        kind, size = key & 7, {1: 8, 5: 4}.get(key & 7, 0)
        if kind == 0:
            value, at = read_varint(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = read_varint(data, at)
        elif not size:
            raise ValueError(f"it is damaged, or no model: a field of type {kind} at byte {at:,}")
        if size > len(data) - at:
            if not whole:
                yield key >> 3, data[at:]
                return
            raise ValueError(
                f"it is cut short: a field at byte {at:,} has {size:,} bytes, of which {len(data) - at:,} are there"
            )
        yield key >> 3, data[at : at + size]
        at += size


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("it is cut short within a number")
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise ValueError(f"it is damaged, or no model: a number at byte {at - 10:,} has no end")


def message_in(value: int | bytes, name: str) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError(f"it is damaged, or no model: {name} is the number {shown(value)}")
    return value


def int_of(value: int | bytes) -> int:
    return value if isinstance(value, int) else -1


def read_piece(data: bytes, number: int) -> Piece:
    found = dict(fields_of(data))
    text, score, kind = found.get(1, b""), found.get(2, b"\0\0\0\0"), found.get(3, NORMAL)
    if not isinstance(text, bytes) or not isinstance(score, bytes) or len(score) != 4 or not isinstance(kind, int):
        raise ValueError(f"piece {number} is damaged")
    try:
        spelled = text.decode()
    except UnicodeDecodeError:
        raise ValueError(f"piece {number} is no UTF-8: {shown(text)}") from None
    if not spelled:
        raise ValueError(f"piece {number} is empty")
    (value,) = struct.unpack("<f", score)
    if not math.isfinite(value):
        raise ValueError(f"the score of piece {number}, {shown(spelled)}, is {value}")
    if kind == UNUSED or not NORMAL <= kind <= BYTE:
        raise ValueError(f"piece {number}, {shown(spelled)}, is of type {shown(kind)}: unused pieces are not supported")
    return Piece(spelled, value, kind)


# ---- What it means


def refuse(path: str, why: str) -> NoReturn:
    raise ValueError(f"{path}: {why}")


def parts_of(pieces: list[Piece], trainer: dict[int, int | bytes], normalizer: dict[int, int | bytes]) -> Parts:
    adds_space = bool(normalizer.get(3, 1))
    removes_spaces = bool(normalizer.get(4, 1))
    if not normalizer.get(5, 1):
        refuse("normalizer_spec.escape_whitespaces", "only true is supported")
    if trainer.get(24, 0):
        refuse("trainer_spec.treat_whitespace_as_suffix", "only false is supported")
    fallback = bool(trainer.get(35, 0))
    ids, of_kind = sorted_pieces(pieces)
    unknown = of_kind[UNKNOWN][0]
    vocabulary = vocabulary_of(pieces, ids, of_kind, fallback)
    surface = trainer.get(44, b" \xe2\x81\x87 ")
    settings = {
        "spaces": "each" if adds_space else "never",
        "split": False,
        "strip": "one" if adds_space or removes_spaces else None,
        "byte_fallback": fallback,
        "fuse_unk": True,
        "unk_token": unknown,
        "sentencepiece": {
            "controls": [*of_kind[CONTROL], unknown],
            "unk_surface": message_in(surface, "unk_surface").decode("utf-8", "replace"),
            **({"removes_spaces": True} if removes_spaces else {}),
        },
    }
    special = {text: ids[text] for text in (*of_kind[CONTROL], unknown, *of_kind[USER_DEFINED])}
    processing: dict[str, object] = {"characters": settings}
    charsmap = message_in(normalizer.get(2, b""), "normalizer_spec.precompiled_charsmap")
    if charsmap or removes_spaces:
        whole = of_kind[USER_DEFINED]
        step = {"type": "SentencePiece", "charsmap": b64encode(charsmap).decode(), "whole": whole}
        processing["normalizer"] = [{**step, "removes_spaces": removes_spaces}]
    if of_kind[USER_DEFINED]:
        processing |= {"normalized": sorted(of_kind[USER_DEFINED]), "ordinary": sorted(of_kind[USER_DEFINED])}
    return Parts(vocabulary, None, special, processing, kind="SentencePieceTokenizer")


def sorted_pieces(pieces: list[Piece]) -> tuple[dict[str, int], dict[int, list[str]]]:
    """The ids of all pieces, and the pieces of each kind."""
    ids = {piece.text: number for number, piece in enumerate(pieces)}
    if len(ids) < len(pieces):
        twice = next(piece.text for number, piece in enumerate(pieces) if ids[piece.text] != number)
        raise ValueError(f"the piece {shown(twice)} is there twice")
    of_kind = {kind: [piece.text for piece in pieces if piece.kind == kind] for kind in range(1, 7)}
    if len(of_kind[UNKNOWN]) != 1:
        raise ValueError(f"it has {len(of_kind[UNKNOWN])} unknown pieces: there is just one")
    return ids, of_kind


def vocabulary_of(
    pieces: list[Piece], ids: dict[str, int], of_kind: dict[int, list[str]], fallback: bool
) -> Vocabulary:
    """The vocabulary of pieces that merge by their scores, with byte tokens if it falls back to bytes. ValueError for
    what cannot be kept exactly."""
    refuse_unfindable(of_kind[USER_DEFINED])
    return vocabulary_of_characters(
        {spelled(text): ids[text] for text in of_kind[NORMAL]},
        None,
        bytes_of(of_kind[BYTE], ids) if fallback else None,
        None if fallback else ids[of_kind[UNKNOWN][0]],
        not fallback,
        ranks_of(pieces),
    )


def spelled(text: str) -> bytes:
    if " " in text:
        raise ValueError(f"the piece {shown(text)} has a space, where {MARK!r} stands for spaces")
    return with_spaces(text).encode()


def bytes_of(texts: list[str], ids: dict[str, int]) -> list[int]:
    """The ids of the pieces that stand for the 256 bytes."""
    found = {byte_of(text): ids[text] for text in texts}
    if None in found or len(found) < 256:
        raise ValueError(
            f"it has pieces for {len(found) - (None in found)} bytes of 256, and trainer_spec.byte_fallback"
        )
    return [found[byte] for byte in range(256)]


def ranks_of(pieces: list[Piece]) -> dict[bytes, int]:
    """The order in which pieces are merged: those with high scores first. ValueError where it is not told by scores
    alone: of two pairs with the same, SentencePiece merges the one on the left."""
    ordered = sorted(
        ((-piece.score, number) for number, piece in enumerate(pieces) if piece.kind == NORMAL and len(piece.text) > 1)
    )
    runs: dict[tuple[str, float], list[int]] = {}
    for (score, number), (next_score, next_number) in pairwise(ordered):
        if score != next_score:
            continue
        first, second = pieces[number].text, pieces[next_number].text
        if len({*first, *second}) > 1:
            raise ValueError(f"the pieces {shown(first)} and {shown(second)} have the same score, {-score}")
        runs.setdefault((first[0], score), []).extend((len(first), len(second)))
    if len(runs) > MAX_TIES:
        raise ValueError(f"pieces of {len(runs):,} repeated characters have the same score: at most {MAX_TIES} may")
    texts = [pieces[number].text for _, number in ordered]
    for (character, _), sizes in runs.items():
        refuse_ties(character, [len(text) for text in texts if {*text} == {character}], sizes)
    return {spelled(pieces[number].text): rank for rank, (_, number) in enumerate(ordered)}


def refuse_ties(character: str, by_rank: list[int], tied: list[int]) -> None:
    """ValueError unless pieces of one repeated character, some of which have the same score, merge to the same in
    either order."""
    ranks = {size: rank for rank, size in enumerate(by_rank)}
    same = {size: min(ranks[other] for other in tied) if size in tied else rank for size, rank in ranks.items()}
    for n in range(2, MAX_RUN + 1):
        if merged_run(n, ranks) != merged_run(n, same):
            raise ValueError(f"pieces of {shown(character)} alone have the same score, so that {n} of it are not sure")


def merged_run(n: int, ranks: dict[int, int]) -> list[int]:
    """The sizes to which n of one character merge: the smallest rank first, of several the leftmost."""
    sizes = [1] * n
    while True:
        ranked = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(sizes)) if a + b in ranks]
        if not ranked:
            return sizes
        _, i = min(ranked)
        sizes[i : i + 2] = [sizes[i] + sizes[i + 1]]


def refuse_unfindable(texts: list[str]) -> None:
    """ValueError for a user-defined piece that takes long to look for at every place of a text, and for one that
    SentencePiece never finds, as it looks where spaces are marks."""
    for text in texts:
        if " " in text:
            raise ValueError(f"the user-defined piece {shown(text)} has a space, where {MARK!r} stands for spaces")
        if len(text) > MAX_USER_DEFINED:
            raise ValueError(f"the user-defined piece {shown(text)} has more than {MAX_USER_DEFINED:,} characters")
