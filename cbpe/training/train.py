"""Training: learns a list of merges from text, and keeps a record of how it went.

How it works: the text is split into pieces, equal pieces are counted together, and then, again and again, the most
frequent pair of neighbouring tokens becomes a new token. tests/reference.py says it in thirty lines, and
cbpe/_core/learn.pyx does it fast.
"""

from __future__ import annotations

import os
import time
import warnings
from array import array
from collections.abc import Iterable, Mapping, Sequence
from types import EllipsisType, MappingProxyType
from typing import TYPE_CHECKING

from cbpe._core.training.train import TIE_BREAKS, Trainer
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.checks import N_BYTES, checked_int, merges_asked
from cbpe.common.progress import ProgressCallback, progress_reports
from cbpe.corpus.counting import Reading, counts_of
from cbpe.corpus.sources import Source, is_open_file
from cbpe.corpus.word_counts import WordCounts
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.splitting import unicode_version
from cbpe.training.checkpoint import Checkpoint
from cbpe.training.initial import (
    all_special_tokens,
    all_token_ids,
    ids_in_order,
    initial_vocabulary,
    untrained_vocabulary,
)
from cbpe.training.loop import Report, run
from cbpe.training.record import TrainingRecord

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from cbpe._core.splitting.split import Splitter
    from cbpe.text.splitting import RegexSplitter
    from cbpe.tokenizers.minbpe import BasicTokenizer
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["learn_merges", "train"]

FILES_NAMED = 3  # of a source of many


