"""The first step: a task counts its part of the corpus, and leaves the counts in partitions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cbpe._core.splitting.split import Splitter
from cbpe.corpus.batches import Batch
from cbpe.corpus.counting import Tally
from cbpe.corpus.sources import changes_counted
from cbpe.corpus.word_counts import Header
from cbpe.counting.partitions import write_partitions
from cbpe.counting.reading import Texts, counted_lines, kind_of, words_of
from cbpe.tasks.cutting import Span, Task
from cbpe.tasks.other_runs import without_usual_missing
from cbpe.tasks.outputs import Outputs
from cbpe.tasks.run import Run
from cbpe.text.splitting import make_splitter, unicode_version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cbpe._core.calls.encoder import PythonSplitter

    Tell = Callable[[int, int, int], None]

__all__ = ["COUNTED", "CountTask", "Counting"]

COUNTED = "counted"  # the folder in the state of a run
HELD_BYTES = 1 << 27  # that the counts of a task take before they are written
BYTES_PER_PIECE = 80  # of the table, apart from the piece's own: a slot, and its share of those that are empty


@dataclass(frozen=True)
class Counting:
    """What the counts depend on, the corpus aside."""

    pattern: str | None
    field: str | None
    errors: str
    counts: bool  # the sources have a word and its count on each line
    min_count: int
    partitions: int
    held_bytes: int = HELD_BYTES
    missing: str = "error"

    def as_json(self) -> dict[str, Any]:
        return without_usual_missing(asdict(self))


@dataclass(frozen=True)
class CountTask:
    """Counts the pieces of a task, and leaves them in files of partitions."""

    run: Run
    counting: Counting

    def __call__(self, task: Task, threads: int, tell: Tell) -> dict[str, Any]:
        done = self.run.done_task(task)
        if done is not None:
            return done
        options = self.counting
        outputs = self.run.outputs(COUNTED)
        with outputs:
            counted = TaskCounts(make_splitter(options.pattern), options, outputs, task.number, threads)
            for kind, spans in groupby(task.spans, lambda span: kind_of(span, options.counts)):
                counted.add(kind, list(spans), tell)
            counted.write()
        record = {
            **task.described(),
            **counted.about(),
            "files": outputs.described(),
        }
        self.run.keep(task.number, record)
        return record


class TaskCounts(Tally):
    """The counts of one task. When they take too much memory, they are written, and others begin."""

    def __init__(
        self, splitter: Splitter | PythonSplitter, options: Counting, outputs: Outputs, task: int, threads: int
    ) -> None:
        super().__init__(splitter, None)
        self.options = options
        self.outputs = outputs
        self.task = task
        self.threads = threads
        self.documents = self.places = self.skipped = self.replaced = self.halves = 0

    def add(self, kind: str, spans: list[Span], tell: Tell) -> None:
        """Count what consecutive spans of one kind hold."""
        if kind == "texts":
            self.add_texts(Texts(spans, self.options.field, self.options.errors, self.options.missing), tell)
            return
        for span in spans:
            if kind == "words":
                version = unicode_version(self.splitter)
                words: Iterable[Any] = words_of(span, self.options.pattern, version, self.heard)
            else:
                words = self.with_text_bytes(self.words_on_lines(span))
            try:
                self.add_words(words, tell)
            except OverflowError as error:
                problem = "with its words there would be more than 2^63 - 1 occurrences in all"
                raise OverflowError(f"{span.source.path}: {problem}") from error
            tell(0, 0, span.size)

    def add_texts(self, texts: Texts, tell: Tell) -> None:
        cut = texts.batches(self.splitter)
        if self.threads > 1 and isinstance(self.splitter, Splitter):
            steps = self.add_in_threads(cut, self.splitter, self.threads)
        else:
            steps = self.add_all(cut)
        documents = position = 0
        with closing(steps):
            for _ in steps:
                tell(texts.documents - documents, 0, texts.position - position)
                documents, position = texts.documents, texts.position
        tell(texts.documents - documents, 0, texts.position - position)
        self.documents += texts.documents
        self.skipped += texts.skipped
        self.replaced += texts.replaced
        self.halves += texts.halves

    def add_words(self, words: Iterable[Any], tell: Tell) -> None:
        for data, lengths, counts in words:
            self.counter.add_counts(data, lengths, counts)
            self.write_if_large()
            tell(0, 0, 0)

    def words_on_lines(self, span: Span) -> Iterable[Any]:
        file = span.open(None, self.options.errors)
        yield from counted_lines(span, file)
        self.replaced += file.repairs.total
        self.halves += file.repairs.halves

    def with_text_bytes(self, words: Iterable[Any]) -> Iterable[Any]:
        for data, lengths, counts in words:
            self.text_bytes += sum(length * count for length, count in zip(lengths, counts, strict=True))
            yield data, lengths, counts

    def heard(self, header: Header) -> None:
        """The header of a file of word counts."""
        self.text_bytes += header.text_bytes
        self.dropped_words += header.dropped_words
        self.dropped_occurrences += header.dropped_occurrences

    def added(self, batch: Batch) -> None:
        super().added(batch)
        self.write_if_large()

    def write_if_large(self) -> None:
        if self.counter.word_bytes + BYTES_PER_PIECE * len(self.counter) >= self.options.held_bytes:
            self.write()

    def write(self) -> None:
        """Write what has been counted, and begin anew."""
        if len(self.counter):
            output = self.outputs.open(f"{self.task}-{len(self.outputs.files)}.counts")
            write_partitions(output, self.counter, self.options.partitions, self.places)
            self.places += len(self.counter)
            self.counter.clear()

    def about(self) -> dict[str, Any]:
        """What the record of the task says. places: how many pieces it has written, one more than once where the counts
        were too large to be held."""
        names = ["documents", "text_bytes", "places", "dropped_words", "dropped_occurrences"]
        names += changes_counted(self.options.errors, self.options.missing)
        names += ["halves"] * (self.halves > 0)
        return {name: getattr(self, name) for name in names}
