"""The first step: what a task reads becomes tokens, in a shard of its own, or in a part that shards are made of
later."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cbpe._core.arrow.exported import ArrowColumn, memory_of
from cbpe.analysis.left_out import may_leave_out
from cbpe.corpus.documents import DocumentBatch, LongDocument, TextsOfColumn, TextsOfLines, documents, place_of
from cbpe.corpus.files import TextFile
from cbpe.corpus.sources import changes_counted
from cbpe.shards.formats.writing import Shard, Writer
from cbpe.shards.kept_columns import KeptColumn, ids_as_texts
from cbpe.shards.longest import Longest, refuse_long
from cbpe.shards.options import Options
from cbpe.shards.parts import PARTS, PartWriter
from cbpe.tasks.cutting import Span, Task
from cbpe.tasks.outputs import Outputs
from cbpe.tasks.run import Run
from cbpe.text.streams import in_stream, text_parts
from cbpe.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy.typing as npt

    from cbpe.shards.formats.writing import Lengths, Tokens

    Tell = Callable[[int, int, int], None]

__all__ = ["EncodeTask"]

SOON_READ = 1 << 18  # bytes of a file for which no thread is worth starting

T = TypeVar("T")


@dataclass(frozen=True)
class EncodeTask:
    """Encodes the documents of a task. It leaves a shard in the folder of the run, or a part in its state. ValueError,
    when that is done, for a document that no shard can hold."""

    run: Run
    tokenizer: Tokenizer
    name: str  # of the tokenizer
    options: Options
    kept: tuple[KeptColumn, ...] = ()

    @property
    def as_ordinary_text(self) -> Any:
        """How a document is encoded: special tokens in it are ordinary text."""
        allowed = self.tokenizer._found_always() or "none"
        return {"allowed_special": allowed, "disallowed_special": (), "add_special_tokens": False}

    def __call__(self, task: Task, threads: int, tell: Tell) -> dict[str, Any]:
        done = self.run.done_task(task)
        if done is not None:
            return done
        outputs = self.run.outputs("" if self.options.in_one_step else PARTS)
        with outputs:
            made = Encoded(self, outputs, task, threads)
            for number, span in enumerate(task.spans):
                made.add(span, number, tell)
            made.close()
        record = {**task.described(), **made.counts(), "files": outputs.described()}
        self.run.keep(task.number, record)
        refuse_long(task, record, self.options)
        return record

    def new_writer(self, outputs: Outputs, task: Task) -> Writer:
        made = self.options.made_of
        name = made.shard_name(task.number, alone=False) if self.options.in_one_step else f"{task.number}"
        shard = Shard(name, self.options.dtype, self.name)
        if self.options.in_one_step:
            return made.writer(outputs, shard)
        return PartWriter(outputs, shard)


@dataclass
class EncodedBatch:
    """The tokens of several documents, in their type and with the end-of-text token where the format has it."""

    tokens: Tokens
    lengths: Lengths
    rows: Any  # what is kept of the documents
    empty: int  # how many more were left out
    longest: Longest  # its number is that in the span
    position: int  # how much of the file had been read by then


class Encoded:
    """The tokens of one task, on their way to its files."""

    def __init__(self, work: EncodeTask, outputs: Outputs, task: Task, threads: int) -> None:
        self.work = work
        self.options = work.options
        self.outputs = outputs
        self.task = task
        self.threads = threads
        self.writer: Writer | None = None  # without documents there are no files
        self.digest = sha256()  # of the tokens, where no file's is that
        self.documents = self.tokens = self.empty = self.skipped = self.replaced = self.halves = 0
        self.longest = Longest()
        # Of the texts, and of these those that are in tokens; not counted where the split pattern leaves nothing out.
        self.text_bytes = self.covered_bytes = 0
        self.lengths = work.tokenizer._covered_lengths() if may_leave_out(work.tokenizer._splitter) else None
        self.unknown = work.tokenizer._vocabulary.unknown  # the id that stands for characters without a token, or None
        self.unknown_tokens = 0
        special = work.tokenizer.special_tokens
        self.added = {
            special[token]: len(token.encode("utf-8", "surrogatepass")) for token in work.tokenizer._found_always()
        }
        self.as_ordinary_text = work.as_ordinary_text

    def add(self, span: Span, number: int, tell: Tell) -> None:
        """Encode the documents of a span: while some are written, the next ones are encoded, and others are read."""
        file = span.open(self.options.field, self.options.errors, self.options.missing)
        places = self.options.made_of.keeps == "places"
        names = ("id",) if places else self.options.columns
        told, before = 0, (self.documents, self.tokens)

        def tell_so_far(position: int) -> None:
            nonlocal told, before
            read = max(told, min(position, span.size)) if span.part is None else told
            tell(self.documents - before[0], self.tokens - before[1], read - told)
            told, before = read, (self.documents, self.tokens)

        ahead = read_ahead if span.size > SOON_READ else nullcontext
        read_batches = documents(file, names, optional=places)
        with ahead(read_batches) as batches, ahead(self.encoded_batches(batches, file, number)) as encoded:
            for batch in encoded:
                if isinstance(batch, LongDocument):
                    self.add_long(batch, file, number, tell_so_far)
                    tell_so_far(file.position)
                else:
                    self.add_batch(batch)
                    tell_so_far(batch.position)
        self.skipped += file.nulls.skipped
        self.replaced += file.repairs.total
        self.halves += file.repairs.halves
        span.source.refuse_changed()
        tell(0, 0, span.size - told)

    def add_batch(self, batch: EncodedBatch) -> None:
        self.empty += batch.empty
        self.longest = longer(self.longest, batch.longest)
        if len(batch.lengths):
            self.put(batch.tokens)
            self.end(batch.lengths, batch.rows)

    def encoded_batches(
        self, batches: Iterable[DocumentBatch | LongDocument], file: TextFile, span: int
    ) -> Iterator[EncodedBatch | LongDocument]:
        """The tokens of each batch; a long document as it is."""
        before = 0  # documents of the span
        for batch in batches:
            if isinstance(batch, LongDocument):
                yield batch
                continue
            position, empty = file.position, 0
            try:
                ids, offsets = self.encoded(batch.texts)
            except KeyError as error:
                raise self.refused(error, batch.texts, self.task.spans[span], before) from None
            self.unknown_tokens += self.unknown_in(ids)
            if self.lengths is not None:
                self.measure(batch.texts if isinstance(batch.texts, list) else batch.texts.as_strings(), ids)
            rows = self.rows_of(batch, file.path)
            longest = longest_of(offsets, self.options.eot is not None, span, before)
            before += len(offsets) - 1
            if not self.options.keep_empty:
                some = np.diff(offsets) > 0
                if not some.all():
                    empty = int(len(some) - some.sum())
                    offsets = np.concatenate([offsets[:1], offsets[1:][some]])
                    rows = None if rows is None else rows.take(np.flatnonzero(some))
            yield EncodedBatch(*with_ends(ids, offsets, self.options), rows, empty, longest, position)

    def encoded(
        self, texts: list[str] | TextsOfColumn | TextsOfLines
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """The tokens of all documents, and where those of each begin and end. A column is encoded where it lies;
        where that is refused, its strings tell what is wrong, or what they become."""
        encode, options = self.work.tokenizer.encode_batch_flat, {**self.as_ordinary_text, "num_threads": self.threads}
        if isinstance(texts, list):
            return encode(texts, **options)
        try:
            column = self.work.tokenizer.encode_arrow(texts.column, dtype="uint32", **options)
        except ValueError:
            return encode(texts.as_strings(), **options)
        return flat(column)

    def refused(
        self, error: KeyError, texts: list[str] | TextsOfColumn | TextsOfLines, span: Span, before: int
    ) -> KeyError:
        """The error about a byte without a token, with the place of the first document that has it, of documents that
        come after so many others of a span."""
        found = self.work.tokenizer._first_refused(KeyError, texts if isinstance(texts, list) else texts.as_strings())
        if found is None:
            return error
        number, reason = found
        file = span.open(self.options.field, self.options.errors, self.options.missing)
        return KeyError(f"{place_of(file, before + number)}: {reason}")

    def unknown_in(self, ids: npt.NDArray[np.uint32]) -> int:
        return 0 if self.unknown is None else int(np.count_nonzero(ids == self.unknown))

    def measure(self, texts: Iterable[str], ids: npt.NDArray[np.uint32]) -> None:
        """Count the bytes of some texts, and those of them that are in their tokens."""
        assert self.lengths is not None
        self.text_bytes += sum(len(text) if text.isascii() else len(text.encode()) for text in texts)
        if self.added:  # whose ids are anywhere: behind those of the vocabulary, or between them
            are_added = np.isin(ids, [*self.added])
            self.covered_bytes += sum(self.added[token_id] for token_id in ids[are_added].tolist())
            ids = ids[~are_added]
        self.covered_bytes += int(self.lengths[ids].sum())

    def add_long(self, document: LongDocument, file: TextFile, span: int, tell: Callable[[int], None]) -> None:
        """A document that is encoded as it comes, cut where no token depends on the cut. tell: is called, while it
        comes, with how much of the file has been read."""
        tokenizer, n = self.work.tokenizer, 0
        eot, before = self.options.eot, self.options.made_of.eot == "before"
        end = [] if eot is None else [np.array([eot], self.options.dtype)]
        waiting = end if before else []
        finds_added = self.as_ordinary_text["allowed_special"] != "none"  # which a cut could divide
        whole = tokenizer._takes_whole_texts() or finds_added
        before_part = 0  # characters
        for part in text_parts(tokenizer._splitter, document.chunks, whole=whole):
            try:
                ids = tokenizer.encode_to_numpy(part, **self.as_ordinary_text, workers=self.threads)
            except KeyError as error:
                raise KeyError(f"{file.path}: {in_stream(error, before_part).args[0]}") from None
            before_part += len(part)
            self.unknown_tokens += self.unknown_in(ids)
            if self.lengths is not None:
                self.measure([part], ids)
            if len(ids):
                for tokens in [*waiting, ids.astype(self.options.dtype)]:
                    self.put(tokens)
                    n += len(tokens)
                waiting = []
            tell(file.position)
        if not n and not self.options.keep_empty:
            self.empty += 1
            return
        for tokens in end if not before else waiting:
            self.put(tokens)
            n += len(tokens)
        self.longest = longer(self.longest, Longest(n, span))
        rows = self.rows_of(DocumentBatch([""], [0], {name: [None] for name in self.options.columns}), file.path)
        self.end(np.array([n], np.int64), rows)

    def rows_of(self, batch: DocumentBatch, path: object) -> Any:
        """What is kept of the documents, as a RecordBatch; None if nothing is."""
        keeps = self.options.made_of.keeps
        if keeps is None or (keeps == "columns" and not self.options.columns):
            return None
        pa = arrow(self.options.format)
        if keeps == "columns":
            columns = {kept.name: kept.of(batch.columns[kept.name], path, pa) for kept in self.work.kept}
        else:
            n = len(batch.texts)
            columns = {
                "id": pa.array(ids_as_texts(batch.columns.get("id"), n, path, pa), pa.string()),
                "source": pa.array([escaped_name(path)] * n, pa.string()),
                "location": pa.array(batch.locations, pa.int64()),
            }
        return pa.RecordBatch.from_pydict(columns)

    def put(self, tokens: Tokens) -> None:
        if self.writer is None:
            self.writer = self.work.new_writer(self.outputs, self.task)
        if self.writer.bare is None:
            self.digest.update(memoryview(tokens))  # type: ignore[arg-type]
        self.tokens += len(tokens)
        self.writer.write(tokens)

    def end(self, lengths: Lengths, rows: Any) -> None:
        if self.writer is None:
            self.writer = self.work.new_writer(self.outputs, self.task)
        self.documents += len(lengths)
        self.writer.end(lengths, rows)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()

    def counts(self) -> dict[str, Any]:
        n_bytes = self.tokens * np.dtype(self.options.dtype).itemsize
        counts: dict[str, Any] = {
            "documents": self.documents,
            "empty": self.empty,
            "tokens": self.tokens,
            "bytes": n_bytes,
        }
        for name in changes_counted(self.options.errors, self.options.missing):
            counts[name] = getattr(self, name)
        if self.halves:
            counts["halves"] = self.halves
        if self.lengths is not None:
            counts |= {"text_bytes": self.text_bytes, "covered_bytes": self.covered_bytes}
        if self.unknown is not None:
            counts["unknown_tokens"] = self.unknown_tokens
        counts["longest"] = self.longest
        bare = None if self.writer is None else self.writer.bare
        return {**counts, "sha256": (self.digest.digest() if bare is None else bare.digest).hex()}


def longer(one: Longest, other: Longest) -> Longest:
    """That with more tokens; of two as long, the first."""
    return other if other.tokens > one.tokens else one


def longest_of(offsets: npt.NDArray[np.int64], ends: bool, span: int, before: int) -> Longest:
    """The longest of some documents of a span, by where their tokens begin and end. ends: whether each gets the
    end-of-text token; before: how many documents of the span come before them."""
    lengths = np.diff(offsets)
    if not len(lengths):
        return Longest()
    at = int(lengths.argmax())
    return Longest(int(lengths[at]) + ends, span, before + at)


def flat(lists: ArrowColumn) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The ids of a column of lists of uint32, where they are, and where those of each list begin and end."""
    places, ids = memory_of(lists)
    width = places.nbytes // (len(lists) + 1)
    return np.frombuffer(ids, np.uint32), np.frombuffer(places, f"i{width}").astype(np.int64)


