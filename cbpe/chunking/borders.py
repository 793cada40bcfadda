"""Where a text is cut: first where people would, and never within a grapheme or a special token."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from unicodedata import category

from cbpe._core.text.chunks import sentence_end
from cbpe.chunking.graphemes import is_border, last_borders, next_border

__all__ = ["Borders"]

# What is greedy comes to the last one at once, from behind. A space belongs to the word behind it.
LAST_WORD_END = re.compile(r"(?s:.*)\S(?=\s)")
FIRST_SPACE = re.compile(r"\s")


class Borders:
    """Where one text may be cut. special_tokens: texts that are not to be cut."""

    def __init__(self, text: str, special_tokens: Collection[str]) -> None:
        self.text = text
        self.paragraph_ends = ("\n\n", "\n\r\n") if "\r" in text else ("\n\n",)
        spans = special_spans(text, special_tokens) if special_tokens else []
        self.special_starts = [start for start, _ in spans]
        self.special_ends = [end for _, end in spans]

    def may_cut(self, place: int, start: int) -> bool:
        """Whether neither a grapheme nor a special token is cut at a place behind `start`, which is a border."""
        if self.special_starts:
            i = bisect_right(self.special_starts, place) - 1
            if i >= 0 and self.special_starts[i] < place < self.special_ends[i]:
                return False
        return is_border(self.text, place, start)

    def ends(self, start: int, covered: int, limit: int) -> Iterator[int]:
        """The places behind `covered`, up to `limit`, where a chunk from `start` may end, the better ones first. Where
        chunks share no tokens, `covered` is `start`."""
        text = self.text
        low = (covered + limit) // 2
        for end in self.paragraph_ends:
            first = text.rfind(end, low, limit)
            at = first + len(end)
            if first >= 0 and low < at <= limit and self.may_cut(at, start):
                yield at
        at = sentence_end(text, low, limit, True)
        if low < at and self.may_cut(at, start):
            yield at
        at = text.rfind("\n", low, limit) + 1
        if low < at and self.may_cut(at, start):
            yield at
        found = LAST_WORD_END.match(text, covered, limit + 1)
        if found is not None and covered < found.end() <= limit and self.may_cut(found.end(), start):
            yield found.end()
        yield from (at for at in last_borders(text, covered, limit) if self.may_cut(at, start))

    def end_of_first(self, start: int) -> int:
        """The end of the grapheme, or of the special token, that begins at a border."""
        i = bisect_right(self.special_starts, start) - 1
        if i >= 0 and self.special_starts[i] == start:
            return self.special_ends[i]
        return next_border(self.text, start)

    def start_from(self, place: int, start: int, end: int) -> int:
        """Where a chunk may begin from a place on, which is behind `start`: behind a sentence that ends in the first
        half of what is left to the end, else before a word, else before a grapheme; `end` if nowhere else, or if a
        punctuation mark is left."""
        at = sentence_end(self.text, place, place + (end - place) // 2, False)
        if place < at and self.may_cut(at, start):
            return at
        space = FIRST_SPACE.search(self.text, place, end)
        if space is not None and self.may_cut(space.start(), start):
            return space.start()
        if end - place == 1 and category(self.text[place]).startswith("P"):  # as a full stop alone
            return end
        return next((at for at in range(place, end) if self.may_cut(at, start)), end)


def special_spans(text: str, tokens: Collection[str]) -> list[tuple[int, int]]:
    """Where special tokens stand in a text; of several at one place, the longest."""
    longest_first = sorted(tokens, key=len, reverse=True)
    return [match.span() for match in re.finditer("|".join(map(re.escape, longest_first)), text)]
