"""Warns of shards that nobody wants: none to train on or to validate with, or hardly any text in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cbpe.common.warning import warn
from cbpe.common.wording import share_in_words
from cbpe.shards.options import Options

__all__ = ["warn_of_gaps", "warn_of_result"]

MOST = 0.5  # of the tokens


def warn_of_gaps(records: Sequence[Mapping[str, Any]]) -> None:
    """Warn of text that the split pattern leaves out, and of unknown tokens, by the records of tasks, which have both
    where they may be."""
    text_bytes = sum(record.get("text_bytes", 0) for record in records)
    left_out = text_bytes - sum(record.get("covered_bytes", 0) for record in records)
    if left_out > 0:
        share = share_in_words(left_out, text_bytes)
        warn(f"the split pattern of the tokenizer leaves {share} of the text out: it is in no token")
    unknown = sum(record.get("unknown_tokens", 0) for record in records)
    if unknown:
        tokens = sum(record["tokens"] for record in records)
        stand = "stands" if unknown == 1 else "stand"
        warn(
            f"{unknown:,} of the {tokens:,} tokens {stand} for characters without a token, each for one or more of "
            "them, which no decoding gives back"
        )


def warn_of_result(options: Options, documents: int, dropped: int, shards: Sequence[Mapping[str, Any]]) -> None:
    """Warn of the shards of a run, which are written. dropped: tokens that are in none, as they are of no whole row."""
    padding = sum(shard["padding"] for shard in shards)
    tokens = {split: sum(shard["tokens"] for shard in shards if shard["split"] == split) for split in ("train", "val")}
    in_all = sum(tokens.values())
    row = options.row_tokens or 0
    if dropped > MOST * (in_all + dropped):
        left_out = f"{dropped:,} of {in_all + dropped:,}" if in_all else f"all {dropped:,}"
        warn(
            f"{left_out} tokens are left out, as they make no whole row of {row:,}: "
            f"for rows that hold them, make row_tokens smaller, in a new folder"
        )
    if padding > MOST * in_all:
        warn(
            f"{padding:,} of the {in_all:,} tokens in the shards are padding, as rows of {row:,} hold whole documents: "
            f"for less of it, make row_tokens smaller, or set cut_documents, in a new folder"
        )
    if not in_all:
        return
    if not tokens["train"]:
        shard, remedy = "shard 'val'", f"make val_fraction, {options.val_fraction},"
        if options.made_of.first_is_val:
            shard, remedy = "shard 0", f"make shard_tokens, {options.shard_tokens:,},"
        warn(
            f"all {in_all:,} tokens are in {shard}, which is for validation, and none is left for training: "
            f"for shards to train on, {remedy} smaller, in a new folder"
        )
    elif options.val_fraction and not tokens["val"]:
        few = f"none, or less than a row of {row:,} tokens" if row else "none"
        many = f"{documents:,} document{'' if documents == 1 else 's'}"
        warn(
            f"the shard for validation is empty: a share of {options.val_fraction} picks {few}, of {many}; for some, "
            "make val_fraction larger, in a new folder"
        )
