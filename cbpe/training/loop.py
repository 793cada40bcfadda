"""Runs the compiled trainer, reports how far it is, and writes the checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from cbpe._core.training.train import Trainer
from cbpe.common.checks import N_BYTES
from cbpe.common.progress import SECONDS_BETWEEN_REPORTS, ProgressCallback
from cbpe.training.checkpoint import Checkpoint

__all__ = ["Report", "run"]

LONGEST_SHOWN = 60  # bytes of a token


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
                progress("merging", len(trainer), n_merges)
    finally:
        if checkpoint:
            checkpoint.write(trainer)


class Report:
    """Prints what verbose=True asks for: a line for each merge. ids: of the bytes and of all merges."""

    def __init__(self, trainer: Trainer, n_merges: int, ids: Sequence[int]) -> None:
        self.trainer = trainer
        self.n_merges = n_merges
        self.ids = ids
        self.vocab = [bytes([i]) for i in range(N_BYTES)]
        for left, right in zip(*trainer.merges(), strict=True):
            self.vocab.append(self.vocab[left] + self.vocab[right])
        print(f"{trainer.tokens:,} tokens at the start")

    def print_new_merges(self) -> None:
        """One line for each merge since the last call."""
        for left, right, count, tokens in zip(*self.trainer.results(len(self.vocab) - N_BYTES), strict=True):
            token = self.vocab[left] + self.vocab[right]
            shown = repr(token[:LONGEST_SHOWN])
            if len(token) > LONGEST_SHOWN:
                shown += f"..., {len(token):,} bytes"
            self.vocab.append(token)
            number = len(self.vocab) - N_BYTES
            left_id, right_id, new_id = (self.ids[symbol] for symbol in (left, right, N_BYTES + number - 1))
            print(
                f"merge {number}/{self.n_merges}: ({left_id}, {right_id}) -> {new_id} ({shown}) "
                f"had {count:,} occurrences, {tokens:,} tokens remain"
            )
