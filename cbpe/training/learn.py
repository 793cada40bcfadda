"""Learns a list of merges from text, and keeps a record of how it went.

How it works: the text is split into pieces, and equal pieces are counted together. Then, again and again, the most
frequent pair of neighbouring tokens becomes a new token. tests/reference.py says it in thirty lines;
cbpe/_core/training/learn.pyx does it fast.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from cbpe._core.training.train import Trainer
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe._version import __version__
from cbpe.common.checks import N_BYTES, checked_int
from cbpe.common.progress import ProgressCallback, progress_reports
from cbpe.common.trained_vocabulary import trained_vocabulary
from cbpe.common.warning import warn
from cbpe.common.wording import number_of, share_in_words
from cbpe.corpus.counting import Reading, counts_of
from cbpe.corpus.describing import describe_source, tell_of_plain_text, watched
from cbpe.corpus.sources import Source
from cbpe.corpus.word_counts import WordCounts
from cbpe.text.splitting import unicode_version
from cbpe.training.checkpoint import Checkpoint
from cbpe.training.loop import Report, run
from cbpe.training.record import TrainingRecord
from cbpe.training.rules import Rules, checked_rules

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from cbpe._core.calls.encoder import PythonSplitter
    from cbpe._core.splitting.split import Splitter

__all__ = [
    "Counted",
    "closing_line",
    "counted_of",
    "learn_merges",
    "record_of",
    "warn_if_stopped",
]


class Counted(NamedTuple):
    """What is known of a text when its pieces are counted: fields of TrainingRecord."""

    text_bytes: int
    distinct_pieces: int
    dropped_words: int
    dropped_occurrences: int
    skipped: int | None
    replaced: int | None


def learn_merges(
    source: Source | WordCounts,
    n_merges: int,
    splitter: Splitter | PythonSplitter,
    *,
    tie_break: str = "first",
    min_count: int = 1,
    max_token_length: int | None = None,
    verbose: bool = False,
    progress: bool | ProgressCallback | None = None,
    initial: Vocabulary | None = None,
    ids: Sequence[int] | None = None,
    special_tokens: Mapping[str, int] = MappingProxyType({}),
    checkpoint: Checkpoint | None = None,
    **reading: Unpack[Reading],
) -> tuple[array[int], array[int], TrainingRecord]:
    """Learn up to n_merges merges -> (left, right, record): merge i joins tokens left[i] and right[i] to token 256 + i.

    source and reading: as for count_words, or WordCounts. tie_break: which of several pairs with the highest count is
    merged, "first" the one that occurs first, "largest" and "smallest" the one with the largest or smallest (left id,
    right id). Pairs that occur less than min_count times are not merged, nor those whose token would have more than
    max_token_length bytes. progress: as for count_words, and then with ("merging", merges done, n_merges). left and
    right are array("I"). initial: a monotone vocabulary, whose merges are the first of n_merges, whatever the options
    say. ids and special_tokens change nothing that is learned: verbose prints the ids, and the record keeps the special
    tokens.

    Where nothing is left to merge, training ends early with a UserWarning, and record.stopped says why. Raises
    TypeError for a source, a text or a number of the wrong type, ValueError for an option out of range or a source
    without any piece.
    """
    n_merges = checked_int("n_merges", n_merges, 0)
    rules = checked_rules(tie_break, min_count, max_token_length)
    known = trained_vocabulary() if initial is None else initial
    start = known if checkpoint is None else checkpoint.found(known, n_merges)
    described = describe_source(source)
    tell_of_plain_text(source, special_tokens, reading.get("field"))
    source = watched(source, special_tokens, reading.get("field"))
    started = time.perf_counter()
    with progress_reports(progress) as told:
        trainer, counted = make_trainer(source, splitter, rules, start, told, reading)
        if n_merges > known.n_merges and not counted.distinct_pieces:
            raise nothing_to_learn(counted)
        warn_of_gaps(counted, trainer.tokens_at_start)
        read = time.perf_counter()
        if checkpoint:
            checkpoint.refuse_foreign(trainer, known.n_merges, n_merges, rules)
        n_before = len(trainer)
        report = Report(trainer, n_merges, ids or range(N_BYTES + n_merges)) if verbose else None
        run(trainer, n_merges, report=report, progress=told, checkpoint=checkpoint)
    record = record_of(
        trainer,
        rules,
        counted,
        source=described,
        seconds=(read - started, time.perf_counter() - read),
        splitter=splitter,
        special_tokens=dict(special_tokens),
        vocab_size=N_BYTES + n_merges,
        initial_merges=known.n_merges,
        merges_before=n_before,
    )
    if verbose:
        print(closing_line(record))
    warn_if_stopped(record, n_merges)
    return (*trainer.merges(), record)


def record_of(
    trainer: Trainer,
    rules: Rules,
    counted: Counted,
    *,
    seconds: tuple[float, float],
    splitter: Splitter | PythonSplitter,
    tokens_apart: int = 0,
    initial_merges: int = 0,
    merges_before: int = 0,
    **about: Any,
) -> TrainingRecord:
    """The record of a training that has ended. seconds: of reading and of merging. tokens_apart: of the text, that the
    trainer does not know of. about: other fields of the record."""
    _, _, counts, tokens = trainer.results()
    return TrainingRecord(
        counts=counts,
        tokens=array("q", [n + tokens_apart for n in tokens]) if tokens_apart else tokens,
        tokens_at_start=trainer.tokens_at_start + tokens_apart,
        **counted._asdict(),
        initial_merges=initial_merges,
        merges_before=merges_before,
        reading_seconds=seconds[0],
        merging_seconds=seconds[1],
        pattern=splitter.pattern,
        **rules._asdict(),
        stopped=trainer.stopped,
        cbpe_version=__version__,
        unicode_version=unicode_version(splitter),
        **about,
    )


def closing_line(record: TrainingRecord) -> str:
    """What verbose=True prints at the end."""
    tokens = record.tokens[-1] if record.tokens else record.tokens_at_start
    are = "is" if record.covered_bytes == 1 else "are"
    sizes = f"{number_of(record.covered_bytes, 'byte')} {are} {number_of(tokens, 'token')}"
    return f"{sizes}: {record.compression():.2f} bytes per token" if tokens else sizes


def warn_if_stopped(record: TrainingRecord, n_merges: int) -> None:
    """A UserWarning where a training has ended early."""
    if record.stopped:
        learned = len(record.counts)
        reached = (
            f"{learned:,} of {number_of(n_merges, 'merge')}, at a vocabulary of "
            f"{number_of(record.start_tokens + learned, 'token')}"
        )
        warn(f"training stopped after {reached}: {record.stopped}")


def nothing_to_learn(counted: Counted) -> ValueError:
    """The error for a source without any piece, which says why it has none."""
    if counted.dropped_words:
        dropped = "the only word was" if counted.dropped_words == 1 else f"all {counted.dropped_words:,} words were"
        reason = f"{dropped} dropped as too rare when they were counted: count again with a lower min_count"
    else:
        reason = "the split pattern matches nothing in the text" if counted.text_bytes else "there is no text"
    return ValueError(f"nothing to learn merges from: {reason}")


def warn_of_gaps(counted: Counted, n_covered: int) -> None:
    """A UserWarning where the split pattern leaves text out, of which n_covered bytes are in pieces; not where rare
    pieces were dropped as well, which are no part of these either."""
    left_out = counted.text_bytes - n_covered
    if left_out and not counted.dropped_words:
        share = share_in_words(left_out, counted.text_bytes)
        warn(
            f"the split pattern leaves {share} of the text out: nothing is learned of what it does not match, and "
            "encoding drops it"
        )


def counted_of(words: WordCounts, changed: Mapping[str, int]) -> Counted:
    """changed: how many texts were skipped, and how many bytes replaced, as counts_of has it."""
    return Counted(
        words.text_bytes,
        len(words),
        words.dropped_words,
        words.dropped_occurrences,
        changed.get("skipped"),
        changed.get("replaced"),
    )


def make_trainer(
    source: Source | WordCounts,
    splitter: Splitter | PythonSplitter,
    rules: Rules,
    start: Vocabulary,
    progress: ProgressCallback | None,
    reading: Reading,
) -> tuple[Trainer, Counted]:
    """Read and count a source, and give its pieces to a new trainer, which knows the merges of `start`."""
    words, changed = counts_of(source, splitter, progress, **reading)
    counted = counted_of(words, changed)
    data, lengths, counts = words.data(), words.lengths(), words.counts()
    # Counting gives back its memory, several times as much, before the trainer takes its own.
    del words
    trainer = Trainer(
        data,
        lengths,
        counts,
        tie_break=rules.tie_break,
        min_count=rules.min_count,
        max_token_length=rules.max_token_length or 0,
        initial=start,
    )
    return trainer, counted
