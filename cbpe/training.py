"""Training: learns a list of merges from text, and keeps a record of how it went.

How it works: the text is split into pieces, equal pieces are counted together, and then, again and again, the most
frequent pair of neighbouring tokens becomes a new token. tests/reference.py says it in thirty lines, and
cbpe/_core/learn.pyx does it fast.
"""

from __future__ import annotations

import operator
import time
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cbpe._core.count import PieceCounter, utf8
from cbpe._core.split import UNICODE_VERSION, Splitter
from cbpe._core.train import TIE_BREAKS, Trainer
from cbpe.patterns import GPT4_SPLIT_PATTERN

if TYPE_CHECKING:
    from cbpe.minbpe_tokenizers import BasicTokenizer
    from cbpe.splitting import RegexSplitter

__all__ = ["TrainingRecord", "learn_merges", "merges_asked", "train"]

N_BYTES = 256  # the ids below are the single bytes
SECONDS_BETWEEN_REPORTS = 0.1
LONGEST_SHOWN = 60  # bytes of a token


@dataclass(frozen=True, eq=False, repr=False)
class TrainingRecord:
    """How a training went: item i of `counts` and `tokens` belongs to merge i, which made token 256 + i."""

    counts: array[int]  # array("q"): how often the merged pair occurred, overlaps included ("aaa" holds "aa" twice)
    tokens: array[int]  # array("q"): tokens in the whole text after the merge
    tokens_at_start: int  # one for each byte that is in a piece
    text_bytes: int  # of all texts in UTF-8
    distinct_pieces: int
    seconds: float  # from the first text to the last merge
    vocab_size: int  # as asked for: 256 + the number of merges, unless `stopped`
    pattern: str | None
    tie_break: str
    min_count: int
    max_token_length: int | None
    stopped: str | None  # why there are fewer merges than asked for; None if there are not
    cbpe_version: str
    unicode_version: str | None  # that the text was split by; None where the `regex` module's own was used

    def __repr__(self) -> str:
        return f"<TrainingRecord: {len(self.counts)} merges, {self.text_bytes} bytes of text, {self.seconds:.2f} s>"

    def compression(self, vocab_size: int | None = None) -> float:
        """Bytes of text per token with the first vocab_size tokens (None: all of them); nan for an empty text.

        ValueError unless 256 <= vocab_size <= 256 + the number of merges.
        """
        n_merges = len(self.tokens) if vocab_size is None else merges_asked(vocab_size)
        if n_merges > len(self.tokens):
            raise ValueError(f"vocab_size is {vocab_size}, but the training reached only {N_BYTES + len(self.tokens)}")
        tokens = self.tokens[n_merges - 1] if n_merges else self.tokens_at_start
        return self.text_bytes / tokens if tokens else float("nan")

    def compression_curve(self) -> list[float]:
        """Item i is the compression with a vocabulary of 256 + i tokens: len(counts) + 1 items."""
        return [self.text_bytes / tokens if tokens else float("nan") for tokens in (self.tokens_at_start, *self.tokens)]


