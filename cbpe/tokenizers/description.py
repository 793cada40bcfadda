"""Model: all that makes a tokenizer's results, as plain data, for what keeps or compares tokenizers.

tokenizer -> describe() -> Model -> build() -> a tokenizer that is equal in every result
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cbpe._core.splitting.split import UNICODE_VERSION
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.wording import of_another_library, shown
from cbpe.formats.parts import Parts
from cbpe.text.splitting import unicode_version
from cbpe.tokenizers.kinds import KINDS, tokenizer_of
from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["KINDS", "Model", "build", "canonical_form", "describe", "in_decoded_order"]


@dataclass(frozen=True, eq=False)
class Model:
    """A tokenizer as data. Two of the same digest give the same results on every text."""

    kind: str  # the tokenizer's class, one of KINDS
    name: str | None  # of an Encoding
    vocabulary: bytes  # Vocabulary.pack()
    semantics: str  # "pairs" or "ranks"
    pattern: str | None
    special_tokens: Mapping[str, int]
    unicode_version: str | None  # that the pattern goes by; None for the `regex` module's own
    processing: Mapping[str, Any] = field(default_factory=dict)  # what is done before and after, as JSON can hold it

    @property
    def vocabulary_digest(self) -> str:
        """SHA-256 of the packed vocabulary, in hexadecimal."""
        return hashlib.sha256(self.vocabulary).hexdigest()

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical form, in hexadecimal."""
        return hashlib.sha256(canonical_form(self)).hexdigest()

    @property
    def called(self) -> str:
        """The name, or the first digits of the digest where it has none."""
        return self.name or f"sha256:{self.digest[:16]}"


def canonical_form(model: Model) -> bytes:
    """All that changes results, in the one form that the digest is taken of: JSON with its keys in order, no spaces and
    nothing but ASCII. The vocabulary is in it by its SHA-256. The class and the name are not: they change no result.

    Where special tokens share an id, it also has those that such ids are decoded to.
    """
    content = {
        "format": "cbpe model 1",
        "pattern": model.pattern,
        "processing": dict(model.processing),
        "semantics": model.semantics,
        "special_tokens": dict(model.special_tokens),
        "unicode_version": model.unicode_version,
        "vocabulary_sha256": model.vocabulary_digest,
    }
    shared = decoded_special_tokens(model.special_tokens)
    if shared:
        content["decoded_special_tokens"] = shared
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def decoded_special_tokens(special_tokens: Mapping[str, int]) -> dict[str, int]:
    """Of special tokens that share an id, those that the ids are decoded to: the last ones.

    >>> decoded_special_tokens({"<|b|>": 300, "<|a|>": 300, "<|c|>": 301})
    {'<|a|>': 300}
    """
    last = {token_id: token for token, token_id in special_tokens.items()}
    return {last[token_id]: token_id for token, token_id in special_tokens.items() if last[token_id] != token}


def in_decoded_order(special_tokens: Mapping[str, int], decoded: Mapping[str, int]) -> dict[str, int]:
    """The special tokens by rising id, as nearly all are registered; of those that share one, that of
    decoded_special_tokens is the last."""
    everyone = {**special_tokens, **decoded}
    return dict(sorted(everyone.items(), key=lambda item: (item[1], item[0] in decoded)))


def describe(tok: Tokenizer) -> Model:
    """The model of a tokenizer. TypeError for a class of a program's own, and for what is no tokenizer."""
    kind = type(tok).__name__
    if not isinstance(tok, Tokenizer):
        raise TypeError(f"this must be a tokenizer, as cbpe.load gives, not {of_another_library(tok)}")
    if type(tok) is not KINDS.get(kind):
        reason = "what a class of your own does is not known here, and cannot be kept or compared"
        raise TypeError(f"this is a {kind}: {reason}; pass one of cbpe's own, {', '.join(KINDS)}")
    parts = tok._parts()
    return Model(
        kind,
        parts.name,
        parts.vocabulary.pack(),
        tok.semantics,
        parts.pattern,
        parts.special_tokens,
        unicode_version(tok._splitter),
        parts.processing,
    )


def build(model: Model) -> Tokenizer:
    """The tokenizer of a model. ValueError for one that is not whole and valid, or that goes by another version of
    Unicode than this program does."""
    if model.kind not in KINDS:
        raise ValueError(
            f"a model of the class {shown(model.kind)} is unknown here: the known ones are {', '.join(KINDS)}"
        )
    vocabulary = Vocabulary.unpack(model.vocabulary)
    if ("ranks" if vocabulary.whole_pieces else "pairs") != model.semantics:
        raise ValueError(
            f"the model says that it merges by {shown(model.semantics)}, and its vocabulary that it does not"
        )
    tok = tokenizer_of(
        Parts(vocabulary, model.pattern, model.special_tokens, model.processing, kind=model.kind, name=model.name)
    )
    found = unicode_version(tok._splitter)
    if found != model.unicode_version:
        asked, has = model.unicode_version or "the regex module's Unicode", found or "the regex module's Unicode"
        raise ValueError(f"the model splits text by {asked}, and this version of cbpe by {has} ({UNICODE_VERSION})")
    return tok
