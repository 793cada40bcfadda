"""Text that may go on: the tokens that are settled, and those that its end may become.

A piece is taken as settled when the next one has begun, so that the last piece of a text is open; if it is blank, so is
the blank text before it, which more text can draw together with it. What an open end may become is found by trying
every token that begins within it and reaches to its end or beyond. The sets are those of tiktoken's
encode_with_unstable.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cbpe._core.text.special import SpecialTokens
    from cbpe.tokenizers.tiktoken import Encoding

__all__ = ["completions", "encode_bytes", "settle"]

BLANK = re.compile(rb"[ \n\t]+")
# What str.isspace takes for white space in addition to Unicode's White_Space.
SEPARATORS = "\x1c\x1d\x1e\x1f"


def settle(
    enc: Encoding, text: str, allowed: SpecialTokens | None = None, forbidden: SpecialTokens | None = None
) -> tuple[list[int], bytes]:
    """The ids of what is settled, and the open end: "hello wor" -> ([15339], b" wor")

    A special token that is allowed settles all that is before it. Raises what encoding does.
    """
    ids = enc._encode(text, allowed, forbidden)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # as encoding takes lone surrogates
    pieces = enc._splitter.split(text[end_of_last(allowed.ids if allowed else (), text) :])
    first_open = len(ids) - (len(enc._encode_single_piece(pieces[-1])) if pieces else 0)
    if pieces and is_blank(enc, ids[first_open]):
        while first_open > 0 and is_blank(enc, ids[first_open - 1]):
            first_open -= 1
    return ids[:first_open], enc.decode_bytes(ids[first_open:])


def end_of_last(tokens: Collection[str], text: str) -> int:
    """Where the last of some special tokens in a text ends; 0 if there is none."""
    if not tokens:
        return 0
    longest_first = re.compile("|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True)))
    end = 0
    for match in longest_first.finditer(text):
        end = match.end()
    return end


def is_blank(enc: Encoding, token: int) -> bool:
    return not enc.is_special_token(token) and BLANK.fullmatch(enc.decode_single_token_bytes(token)) is not None


def completions(enc: Encoding, rest: bytes) -> set[tuple[int, ...]]:
    """The sequences of ids that an open end, valid UTF-8, may turn out to be encoded as when more text has come. The
    last id of each may reach beyond its end."""
    if not rest:
        return set()
    n = len(rest)
    found: set[tuple[int, ...]] = {(enc.encode_single_token(token),) for token in tokens_starting_with(enc, rest)}
    for cut in range(1, n):
        for token in tokens_starting_with(enc, rest[cut:]):
            found.add(covering(enc, encode_spelled(enc, rest[:cut] + token), n))
    # White space at the end may be split off by what follows: a pattern with \s+(?!\S) leaves the last of it to that.
    last = rest.decode()[-1]
    before = rest[: n - len(last.encode())]
    if before and last.isspace() and last not in SEPARATORS:
        found.add((*merge(enc, before), *merge(enc, last.encode())))
    return found


def tokens_starting_with(enc: Encoding, start: bytes) -> Iterator[bytes]:
    tokens = enc._sorted_tokens()
    for i in range(bisect_left(tokens, start), len(tokens)):
        if not tokens[i].startswith(start):
            return
        yield tokens[i]


def encode_spelled(enc: Encoding, spelled: bytes) -> list[int]:
    """The ids of bytes: as text if they are text, split and all, as one piece if not."""
    try:
        return enc.encode_ordinary(spelled.decode())
    except UnicodeDecodeError:
        return merge(enc, spelled)


def covering(enc: Encoding, ids: list[int], n: int) -> tuple[int, ...]:
    """The first of the ids, as many as it takes to spell n bytes."""
    vocab = enc.vocab
    for i, token in enumerate(ids):
        n -= len(vocab[token])
        if n <= 0:
            return tuple(ids[: i + 1])
    return tuple(ids)


def merge(enc: Encoding, piece: bytes) -> list[int]:
    """The ids that merging makes of a piece. If it is a token that merging does not make, that token is not taken."""
    ids = enc._encode_single_piece(piece)
    if len(ids) != 1 or ids[0] not in enc._unmerged():
        return ids
    ranks = enc._mergeable_ranks
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while True:
        joinable = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not joinable:
            return [ranks[part] for part in parts]
        _, i = min(joinable)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def encode_bytes(enc: Encoding, data: bytes) -> list[int]:
    """The ids of bytes without special tokens. From the first that are no UTF-8 on, where a pattern cannot split, all
    is one piece with the open end of the text before."""
    try:
        return enc.encode_ordinary(data.decode())
    except UnicodeDecodeError as error:
        ids, rest = settle(enc, data[: error.start].decode())
        return ids + enc._encode_single_piece(rest + data[error.start :])
