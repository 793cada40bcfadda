"""The added tokens of a tokenizer.json: texts that are tokens wherever they stand, with their ids and flags."""

from __future__ import annotations

from typing import Any

from cbpe.formats.hugging_face.values import fields, flag, refuse

__all__ = ["read_added_tokens"]

# What is looked for at every place of a text: more would take very long.
MAX_ADDED_TOKENS = 100_000
MAX_ADDED_LENGTH = 1000


def read_added_tokens(value: Any, vocab: dict[str, int]) -> tuple[dict[str, int], dict[str, list[str]]]:
    """The added tokens with their ids, and which of them are `ordinary` (not special), and which are looked for in the
    text after it has been `normalized`."""
    added: dict[str, int] = {}
    flags: dict[str, list[str]] = {}
    if not isinstance(value, list):
        refuse("added_tokens", value, "a list should be here")
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    next_id = len(vocab)
    for i, token in enumerate(value):
        path = f"added_tokens[{i}]"
        fields(token, path, ("id", "content"), names)
        text, token_id = token["content"], token["id"]
        if not isinstance(text, str) or not text or text in added:
            refuse(f"{path}.content", text, "a text that is not empty and not there twice should be here")
        if len(text) > MAX_ADDED_LENGTH or i >= MAX_ADDED_TOKENS:
            limits = f"up to {MAX_ADDED_TOKENS:,} added tokens of up to {MAX_ADDED_LENGTH:,} characters are supported"
            refuse(f"{path}.content", text, limits)
        for name in names[:3]:
            if flag(token, path, name, False):
                refuse(f"{path}.{name}", True, f"only false is supported ({text[:80]!r})")
        # Whatever the file says, tokenizers takes the vocabulary's id, or gives the next one after the vocabulary.
        expected = vocab.get(text, next_id)
        if type(token_id) is not int or token_id != expected:
            refuse(f"{path}.id", token_id, f"tokenizers would give {text[:80]!r} the id {expected}")
        next_id += text not in vocab
        added[text] = token_id
        if not flag(token, path, "special", False):
            flags.setdefault("ordinary", []).append(text)
        if flag(token, path, "normalized", not token.get("special", False)):
            flags.setdefault("normalized", []).append(text)
    return added, flags
