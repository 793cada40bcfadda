"""Loading: a version becomes a tokenizer again, every byte of which is held to its digest."""

from __future__ import annotations

from cbpe.tokenizers.description import build
from cbpe.tokenizers.tokenizer import Tokenizer
from store.database.opening import Database
from store.records.content import model_of, training_of
from store.records.versions import STORED, Version, find_row

__all__ = ["load"]


def load(database: Database, reference: str | Version) -> Tokenizer:
    """The tokenizer that was saved, with its training record."""
    row = database.read(find_row, reference, STORED)
    tok = build(model_of(row))
    tok.training = training_of(row)
    return tok