def learn_merges(
    source: Source | WordCounts,
    n_merges: int,
    splitter: Splitter | RegexSplitter,
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
    say. ids and special_tokens are only told: in what verbose prints, and in the record.

    Where nothing is left to merge, training ends early with a UserWarning, and record.stopped says why. Raises
    TypeError for a source, a text or a number of the wrong type, ValueError for an option out of range or a source
    without any piece.
    """
    n_merges = checked_int("n_merges", n_merges, 0)
    min_count = checked_int("min_count", min_count, 1)
    if max_token_length is not None:
        max_token_length = checked_int("max_token_length", max_token_length, 2)
    if tie_break not in TIE_BREAKS:
        raise ValueError(f"tie_break is {tie_break!r}; it must be one of {', '.join(map(repr, TIE_BREAKS))}")
    n_initial = 0 if initial is None else initial.n_merges
    start = initial if checkpoint is None else checkpoint.found(initial or untrained_vocabulary(), n_merges)
    described = describe(source)
    started = time.perf_counter()
    with progress_reports(progress) as told:
        words = counts_of(source, splitter, told, **reading)
        if n_merges > n_initial and not len(words):
            reason = "the split pattern matches nothing in the text" if words.text_bytes else "there is no text"
            raise ValueError(f"nothing to learn merges from: {reason}")
        n_words, text_bytes = len(words), words.text_bytes
        dropped_words, dropped_occurrences = words.dropped_words, words.dropped_occurrences
        # What counting needed, several times as much, is given back before the trainer takes its memory.
        data, lengths, counts = words.data(), words.lengths(), words.counts()
        del words
        trainer = Trainer(
            data, lengths, counts,
            tie_break=tie_break, min_count=min_count, max_token_length=max_token_length or 0, initial=start,
        )  # fmt: skip
        del data, lengths, counts
        read = time.perf_counter()
        if checkpoint:
            checkpoint.refuse_foreign(trainer, n_initial, min_count)
        n_before = len(trainer)
        report = Report(trainer, n_merges, ids or range(N_BYTES + n_merges)) if verbose else None
        run(trainer, n_merges, report=report, progress=told, checkpoint=checkpoint)
    left, right, counts, tokens = trainer.results()
    done = time.perf_counter()
    record = TrainingRecord(
        source=described,
        counts=counts,
        tokens=tokens,
        tokens_at_start=trainer.tokens_at_start,
        text_bytes=text_bytes,
        distinct_pieces=n_words,
        dropped_words=dropped_words,
        dropped_occurrences=dropped_occurrences,
        initial_merges=n_initial,
        merges_before=n_before,
        reading_seconds=read - started,
        merging_seconds=done - read,
        vocab_size=N_BYTES + n_merges,
        pattern=splitter.pattern,
        special_tokens=dict(special_tokens),
        tie_break=tie_break,
        min_count=min_count,
        max_token_length=max_token_length,
        stopped=trainer.stopped,
        cbpe_version=version(),
        unicode_version=unicode_version(splitter),
    )
    if verbose:
        print(f"{record.text_bytes:,} bytes are {trainer.tokens:,} tokens: {record.compression():.2f} bytes per token")
    if record.stopped:
        reached = f"{len(left)} of {n_merges} merges, at a vocabulary of {N_BYTES + len(left)} tokens"
        warnings.warn(f"training stopped after {reached}: {record.stopped}", stacklevel=3)
    return left, right, record


def version() -> str:
    """The version of this library, which cannot be imported before this module is."""
    from cbpe import __version__

    return __version__


def describe(source: object) -> str:
    """A source in some words: "a text of 12 characters", "corpus.txt", "3 texts"."""
    if isinstance(source, str):
        return f"a text of {len(source):,} characters"
    if isinstance(source, os.PathLike):
        return os.fsdecode(source)
    if is_open_file(source):
        return str(getattr(source, "name", "an open file"))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return f"a text of {memoryview(source).nbytes:,} bytes"
    if isinstance(source, (list, tuple)) and any(map(is_file, source)):
        more = f", and {len(source) - FILES_NAMED:,} more" if len(source) > FILES_NAMED else ""
        return ", ".join(map(describe, source[:FILES_NAMED])) + more
    if isinstance(source, (list, tuple)):
        return f"{len(source):,} texts"
    return repr(source) if isinstance(source, WordCounts) else f"texts of a {type(source).__name__}"


def is_file(source: object) -> bool:
    return isinstance(source, os.PathLike) or is_open_file(source)


def train(
    source: Source | WordCounts,
    vocab_size: int,
    *,
    pattern: str | EllipsisType | None = ...,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    tie_break: str = "first",
    min_count: int = 1,
    max_token_length: int | None = None,
    initial: Tokenizer | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 60.0,
    workers: int | None = None,
    max_words: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    verbose: bool = False,
    progress: bool | ProgressCallback | None = None,
) -> BasicTokenizer:
    """A new tokenizer with vocab_size - 256 merges learned from source: a text, texts, files, or WordCounts.

    source, workers, max_words, field, errors: as for count_words, whose WordCounts are a source as well.

    pattern splits each text into pieces, which merges stay within: a regular expression (a RegexTokenizer comes back),
    or None for no splitting (a BasicTokenizer). Left out, it is that of the WordCounts, or of the initial tokenizer,
    or else GPT4_SPLIT_PATTERN.

    special_tokens come on top of vocab_size: given as texts they get the ids that follow the merges, in their order, or
    they bring their ids.

    tie_break: which of several pairs with the highest count is merged, "first" the one that occurs first, as in minbpe,
    "largest" or "smallest" the one with the largest or smallest (left id, right id). Pairs that occur less than
    min_count times are not merged, nor those whose token would have more than max_token_length bytes.

    initial: a tokenizer to go on from. Its merges are the first of the new one, whatever the options say, and its
    special tokens are taken over; all of them keep their ids. New tokens get the next ids that no special token has.

    checkpoint: a path that ends in .model. What has been learned is written to it every checkpoint_seconds, at the end,
    and where training is interrupted or fails; it is a model that RegexTokenizer.load loads. If the file is there
    already, training goes on from it, to the same result as if it had never stopped: it takes the same source and
    options. A checkpoint that cannot be written, once merging has begun, is a warning.

    verbose prints every merge. progress=True draws a bar on stderr; a function is called some ten times a second with
    ("reading", bytes read, bytes in all or None), and then ("merging", merges done, merges asked for).

    Where nothing is left to merge, training ends early with a UserWarning, and tok.training.stopped says why. Raises
    what count_words raises, TypeError for a number of the wrong type, ValueError for an option out of range, a pattern
    that is no valid expression or not that of the WordCounts, special tokens that are duplicates or take the id of a
    merge, a source without a piece, an initial tokenizer that cannot be gone on from exactly, or a checkpoint of
    another training.

    >>> tok = train("low lower lowest", 258)
    >>> tok.vocab[257]
    b'low'
    >>> train("low lower lowest", 260, initial=tok).vocab[259]
    b' lower'
    """
    from cbpe.tokenizers.minbpe import BasicTokenizer, RegexTokenizer

    vocabulary = untrained_vocabulary() if initial is None else initial_vocabulary(initial)
    n_merges = merges_asked(vocab_size)
    if n_merges < vocabulary.n_merges:
        size = N_BYTES + vocabulary.n_merges
        raise ValueError(f"vocab_size is {vocab_size}, but the initial tokenizer has {size} bytes and merges already")
    if isinstance(pattern, EllipsisType):
        given = source if isinstance(source, WordCounts) else initial
        pattern = GPT4_SPLIT_PATTERN if given is None else given.pattern
    old_special_tokens = {} if initial is None else initial.special_tokens
    ids = all_token_ids(vocabulary, n_merges, old_special_tokens.values())
    if tie_break != "first" and not ids_in_order(ids):
        raise ValueError(
            f"tie_break={tie_break!r} is by id, and the initial tokenizer has no ids in order of its merges"
        )

    # Given ids are checked before the work begins, those to come stand at the end of the vocabulary that was asked for.
    tok = BasicTokenizer() if pattern is None else RegexTokenizer(pattern)
    tok._use(vocabulary, tok._splitter, {})
    planned = all_special_tokens(old_special_tokens, special_tokens, ids)
    tok.register_special_tokens(planned)
    for token, token_id in planned.items():
        if token_id in ids:
            above = max(ids) + 1
            raise ValueError(
                f"the id {token_id} of the special token {token!r} is for a merge: choose one from {above} on"
            )
    saved = None
    if checkpoint is not None:
        if vocabulary.whole_pieces or ids != array("I", range(len(ids))):
            raise ValueError(
                "a checkpoint cannot hold the ids of this tokenizer, which are not 256 + merge: leave it out, or go on "
                f"from one of cbpe.train whose special tokens have ids from {vocab_size} on"
            )
        saved = Checkpoint(checkpoint, pattern, planned, checkpoint_seconds)

    left, right, record = learn_merges(
        source,
        n_merges,
        tok._splitter,
        tie_break=tie_break,
        min_count=min_count,
        max_token_length=max_token_length,
        verbose=verbose,
        progress=progress,
        initial=vocabulary,
        ids=ids,
        special_tokens=planned,
        checkpoint=saved,
        workers=workers,
        max_words=max_words,
        field=field,
        errors=errors,
    )
    del ids[N_BYTES + len(left) :]
    grown = Vocabulary(left, right, ids, whole_pieces=vocabulary.whole_pieces)
    tok._use(grown, tok._splitter, {})
    tok.register_special_tokens(all_special_tokens(old_special_tokens, special_tokens, ids))
    tok.training = record
    return tok