def with_ends(
    ids: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], options: Options
) -> tuple[Tokens, npt.NDArray[np.int64]]:
    """The tokens of documents in their type, each with the end-of-text token where the format has it, and the
    lengths."""
    lengths = np.diff(offsets)
    if options.eot is None:
        return ids.astype(options.dtype), lengths
    n = len(lengths)
    before = options.made_of.eot == "before"
    tokens = np.empty(len(ids) + n, options.dtype)
    ends = (offsets[:-1] if before else offsets[1:]) + np.arange(n)
    ordinary = np.ones(len(tokens), bool)
    ordinary[ends] = False
    tokens[ordinary] = ids
    tokens[ends] = options.eot
    return tokens, lengths + 1


def arrow(format_name: str) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f'format {format_name!r} takes pyarrow: pip install "cbpe[parquet]"') from error
    return pyarrow


def escaped_name(path: object) -> str:
    """The name of a file, in which a byte that is not UTF-8 is \\xNN."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@contextmanager
def read_ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """The same items, of which another thread gets the next one ready. A LongDocument is read by who takes it, and the
    next item only after that."""

    def take() -> tuple[T] | None:
        for item in items:
            return (item,)
        return None

    def taken(threads: ThreadPoolExecutor) -> Generator[T, None, None]:
        got = take()
        while got is not None:
            if isinstance(got[0], LongDocument):
                yield got[0]
                got = take()
            else:
                coming = threads.submit(take)
                yield got[0]
                got = coming.result()

    with ThreadPoolExecutor(1) as threads:
        batches = taken(threads)
        with closing(batches):
            yield batches
