"""How merging makes tokens of a text, step by step: to look at, and not to encode with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from cbpe._core.vocabulary.vocabulary import Vocabulary

__all__ = ["Merges", "merge_steps"]

LONGEST = 1000  # bytes of a piece: its steps grow with their square
Merges: TypeAlias = Mapping[tuple[int, int], tuple[int, int]]  # of two ids, the rank of their merge and what it makes


def merge_steps(
    vocabulary: Vocabulary, merges: Merges, pieces: Iterable[str], encoded: list[int]
) -> list[list[list[int]]]:
    """The ids of each piece, before merging and after each merge; encoded: what the last of all have to be. ValueError
    as Tokenizer.merge_steps says."""
    found = [steps_of(vocabulary, merges, piece) for piece in pieces]
    if [token_id for steps in found for token_id in steps[-1]] != encoded:
        raise ValueError("this tokenizer does more than merging with this text: its steps are not known")
    return found


def steps_of(vocabulary: Vocabulary, merges: Merges, piece: str) -> list[list[int]]:
    data = piece.encode()
    if len(data) > LONGEST:
        raise ValueError(
            f"a piece of the text has {len(data):,} bytes: steps are shown of pieces of at most {LONGEST:,}"
        )
    ids = units_of(vocabulary, piece)
    steps = [ids]
    while ranked := [(merges[pair], i) for i, pair in enumerate(pairwise(ids)) if pair in merges]:
        (_, made), at = min(ranked)
        ids = [*ids[:at], made, *ids[at + 2 :]]
        steps.append(ids)
    whole = vocabulary.find(data) if vocabulary.whole_pieces else None
    if whole is not None and ids != [whole]:
        steps.append([whole])
    return steps


def units_of(vocabulary: Vocabulary, piece: str) -> list[int]:
    """What merging begins with: the bytes of a piece, or its characters, with the marks of what goes on or ends. Of a
    character without a token the bytes, or the unknown token, of which neighbours may be one."""
    units = [character.encode() for character in piece] if vocabulary.characters else single(piece.encode())
    ids: list[int] = []
    for i, unit in enumerate(units):
        marked = (vocabulary.prefix if i else b"") + unit + (vocabulary.suffix if i == len(units) - 1 else b"")
        token_id = vocabulary.find(marked)
        spelled = [token_id] if token_id is not None else [vocabulary.find(byte) for byte in single(unit)]
        known = [each for each in spelled if each is not None]
        unknown = vocabulary.unknown
        if len(known) == len(spelled):
            ids += known
        elif unknown is not None and not (vocabulary.fuses_unknown and ids[-1:] == [unknown]):
            ids.append(unknown)
    return ids


def single(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]
