"""Text that may go on: the tokens that are settled, and those that its end may become.

A piece is settled when the next one has begun. So the last piece of a text is open; if it is blank, the blank text
before it is open too, as more text may join the two. To find what an open end may become, every token is tried that
begins within it and reaches to its end or beyond. The sets are those of tiktoken's encode_with_unstable.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cbpe._core.text.special import SpecialTokens
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["completions", "encode_bytes", "ranks_of", "settle"]

LONG_PIECE = 100  # characters: the encoder may not keep the ids of such a piece in its cache
BLANK = re.compile(rb"[ \n\t]+")
# What str.isspace takes for white space in addition to Unicode's White_Space.
SEPARATORS = "\x1c\x1d\x1e\x1f"


def settle(
    tok: Tokenizer, text: str, allowed: SpecialTokens | None = None, forbidden: SpecialTokens | None = None
) -> tuple[list[int], bytes]:
    """The ids of what is settled, and the open end: "hello wor" -> ([15339], b" wor")

    A special token that is allowed settles all that is before it. Raises what encoding does.
    """
    ids = tok._encode(text, allowed, forbidden)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # as encoding takes lone surrogates
    pieces = tok._splitter.split(text[end_of_last(allowed.ids if allowed else (), text) :])
    first_open = len(ids) - (len(tok._encode_single_piece(pieces[-1])) if pieces else 0)
    if pieces and is_blank(tok, ids[first_open]):
        while first_open > 0 and is_blank(tok, ids[first_open - 1]):
            first_open -= 1
    return ids[:first_open], tok.decode_bytes(ids[first_open:])


def end_of_last(tokens: Collection[str], text: str) -> int:
    """Where the last of some special tokens in a text ends; 0 if there is none."""
    if not tokens:
        return 0
    longest_first = re.compile("|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True)))
    end = 0
    for match in longest_first.finditer(text):
        end = match.end()
    return end


def is_blank(tok: Tokenizer, token: int) -> bool:
    return not tok.is_special_token(token) and BLANK.fullmatch(tok.decode_single_token_bytes(token)) is not None


def completions(tok: Tokenizer, rest: bytes) -> set[tuple[int, ...]]:
    """The sequences of ids that an open end, valid UTF-8, may be encoded as when more text has come. The last id of
    each may reach beyond the end."""
    if not rest:
        return set()
    n = len(rest)
    known: dict[str, list[int]] = {}
    found: set[tuple[int, ...]] = {(tok.encode_single_token(token),) for token in tokens_starting_with(tok, rest)}
    for cut in range(1, n):
        for token in tokens_starting_with(tok, rest[cut:]):
            found.add(covering(tok, encode_spelled(tok, rest[:cut] + token, known), n))
    # White space at the end may be split off by what follows: a pattern with \s+(?!\S) leaves the last of it to that.
    last = rest.decode()[-1]
    before = rest[: n - len(last.encode())]
    if before and last.isspace() and last not in SEPARATORS:
        found.add((*merge(tok, before), *merge(tok, last.encode())))
    return found


def tokens_starting_with(tok: Tokenizer, start: bytes) -> Iterator[bytes]:
    tokens = tok._sorted_tokens()
    for i in range(bisect_left(tokens, start), len(tokens)):
        if not tokens[i].startswith(start):
            return
        yield tokens[i]


def encode_spelled(tok: Tokenizer, spelled: bytes, known: dict[str, list[int]]) -> list[int]:
    """The ids of bytes. If they are text, it is split as every text is; if not, they are one piece.

    known: the ids of long pieces so far. Thousands of texts begin with the same long piece, which takes long to merge.
    """
    try:
        text = spelled.decode()
    except UnicodeDecodeError:
        return merge(tok, spelled)
    if len(text) < LONG_PIECE:
        return tok.encode_ordinary(text)
    pieces = tok._splitter.split(text)
    if not any(len(piece) >= LONG_PIECE for piece in pieces):
        return tok.encode_ordinary(text)
    ids: list[int] = []
    for piece in pieces:
        if len(piece) < LONG_PIECE:
            ids += tok._encode_single_piece(piece)
        else:
            if piece not in known:
                known[piece] = tok._encode_single_piece(piece)
            ids += known[piece]
    return ids


def covering(tok: Tokenizer, ids: list[int], n: int) -> tuple[int, ...]:
    """The first of the ids, as many as it takes to spell n bytes."""
    vocab = tok.vocab
    more = len(tok.decode_bytes(ids)) - n
    last = len(ids)
    while last and more >= len(vocab[ids[last - 1]]):
        last -= 1
        more -= len(vocab[ids[last]])
    return tuple(ids[:last])


def ranks_of(tok: Tokenizer) -> dict[bytes, int]:
    """The rank of each token by its bytes, in rising order. The same dict each time."""
    return tok._table("ranks", lambda: {token: rank for rank, token in sorted(tok._vocabulary.tokens().items())})


def merge(tok: Tokenizer, piece: bytes) -> list[int]:
    """The ids that merging makes of a piece. If it is a token that merging does not make, that token is not taken."""
    ids = tok._encode_single_piece(piece)
    if len(ids) != 1 or ids[0] not in tok._table("unmerged", tok._vocabulary.unmerged):
        return ids
    ranks = ranks_of(tok)
    tokens = [piece[i : i + 1] for i in range(len(piece))]
    while True:
        joinable = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(tokens)) if a + b in ranks]
        if not joinable:
            return [ranks[token] for token in tokens]
        _, i = min(joinable)
        tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]


def encode_bytes(tok: Tokenizer, data: bytes) -> list[int]:
    """The ids of bytes without special tokens. No pattern splits what follows the first invalid UTF-8: from there
    on, all bytes are one piece, together with the open end of the text before them."""
    try:
        return tok.encode_ordinary(data.decode())
    except UnicodeDecodeError as error:
        ids, rest = settle(tok, data[: error.start].decode())
        return ids + tok._encode_single_piece(rest + data[error.start :])
