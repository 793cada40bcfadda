"""The record that a trained tokenizer keeps of its training."""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from cbpe.common.atomic_files import write_whole
from cbpe.common.checks import MAX_TOKENS, N_BYTES, checked_int
from cbpe.common.public import public
from cbpe.common.wording import number_of

if TYPE_CHECKING:
    from cbpe.views.pictures import Picture

__all__ = ["TrainingRecord"]


@public
@dataclass(frozen=True, eq=False, repr=False)
class TrainingRecord:
    """How a training went: item i of `counts` and `tokens` belongs to merge i.

    The training began with the first `merges_before` merges. Their counts say how often they were applied to the text,
    which is less than how often their pairs occurred where a token follows itself.
    """

    source: str  # in some words
    counts: array[int]  # array("q"): how often the merged pair occurred, overlaps included ("aaa" holds "aa" twice)
    tokens: array[int]  # array("q"): tokens in what was counted of the text, after the merge
    tokens_at_start: int  # one for each byte that is in a piece; over characters, for each of these
    text_bytes: int  # of all texts in UTF-8
    distinct_pieces: int
    dropped_words: int  # how many pieces max_words dropped, each as often as it did (see WordCounts),
    dropped_occurrences: int  # and how often they had occurred; `tokens` does not count them
    reading_seconds: float  # from the first text to all distinct pieces, laid out to be merged
    merging_seconds: float
    initial_merges: int  # of the tokenizer that this one went on from; 0 if there was none
    merges_before: int  # the initial ones, and those of a checkpoint
    vocab_size: int  # start_tokens + the merges asked for: that of the tokenizer, unless `stopped`
    pattern: str | None
    special_tokens: dict[str, int]
    tie_break: str
    min_count: int
    max_token_length: int | None
    stopped: str | None  # why there are fewer merges than asked for; None if there are not
    cbpe_version: str
    unicode_version: str | None  # that the text was split by; None where the `regex` module's own was used
    start_tokens: int = N_BYTES  # before the first merge, special ones left out; over characters, these too
    characters: dict[str, Any] | None = None  # over characters, the options that are for these alone
    kept_bytes: int | None = None  # over characters, of the text, where max_words has dropped some; None for all
    skipped: int | None = None  # texts that were null and left out; None where missing="skip" did not allow it
    replaced: int | None = None  # places where U+FFFD was put for what is not UTF-8; None without errors="replace"

    def __reduce__(self) -> tuple[Any, ...]:
        return TrainingRecord, tuple(getattr(self, field.name) for field in fields(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what is in a pickle of before `__reduce__`, which over characters counts special tokens in two sizes."""
        if state.get("characters") is not None:
            n_special = len(state["special_tokens"])
            state = {**state, **{name: state[name] - n_special for name in ("vocab_size", "start_tokens")}}
        vars(self).update(state)

    @property
    def seconds(self) -> float:
        """From the first text to the last merge."""
        return self.reading_seconds + self.merging_seconds

    @property
    def covered_bytes(self) -> int:
        """How many bytes of the text are in the pieces that training counted."""
        if self.characters is None:
            return self.tokens_at_start
        return self.text_bytes if self.kept_bytes is None else self.kept_bytes

    @property
    def _bytes_left(self) -> float:
        """The same; nan where it is not known, as an earlier cbpe did not count what max_words left over characters."""
        is_known = self.characters is None or not self.dropped_words or self.kept_bytes is not None
        return self.covered_bytes if is_known else float("nan")

    def __repr__(self) -> str:
        merges, text = number_of(len(self.counts), "merge"), number_of(self.text_bytes, "byte")
        return f"<TrainingRecord: {merges}, {text} of text, {self.seconds:.2f} s>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the main numbers, and the curve of the compression."""
        from cbpe.views.curve import curve
        from cbpe.views.html import block, pairs

        dropped, left_out = self.dropped_occurrences, self.text_bytes - self.covered_bytes
        about = (
            ("source", self.source),
            ("bytes of text", self.text_bytes),
            *([(f"bytes {'left out' if dropped else 'that no token holds'}", left_out)] if left_out else []),
            ("distinct pieces", self.distinct_pieces),
            ("merges", len(self.counts)),
            *([("dropped", f"rare words, which occurred {number_of(dropped, 'time')}")] if dropped else []),
            *([("null texts left out", self.skipped)] if self.skipped else []),
            *([("U+FFFD put for what is not UTF-8", self.replaced)] if self.replaced else []),
            (f"bytes per token{' of the words that are left' if dropped else ''}", self.compression()),
            ("seconds", self.seconds),
            *([("stopped", self.stopped)] if self.stopped else []),
            ("cbpe", self.cbpe_version),
        )
        drawn = curve(self.compression_curve(), "bytes per token, by the number of merges")
        return block(pairs("Training", about), drawn)

    def compression(self, vocab_size: int | None = None) -> float:
        """Bytes of text per token with the first vocab_size tokens (None: all of them); nan for an empty text. What the
        split pattern leaves out, or max_words has dropped, is not counted: it is no token either.

        ValueError unless start_tokens <= vocab_size <= start_tokens + the number of merges (256 over bytes).
        """
        start, n_merges = self.start_tokens, len(self.tokens)
        if vocab_size is not None:
            why = " (the single bytes)" if self.characters is None else " (those before the first merge)"
            n_merges = checked_int("vocab_size", vocab_size, start, why, MAX_TOKENS) - start
        if n_merges > len(self.tokens):
            raise ValueError(f"vocab_size is {vocab_size}, but the training reached only {start + len(self.tokens)}")
        tokens = self.tokens[n_merges - 1] if n_merges else self.tokens_at_start
        return self._bytes_left / tokens if tokens else float("nan")

    def compression_curve(self) -> list[float]:
        """Item i is the compression with a vocabulary of start_tokens + i tokens: len(counts) + 1 items."""
        n_bytes = self._bytes_left
        return [n_bytes / tokens if tokens else float("nan") for tokens in (self.tokens_at_start, *self.tokens)]

    @overload
    def plot(self, path: None = None) -> Picture: ...
    @overload
    def plot(self, path: str | os.PathLike[str]) -> None: ...
    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture | None:
        """Draw bytes of text per token against the size of the vocabulary, to a file: .svg, .png or .pdf, as its name
        ends. Without a path, return the curve as a picture that a notebook shows.

        A mark stands where the merges of this training begin, if it began with some. Raises ImportError where
        matplotlib is missing, which `pip install "cbpe[plot]"` brings, and ValueError for another ending, or a
        text without a token.
        """
        from cbpe.training.plot import USE, draw_compression
        from cbpe.views.pictures import Picture, refuse_picture

        ending = refuse_picture("curve.svg" if path is None else path, use=USE)
        curve, begun = self.compression_curve(), self.merges_before
        text = number_of(self.text_bytes, "byte")
        if self.covered_bytes != self.text_bytes:  # as the split pattern left some out, or max_words
            text = f"{self.covered_bytes:,} of {text}"
        draw = partial(draw_compression, curve, begun, text, start_tokens=self.start_tokens)
        if path is None:
            return Picture(draw)
        write_whole(path, [draw(ending)])
        return None
