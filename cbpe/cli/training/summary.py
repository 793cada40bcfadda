"""How a training went: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import cbpe
from cbpe.cli.output.naming import of_options
from cbpe.common.checks import N_BYTES
from cbpe.common.wording import number_of
from cbpe.views.inspected import as_shown

__all__ = ["training_pairs", "training_row"]

SPECIAL_SHOWN = 20


def training_row(tokenizer: cbpe.Tokenizer) -> dict[str, Any]:
    """How a training went, for programs."""
    record = tokenizer.training
    assert record is not None
    merges = len(record.counts)
    changed = {"skipped": record.skipped, "replaced": record.replaced}
    return {
        "text_bytes": record.text_bytes,
        "vocab_size": record.start_tokens + merges,
        "n_merges": merges,
        "special_tokens": tokenizer.special_tokens,
        "dropped_words": record.dropped_words,
        "dropped_occurrences": record.dropped_occurrences,
        **{name: n for name, n in changed.items() if n is not None},
        "stopped": record.stopped,
        "tokens_at_start": record.tokens_at_start,
        "tokens": record.tokens[-1] if merges else record.tokens_at_start,
        "bytes_per_token": record.compression(),
        "seconds": record.seconds,
    }


def training_pairs(tokenizer: cbpe.Tokenizer) -> Iterator[tuple[str, str]]:
    """How a training went, for people."""
    row = training_row(tokenizer)
    yield "text", number_of(row["text_bytes"], "byte")
    assert tokenizer.training is not None
    counted = "" if tokenizer.training.characters is None else f"; {len(tokenizer):,} with special tokens"
    merges = f"{number_of(row['n_merges'], 'merge')}{counted}"
    yield "vocabulary", f"{row['vocab_size']:,} tokens: {start_in_words(tokenizer)} and {merges}"
    special = row["special_tokens"]
    for token, token_id in islice(special.items(), SPECIAL_SHOWN):
        yield "special token", f"{as_shown(token)} with id {token_id}"
    if len(special) > SPECIAL_SHOWN:  # of a tokenizer that was gone on from
        yield "", f"and {len(special) - SPECIAL_SHOWN:,} more"
    if row["dropped_words"]:
        # How many words that are is not known: one that was dropped, came back and was dropped again counts twice.
        yield "left out", f"rare words, which occurred {number_of(row['dropped_occurrences'], 'time')}"
    if row["stopped"]:
        yield "ended early", of_options(row["stopped"])
    if tokenizer.training.merges_before:
        before = tokenizer.training.merges_before
        added = f"{row['n_merges'] - before:,}" if row["n_merges"] > before else "none"
        yield "gone on from", f"{number_of(before, 'merge')}, and added {added}"
    yield "tokens", f"{row['tokens_at_start']:,} before, {row['tokens']:,} now"
    if row["tokens"]:
        of = " of the words that are left" if row["dropped_words"] else ""
        yield "compression", f"{row['bytes_per_token']:.2f} bytes a token{of}"
    yield "time", f"{row['seconds']:.2f} s"


def start_in_words(tokenizer: cbpe.Tokenizer) -> str:
    """The tokens before the first merge."""
    record = tokenizer.training
    assert record is not None
    if record.characters is None:
        return f"{record.start_tokens} bytes"
    n_bytes = N_BYTES if record.characters["byte_fallback"] else 0
    return (f"{n_bytes} bytes, " if n_bytes else "") + number_of(record.start_tokens - n_bytes, "character")
