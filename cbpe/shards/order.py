"""The order of documents in shards: which go where, by the sources' order or shuffled, cut or whole.

Documents are in blocks: consecutive ones, of about shard_tokens together. Without a shuffle the blocks stand in their
order, and so do the documents in them; with one, both are in the order of keys that the seed makes of their numbers. So
each block is known by itself, whatever the size of the corpus. A shard is a block; where shards have an exact size, or
there is one alone, the blocks make one stream, of which a shard is a stretch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cbpe.shards.options import SHARD_TOKENS, Options
from cbpe.shards.parts import PartStore

if TYPE_CHECKING:
    import numpy.typing as npt

    from cbpe.shards.parts import Int64s

    Keys = npt.NDArray[np.uint64]

__all__ = ["Order", "Pieces", "order_of"]

VALIDATION, DOCUMENTS, BLOCKS = 1, 2, 3  # what keys are made for


class Pieces(NamedTuple):
    """Documents of a block, or pieces of them, in the order of a shard: of each its part, its place among the documents
    of the part, and the tokens of the part that it has."""

    parts: Int64s
    places: Int64s
    starts: Int64s
    stops: Int64s

    def lengths(self) -> Int64s:
        return self.stops - self.starts

    def take(self, which: Any) -> Pieces:
        return Pieces(*(column[which] for column in self))


@dataclass(frozen=True)
class Order:
    """edges: block i has the documents from edges[i] to edges[i + 1]. order: the blocks as they stand in the stream.
    first_token: where each of them begins in the stream, in this order, and where the last one ends."""

    options: Options
    edges: Int64s
    order: Int64s
    first_token: Int64s

    @property
    def exact(self) -> bool:
        """Whether shards are stretches of the stream of all blocks."""
        if self.options.shard_tokens is None:
            return self.options.made_of.stream
        return self.options.cut_documents

    @property
    def shard_tokens(self) -> int:
        """How many tokens a shard has, if it is a stretch: as many as there are for one alone, and whole rows."""
        size = int(self.first_token[-1]) if self.options.shard_tokens is None else self.options.shard_tokens
        row = self.options.row_tokens
        return size if row is None or not self.options.cut_documents else max(row, size // row * row)

    @property
    def kept_tokens(self) -> int:
        """How many tokens go into shards that are stretches: all but those of no whole row at the end."""
        total = int(self.first_token[-1])
        row = self.options.row_tokens
        return total if row is None or not self.options.cut_documents else total - total % row

    @property
    def n_shards(self) -> int:
        if not self.exact:
            return len(self.order)
        return -(-self.kept_tokens // self.shard_tokens) if self.kept_tokens else 0

    def shard(self, store: PartStore, number: int) -> Iterator[Pieces]:
        """What shard `number` holds, block by block."""
        if not self.exact:
            yield self.block(store, int(self.order[number]), validation=False)
            return
        start = number * self.shard_tokens
        stop = min(start + self.shard_tokens, int(self.first_token[-1]))
        if self.options.row_tokens is not None and self.options.cut_documents:
            stop -= (stop - start) % self.options.row_tokens
        at = int(np.searchsorted(self.first_token, start, "right")) - 1
        while at < len(self.order) and self.first_token[at] < stop:
            pieces = self.block(store, int(self.order[at]), validation=False)
            base = int(self.first_token[at])
            yield stretch(pieces, max(0, start - base), min(stop, int(self.first_token[at + 1])) - base)
            at += 1

    def validation(self, store: PartStore) -> Iterator[Pieces]:
        """The documents that are kept for validation, in the order of the sources; whole rows of them, if these are
        cut."""
        left = store.tokens - int(self.first_token[-1])
        if self.options.row_tokens is not None and self.options.cut_documents:
            left -= left % self.options.row_tokens
        for number in range(len(self.edges) - 1):
            pieces = self.block(store, number, validation=True)
            size = int(pieces.lengths().sum())
            yield pieces if size <= left else stretch(pieces, 0, left)
            left -= min(size, left)

    def block(self, store: PartStore, number: int, validation: bool) -> Pieces:
        """The documents of a block, those for training or those for validation."""
        first, stop = int(self.edges[number]), int(self.edges[number + 1])
        pieces = documents_of(store, first, stop)
        numbers = np.arange(first, stop, dtype=np.uint64)
        if self.options.val_fraction:
            wanted = for_validation(numbers, self.options) == validation
            pieces, numbers = pieces.take(wanted), numbers[wanted]
        if self.options.shuffle is not None and not validation:
            keys = keys_of(numbers, self.options.shuffle, DOCUMENTS)
            pieces = pieces.take(np.argsort(keys, kind="stable"))
        return pieces


def order_of(store: PartStore, options: Options) -> Order:
    """The order of the documents. None is longer than a shard, where they may not be cut."""
    edges = block_edges(store, options)
    numbers = np.arange(len(edges) - 1, dtype=np.int64)
    if options.shuffle is not None:
        numbers = np.argsort(keys_of(numbers.astype(np.uint64), options.shuffle, BLOCKS), kind="stable")
    order = Order(options, edges, numbers, np.zeros(1, np.int64))
    if options.val_fraction:
        sizes = [int(order.block(store, int(number), validation=False).lengths().sum()) for number in numbers]
    else:
        begins = np.array([store.token_at(int(edge)) for edge in edges])
        sizes = list(np.diff(begins)[numbers])
    return Order(options, edges, numbers, np.cumsum([0, *sizes], dtype=np.int64))


def block_edges(store: PartStore, options: Options) -> Int64s:
    """Where blocks begin, in documents, and where the last one ends."""
    if options.shard_tokens is None and not options.made_of.stream:
        return np.unique(store.first_document)  # a part each
    size = options.shard_tokens or SHARD_TOKENS
    edges = [0]
    while edges[-1] < store.documents:
        begin = store.token_at(edges[-1])
        upto = store.last_document_before(begin + size)
        if upto <= edges[-1]:  # not one document
            upto = edges[-1] + 1
        edges.append(upto)
    return np.array(edges, np.int64)


def documents_of(store: PartStore, first: int, stop: int) -> Pieces:
    """Whole documents, in their order."""
    columns: list[list[Int64s]] = [[], [], [], []]
    for part, starts, ends in store.spans(first, stop):
        place = max(first, int(store.first_document[part])) - int(store.first_document[part])
        found = np.full(len(ends), part), np.arange(place, place + len(ends)), starts, ends
        for column, values in zip(columns, found, strict=True):
            column.append(values)
    return Pieces(*(np.concatenate([np.zeros(0, np.int64), *column]) for column in columns))


def stretch(pieces: Pieces, start: int, stop: int) -> Pieces:
    """The tokens from start to stop of consecutive pieces."""
    ends = np.cumsum(pieces.lengths())
    begins = ends - pieces.lengths()
    inside = (ends > start) & (begins < stop)
    some, begins, ends = pieces.take(inside), begins[inside], ends[inside]
    return some._replace(
        starts=some.starts + np.maximum(0, start - begins), stops=some.stops - np.maximum(0, ends - stop)
    )


def for_validation(numbers: Keys, options: Options) -> npt.NDArray[np.bool_]:
    """Which documents are kept for validation: by a key of each, so that others do not matter."""
    limit = np.uint64(min(int(options.val_fraction * 2.0**64), 2**64 - 1))
    return keys_of(numbers, options.shuffle or 0, VALIDATION) < limit


def keys_of(numbers: Keys, seed: int, purpose: int) -> Keys:
    """A key for each number, as good as random and the same everywhere: the mixing function of splitmix64."""
    with np.errstate(over="ignore"):
        mixed = mix(np.array([seed], np.uint64) + np.uint64(purpose))
        return mix(numbers * np.uint64(0x9E3779B97F4A7C15) + mixed)


def mix(keys: Keys) -> Keys:
    with np.errstate(over="ignore"):
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return keys ^ (keys >> np.uint64(31))
