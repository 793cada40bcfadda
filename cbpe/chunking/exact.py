"""Chunks one by one, each counted: for what can be found in no faster way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cbpe._core.text.shown import shown
from cbpe.chunking.borders import Borders
from cbpe.common.wording import number_of

if TYPE_CHECKING:
    from cbpe._core.calls.encoder import Encoder
    from cbpe._core.text.special import SpecialTokens

__all__ = ["Chunker"]

CHARACTERS_PER_TOKEN = 6  # of the first window
WINDOW = 256  # characters at least


class Chunker:
    """Finds chunks of a text that have at most `budget` tokens each."""

    def __init__(
        self, encoder: Encoder, text: str, borders: Borders, budget: int, allowed: SpecialTokens | None
    ) -> None:
        self.encoder = encoder
        self.text = text
        self.borders = borders
        self.budget = budget
        self.allowed = allowed
        self.window = max(WINDOW, CHARACTERS_PER_TOKEN * budget)
        self.truncates = True  # until it turns out that it does not

    def chunks(self, start: int, stop: int, overlap: int = 0) -> Iterator[tuple[int, int]]:
        """The chunks of the text between two borders."""
        covered = start
        while covered < stop:
            before, covered = self.next_chunk(start, covered, stop)
            yield before, covered
            start = self.start_of_shared(before, covered, overlap) if overlap and covered < stop else covered

    def next_chunk(self, start: int, covered: int, stop: int) -> tuple[int, int]:
        """The chunk that begins here and ends behind what is covered; where there is no room for more than what two
        chunks would share, it shares nothing."""
        end = self.end_of_chunk(start, covered, stop)
        return (start, end) if end is not None else (covered, self.end_of_any_chunk(covered, stop))

    def count(self, start: int, end: int) -> int:
        """How many tokens a part of the text is, encoded alone."""
        return self.encoder._count(self.text[start:end], self.allowed, None)

    def end_of_any_chunk(self, start: int, stop: int) -> int:
        """Where the chunk that begins here ends. ValueError if its first grapheme, or special token, is too much."""
        end = self.end_of_chunk(start, start, stop)
        if end is not None:
            return end
        end = self.borders.end_of_first(start)
        n = self.count(start, end)
        if n > self.budget:
            what = f"{shown(self.text[start:end])}, at character {start:,}, is {number_of(n, 'token')}"
            left = number_of(self.budget, "token")
            raise ValueError(f"{what} and is not to be cut, but max_tokens leaves {left} for a chunk")
        return end

    def end_of_chunk(self, start: int, covered: int, stop: int) -> int | None:
        """Where the chunk that begins here ends, behind what is covered already; None if it can end nowhere there."""
        limit = self.end_of_longest(start, stop)
        if limit == stop and limit > covered and self.count(start, stop) <= self.budget:
            return limit
        return next((end for end in self.borders.ends(start, covered, limit) if self.fits(start, end)), None)

    def fits(self, start: int, end: int) -> bool:
        return self.count(start, end) <= self.budget

    def end_of_longest(self, start: int, stop: int) -> int:
        """Where the longest prefix of the rest ends that is within the budget."""
        while True:
            window = self.text[start : min(start + self.window, stop)]
            found = self.length_of_longest(window)
            if found < len(window) or start + len(window) == stop:
                self.window = max(WINDOW, found + found // 2)
                return start + found
            self.window *= 2

    def length_of_longest(self, window: str) -> int:
        if self.truncates:
            try:
                found = self.encoder._truncate(window, self.budget, self.allowed, None)
            except ValueError:  # normalization may change prefixes
                found = None
            if found is not None and window.startswith(found):
                return len(found)
            self.truncates = False
        within, beyond = 0, len(window) + 1
        while beyond - within > 1:
            middle = (within + beyond) // 2
            if self.encoder._count(window[:middle], self.allowed, None) <= self.budget:
                within = middle
            else:
                beyond = middle
        return within

    def start_of_shared(self, start: int, end: int, overlap: int) -> int:
        """Where the next chunk begins, so that it shares at most `overlap` tokens with the one from start to end."""
        length = (end - start) * overlap // max(self.count(start, end), 1)
        while length > 0:
            place = self.borders.start_from(max(end - length, start + 1), start, end)
            if place < end and self.count(place, end) <= overlap:
                return place
            length = length * 3 // 4
        return end
