"""Checkpoints: a file keeps what training has learned so far, as a model like any other.

The format is minbpe's .model. The file is always whole: a new state is written beside it and then put in its place.
"""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Mapping
from typing import NamedTuple

from cbpe._core.text.shown import shown
from cbpe._core.training.train import Trainer
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.atomic_files import check_writable, write_whole
from cbpe.common.checks import N_BYTES
from cbpe.common.trained_vocabulary import trained_vocabulary
from cbpe.common.warning import warn
from cbpe.common.wording import listed, number_of
from cbpe.formats import minbpe
from cbpe.formats.parts import Parts
from cbpe.formats.reading import read_text
from cbpe.text.splitting import pattern_in_words
from cbpe.training.rules import Rules

__all__ = ["CHECKPOINT_SECONDS", "Checkpoint"]

NAMED = 3  # special tokens, in a warning
WITHOUT = "leave checkpoint out"  # to train what a checkpoint cannot hold
CHECKPOINT_SECONDS = 60.0  # between two writings, unless somebody says otherwise


class Learned(NamedTuple):
    """A merge: the token that it makes, of which two, and how often these occurred."""

    token: int
    pair: tuple[int, int]
    times: int


class Checkpoint:
    """The file at `path`, and when it was last written.

    pattern and special_tokens: of the tokenizer that is trained; the special tokens have the ids that they will have in
    the end. seconds: how much work, in time, may be lost, at least 0. Raises ValueError for a path that does not end in
    .model, and for what the format cannot hold.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        pattern: str | None,
        special_tokens: Mapping[str, int],
        seconds: float,
    ) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"checkpoint must be a path, a str or pathlib.Path, not {type(path).__name__}: {shown(path)}"
            )
        self.path = os.fspath(path)
        if not self.path.endswith(".model"):
            raise ValueError(f"checkpoint is {shown(self.path)}; the name of a model file ends in .model")
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
            raise TypeError(f"checkpoint_seconds must be a number, not {type(seconds).__name__}: {shown(seconds)}")
        if not seconds >= 0:
            raise ValueError(f"checkpoint_seconds is {shown(seconds)}; it must be at least 0")
        self.pattern = pattern
        self.special_tokens = dict(special_tokens)
        self.seconds = seconds
        self.written: int | None = None  # merges in the file
        self.special_written = self.special_tokens  # in the file
        self.due = time.monotonic() + seconds
        self._content(array("I"), array("I"))

    def found(self, initial: Vocabulary, n_merges: int) -> Vocabulary:
        """The vocabulary to go on from: that of the file, or the initial one if there is no file.

        Raises ValueError where the file is no model, or one of another training; OSError where it cannot be read, or
        could not be written.
        """
        if not os.path.exists(self.path):
            check_writable(self.path)
            return initial
        try:
            model = minbpe.loads(read_text(self.path))
        except ValueError as error:
            raise ValueError(f"the checkpoint {self.path} is no model to go on from: {error}") from error
        if model.pattern != self.pattern:
            patterns = f"{pattern_in_words(model.pattern)}, this one by {pattern_in_words(self.pattern)}"
            raise self._foreign(f"it splits text by {patterns}")
        if list(model.vocabulary.merges())[: initial.n_merges] != list(initial.merges()):
            raise self._foreign("its first merges are not those of the initial tokenizer")
        if model.vocabulary.n_merges > n_merges:
            raise self._foreign(
                f"it has {number_of(model.vocabulary.n_merges, 'merge')}, and {n_merges:,} are asked for"
            )
        others = [token for token in model.special_tokens if token not in self.special_tokens]
        if others:
            named = listed(map(shown, others), NAMED)
            warn(
                f"the checkpoint {self.path} has special tokens that this training has not, and will lose them: {named}"
            )
        self.written, self.special_written = model.vocabulary.n_merges, dict(model.special_tokens)
        return model.vocabulary

    def refuse_foreign(self, trainer: Trainer, n_initial: int, n_merges: int, rules: Rules) -> None:
        """ValueError where the merges from number n_initial on cannot have been learned from the trainer's text by
        these rules: one makes too long a token, is rarer than min_count, more frequent than one before it, or as
        frequent as one that tie_break takes later; or the pair that is merged next, of n_merges, is more frequent than
        the last. (Not all other rules show in the merges, least of all tie_break "first".)

        (The trainer knows how often each merge was applied. A pair of two different tokens occurred just as often. Of a
        run of one token, every second pair is merged, and training may have counted each: up to twice as many.)
        """
        sizes = [1] * N_BYTES
        for left, right in zip(*trainer.merges(), strict=True):
            sizes.append(sizes[left] + sizes[right])
        last: Learned | None = None
        bound: int | None = None  # how often a pair may occur after those so far
        for i, (left, right, count, _) in enumerate(zip(*trainer.results(n_initial), strict=True), n_initial):
            size = sizes[N_BYTES + i]
            if rules.max_token_length is not None and size > rules.max_token_length:
                limit = f"more than max_token_length = {rules.max_token_length}"
                raise self._foreign(
                    f"its merge of rank {i}, of {left} and {right}, makes a token of {size:,} bytes, {limit}"
                )
            merge = Learned(N_BYTES + i, (left, right), count)
            doubt = ""
            most = 2 * count if left == right else count
            if most < rules.min_count:
                doubt = f"less than min_count = {rules.min_count}"
            elif bound is not None and count > bound:
                doubt = f"after one with {bound:,}"
            elif left != right and last is not None and in_another_order(last, merge, rules.tie_break):
                doubt = f"as another that tie_break = {rules.tie_break!r} takes later"
            if doubt:
                raise self._foreign(
                    f"in this text its merge of rank {i}, of {left} and {right}, has count {count:,}, {doubt}"
                )
            if left != right:
                last = merge
            bound = most if bound is None else min(bound, most)
        most = 0 if bound is None else trainer.next_count(max(1, n_merges - len(trainer)))
        if bound is not None and most > bound:
            raise self._foreign(
                f"in this text a pair that is not merged yet has count {most:,}, after merges with {bound:,}"
            )

    def keep(self, trainer: Trainer) -> None:
        """Write the state if it is time. A UserWarning where that fails: training goes on."""
        now = time.monotonic()
        if now >= self.due:
            self.write(trainer)
            self.due = time.monotonic() + self.seconds

    def write(self, trainer: Trainer) -> None:
        """Write the state if the file does not hold it yet. A UserWarning where that fails: the state is still in
        memory, and the file is what it was. One Ctrl-C takes effect when it is written, a second one at once."""
        try:
            self._write(trainer)
        except KeyboardInterrupt:  # else it would lose all that was learned since the last time
            self._write(trainer)
            raise

    def _write(self, trainer: Trainer) -> None:
        if len(trainer) == self.written and self.special_written == self.special_tokens:
            return
        try:
            write_whole(self.path, [self._content(*trainer.merges())])
            self.written, self.special_written = len(trainer), self.special_tokens
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            held = "nothing is there" if self.written is None else f"it holds the first {self.written} merges"
            warn(f"the checkpoint {self.path} was not written, {held}: {reason}")

    def _content(self, left: array[int], right: array[int]) -> bytes:
        """What the file holds. ValueError for what could not be read again, and would take the place of what can."""
        vocabulary = trained_vocabulary(zip(left, right, strict=True))
        content = minbpe.dumps(Parts(vocabulary, self.pattern, self.special_tokens), WITHOUT)
        minbpe.refuse_too_long(vocabulary, content)
        return content.encode("utf-8")

    def _foreign(self, reason: str) -> ValueError:
        return ValueError(
            f"the checkpoint {self.path} is of another training: {reason}. "
            "Give the source and options that it was made with, or another path, or remove it to start anew"
        )


def in_another_order(first: Learned, then: Learned, tie_break: str) -> bool:
    """Whether a trainer with this tie_break, of "largest" and "smallest", would have taken the second merge before the
    first one: both pairs were there, and equally frequent."""
    if tie_break == "first" or then.times != first.times or max(then.pair) >= first.token:
        return False
    return then.pair > first.pair if tie_break == "largest" else then.pair < first.pair
