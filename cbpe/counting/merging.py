"""The second step: the counts of one partition, of all tasks, are added up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe._core.counting.count import PieceCounter
from cbpe.counting.partitions import NUMBERS, Pieces, ordered, read_partition, write_pieces
from cbpe.counting.tasks import COUNTED
from cbpe.tasks.cutting import Task
from cbpe.tasks.run import Run

if TYPE_CHECKING:
    Tell = Callable[[int, int, int], None]

__all__ = ["MERGED", "MergePartition", "Written", "partition_record", "pieces_added", "written_by"]

MERGED = "merged"  # the folder in the state of a run


def partition_record(number: int) -> str:
    """What the record of a partition is called in a run."""
    return f"partition-{number}"


@dataclass(frozen=True)
class Written:
    """What a task has left."""

    files: tuple[str, ...]
    first_place: int  # in the corpus


def written_by(records: Sequence[Mapping[str, Any]]) -> tuple[Written, ...]:
    """What the tasks of these records have left, in their order."""
    found, place = [], 0
    for record in records:
        found.append(Written(tuple(file["name"] for file in record["files"]), place))
        place += record["places"]
    return tuple(found)


@dataclass(frozen=True)
class MergePartition:
    """Adds up partition number task.number of all tasks, in their order, and leaves it in a file: places in the corpus,
    lengths, counts and bytes of the pieces, in the order of their first places."""

    run: Run
    partitions: int
    min_count: int
    written: tuple[Written, ...]

    def __call__(self, task: Task, threads: int, tell: Tell) -> dict[str, Any]:
        name = partition_record(task.number)
        done = self.run.done(name)
        if done is not None:
            return done
        merged = pieces_added(self.parts(task.number, tell))
        kept = ordered(merged, np.flatnonzero(merged.counts >= self.min_count))
        with self.run.outputs(MERGED) as outputs:
            write_pieces(outputs.open(f"{task.number}.counts"), kept)
        occurrences = int(kept.counts.sum())
        record = {
            "words": len(kept.places),
            "word_bytes": int(kept.lengths.sum()),
            "occurrences": occurrences,
            "covered_bytes": covered_bytes(kept),
            "dropped_words": len(merged.places) - len(kept.places),
            "dropped_occurrences": int(merged.counts.sum()) - occurrences,
            "files": outputs.described(),
        }
        self.run.keep(name, record)
        return record

    def parts(self, partition: int, tell: Tell) -> Iterator[Pieces]:
        """The partition as each task has left it, with places in the corpus."""
        folder: Path = self.run.state / COUNTED
        for written in self.written:
            for file in written.files:
                pieces = read_partition(folder / file, partition, self.partitions)
                yield pieces._replace(places=pieces.places + written.first_place)
                tell(0, 0, NUMBERS * len(pieces.places) + memoryview(pieces.data).nbytes)


def covered_bytes(pieces: Pieces) -> int:
    """How many bytes of texts the pieces are, however often each occurs."""
    if len(pieces.counts) and int(pieces.lengths.max()) * int(pieces.counts.sum()) >= 2**63:
        return sum(length * n for length, n in zip(pieces.lengths.tolist(), pieces.counts.tolist(), strict=True))
    return int((pieces.lengths * pieces.counts).sum())


def pieces_added(parts: Iterator[Pieces]) -> Pieces:
    """Counted pieces, some of which are in several parts, added up: each with its first place, in this order. Places
    grow, in a part and from one to the next."""
    counter = PieceCounter()
    places = [np.empty(0, np.int64)]
    for part in parts:
        new = counter.add_new(part.data, part.lengths, part.counts)
        places.append(part.places[np.asarray(new)])
    lengths, counts = np.asarray(counter.lengths()), np.asarray(counter.counts())
    return Pieces(np.concatenate(places), lengths, counts, counter.data())
