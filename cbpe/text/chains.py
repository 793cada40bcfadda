"""Splits text by several steps one after another, as the pre-tokenizers of a tokenizer.json do: each splits every piece
of the step before on its own."""

from __future__ import annotations

from collections import namedtuple

from cbpe._core.splitting.split import UNICODE_VERSION, Splitter
from cbpe.text.surrogates import without_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
    Span = tuple[int, int]

__all__ = ["BEHAVIORS", "ChainSplitter", "Step", "divide"]

BEHAVIORS: tuple[Behavior, ...] = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


class Step(namedtuple("Step", "pattern behavior invert", defaults=("Isolated", False))):
    """How one step splits: by the matches of a native split pattern, or, inverted, by what is between them."""

    __slots__ = ()


class ChainSplitter:
    r"""Splits by steps, and at last each piece by a pattern that a Splitter knows; None leaves the pieces as they are.

    >>> steps = [Step(r"\p{N}"), Step(" ", "MergedWithNext")]
    >>> ChainSplitter(steps, None).split("a 12 b")
    ['a', ' ', '1', '2', ' b']
    """

    native = False
    looks_ahead = True  # what follows a piece may change it, as far as anybody knows
    unicode_version = UNICODE_VERSION

    def __init__(self, steps: Iterable[Step], pattern: str | None) -> None:
        self.steps = tuple(steps)
        self.pattern = pattern
        self._compiled = [(Splitter(step.pattern), step) for step in self.steps]
        if pattern is not None:
            self._compiled.append((Splitter(pattern), Step(pattern, "Removed", invert=True)))

    def __reduce__(self) -> tuple[type[ChainSplitter], tuple[tuple[Step, ...], str | None]]:
        return ChainSplitter, (self.steps, self.pattern)

    def __repr__(self) -> str:
        return f"ChainSplitter({list(self.steps)!r}, {self.pattern!r})"

    def split(self, text: str) -> list[str]:
        """The pieces of a text. A lone surrogate is U+FFFD."""
        data = without_surrogates(text).encode()
        return [data[start:end].decode() for start, end in self._pieces(data)]

    def spans(self, text: str, start: int = 0, end: int | None = None) -> list[Span]:
        """The places of the pieces in a text, which ends at `end`, from `start` on, where a piece of the first step
        begins: (start, end) in characters."""
        text = text[start:end]
        data = text.encode()
        found = self._pieces(data)
        if len(data) > len(text):
            found = in_characters(data, found)
        return [(start + first, start + last) for first, last in found]

    def _pieces(self, data: bytes) -> list[Span]:
        """The pieces of UTF-8 in bytes."""
        pieces = [(0, len(data))] if data else []
        for splitter, step in self._compiled:
            pieces = [
                (start + first, start + last)
                for start, end in pieces
                for first, last in divide(splitter.spans(data[start:end]), end - start, step)
            ]
        return pieces


def in_characters(data: bytes, spans: list[Span]) -> list[Span]:
    """Places in UTF-8, which rise, in characters."""
    found: list[Span] = []
    at = characters = 0
    for start, end in spans:
        characters += len(data[at:start].decode())
        first = characters
        characters += len(data[start:end].decode())
        found.append((first, characters))
        at = end
    return found


def divide(matches: list[Span], size: int, step: Step) -> list[Span]:
    """The pieces that a step makes of a text of this size, by the matches in it.

    >>> divide([(1, 2), (2, 3)], 4, Step("-", "MergedWithPrevious"))
    [(0, 2), (2, 3), (3, 4)]
    """
    stretches: list[tuple[Span, bool]] = []  # with whether it is something to split at
    end = 0
    for start, next_end in matches:
        if end < start:
            stretches.append(((end, start), step.invert))
        stretches.append(((start, next_end), not step.invert))
        end = next_end
    if end < size:
        stretches.append(((end, size), step.invert))
    if step.behavior == "Removed":
        return [span for span, is_delimiter in stretches if not is_delimiter]
    if step.behavior == "Isolated":
        return [span for span, _ in stretches]
    if step.behavior == "MergedWithNext":
        stretches.reverse()
    pieces: list[Span] = []
    before = False  # whether the one before is something to split at
    for (start, end), is_delimiter in stretches:
        joins = is_delimiter == before if step.behavior == "Contiguous" else is_delimiter and not before
        if joins and pieces:
            pieces[-1] = (min(start, pieces[-1][0]), max(end, pieces[-1][1]))
        else:
            pieces.append((start, end))
        before = is_delimiter
    return pieces[::-1] if step.behavior == "MergedWithNext" else pieces
