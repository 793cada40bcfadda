"""What is found in each of the files that a command reads, such as its number of tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from cbpe.cli.input.texts import reading_bar

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from cbpe.corpus.sources import Reader
    from cbpe.text.special_tokens import SpecialChoice

__all__ = ["each_file", "file_counts"]

FAILURES = (ImportError, LookupError, OSError, ValueError)  # of a file that cannot be read, or encoded

T = TypeVar("T")


def each_file(
    files: list[tuple[str, Reader]], find: Callable[[str, Reader], T]
) -> tuple[list[tuple[str, T]], list[Exception]]:
    """What is found in each file, and the errors of those that fail, so that one of them costs no other its result."""
    found: list[tuple[str, T]] = []
    failures: list[Exception] = []
    for file, reader in files:
        try:
            found.append((file, find(file, reader)))
        except FAILURES as error:
            failures.append(error)
    return found, failures


def file_counts(
    tok: Tokenizer, files: list[tuple[str, Reader]], allowed: SpecialChoice, *, template: bool = False
) -> tuple[list[tuple[str, int]], list[Exception]]:
    """Each file with its number of tokens, and the errors of those that fail. template: whether the template's tokens
    are put around each text."""

    def counted(file: str, reader: Reader) -> int:
        with reading_bar(file) as report:
            found = 0
            for chunks in reader.strings(report):
                try:
                    found += tok.count_stream(chunks, allowed, (), add_special_tokens=template)
                except KeyError as error:
                    raise reader.of_text(error) from None
            return found

    return each_file(files, counted)
