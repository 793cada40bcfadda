"""The parts that tasks leave for the second step: N.tokens, N.ends (where each document ends, in tokens from the part's
beginning, int64), and N.rows, what is kept of the documents, as a file of Arrow's. PartStore reads them all as one
sequence of documents and of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbpe.shards.formats.writing import Shard
from cbpe.tasks.outputs import Outputs

if TYPE_CHECKING:
    import numpy.typing as npt

    from cbpe.shards.formats.writing import Lengths, Tokens

    Int64s = npt.NDArray[np.int64]

__all__ = ["PARTS", "PartStore", "PartWriter"]

PARTS = "parts"  # the folder in the state of a run
MOST_OPEN = 16  # parts at once


class PartWriter:
    """Writes a part, as a Writer does."""

    def __init__(self, outputs: Outputs, shard: Shard) -> None:
        self.name = shard.name
        self.outputs = outputs
        self.bare = outputs.open(f"{shard.name}.tokens")
        self.ends = outputs.open(f"{shard.name}.ends")
        self.rows: Any = None
        self.n_tokens = 0

    def write(self, tokens: Tokens) -> None:
        self.bare.write(tokens)

    def end(self, lengths: Lengths, rows: Any) -> None:
        ends = self.n_tokens + np.cumsum(lengths, dtype=np.int64)
        self.ends.write(ends)
        self.n_tokens = int(ends[-1])
        if rows is not None:
            import pyarrow as pa

            if self.rows is None:
                self.rows = pa.ipc.new_file(self.outputs.open(f"{self.name}.rows"), rows.schema)
            self.rows.write_batch(rows)

    def close(self) -> None:
        if self.rows is not None:
            self.rows.close()


class PartStore:
    """All parts of a run, of one thread. Files are opened when they are needed, and closed by close.

    first_document, first_token: of each part, and in the end how many there are.
    """

    def __init__(self, folder: Path, dtype: str, records: Sequence[Mapping[str, Any]]) -> None:
        self.folder = folder
        self.dtype = dtype
        self.first_document = np.cumsum([0, *(record["documents"] for record in records)], dtype=np.int64)
        self.first_token = np.cumsum([0, *(record["tokens"] for record in records)], dtype=np.int64)
        self.has_rows = any(file["name"].endswith(".rows") for record in records for file in record["files"])
        self._mapped: dict[int, Int64s] = {}
        self._opened: dict[int, Any] = {}

    @property
    def documents(self) -> int:
        return int(self.first_document[-1])

    @property
    def token_bytes(self) -> int:
        return np.dtype(self.dtype).itemsize

    @property
    def tokens(self) -> int:
        return int(self.first_token[-1])

    def ends_of(self, part: int) -> Int64s:
        """Where the documents of a part end, in tokens of the part."""
        if part not in self._mapped:
            if len(self._mapped) >= MOST_OPEN:
                self._mapped.clear()
            some = self.first_document[part + 1] > self.first_document[part]
            path = self.folder / f"{part}.ends"
            self._mapped[part] = np.memmap(path, np.int64, "r") if some else np.empty(0, np.int64)
        return self._mapped[part]

    def read(self, part: int, start: int, stop: int) -> Tokens:
        """These tokens of a part: read, as what is mapped counts as memory of the process."""
        file = self._opened.get(part)
        if file is None:
            if len(self._opened) >= MOST_OPEN:
                self.close()
            file = self._opened[part] = open(self.folder / f"{part}.tokens", "rb", buffering=0)  # noqa: SIM115
        tokens = np.empty(stop - start, self.dtype)
        file.seek(start * self.token_bytes)
        view: memoryview = memoryview(tokens).cast("B")  # type: ignore[arg-type]
        while len(view):
            n = file.readinto(view)
            if not n:
                raise ValueError(f"{file.name} is cut short: delete the folder of the run, and begin again")
            view = view[n:]
        return tokens

    def close(self) -> None:
        for file in self._opened.values():
            file.close()
        self._opened.clear()

    def rows_of(self, part: int, places: Int64s) -> Any:
        """What is kept of these documents of a part, given by their places in it."""
        import pyarrow as pa

        with pa.memory_map(str(self.folder / f"{part}.rows")) as mapped:
            taken = pa.ipc.open_file(mapped).read_all().take(places)
            return pa.Table.from_batches(taken.to_batches()).combine_chunks()

    def spans(self, first: int, stop: int) -> list[tuple[int, Int64s, Int64s]]:
        """The documents from first to stop: of each part that has some, its number, and where they begin and end, in
        tokens of the part."""
        found = []
        part = int(np.searchsorted(self.first_document, first, "right")) - 1
        while first < stop:
            base = int(self.first_document[part])
            upto = min(stop, int(self.first_document[part + 1]))
            if upto > first:
                all_ends = self.ends_of(part)
                ends = np.asarray(all_ends[first - base : upto - base])
                before = int(all_ends[first - base - 1]) if first > base else 0
                found.append((part, np.concatenate([[before], ends[:-1]]), ends))
            first = upto
            part += 1
        return found

    def token_at(self, document: int) -> int:
        """Where a document begins, in tokens of all parts; for the number of documents, where all end."""
        part = int(np.searchsorted(self.first_document, document, "right")) - 1
        if part == len(self.first_document) - 1:
            return self.tokens
        place = document - int(self.first_document[part])
        return int(self.first_token[part]) + (int(self.ends_of(part)[place - 1]) if place else 0)

    def last_document_before(self, token: int) -> int:
        """How many of all documents end at or before this token."""
        if token >= self.tokens:
            return self.documents
        part = int(np.searchsorted(self.first_token, token, "right")) - 1
        within = int(np.searchsorted(self.ends_of(part), token - int(self.first_token[part]), "right"))
        return int(self.first_document[part]) + within