def learn_merges(
    source: str | Iterable[str],
    n_merges: int,
    splitter: Splitter | RegexSplitter,
    *,
    tie_break: str = "first",
    min_count: int = 1,
    max_token_length: int | None = None,
    verbose: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[array[int], array[int], TrainingRecord]:
    """Learn up to n_merges merges -> (left, right, record): merge i joins tokens left[i] and right[i] to token 256 + i.

    source: a text, or an iterable of texts, each split on its own. tie_break: which of several pairs with the highest
    count is merged, "first" the one that occurs first, "largest" and "smallest" the one with the largest or smallest
    (left id, right id). Pairs that occur less than min_count times are not merged, nor those whose token would have
    more than max_token_length bytes. progress is called with (merges done, n_merges) some ten times a second. left and
    right are array("I").

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
    started = time.perf_counter()
    counter, text_bytes = count_pieces(source, splitter)
    if n_merges and not len(counter):
        reason = "the split pattern matches nothing in the text" if text_bytes else "there is no text"
        raise ValueError(f"nothing to learn merges from: {reason}")
    n_pieces = len(counter)
    trainer = Trainer(
        counter.data(), counter.lengths(), counter.counts(),
        tie_break=tie_break, min_count=min_count, max_token_length=max_token_length or 0,
    )  # fmt: skip
    del counter
    report = Report(trainer, n_merges) if verbose else None
    run(trainer, n_merges, report, progress)
    left, right, counts, tokens = trainer.results()
    record = TrainingRecord(
        counts=counts,
        tokens=tokens,
        tokens_at_start=trainer.tokens_at_start,
        text_bytes=text_bytes,
        distinct_pieces=n_pieces,
        seconds=time.perf_counter() - started,
        vocab_size=N_BYTES + n_merges,
        pattern=splitter.pattern,
        tie_break=tie_break,
        min_count=min_count,
        max_token_length=max_token_length,
        stopped=trainer.stopped,
        cbpe_version=version(),
        unicode_version=UNICODE_VERSION if isinstance(splitter, Splitter) else None,
    )
    if verbose:
        print(f"{record.text_bytes:,} bytes are {trainer.tokens:,} tokens: {record.compression():.2f} bytes per token")
    if record.stopped:
        reached = f"{len(left)} of {n_merges} merges, at a vocabulary of {N_BYTES + len(left)} tokens"
        warnings.warn(f"training stopped after {reached}: {record.stopped}", stacklevel=3)
    return left, right, record


def merges_asked(vocab_size: int) -> int:
    """The number of merges that make a vocabulary: 276 -> 20. TypeError unless it is an int, ValueError below 256."""
    return checked_int("vocab_size", vocab_size, N_BYTES, " (the single bytes)") - N_BYTES


def checked_int(name: str, value: int, least: int, why: str = "", most: int = 2**62) -> int:
    """The value as an int from least to most; any integer type will do, but not bool."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}: {value!r}")
    value = operator.index(value)
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}{why}")
    if value > most:
        raise ValueError(f"{name} is {value}; it must be at most {most}")
    return value


def texts(source: str | Iterable[str]) -> Iterator[str]:
    """The texts of a source, each an exact str. TypeError for what is no text."""
    if isinstance(source, str):
        yield str.__str__(source)
        return
    if isinstance(source, (bytes, bytearray, memoryview)) or not isinstance(source, Iterable):
        raise TypeError(f"text must be a str or an iterable of str, not {type(source).__name__}")
    for i, text in enumerate(source):
        if not isinstance(text, str):
            raise TypeError(f"text number {i} of the source (counted from 0) must be a str, not {type(text).__name__}")
        yield str.__str__(text)


def count_pieces(source: str | Iterable[str], splitter: Splitter | RegexSplitter) -> tuple[PieceCounter, int]:
    """The pieces of all texts, counted, and the bytes of all texts."""
    counter = PieceCounter()
    text_bytes = 0
    for text in texts(source):
        if isinstance(splitter, Splitter):
            text_bytes += counter.add_text(text, splitter)
        else:
            encoded = utf8(text)
            text_bytes += len(encoded)
            counter.add_pieces(piece.encode() for piece in splitter.split(encoded.decode()))
    return counter, text_bytes


def run(trainer: Trainer, n_merges: int, report: Report | None, progress: Callable[[int, int], object] | None) -> None:
    """Let the trainer learn n_merges merges, and tell how far it is from time to time."""
    while len(trainer) < n_merges and trainer.stopped is None:
        trainer.run(n_merges - len(trainer), SECONDS_BETWEEN_REPORTS if report or progress else 0.0)
        if report:
            report.print_new_merges()
        if progress:
            progress(len(trainer), n_merges)


