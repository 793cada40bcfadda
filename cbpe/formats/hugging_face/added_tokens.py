"""The added tokens of a tokenizer.json: texts that are tokens wherever they stand, with their ids and flags."""

from __future__ import annotations

from cbpe._core.text.shown import shown
from cbpe.common.warning import warn
from cbpe.formats.hugging_face.values import MAX_ID, fields, flag, is_id, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["listed_with_special_tokens", "read_added_tokens", "written_token"]

# What is looked for at every place of a text: more would take very long.
MAX_ADDED_TOKENS = 100_000
MAX_ADDED_LENGTH = 1000
MOST_TOLD = 5  # of the tokens with another id than the file's
TAKING = ("single_word", "lstrip", "rstrip")


def read_added_tokens(value: Any, vocab: Mapping[str, int]) -> tuple[dict[str, int], dict[str, list[str]]]:
    """The added tokens with the ids that `tokenizers` gives them, and lists of those with a flag: see FLAGS in
    cbpe/text/added_tokens.py. A UserWarning names those that have another id in the file."""
    added: dict[str, int] = {}
    flags: dict[str, list[str]] = {}
    moved: list[str] = []
    by_id: dict[int, str] = {}
    if not isinstance(value, list):
        refuse("added_tokens", value, "a list should be here")
    next_id = len(vocab)
    for i, token in enumerate(value):
        path = f"added_tokens[{i}]"
        fields(token, path, ("id", "content"), ("normalized", "special", *TAKING))
        text, token_id = token["content"], token["id"]
        if not isinstance(text, str) or not text or text in added:
            refuse(f"{path}.content", text, "a text that is not empty and not there twice should be here")
        if len(text) > MAX_ADDED_LENGTH or i >= MAX_ADDED_TOKENS:
            limits = f"up to {MAX_ADDED_TOKENS:,} added tokens of up to {MAX_ADDED_LENGTH:,} characters are supported"
            refuse(f"{path}.content", text, limits)
        # Whatever the file says, tokenizers takes the vocabulary's id, or gives the next one after the vocabulary.
        expected = vocab.get(text, next_id)
        if not is_id(token_id):
            refuse(f"{path}.id", token_id, f"an id from 0 to {MAX_ID} should be here")
        other = by_id.setdefault(expected, text)
        if other != text:  # `tokenizers` forgets one of the two
            told = f"{shown(text)} would get the id {expected}, as tokenizers counts, which {shown(other)} has"
            refuse(f"{path}.id", token_id, f"{told}: give both an id of their own in model.vocab")
        if token_id != expected:
            moved.append(f"{shown(text)} the id {expected}, not {token_id}")
        next_id += text not in vocab
        added[text] = expected
        for name in TAKING:
            if flag(token, path, name, False):
                flags.setdefault(name, []).append(text)
        if not flag(token, path, "special", False):
            flags.setdefault("ordinary", []).append(text)
        if flag(token, path, "normalized", not token.get("special", False)):
            flags.setdefault("normalized", []).append(text)
    if moved:
        more = f", and so for {len(moved) - MOST_TOLD} more" if len(moved) > MOST_TOLD else ""
        told = "; ".join(moved[:MOST_TOLD])
        warn(f"as tokenizers does, cbpe gives the added token {told}, as the file says{more}")
    return added, flags


def written_token(text: str, token_id: int, processing: Mapping[str, Any]) -> dict[str, Any]:
    """An added token as a file has it."""
    return {
        "id": token_id,
        "content": text,
        "single_word": text in processing.get("single_word", ()),
        "lstrip": text in processing.get("lstrip", ()),
        "rstrip": text in processing.get("rstrip", ()),
        "normalized": text in processing.get("normalized", ()),
        "special": text not in processing.get("ordinary", ()),
    }


def listed_with_special_tokens(
    vocab: Mapping[str, int],
    special_tokens: Mapping[str, int],
    unknown: str | None,
    is_ordinary: Callable[[str], bool],
) -> dict[str, int]:
    """The vocabulary of a file, sorted by id: ordinary tokens and special tokens.

    Special tokens for which is_ordinary says that merging would find them in other text are left out, and all with
    higher ids: `tokenizers` gives these the ids after the vocabulary. ValueError where that is not possible.
    """
    found = [token_id for text, token_id in special_tokens.items() if text not in vocab and is_ordinary(text)]
    first_left_out = min(found, default=MAX_ID + 1)
    listed = dict(vocab)
    left_out: list[int] = []
    for text, token_id in special_tokens.items():
        if token_id >= first_left_out and text not in vocab and text != unknown:
            left_out.append(token_id)
        elif listed.setdefault(text, token_id) != token_id:
            raise ValueError(
                f"the special token {shown(text)} is spelled like the ordinary token {listed[text]} in Hugging Face's "
                "format: choose another text, or save as .model or to the model store, if these can hold it"
            )
    if sorted(left_out) != [*range(len(listed), len(listed) + len(left_out))]:
        text = next(text for text, token_id in special_tokens.items() if token_id == first_left_out)
        raise ValueError(
            f"Hugging Face's format would take the special token {shown(text)} for an ordinary one in other text too: "
            "its vocabulary can leave out those alone whose ids come after all others"
        )
    return dict(sorted(listed.items(), key=lambda item: item[1]))
