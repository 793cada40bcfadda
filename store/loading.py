"""Loading: from one row to a tokenizer, every byte of which is held to its digest."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import Row, Select, select

from cbpe.tokenizers.description import Model, build, in_decoded_order
from cbpe.tokenizers.tokenizer import Tokenizer
from cbpe.training.record import TrainingRecord
from store.database.opening import Database
from store.database.schema import names, training_records, versions, vocabularies
from store.errors import Damaged
from store.records.training import record_from_json
from store.records.versions import Version, find_row, seal_of

__all__ = ["STORED", "content_model", "load", "model_of", "training_of"]

FORMAT = "cbpe model 1"  # that the canonical form begins with


# All that a tokenizer is built from.
STORED: Select[Any] = (
    select(
        versions.c.id,
        versions.c.name_id,
        versions.c.vocabulary_id,
        names.c.name,
        versions.c.number,
        versions.c.digest,
        versions.c.content,
        versions.c.kind,
        versions.c.encoding_name,
        versions.c.seal,
        vocabularies.c.packed,
        training_records.c.record,
    )
    .join_from(versions, names, versions.c.name_id == names.c.id)
    .outerjoin(vocabularies, versions.c.vocabulary_id == vocabularies.c.id)
    .outerjoin(training_records, training_records.c.version_id == versions.c.id)
)


def load(database: Database, reference: str | Version) -> Tokenizer:
    """The tokenizer that was saved, with its training record."""
    with database.reading() as connection:
        row = find_row(connection, reference, STORED)
    tok = build(model_of(row))
    tok.training = training_of(row)
    return tok


def model_of(row: Row[Any]) -> Model:
    """The model in a row of STORED. Damaged where it is not what was saved."""
    try:
        model = content_model(row.digest, row.content, row.kind, row.encoding_name, row.packed)
        sealed = seal_of(row.number, row.digest, row.kind, row.encoding_name)
    except (TypeError, ValueError) as error:
        raise damaged(row, str(error)) from error
    if row.seal != sealed:
        raise damaged(row, "its number, its class or its name as an Encoding is not what was saved")
    return model


def content_model(digest: str, content: str, kind: str, name: str | None, packed: bytes | None) -> Model:
    """The model that a canonical form and a packed vocabulary make. ValueError where they do not have the digest."""
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
        return record_from_json(row.record)
    except ValueError as error:
        raise damaged(row, f"its training record: {error}") from error


def damaged(row: Row[Any], reason: str) -> Damaged:
    return Damaged(f"{row.name}@{row.number} is damaged: {reason}")
