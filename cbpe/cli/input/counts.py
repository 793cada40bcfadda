"""The numbers of tokens in the files that a command reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import cbpe
from cbpe.cli.input.texts import reading_bar

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from cbpe.corpus.sources import Reader
    from cbpe.text.special_tokens import SpecialChoice

__all__ = ["file_counts"]


def file_counts(tok: Tokenizer, files: Iterable[tuple[str, Reader]], allowed: SpecialChoice) -> list[tuple[str, int]]:
    """Each file with its number of tokens."""
    counts = []
    for file, reader in files:
        with reading_bar(file) as report:
            texts = reader.strings(report)
            counts.append((file, sum(cbpe.Tokenizer.count_stream(tok, chunks, allowed) for chunks in texts)))
    return counts
