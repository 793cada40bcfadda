"""What is found in each of the files that a command reads, such as its number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from cbpe.analysis.left_out import may_leave_out
from cbpe.cli.input.settings import settings
from cbpe.cli.input.texts import input_name, reading_bars
from cbpe.common.warning import warn
from cbpe.common.wording import share_in_words, shown

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from cbpe.common.progress import ProgressCallback
    from cbpe.corpus.sources import Reader
    from cbpe.text.special_tokens import SpecialChoice

__all__ = ["LeftOut", "each_file", "file_counts"]

FAILURES = (ImportError, LookupError, OSError, ValueError)  # of a file that cannot be read, or encoded

T = TypeVar("T")


class LeftOut:
    """Counts how much of some texts is in no token of theirs, and how many of these stand for characters without a
    token. It is false where there is nothing to count: every character has tokens, and the split pattern leaves nothing
    out, or tokens are not the text's own bytes."""

    def __init__(self, tok: Tokenizer, template: bool = False, allowed: SpecialChoice = "none") -> None:
        self.tok = tok
        self.allowed = allowed
        self.is_covering = may_leave_out(tok._splitter) and tok._covered_lengths() is not None
        self.unknown = tok._vocabulary.unknown  # an id, or None
        self.tokens = self.unknown_tokens = 0
        around = tok._template if template else None
        self.added = 0 if around is None else len(tok.decode_bytes(around.around([])))  # to each text
        self.text_bytes = self.covered_bytes = 0

    def __bool__(self) -> bool:
        return self.is_covering or self.unknown is not None

    def seen(self, chunks: Iterable[str]) -> Iterator[str]:
        """The chunks of a text, as they are."""
        self.covered_bytes -= self.added
        for chunk in chunks:
            if self.is_covering:
                self.text_bytes += len(chunk.encode("utf-8", "surrogatepass"))
            yield chunk

    def tokens_of(self, id_lists: Iterable[list[int]]) -> Iterator[list[int]]:
        """The ids of the text, as they are."""
        for ids in id_lists:
            self.add(ids)
            yield ids

    def add(self, ids: list[int]) -> None:
        """Count the ids of a text, or of a part of it."""
        if self.is_covering:
            self.covered_bytes += len(self.tok.decode_bytes(ids))
        self.tokens += len(ids)
        if self.unknown is not None:
            self.unknown_tokens += ids.count(self.unknown)

    def spelled(self) -> str:
        """Where a text may spell the unknown token, that it does, as part of a sentence."""
        token = self.tok.id_to_token(self.unknown) if self.unknown is not None else None
        allowed = self.allowed == "all" or (not isinstance(self.allowed, str) and token in self.allowed)
        return f", or for {shown(token)} in it" if allowed else ""

    def tell(self, of: str) -> None:
        """A warning, if anything was left out, and another, if characters had no token. of: what a message calls the
        texts."""
        if self.unknown_tokens:
            stand = "stands" if self.unknown_tokens == 1 else "stand"
            warn(
                f"{self.unknown_tokens:,} of the {self.tokens:,} tokens of {of} {stand} for characters without a token"
                f"{self.spelled()}, each for one or more of them, which no decoding gives back"
            )
        if self.is_covering and self.covered_bytes < self.text_bytes:
            share = share_in_words(self.text_bytes - self.covered_bytes, self.text_bytes)
            warn(f"the split pattern of the tokenizer leaves {share} of {of} out: it is in no token")


def each_file(
    files: list[tuple[str, Reader]], find: Callable[[str, Reader, ProgressCallback | None], T]
) -> tuple[list[tuple[str, T]], list[Exception]]:
    """What is found in each file, and the errors of those that fail, so that one of them costs no other its result.
    find: takes the name, the reader, and what the reader calls as it reads."""
    found: list[tuple[str, T]] = []
    failures: list[Exception] = []
    with reading_bars([file for file, _ in files]) as bar_of:
        for file, reader in files:
            try:
                found.append((file, find(file, reader, bar_of(file))))
            except FAILURES as error:
                if settings.debug:
                    raise
                failures.append(error)
    return found, failures


def file_counts(
    tok: Tokenizer, files: list[tuple[str, Reader]], allowed: SpecialChoice, *, template: bool = False
) -> tuple[list[tuple[str, int]], list[Exception]]:
    """Each file with its number of tokens, and the errors of those that fail. template: whether the template's tokens
    are put around each text. Warnings tell of what the split pattern leaves out, and of characters without a token."""

    def number_in(chunks: Iterator[str], left_out: LeftOut) -> int:
        if not left_out:
            return tok.count_stream(chunks, allowed, (), add_special_tokens=template)
        id_lists = tok.encode_stream(left_out.seen(chunks), allowed, (), add_special_tokens=template)
        return sum(map(len, left_out.tokens_of(id_lists)))

    looked_at: list[tuple[str, LeftOut]] = []

    def counted(file: str, reader: Reader, report: ProgressCallback | None) -> int:
        left_out = LeftOut(tok, template, allowed)
        found = 0
        for chunks in reader.strings(report):
            try:
                found += number_in(chunks, left_out)
            except KeyError as error:
                raise reader.of_text(error) from None
        looked_at.append((file, left_out))
        return found

    counts = each_file(files, counted)
    for file, left_out in looked_at:  # not beside a bar, which would break the lines
        left_out.tell(input_name(file))
    return counts
