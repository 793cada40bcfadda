"""Looking into a vocabulary: tokens that hold some bytes or fit an expression, and how a token is merged."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cbpe.common.wording import as_typed

__all__ = ["MergeTree", "compiled", "find_tokens", "merge_tree"]


class Vocab(Protocol):
    """What these functions look into: any tokenizer."""

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The bytes of every id, special tokens included."""

    @property
    def merges(self) -> Mapping[tuple[int, int], int]:
        """The merges: (left id, right id) -> id."""


@dataclass(eq=False)
class MergeTree:
    """A token and the two that it is merged from, each with its own; `parts` is empty for a byte, for a special token,
    and for a token that no merge makes."""

    id: int
    token: bytes
    parts: tuple[MergeTree, ...] = ()


def find_tokens(
    tok: Vocab, *, contains: bytes | str | None = None, pattern: str | None = None, seconds: float | None = None
) -> Iterator[tuple[int, bytes]]:
    """The tokens of a vocabulary and their ids, by rising id, special tokens included: all of them, or those that hold
    some bytes or a text, or that an expression (of the `regex` module) is found in.

    The expression is matched with text, in which U+FFFD stands for what is no UTF-8 in a token. ValueError for what is
    no expression. seconds: how long all matching may take together; TimeoutError after that.

    >>> list(find_tokens(enc, contains="hello"))[0]
    (15339, b'hello')
    """
    if isinstance(contains, str):
        contains = contains.encode()
    expression = None if pattern is None else compiled(pattern)
    end = None if seconds is None else time.monotonic() + seconds
    for token_id, token in sorted(tok.vocab.items()):
        if contains is not None and contains not in token:
            continue
        if expression is None or matches(expression, token.decode("utf-8", "replace"), end):
            yield token_id, token


def matches(expression: Any, text: str, end: float | None) -> bool:
    """Whether an expression is found in a text; TimeoutError at `end`, a time of time.monotonic()."""
    if end is None:
        return expression.search(text) is not None
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("the expression takes too long")
    return expression.search(text, timeout=left, concurrent=True) is not None


def compiled(pattern: str) -> Any:
    """An expression of the `regex` module. ValueError for what is none."""
    import regex  # slow to import

    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"{as_typed(pattern)} is not a valid expression: {error}") from error


def merge_tree(tok: Vocab, token_id: int) -> MergeTree:
    """How a token is merged, down to its bytes. KeyError if there is no such id; ValueError as for tok.merges.

    >>> [part.token for part in merge_tree(enc, 15339).parts]
    [b'h', b'ello']
    """
    vocab = tok.vocab
    if token_id not in vocab:
        raise KeyError(f"there is no token with the id {token_id}")
    pairs = {merged: pair for pair, merged in tok.merges.items()}
    root = MergeTree(token_id, vocab[token_id])
    unfinished = [root]  # a stack in place of a recursion: a tree may be as deep as a token is long
    while unfinished:
        node = unfinished.pop()
        node.parts = tuple(MergeTree(part, vocab[part]) for part in pairs.get(node.id, ()))
        unfinished.extend(node.parts)
    return root
