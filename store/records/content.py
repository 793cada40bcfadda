"""What a version is built from: its row, its canonical form and its packed vocabulary, each held to its digest."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from cbpe.tokenizers.description import Model, build, in_decoded_order
from cbpe.tokenizers.tokenizer import Tokenizer
from cbpe.training.record import TrainingRecord
from store.records.references import UNSTORABLE
from store.records.seals import check_version, damaged
from store.records.training import record_from_json

if TYPE_CHECKING:
    from sqlalchemy import Row

__all__ = ["content_model", "model_of", "readable_pattern", "stored_tokenizer", "training_of"]

FORMAT = "cbpe model 1"  # that the canonical form begins with


def stored_tokenizer(row: Row[Any]) -> Tokenizer:
    """The tokenizer that was saved, with its training record. Raises Damaged if the row is not what was saved, and
    ValueError if this version of cbpe cannot build it."""
    tok = build(model_of(row))
    tok.training = training_of(row)
    return tok


def model_of(row: Row[Any]) -> Model:
    """The model in a row of STORED. Raises Damaged if it is not what was saved."""
    try:
        model = content_model(row.digest, row.content, row.kind, row.encoding_name, row.packed)
    except (TypeError, ValueError) as error:
        raise damaged(row, str(error)) from error
    check_version(row)
    return model


def content_model(digest: str, content: str, kind: str, name: str | None, packed: bytes | None) -> Model:
    """The model that a canonical form and a packed vocabulary make. Raises ValueError if they do not have the
    digest."""
    if not isinstance(content, str) or not isinstance(packed, (bytes, type(None))):  # SQLite keeps anything anywhere
        raise ValueError("its canonical form is no text, or its vocabulary no bytes")
    if hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest() != digest:
        raise ValueError("its canonical form does not have its digest")
    if packed is None:
        raise ValueError("its vocabulary is missing")
    try:
        said = json.loads(content)
        if said["format"] != FORMAT:
            raise ValueError(f"its form is {said['format']!r:.80}, and this version of cbpe knows {FORMAT!r}")
        special_tokens = in_decoded_order(said["special_tokens"], said.get("decoded_special_tokens", {}))
        semantics, pattern, unicode_version = said["semantics"], said["pattern"], said["unicode_version"]
        model = Model(kind, name, packed, semantics, pattern, special_tokens, unicode_version, said["processing"])
        vocabulary_digest = said["vocabulary_sha256"]
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"its canonical form is none: {error!r:.200}") from error
    if model.vocabulary_digest != vocabulary_digest:
        raise ValueError("its packed vocabulary does not have its digest")
    return model


def training_of(row: Row[Any]) -> TrainingRecord | None:
    if row.record is None:
        return None
    try:
        return record_from_json(row.record, row.id)
    except ValueError as error:
        raise damaged(row, f"its training record: {error}") from error


def readable_pattern(pattern: str | None) -> str | None:
    """A pattern as every database can hold it. The canonical form has it exactly."""
    return None if pattern is None else UNSTORABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", pattern)
