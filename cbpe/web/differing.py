"""What the page's JSON says of two tokenizers side by side: which tokens and merges only one of them has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cbpe.views.settings import differing
from cbpe.web.answers import text_of
from cbpe.web.stored import Models, beginning

if TYPE_CHECKING:
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["difference"]

MOST_TOKENS = 200  # of each kind that are listed
MOST_BYTES = 256  # of a token
LONGEST_SETTING = 2000  # characters


def difference(models: Models, a: str | Tokenizer, b: str | Tokenizer) -> dict[str, Any]:
    """What differs between two versions, or tokenizers of elsewhere: how many tokens, and the first of them."""
    found = models.diff(a, b)
    first = found.first_merge
    special = {"special_only_a": found.special_only_a, "special_only_b": found.special_only_b}
    return {
        "a": getattr(found.a, "reference", None),
        "b": getattr(found.b, "reference", None),
        "same": found.same,
        "n_only_a": len(found.only_a),
        "only_a": [{"id": number, **bytes_and_text(token)} for number, token in found.only_a[:MOST_TOKENS]],
        "n_only_b": len(found.only_b),
        "only_b": [{"id": number, **bytes_and_text(token)} for number, token in found.only_b[:MOST_TOKENS]],
        "n_moved": len(found.moved),
        "moved": [
            {"ids_a": list(moved.ids_a), "ids_b": list(moved.ids_b), **bytes_and_text(moved.token)}
            for moved in found.moved[:MOST_TOKENS]
        ],
        "more_merges": found.more_merges,
        "first_merge": None if first is None else {"rank": first.rank, "a": pair_of(first.a), "b": pair_of(first.b)},
        **{f"n_{key}": len(tokens) for key, tokens in special.items()},
        **{key: specials(tokens) for key, tokens in special.items()},
        "n_special_moved": len(found.special_moved),
        "special_moved": [
            {"text": text, "id_a": id_a, "id_b": id_b}
            for text, (id_a, id_b) in list(found.special_moved.items())[:MOST_TOKENS]
        ],
        "settings": {name: [setting(value) for value in values] for name, values in found.settings.items()},
        "settings_said": [
            [name, *(beginning(value, LONGEST_SETTING) for value in values)]
            for name, *values in differing(found.settings)
        ],
    }


def setting(value: object) -> str | None:
    """A setting in words: a pattern as it is, what is made of parts as JSON."""
    if value is None:
        return None
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return beginning(said, LONGEST_SETTING)


def bytes_and_text(token: bytes) -> dict[str, Any]:
    """A token as JSON has it: of a long one the first bytes."""
    text = text_of(token)
    return {
        "bytes": token[:MOST_BYTES].hex(),
        "text": None if text is None else beginning(text, MOST_BYTES),
        "length": len(token),
    }


def pair_of(pair: tuple[bytes, bytes] | None) -> list[dict[str, Any]] | None:
    return None if pair is None else [bytes_and_text(token) for token in pair]


def specials(tokens: dict[str, int]) -> list[dict[str, Any]]:
    return [{"text": text, "id": number} for text, number in list(tokens.items())[:MOST_TOKENS]]
