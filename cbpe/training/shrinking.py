"""The smaller tokenizer that is in a larger one: training learns its merges one after another, so the first of them are
what training to a smaller size learns."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.checks import N_BYTES, checked_int
from cbpe.formats.parts import Parts
from cbpe.training.initial import all_token_ids, free_ids, problem_with

if TYPE_CHECKING:
    from cbpe.training.record import TrainingRecord

__all__ = ["refuse_growing", "shrunk", "shrunk_record"]


def shrunk(parts: Parts, vocab_size: int, what: str) -> Parts:
    """The parts of the tokenizer with the first vocab_size - 256 merges. what: what messages call the tokenizer.

    Raises ValueError for a vocabulary that is no sequence of merges over bytes, and for a size below 256 or above what
    it has; TypeError for a size that is no int.
    """
    vocabulary = parts.vocabulary
    problem = problem_with(vocabulary)
    if problem is not None:
        raise ValueError(f"{what} is no sequence of merges over bytes, and holds no smaller one: {problem}")
    n_merges = checked_int("vocab_size", vocab_size, N_BYTES, " (the single bytes)") - N_BYTES
    refuse_growing("vocab_size", vocab_size, vocabulary.n_merges, what)
    ids = all_token_ids(vocabulary, vocabulary.n_merges, ())
    symbols = {token_id: symbol for symbol, token_id in enumerate(ids)}
    pairs = list(vocabulary.merges())[:n_merges]
    left, right = (array("I", [symbols[pair[side]] for pair in pairs]) for side in (0, 1))
    kept = ids[: N_BYTES + n_merges]
    smaller = Vocabulary(left, right, kept, whole_pieces=vocabulary.whole_pieces)
    special_tokens = parts.special_tokens
    if not parts.processing:  # which may say the ids of special tokens
        special_tokens = moved(special_tokens, max(ids) + 1, kept)
    name = parts.name if n_merges == vocabulary.n_merges or parts.name is None else f"{parts.name}-{vocab_size}"
    return Parts(smaller, parts.pattern, special_tokens, parts.processing, kind=parts.kind, name=name)


def refuse_growing(name: str, vocab_size: int, n_merges: int, what: str) -> None:
    """ValueError for a size, which messages call `name`, that is more than all merges give."""
    most = N_BYTES + n_merges
    if vocab_size > most:
        raise ValueError(f"{name} is {vocab_size:,}, but {what} has {most:,} bytes and merges: it can only shrink")


def moved(special_tokens: Mapping[str, int], after: int, kept: array[int]) -> dict[str, int]:
    """Special tokens with their ids: those that followed the merges, one after another from the id `after` on, follow
    the kept ones, as training to that size has it. The others keep theirs."""
    in_order = sorted({*special_tokens.values()})  # two tokens may share one, as in o200k_harmony
    following: list[int] = []
    for token_id in in_order:
        if token_id == after + len(following):
            following.append(token_id)
    free = free_ids(max(kept) + 1, [token_id for token_id in in_order if token_id not in following])
    new = {token_id: next(free) for token_id in following}
    return {token: new.get(token_id, token_id) for token, token_id in special_tokens.items()}


def shrunk_record(record: TrainingRecord, vocab_size: int, special_tokens: Mapping[str, int]) -> TrainingRecord:
    """The record of a training to the smaller size. Its times are those of the whole training."""
    n_merges = vocab_size - N_BYTES
    if n_merges == len(record.counts):
        return record
    return replace(
        record,
        counts=record.counts[:n_merges],
        tokens=record.tokens[:n_merges],
        initial_merges=min(record.initial_merges, n_merges),
        merges_before=min(record.merges_before, n_merges),
        vocab_size=vocab_size,
        special_tokens=dict(special_tokens),
        stopped=None,
    )