class Report:
    """What verbose=True prints: a line for each merge."""

    def __init__(self, trainer: Trainer, n_merges: int) -> None:
        self.trainer = trainer
        self.n_merges = n_merges
        self.vocab = [bytes([i]) for i in range(N_BYTES)]
        print(f"{trainer.tokens_at_start:,} tokens at the start")

    def print_new_merges(self) -> None:
        """One line for each merge since the last call."""
        for left, right, count, tokens in zip(*self.trainer.results(len(self.vocab) - N_BYTES), strict=True):
            token = self.vocab[left] + self.vocab[right]
            shown = repr(token[:LONGEST_SHOWN])
            if len(token) > LONGEST_SHOWN:
                shown += f"..., {len(token):,} bytes"
            new_id = len(self.vocab)
            self.vocab.append(token)
            print(
                f"merge {new_id - N_BYTES + 1}/{self.n_merges}: ({left}, {right}) -> {new_id} ({shown}) "
                f"had {count:,} occurrences, {tokens:,} tokens remain"
            )


def version() -> str:
    """The version of this library, which cannot be imported before this module is."""
    from cbpe import __version__

    return __version__


def train(
    source: str | Iterable[str],
    vocab_size: int,
    *,
    pattern: str | None = GPT4_SPLIT_PATTERN,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    tie_break: str = "first",
    min_count: int = 1,
    max_token_length: int | None = None,
    verbose: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> BasicTokenizer:
    """A new tokenizer with vocab_size - 256 merges learned from source, a text or an iterable of texts.

    pattern splits each text into pieces, which merges stay within: a regular expression (a RegexTokenizer comes back),
    or None for no splitting (a BasicTokenizer). special_tokens come on top of vocab_size: given as texts they get the
    ids that follow the merges, in their order, or they bring their ids.

    tie_break: which of several pairs with the highest count is merged, "first" the one that occurs first, as in minbpe,
    "largest" or "smallest" the one with the largest or smallest (left id, right id). Pairs that occur less than
    min_count times are not merged, nor those whose token would have more than max_token_length bytes. verbose prints
    every merge; progress is called with (merges done, merges asked for) some ten times a second. Lone surrogates in a
    text count as U+FFFD.

    Where nothing is left to merge, training ends early with a UserWarning, and tok.training.stopped says why. Raises
    TypeError for a source, a text or a number of the wrong type, ValueError for an option out of range, a pattern that
    is no valid expression, special tokens that are duplicates or take the id of a merge, or a source without a piece.

    >>> tok = train("low lower lowest", 258)
    >>> tok.vocab[257]
    b'low'
    """
    from cbpe.minbpe_tokenizers import BasicTokenizer, RegexTokenizer

    # Given ids are checked before the work begins, those to come stand at the end of the vocabulary that was asked for.
    largest = N_BYTES + merges_asked(vocab_size)
    given = dict(special_tokens) if isinstance(special_tokens, Mapping) else None
    ids = numbered(special_tokens, largest) if given is None else given
    for token, token_id in ids.items():
        if token_id in range(largest):
            raise ValueError(
                f"the id {token_id} of the special token {token!r} is for a merge: choose one from {largest} on"
            )
    tok = BasicTokenizer() if pattern is None else RegexTokenizer(pattern)
    tok.register_special_tokens(ids)
    tok.train(
        source,
        vocab_size,
        verbose,
        tie_break=tie_break,
        min_count=min_count,
        max_token_length=max_token_length,
        progress=progress,
    )
    if given is None:
        tok.register_special_tokens(numbered(ids, N_BYTES + len(tok.merges)))
    return tok


def numbered(tokens: Iterable[str], first_id: int) -> dict[str, int]:
    """Special tokens with the ids from first_id on. TypeError for a single str, ValueError for a token that is given
    twice."""
    if isinstance(tokens, str):
        raise TypeError(f"special_tokens are several texts, not one: write [{tokens!r}]")
    ids: dict[str, int] = {}
    for token in tokens:
        if token in ids:
            raise ValueError(f"the special token {token!r} is given twice")
        ids[token] = first_id + len(ids)
    return ids
