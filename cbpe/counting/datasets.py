"""Word counts of a Dataset of Ray's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cbpe._core.counting.count import PieceCounter
from cbpe.common.checks import checked_flag, checked_int
from cbpe.common.wording import listed, shown
from cbpe.corpus.counting import count_words as words_of
from cbpe.corpus.json_lines import checked_missing
from cbpe.corpus.sources import tell_of_changes
from cbpe.corpus.word_counts import WordCounts
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.splitting import make_splitter, unicode_version

__all__ = ["count_words"]

COUNTS, SKIPPED = "counts", "skipped"  # the columns of what batches become


def count_words(
    dataset: Any,
    column: str,
    *,
    pattern: str | None = GPT4_SPLIT_PATTERN,
    ordered: bool = True,
    min_count: int = 1,
    missing: str = "error",
) -> WordCounts:
    """The distinct pieces of the texts in a column of a Ray Dataset, and how often each occurs: as cbpe.count_words of
    all its rows. The blocks are counted where they are; this process adds up, and holds all distinct pieces.

    ordered: add up in the order of the rows, which Ray then keeps (preserve_order), so that the result is exactly that
    of reading them in order. With ordered=False blocks are taken as they come, and the pieces are in the order of their
    bytes: the counts are the same, and so is the result each time, but training breaks ties otherwise. min_count: drop
    pieces that occur less often. missing: "skip" leaves out rows that are null, and a UserWarning says how many.

    Raises TypeError for what is no Dataset and for a row that is no text, ValueError for a column that is not there and
    for another value of missing.

    >>> cbpe.distributed.count_words(ray.data.read_parquet("data"), "text").save("corpus.words")
    """
    if not hasattr(dataset, "map_batches") or not hasattr(dataset, "iter_rows"):
        raise TypeError(f"dataset must be a Dataset of Ray's, not {type(dataset).__name__}")
    min_count, ordered = checked_int("min_count", min_count, 1), checked_flag("ordered", ordered)
    missing = checked_missing(missing)
    splitter = make_splitter(pattern)
    names = dataset.columns() or []
    if names and column not in names:
        raise ValueError(f"the dataset has no column {shown(column)}; it has {listed(map(repr, names), 10)}")
    counter, text_bytes, skipped = PieceCounter(), 0, 0
    with order_kept(dataset, ordered):
        # Of each batch one row, with the file of its counts.
        counted = dataset.map_batches(CountBatch(column, pattern, missing), batch_format="pyarrow", batch_size=None)
        for row in counted.iter_rows():
            counts = WordCounts._from_bytes(row[COUNTS])
            counter.merge(counts._counter)
            text_bytes += counts.text_bytes
            skipped += row[SKIPPED]
    tell_of_changes({"skipped": skipped})
    found = WordCounts._of(counter, pattern, unicode_version(splitter), text_bytes, 0, 0)
    return found if ordered and min_count == 1 else arranged(found, ordered, min_count)


@dataclass(frozen=True)
class CountBatch:
    """What Ray has each batch become."""

    column: str
    pattern: str | None
    missing: str

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        texts, skipped = batch.column(self.column), 0
        if self.missing == "skip":
            texts, skipped = texts.drop_null(), texts.null_count
        counts = words_of(texts, pattern=self.pattern, workers=1)
        file = b"".join(map(bytes, counts._parts()))
        return pa.table({COUNTS: pa.array([file], pa.large_binary()), SKIPPED: [skipped]})


@contextmanager
def order_kept(dataset: Any, ordered: bool) -> Iterator[None]:
    """Have Ray keep the order of a dataset's rows, or leave that as it is."""
    options = dataset.context.execution_options
    before = options.preserve_order
    options.preserve_order = before or ordered
    try:
        yield
    finally:
        options.preserve_order = before


def arranged(counts: WordCounts, ordered: bool, min_count: int) -> WordCounts:
    """The same counts without rare pieces, and unless they are in order, in that of their bytes."""
    kept = [(piece, n) for piece, n in counts if n >= min_count]
    if not ordered:
        kept.sort()
    found = WordCounts(kept, pattern=counts.pattern)
    found.text_bytes = counts.text_bytes
    found.dropped_words = len(counts) - len(kept)
    found.dropped_occurrences = counts.total - found.total
    return found
