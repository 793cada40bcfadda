"""What the JSON of the page says of texts and tokens: plain functions from a tokenizer to values that JSON can hold.

Tokens are columns, and what is the same for all tokens of an id is said once: a text of 1 MB has some 250,000 tokens.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from cbpe.common.wording import shown
from cbpe.web.refusals import Refused

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from cbpe.text.special_tokens import SpecialChoice
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["Special", "counted", "decoded", "described", "encoded", "merged_from", "token", "token_value"]

Special = Literal["tokens", "text"]
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no text has alone
MOST_SPECIAL = 1000  # special tokens that a description lists


def described(name: str, tok: Tokenizer) -> dict[str, Any]:
    """What is known of a tokenizer: its class, its size, its special tokens by id (the first thousand)."""
    special = sorted(tok.special_tokens.items(), key=lambda item: item[1])
    return {
        "tokenizer": name,
        "class": type(tok).__name__,
        "vocab_size": tok.vocab_size,
        "n_special_tokens": len(special),
        "special_tokens": [{"id": number, "text": text} for text, number in special[:MOST_SPECIAL]],
    }


def encoded(name: str, tok: Tokenizer, text: str, special: Special) -> dict[str, Any]:
    """The tokens of a text: ids, places in characters, groups that share characters, and what each id stands for."""
    allowed = choice(tok, special)
    reason = None
    starts = ends = groups = None
    try:
        ids, places = tok.encode_to_numpy_with_offsets(text, allowed, ())
        starts, ends = places[:, 0].tolist(), places[:, 1].tolist()
        groups = sharing(places)
    except ValueError as error:  # text that is changed before it is encoded has no places
        reason = str(error)
        ids = tok.encode_to_numpy(text, allowed, ())
    return {
        **sums(name, tok, text, allowed, len(ids)),
        "ids": ids.tolist(),
        "starts": starts,
        "ends": ends,
        "groups": groups,
        "no_places": reason,
        "tokens": {str(number): token_value(tok, number) for number in sorted(set(ids.tolist()))},
    }


def choice(tok: Tokenizer, special: Special) -> SpecialChoice:
    """The special tokens that are such in a text, as Tokenizer.encode takes them: all, or those found in every text."""
    return "all" if special == "tokens" else tok._found_always() or "none"


def sharing(places: npt.NDArray[np.int64]) -> list[list[int]]:
    """The runs of tokens that share characters with their neighbours, as [first, end): of a character that is divided
    between tokens, each has the whole."""
    import numpy as np

    shares = places[1:, 0] < places[:-1, 1]  # token i + 1 begins before token i ends
    edges = np.diff(np.concatenate(([False], shares, [False])).astype(np.int8))
    return [
        [int(first), int(last) + 1]
        for first, last in zip((edges == 1).nonzero()[0], (edges == -1).nonzero()[0], strict=True)
    ]


def counted(name: str, tok: Tokenizer, text: str, special: Special) -> dict[str, Any]:
    """How many tokens a text has."""
    allowed = choice(tok, special)
    return sums(name, tok, text, allowed, tok.count(text, allowed, ()))


def sums(name: str, tok: Tokenizer, text: str, allowed: SpecialChoice, n_tokens: int) -> dict[str, Any]:
    """How much a text is. A split pattern may leave out a part of it, whose bytes are in no token; the tokens that a
    template puts around it are among n_tokens, and not in the bytes per token."""
    n_bytes = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    covered, n_inner = n_bytes, tok.count(text, allowed, (), add_special_tokens=False)
    if tok._covered_lengths() is not None:
        covered = bytes_in(tok, tok.encode_to_numpy(text, allowed, (), add_special_tokens=False))
    return {
        "tokenizer": name,
        "n_tokens": n_tokens,
        "n_characters": len(text),
        "n_bytes": n_bytes,
        "covered_bytes": covered,
        "n_template_tokens": n_tokens - n_inner,
        "bytes_per_token": covered / n_inner if n_inner else None,
        "n_surrogates": 0 if text.isascii() else len(SURROGATE.findall(text)),
    }


def bytes_in(tok: Tokenizer, ids: npt.NDArray[np.uint32]) -> int:
    import numpy as np

    each, counts = np.unique(ids, return_counts=True)
    lengths = [len(tok.decode_single_token_bytes(number)) for number in each.tolist()]
    return int(counts @ np.array(lengths, dtype=np.int64))


def decoded(name: str, tok: Tokenizer, ids: list[int]) -> dict[str, Any]:
    """The text of token ids, their bytes, and what each id stands for. Refused for an id that no token has."""
    values = {str(number): token_value(tok, number) for number in sorted(set(ids))}
    content = tok.decode_bytes(ids)
    return {
        "tokenizer": name,
        "n_tokens": len(ids),
        "text": content.decode("utf-8", "replace"),
        "is_utf8": is_utf8(content),
        "bytes": content.hex(),
        "tokens": values,
    }


def token(name: str, tok: Tokenizer, number: int) -> dict[str, Any]:
    """One token: its bytes, and the two tokens that it is merged from, where a merge makes it."""
    value = token_value(tok, number)
    pair = merged_from(tok).get(number)
    parts = None if pair is None else [{"id": part, **token_value(tok, part)} for part in pair]
    return {"tokenizer": name, "id": number, **value, "parts": parts}


@lru_cache(maxsize=8)
def merged_from(tok: Tokenizer) -> dict[int, tuple[int, int]]:
    """id -> the pair of ids that is merged to it, in the order of merging; nothing for ranks that no merges give."""
    try:
        return {merged: pair for pair, merged in tok.merges.items()}
    except ValueError:
        return {}


def token_value(tok: Tokenizer, number: int) -> dict[str, Any]:
    try:
        content = tok.decode_single_token_bytes(number)
    except (KeyError, OverflowError) as error:
        raise Refused(404, f"no token has the id {shown(number)}") from error
    return {"bytes": content.hex(), "text": text_of(content), "special": tok.is_special_token(number)}


def text_of(content: bytes) -> str | None:
    """The text of a token; None if its bytes are not UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def is_utf8(content: bytes) -> bool:
    return text_of(content) is not None
