"""Counts the pieces of any source of text, with several threads and in bounded memory: a source to WordCounts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING, TypedDict

from cbpe._core.calls.parallel import checked_workers
from cbpe._core.counting.count import PieceCounter, give_back_free_memory
from cbpe._core.splitting.split import Splitter
from cbpe.common.checks import checked_int
from cbpe.common.progress import ProgressCallback, about, progress_reports
from cbpe.common.public import public
from cbpe.common.warning import warn
from cbpe.corpus.batches import BATCH_BYTES, Batch, batches
from cbpe.corpus.counted import name_of_counts, with_counts_loaded
from cbpe.corpus.describing import tell_of_plain_text
from cbpe.corpus.sources import Reader, Source
from cbpe.corpus.word_counts import WordCounts
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.spaces import CHARACTERS_SPLIT_PATTERN
from cbpe.text.splitting import make_splitter, pattern_in_words, unicode_version

if TYPE_CHECKING:
    from concurrent.futures import Future

    from typing_extensions import Unpack

    from cbpe._core.calls.encoder import PythonSplitter

__all__ = ["Reading", "Tally", "border_of", "count_source", "count_words", "counts_of", "refuse_other_pattern"]

MOST_THREADS = 64  # one thread reads, and keeps no more than these busy


@public
def count_words(
    source: Source,
    *,
    pattern: str | None = GPT4_SPLIT_PATTERN,
    workers: int | None = None,
    max_words: int | None = None,
    progress: bool | ProgressCallback | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
) -> WordCounts:
    """The distinct pieces that pattern splits the texts of source into, and how often each occurs.

    source: a str, which is a text and never the name of a file; bytes, a text in UTF-8; a pathlib.Path, a file that
    holds one text (also compressed: .gz, .xz, .zst) or many (.jsonl and .parquet, whose texts are in the field or
    column `field`); a file open in binary, such as sys.stdin.buffer; or an iterable of these. Each text is split on its
    own. Files are read a chunk at a time, so memory depends on the distinct pieces alone. (With pattern=None a text is
    one piece, and memory holds it whole. So it does where the `regex` module has to match the pattern.) Lone surrogates
    count as U+FFFD, and so, with errors="replace", does what is not UTF-8. A row or a line whose text is null is
    refused, as is None (NaN, NA) among texts; missing="skip" leaves such out, and a UserWarning says how many.

    workers: the number of threads that count; None: one for each usable core. The result does not depend on it, the
    order of the pieces included. max_words bounds memory, and is an approximation: after every half MiB of text or so,
    if there are more than 1.25 max_words distinct pieces, all but the max_words most frequent ones are dropped, and so
    again at the end; `dropped_words` of the result says how many, each as often as it was dropped, and
    `dropped_occurrences` how often they occurred. progress=True draws a bar on stderr; a function is called some ten
    times a second with ("reading", bytes read, bytes in all or None).

    Raises what the source raises, OSError for a file that cannot be read, ValueError for a file that is not what it
    should be (with its name and the place) and for options out of range or of no use, TypeError for those of the wrong
    type, ImportError where a file takes a library that is not there (it names the extra to install).

    >>> list(count_words("to be or not to be"))
    [(b'to', 1), (b' be', 2), (b' or', 1), (b' not', 1), (b' to', 1)]
    """
    splitter = make_splitter(pattern)
    tell_of_plain_text(source, field=field)
    with progress_reports(progress) as report:
        counts, _ = count_source(
            source, splitter, report, workers=workers, max_words=max_words, field=field, errors=errors, missing=missing
        )
    return counts


class Reading(TypedDict, total=False):
    """How a source is read and counted: options of count_words and train."""

    workers: int | None
    max_words: int | None
    field: str | None
    errors: str
    missing: str


def counts_of(
    source: Source | WordCounts,
    splitter: Splitter | PythonSplitter,
    report: ProgressCallback | None = None,
    **reading: Unpack[Reading],
) -> tuple[WordCounts, dict[str, int]]:
    """The counts of a source, and what a row of results says of texts that were skipped and bytes that were replaced; a
    source that is WordCounts comes back as it is, and a file of them is loaded.

    Raises what count_words raises, and ValueError for WordCounts of texts that were split by another pattern, and for
    WordCounts together with options for reading texts.
    """
    name = name_of_counts(source)
    source = with_counts_loaded(source)
    if not isinstance(source, WordCounts):
        return count_source(source, splitter, report, **reading)
    to_read = {"workers": None, "max_words": None, "field": None, "errors": "strict", "missing": "error"}
    for option, unsaid in to_read.items():
        if reading.get(option, unsaid) != unsaid:
            raise ValueError(f"{option} is for counting words, and these WordCounts are counted: leave it out")
    refuse_other_pattern(source, splitter.pattern, name)
    if source.unicode_version != unicode_version(splitter):
        raise ValueError(
            f"{name} split by Unicode {source.unicode_version}, "
            f"and the tokenizer splits by {unicode_version(splitter)}: count again"
        )
    return source, {}


def refuse_other_pattern(counts: WordCounts, pattern: str | None, name: str) -> None:
    """ValueError, which begins with the name of the counts, where they are those of another pattern."""
    if counts.pattern == pattern:
        return
    patterns = f"{pattern_in_words(counts.pattern)}, and the tokenizer splits by {pattern_in_words(pattern)}"
    if CHARACTERS_SPLIT_PATTERN in (counts.pattern, pattern):
        raise ValueError(f"{name} split by {patterns}: count again by that one")
    raise ValueError(f"{name} split by {patterns}: leave the pattern out, or count again")


def count_source(
    source: Source,
    splitter: Splitter | PythonSplitter,
    report: ProgressCallback | None = None,
    *,
    workers: int | None = None,
    max_words: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    batch_bytes: int = BATCH_BYTES,
) -> tuple[WordCounts, dict[str, int]]:
    """As count_words, and what counts_of says besides. batch_bytes: how much of the text is counted at a time; the
    result depends on it with max_words alone."""
    workers = checked_workers(workers)
    if max_words is not None:
        max_words = checked_int("max_words", max_words, 1)
    if isinstance(source, WordCounts):
        raise TypeError("these are WordCounts already: there is nothing to count")
    reader = Reader(source, field=field, errors=errors, missing=missing)
    report = about(report, reader.name)
    reason = getattr(splitter, "reason", "")
    if reason:
        warn(f"the `regex` module splits the text, which takes many times as long as compiled code: {reason}")
    if report:
        report("reading", 0, reader.total_bytes)
    cut = batches(reader.texts(), border_of(splitter), batch_bytes)
    tally = Tally(splitter, max_words)
    first = list(islice(cut, 2))
    in_threads = workers > 1 and len(first) > 1
    cut = chain(first, cut)
    del first  # which would hold the memory of two batches
    if isinstance(splitter, Splitter) and in_threads:
        steps = tally.add_in_threads(cut, splitter, workers)
    else:
        steps = tally.add_all(cut)
    with closing(steps):
        for _ in steps:
            if report:
                report("reading", reader.done_bytes, reader.total_bytes)
    if in_threads:
        give_back_free_memory()
    if report:
        report("reading", reader.done_bytes, reader.done_bytes)
    return tally.counts(), reader.as_row()


def border_of(splitter: Splitter | PythonSplitter) -> Callable[[memoryview], tuple[int, int]] | None:
    """What finds where a text may be cut, as batches takes it."""
    return splitter.last_border if isinstance(splitter, Splitter) and splitter.pattern is not None else None


class Tally:
    """Adds up the counts of batches, which come in their order."""

    def __init__(self, splitter: Splitter | PythonSplitter, max_words: int | None) -> None:
        self.splitter = splitter
        self.max_words = max_words
        self.counter = PieceCounter()
        self.text_bytes = self.dropped_words = self.dropped_occurrences = 0

    def add_all(self, cut: Iterable[Batch]) -> Generator[None, None, None]:
        """Count all batches; gives way after each."""
        for batch in cut:
            if isinstance(self.splitter, Splitter):
                self.counter.add_texts(*batch, self.splitter)
            else:
                for text in batch_texts(batch):
                    self.counter.add_pieces(piece.encode() for piece in self.splitter.split(text))
            self.added(batch)
            yield

    def add_in_threads(self, cut: Iterable[Batch], splitter: Splitter, workers: int) -> Generator[None, None, None]:
        """As add_all. `workers` threads count each batch apart, and one more thread adds up their counts, in order.

        So a frequent piece is looked up once a batch in the table of all pieces. Memory holds that table, and at most
        workers + 1 batches with their counts.
        """
        from cbpe.corpus.threads import Threads  # which takes long to import

        workers = min(workers, MOST_THREADS)
        idle = [PieceCounter() for _ in range(workers + 1)]
        under_way: deque[tuple[PieceCounter, Future[None]]] = deque()

        def add(batch: Batch, apart: PieceCounter, counted: Future[None]) -> None:
            counted.result()
            self.counter.merge(apart)
            apart.clear()
            self.added(batch)

        with Threads(1) as adding, Threads(workers) as counting:
            if not adding.n or not counting.n:  # the system has no more threads: this one does it
                yield from self.add_all(cut)
                return
            try:
                for batch in cut:
                    apart = idle.pop()
                    counted = counting.submit(apart.add_texts, *batch, splitter)
                    under_way.append((apart, adding.submit(add, batch, apart, counted)))
                    if not idle:
                        under_way[0][1].result()
                        idle.append(under_way.popleft()[0])
                        yield
                for _, added in under_way:
                    added.result()
                    yield
            except BaseException:  # the threads stop: nobody wants their counts any more
                for apart, _ in under_way:
                    apart.stop()
                self.counter.stop()
                counting.cancel()
                adding.cancel()
                raise

    def added(self, batch: Batch) -> None:
        """Called when a batch is counted, by the thread that adds up."""
        self.text_bytes += batch.n_bytes
        if self.max_words is not None and len(self.counter) > self.max_words + self.max_words // 4:
            self._drop(self.max_words)

    def _drop(self, max_words: int) -> None:
        words, occurrences = self.counter.drop_rarest(max_words)
        self.dropped_words += words
        self.dropped_occurrences += occurrences

    def counts(self) -> WordCounts:
        """All that was counted. Nothing can be added to the tally after that."""
        if self.max_words is not None:
            self._drop(self.max_words)
        dropped = self.dropped_words, self.dropped_occurrences
        version = unicode_version(self.splitter)
        return WordCounts._of(self.counter, self.splitter.pattern, version, self.text_bytes, *dropped)


def batch_texts(batch: Batch) -> Iterator[str]:
    """The texts of a batch, which holds whole ones."""
    start = 0
    for end in batch.ends:
        yield str(batch.data[start:end], "utf-8")
        start = end
