"""How shards are made: the options, checked together, with the defaults of the format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cbpe.common.checks import checked_flag, checked_int, is_float
from cbpe.common.wording import listed, shown
from cbpe.corpus.json_lines import checked_missing
from cbpe.shards.formats.table import FORMATS
from cbpe.shards.formats.writing import Format
from cbpe.tasks.other_runs import without_usual_missing
from cbpe.text.special_tokens import END_OF_TEXT
from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["Options", "checked_options"]

SHARD_TOKENS = 100_000_000  # where rows or a shuffle need a size and nobody gave one
NAMES = 10  # of special tokens, in a message


@dataclass(frozen=True)
class Options:
    """What the shards depend on, the tokenizer and the sources aside."""

    format: str
    dtype: str
    field: str | None
    errors: str
    eot: int | None  # the id of the end-of-text token that every document gets
    keep_empty: bool
    columns: tuple[str, ...]
    shard_tokens: int | None  # None: a shard for each task, or one for all
    row_tokens: int | None
    cut_documents: bool
    shuffle: int | None
    val_fraction: float
    missing: str = "error"

    @property
    def made_of(self) -> Format:
        return FORMATS[self.format]

    @property
    def in_one_step(self) -> bool:
        """Whether what a task makes is a shard already."""
        rearranged = self.row_tokens is not None or self.shuffle is not None or self.val_fraction > 0
        return self.shard_tokens is None and not self.made_of.stream and not rearranged

    @property
    def most_in_document(self) -> int | None:
        """How many tokens a document may have, where shards of a size hold whole ones, or all rows of one; None for any
        number."""
        cut = self.cut_documents or (self.made_of.stream and self.row_tokens is None)
        return None if cut else self.shard_tokens

    def as_json(self) -> dict[str, Any]:
        options = {**asdict(self), "columns": list(self.columns)}
        return without_usual_missing(options)


def checked_options(
    tokenizer: Tokenizer,
    format_name: str,
    *,
    field: str | None,
    errors: str,
    missing: str,
    append_eot: bool | None,
    eot_token: str | None,
    dtype: str | None,
    keep_empty: bool,
    columns: Iterable[str],
    shard_tokens: int | None,
    row_tokens: int | None,
    cut_documents: bool | None,
    shuffle: int | None,
    val_fraction: float,
) -> Options:
    """The options, checked. TypeError and ValueError say what is wrong."""
    if not isinstance(format_name, str) or format_name not in FORMATS:
        raise ValueError(f"format is {shown(format_name)}; it must be one of {', '.join(map(repr, FORMATS))}")
    made = FORMATS[format_name]
    append_eot = None if append_eot is None else checked_flag("append_eot", append_eot)
    cut_documents = None if cut_documents is None else checked_flag("cut_documents", cut_documents)
    keep_empty = checked_flag("keep_empty", keep_empty)
    if errors not in ("strict", "replace"):
        raise ValueError(f"errors is {shown(errors)}; it must be 'strict' or 'replace'")
    if row_tokens is not None:
        row_tokens = checked_int("row_tokens", row_tokens, 1)
        if made.keeps == "places":
            raise ValueError(
                f"row_tokens is {row_tokens:,}, and format {format_name!r} says of each document where it is"
            )
    if shard_tokens is None:
        shard_tokens = made.shard_tokens if row_tokens is None or made.stream else SHARD_TOKENS
        if shard_tokens is not None and row_tokens is not None and made.first_is_val:  # takes whole rows alone
            shard_tokens = max(shard_tokens // row_tokens, 1) * row_tokens
    if shard_tokens is not None:
        shard_tokens = checked_shard_tokens(shard_tokens, row_tokens, format_name)
    if cut_documents is None:
        cut_documents = made.stream or row_tokens is not None
    elif made.stream and not cut_documents and (row_tokens is None or made.first_is_val):
        raise ValueError(f"cut_documents is False, and the shards of format {format_name!r} are streams, cut anywhere")
    elif shard_tokens is None and row_tokens is None:
        given = "cut_documents is True" if cut_documents else "cut_documents is False"
        raise ValueError(
            f"{given}, and nothing ends after so many tokens: set shard_tokens or row_tokens, or leave it out"
        )
    kept = checked_columns(columns, field, made, format_name, row_tokens)
    return Options(
        format_name, checked_dtype(dtype, made, format_name, tokenizer.n_vocab), field, errors, checked_eot(tokenizer,
        made, format_name, append_eot, eot_token), keep_empty, kept, shard_tokens, row_tokens,
        cut_documents, None if shuffle is None else checked_int("shuffle", shuffle, 0, most=2**64 - 1),
        checked_fraction(val_fraction, made, format_name), checked_missing(missing),
    )  # fmt: skip


def checked_shard_tokens(shard_tokens: int, row_tokens: int | None, format_name: str) -> int:
    shard_tokens = checked_int("shard_tokens", shard_tokens, 1)
    most = FORMATS[format_name].most_tokens
    if most is not None and shard_tokens > most:
        raise ValueError(f"shard_tokens is {shard_tokens:,}; a shard of format {format_name!r} has at most {most:,}")
    if row_tokens is not None:
        if shard_tokens < row_tokens:
            raise ValueError(f"shard_tokens is {shard_tokens:,}, which is less than a row of {row_tokens:,} tokens")
        if FORMATS[format_name].first_is_val and shard_tokens % row_tokens:
            raise ValueError(
                f"shard_tokens is {shard_tokens:,}, which is no multiple of row_tokens, {row_tokens:,}: "
                f"{shard_tokens // row_tokens * row_tokens:,} is"
            )
    return shard_tokens


def checked_dtype(dtype: str | None, made: Format, format_name: str, n_vocab: int) -> str:
    """The type of token ids, into which all ids of the vocabulary fit."""
    if dtype is None:
        dtype = made.dtype_for(n_vocab)
    known = [name for name in (made.small, made.large) if name is not None]
    if not isinstance(dtype, str) or dtype not in known:
        raise ValueError(f"dtype is {shown(dtype)}; format {format_name!r} has {' and '.join(map(repr, known))}")
    if dtype == made.small and n_vocab >= made.small_below:
        raise ValueError(
            f"dtype is {dtype!r}, and the ids of this tokenizer go up to {n_vocab - 1}: format {format_name!r} takes "
            f"it for vocabularies of less than {made.small_below:,}"
        )
    if n_vocab - 1 > np.iinfo(dtype).max:
        raise ValueError(f"the ids of this tokenizer go up to {n_vocab - 1}, which does not fit {dtype}")
    return dtype


def checked_eot(
    tokenizer: Tokenizer, made: Format, format_name: str, append_eot: bool | None, eot_token: str | None
) -> int | None:
    """The id of the token that ends documents; None if they get none."""
    if eot_token is not None and not isinstance(eot_token, str):
        raise TypeError(f"eot_token must be a str, not {type(eot_token).__name__}: {shown(eot_token)}")
    if append_eot is False:
        if made.eot == "before":
            raise ValueError(f"append_eot is False, and documents of format {format_name!r} begin with that token")
        if eot_token is not None:
            raise ValueError(f"eot_token is {shown(eot_token)}, and append_eot is False: leave one of them out")
        return None
    if append_eot is None and made.eot is None and eot_token is None:
        return None
    token = END_OF_TEXT if eot_token is None else eot_token
    special = tokenizer.special_tokens
    if token not in special:
        without = "" if made.eot == "before" else ", or set append_eot to False"
        if not special:
            raise ValueError(
                f"this tokenizer has no special tokens, so none to end documents with, as {shown(token)}: add "
                f"one by register_special_tokens{without}"
            )
        has = listed(map(repr, special), NAMES)
        raise ValueError(
            f"this tokenizer has no special token {shown(token)} to end documents with; it has {has}: name one as "
            f"eot_token{without}"
        )
    return special[token]


def checked_columns(
    columns: Iterable[str], field: str | None, made: Format, format_name: str, row_tokens: int | None
) -> tuple[str, ...]:
    """The columns to keep."""
    if isinstance(columns, bytes) or not isinstance(columns, Iterable):
        raise TypeError(f"columns are several names, not {type(columns).__name__}: {shown(columns)}")
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns are names, not {type(name).__name__}: {shown(name)}")
    if names and made.keeps != "columns":
        raise ValueError(f"columns are kept by format 'parquet' alone, and the format is {format_name!r}")
    if names and row_tokens is not None:
        raise ValueError("columns belong to documents, and row_tokens makes rows of several: leave one of them out")
    if names and field is None:
        raise ValueError(
            f"plain text has no column {shown(names[0])}; .jsonl and .parquet have columns, and a field that holds the "
            "texts: set field to a name"
        )
    if len(set(names)) < len(names) or "input_ids" in names:
        raise ValueError(
            f"each column is kept once, and input_ids are the tokens; columns are {', '.join(map(repr, names))}"
        )
    return names


def checked_fraction(val_fraction: float, made: Format, format_name: str) -> float:
    if not is_float(val_fraction):
        raise TypeError(f"val_fraction must be a float, not {type(val_fraction).__name__}: {shown(val_fraction)}")
    fraction = float(val_fraction)
    if not 0 <= fraction < 1:
        raise ValueError(f"val_fraction is {fraction}; it must be at least 0 and less than 1")
    if fraction and made.first_is_val:
        raise ValueError(f"val_fraction is {fraction}, and in format {format_name!r} the first shard is for validation")
    return fraction
