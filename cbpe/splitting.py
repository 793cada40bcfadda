"""Chooses how a split pattern runs: natively where the compiled splitter understands it, by the `regex` module elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cbpe._core.split import PatternNotSupported, Splitter

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RegexSplitter", "make_splitter"]

# How long the `regex` module may work on one text before its pattern is taken to backtrack without end.
SECONDS_PER_TEXT = 10.0
SECONDS_PER_CHARACTER = 1e-5


def make_splitter(pattern: str | None) -> Splitter | RegexSplitter:
    """A splitter for a pattern; its `native` says which kind. ValueError if the pattern is not a valid expression.

    >>> make_splitter(r"\\p{L}+|\\P{L}+").native
    True
    >>> make_splitter(r"(\\w)\\1*|.").native  # remembers what it has seen
    False
    """
    try:
        return Splitter(pattern)
    except PatternNotSupported as reason:
        return RegexSplitter(pattern, str(reason))


class RegexSplitter:
    """Splits by the `regex` module: any of its patterns, much slower, by the Unicode version of that module, and with its meaning of `$`.

    A piece is the whole match, whatever groups the pattern has; empty matches are no pieces.
    """

    native = False

    def __init__(self, pattern: str, reason: str = "") -> None:
        self.pattern = pattern
        self.reason = reason  # why the pattern does not run natively
        self._compiled = compile_regex(pattern)

    def __reduce__(self) -> tuple[type[RegexSplitter], tuple[str, str]]:
        return RegexSplitter, (self.pattern, self.reason)

    def __repr__(self) -> str:
        return f"RegexSplitter({self.pattern!r})"

    def split(self, text: str) -> list[str]:
        """The pieces of a text. ValueError if the pattern backtracks beyond all measure on it."""
        return [piece for piece in self._matches(text) if piece]

    def _matches(self, text: str) -> Iterator[str]:
        timeout = SECONDS_PER_TEXT + SECONDS_PER_CHARACTER * len(text)
        try:
            for match in self._compiled.finditer(text, timeout=timeout):
                yield match.group()
        except TimeoutError:
            raise ValueError(f"the split pattern {self.pattern!r} took more than {timeout:.0f} s on one text") from None


def compile_regex(pattern: str) -> Any:
    """The pattern compiled by the `regex` module; its errors become ValueErrors that quote the pattern."""
    import regex  # slow to import, and rarely needed

    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"the split pattern {pattern!r} is not a valid expression: {error}") from error
    except (RecursionError, MemoryError, OverflowError) as error:
        raise ValueError(f"the split pattern {pattern!r} is too large: {error}") from error
