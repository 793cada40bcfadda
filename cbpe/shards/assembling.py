"""The second step, where shards are not the tasks': documents from the parts, in their order, become shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.shards.formats.writing import Shard, Writer
from cbpe.shards.options import Options
from cbpe.shards.order import Order, Pieces
from cbpe.shards.parts import PARTS, PartStore
from cbpe.tasks.cutting import Task
from cbpe.tasks.run import Run

if TYPE_CHECKING:
    import numpy.typing as npt

    from cbpe.shards.formats.writing import Tokens

    Int64s = npt.NDArray[np.int64]
    Tell = Callable[[int, int, int], None]

__all__ = ["VALIDATION", "AssembleShard", "shard_record"]

VALIDATION = "val"  # the name of the shard for validation
AT_ONCE = 1 << 21  # tokens that are copied


def shard_record(number: int) -> str:
    """What the record of a shard is called in a run."""
    return f"shard-{number}"


@dataclass(frozen=True)
class AssembleShard:
    """Writes shard number task.number; the one after the last is that for validation."""

    run: Run
    name: str  # of the tokenizer
    options: Options
    order: Order
    records: tuple[dict[str, Any], ...]  # of the parts

    def __call__(self, task: Task, threads: int, tell: Tell) -> dict[str, Any]:
        done = self.run.done(shard_record(task.number))
        if done is not None:
            return done
        with closing(PartStore(self.run.state / PARTS, self.options.dtype, self.records)) as store:
            record = self.written(store, task, tell)
        self.run.keep(shard_record(task.number), record)
        return record

    def written(self, store: PartStore, task: Task, tell: Tell) -> dict[str, Any]:
        """The record of a shard, when it is in its place."""
        made = self.options.made_of
        validation = task.number == self.order.n_shards
        if validation:
            pieces, name, tokens = self.order.validation(store), VALIDATION, None
        else:
            pieces = self.order.shard(store, task.number)
            name = made.shard_name(task.number, alone=self.options.shard_tokens is None)
            stop = min((task.number + 1) * self.order.shard_tokens, int(self.order.first_token[-1]))
            tokens = stop - task.number * self.order.shard_tokens
            if self.options.row_tokens is not None:
                tokens -= tokens % self.options.row_tokens
        with self.run.outputs() as outputs:
            writer = made.writer(outputs, Shard(name, self.options.dtype, self.name, tokens))
            shard = Assembled(store, self.options, writer, tell)
            for some in pieces:
                shard.add(some)
            shard.close()
        split = "val" if validation or (made.first_is_val and task.number == 0) else "train"
        held = "documents" if self.options.row_tokens is None else "rows"
        counts = {held: shard.items, "tokens": shard.tokens, "padding": shard.padding}
        return {"split": split, **counts, "files": outputs.described()}


class Assembled:
    """One shard, as it is written."""

    def __init__(self, store: PartStore, options: Options, writer: Writer, tell: Tell) -> None:
        self.store = store
        self.options = options
        self.writer = writer
        self.tell = tell
        self.items = self.tokens = self.padding = 0  # items: documents, or pieces of them, or rows
        self.left = 0  # tokens of a row that has begun

    def add(self, pieces: Pieces) -> None:
        """Add documents or pieces of them."""
        before = self.tokens
        if self.options.row_tokens is None:
            self.put(slices(self.store, pieces))
            rows = self.rows_of(pieces)
            self.writer.end(pieces.lengths(), rows)
            self.items += len(pieces.lengths())
        elif self.options.cut_documents:
            self.put(slices(self.store, pieces))
            self.end_rows(self.tokens - before)
        else:
            for row, padding in whole_in_rows(pieces, self.options.row_tokens):
                self.put([*slices(self.store, row), *self.pad(padding)])
                self.end_rows(self.options.row_tokens)
        self.tell(0, self.tokens - before, (self.tokens - before) * np.dtype(self.options.dtype).itemsize)

    def end_rows(self, tokens: int) -> None:
        """Rows end where so many tokens more make some full."""
        size = self.options.row_tokens or 1
        n, self.left = divmod(self.left + tokens, size)
        if n:
            self.writer.end(np.full(n, size, np.int64), None)
            self.items += n

    def pad(self, n: int) -> list[Tokens]:
        self.padding += n
        return [np.full(n, self.options.eot or 0, self.options.dtype)] if n else []

    def put(self, parts: Iterable[Tokens]) -> None:
        """Write tokens, small parts of them together."""
        held: list[Tokens] = []
        size = 0
        for part in parts:
            held.append(part)
            size += len(part)
            if size >= AT_ONCE:
                self._write(held)
                held, size = [], 0
        if held:
            self._write(held)

    def _write(self, parts: list[Tokens]) -> None:
        tokens = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self.tokens += len(tokens)
        self.writer.write(tokens)

    def rows_of(self, pieces: Pieces) -> Any:
        """What is kept of the documents, a row for each piece."""
        if not self.store.has_rows or not len(pieces.parts):
            return None
        import pyarrow as pa

        found, wanted = [], []
        for part in np.unique(pieces.parts):
            which = np.flatnonzero(pieces.parts == part)
            found.append(self.store.rows_of(int(part), pieces.places[which]))
            wanted.append(which)
        together = pa.concat_tables(found).take(np.argsort(np.concatenate(wanted), kind="stable"))
        (batch,) = together.combine_chunks().to_batches() or [None]
        return batch

    def close(self) -> None:
        self.writer.close()


def slices(store: PartStore, pieces: Pieces) -> Iterator[Tokens]:
    """The tokens of pieces, as slices of the parts: those that follow one another together, AT_ONCE at most."""
    if not len(pieces.parts):
        return
    follows = (pieces.parts[1:] == pieces.parts[:-1]) & (pieces.starts[1:] == pieces.stops[:-1])
    first = np.concatenate([[0], np.flatnonzero(~follows) + 1])
    last = np.concatenate([first[1:], [len(pieces.parts)]]) - 1
    for part, start, stop in zip(
        pieces.parts[first].tolist(), pieces.starts[first].tolist(), pieces.stops[last].tolist(), strict=True
    ):
        for at in range(start, stop, AT_ONCE):
            yield store.read(part, at, min(stop, at + AT_ONCE))


def whole_in_rows(pieces: Pieces, size: int) -> Iterator[tuple[Pieces, int]]:
    """Documents in rows of `size` tokens, whole: as many in each as there is room for, one after the other, and how
    much padding fills it. Only one that is longer than a row is cut, into full rows and a rest."""
    pieces = in_rows(pieces, size)
    ends = np.cumsum(pieces.lengths())
    at = 0
    while at < len(ends):
        begun = int(ends[at - 1]) if at else 0
        upto = int(np.searchsorted(ends, begun + size, "right"))
        yield pieces.take(slice(at, upto)), begun + size - int(ends[upto - 1])
        at = upto


def in_rows(pieces: Pieces, size: int) -> Pieces:
    """The same tokens, in pieces of at most `size`."""
    n = np.maximum(1, -(-pieces.lengths() // size))  # pieces that each becomes
    which = np.repeat(np.arange(len(n)), n)
    number = np.arange(len(which)) - np.repeat(np.cumsum(n) - n, n)
    cut = pieces.take(which)
    starts = cut.starts + number * size
    return cut._replace(starts=starts, stops=np.minimum(cut.stops, starts + size))
