"""The numbers of tokens in the files that a command reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cbpe.cli.input.texts import reading_bar

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from cbpe.corpus.sources import Reader
    from cbpe.text.special_tokens import SpecialChoice

__all__ = ["file_counts"]


def file_counts(
    tok: Tokenizer, files: Iterable[tuple[str, Reader]], allowed: SpecialChoice, *, template: bool = False
) -> list[tuple[str, int]]:
    """Each file with its number of tokens. template: whether the template's tokens are put around each text."""
    counts = []
    for file, reader in files:
        with reading_bar(file) as report:
            texts = reader.strings(report)
            n = sum(tok.count_stream(chunks, allowed, (), add_special_tokens=template) for chunks in texts)
            counts.append((file, n))
    return counts
