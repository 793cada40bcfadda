"""Runs the compiled trainer, reports how far it is, and writes the checkpoints."""

from __future__ import annotations

import sys
from typing import Protocol

from cbpe._core.training.train import Trainer
from cbpe.common.checks import N_BYTES
from cbpe.common.progress import SECONDS_BETWEEN_REPORTS, ProgressCallback
from cbpe.common.wording import number_of
from cbpe.training.checkpoint import Checkpoint
from cbpe.views.readable import readable_bytes

__all__ = ["Report", "run", "token_shown"]

LONGEST_SHOWN = 60  # characters or bytes of a token


def run(
    trainer: Trainer,
    n_merges: int,
    *,
    report: Report | None = None,
    progress: ProgressCallback | None = None,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Let the trainer learn n_merges merges. From time to time, report how far it is and write a checkpoint.

    Whatever is raised, a checkpoint is written first.
    """
    step = SECONDS_BETWEEN_REPORTS if report or progress or checkpoint else 0.0
    try:
        if progress:
            progress("merging", len(trainer), n_merges)
        while len(trainer) < n_merges and trainer.stopped is None:
            trainer.run(n_merges - len(trainer), step)
            if checkpoint:
                checkpoint.keep(trainer)
            if report:
                report.print_new_merges()
            if progress:
                progress("merging", len(trainer), n_merges if trainer.stopped is None else len(trainer))
    finally:
        if checkpoint:
            checkpoint.write(trainer)


def token_shown(token: bytes) -> str:
    """A token in quotes, as readable_bytes has it and standard output can hold it; of a long one the beginning."""
    text = token.decode("utf-8", "surrogateescape")
    begun = text[:LONGEST_SHOWN].encode("utf-8", "surrogateescape")
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    shown = readable_bytes(begun).encode(encoding, "backslashreplace").decode(encoding)
    quote = '"' if "'" in shown else "'"
    more = f"..., {len(token):,} bytes" if len(text) > LONGEST_SHOWN else ""
    return f"{quote}{shown}{quote}{more}"


class Symbols(Protocol):
    """What the trainer's symbols are called."""

    def __getitem__(self, symbol: int, /) -> object: ...


class Report:
    """Prints what verbose=True asks for: a line for each merge. ids: of the trainer's symbols, those of all merges
    included. start: the tokens before the first merge; None: the bytes. tokens_apart: of the text, that the trainer
    does not know of."""

    def __init__(
        self,
        trainer: Trainer,
        n_merges: int,
        ids: Symbols,
        start: list[bytes] | None = None,
        tokens_apart: int = 0,
    ) -> None:
        self.trainer = trainer
        self.n_merges = n_merges
        self.ids = ids
        self.tokens_apart = tokens_apart
        self.vocab = [bytes([i]) for i in range(N_BYTES)] if start is None else start
        self.n_start = len(self.vocab)
        for left, right in zip(*trainer.merges(), strict=True):
            self.vocab.append(self.vocab[left] + self.vocab[right])
        print(f"{number_of(trainer.tokens + tokens_apart, 'token')} at the start")

    def print_new_merges(self) -> None:
        """One line for each merge since the last call."""
        for left, right, count, tokens in zip(*self.trainer.results(len(self.vocab) - self.n_start), strict=True):
            token = self.vocab[left] + self.vocab[right]
            self.vocab.append(token)
            number = len(self.vocab) - self.n_start
            left_id, right_id, new_id = (self.ids[symbol] for symbol in (left, right, len(self.vocab) - 1))
            left_over = tokens + self.tokens_apart
            print(
                f"merge {number}/{self.n_merges}: ({left_id}, {right_id}) -> {new_id} ({token_shown(token)}) "
                f"had {number_of(count, 'occurrence')}, {number_of(left_over, 'token')} "
                f"{'remains' if left_over == 1 else 'remain'}"
            )
