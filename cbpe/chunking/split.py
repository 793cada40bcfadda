"""Cuts a text into chunks that have at most so many tokens each, at the borders that people would choose.

The text is encoded once, which tells where its tokens are: so many of them on, a chunk is full, and ends at the best
border before that. All chunks are then counted, each alone, by all cores: one that has more tokens alone than in the
text is cut again, with counting at every step (exact.py), and what is left of it goes to the next chunk. Where chunks
share tokens, those behind such a one are planned anew.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from cbpe._core.text.chunks import Stretch
from cbpe.chunking.borders import Borders
from cbpe.chunking.exact import Chunker
from cbpe.common.checks import checked_int
from cbpe.common.wording import number_of
from cbpe.text.surrogates import without_surrogates

if TYPE_CHECKING:
    from cbpe._core.calls.encoder import Encoder
    from cbpe._core.text.special import SpecialTokens

__all__ = ["checked_budget", "split_text"]

STRETCH = 1 << 17  # characters that are encoded at a time
CHARACTERS_PER_TOKEN = 16  # that a stretch has at least for a chunk
CHUNKS_AT_ONCE = 1 << 14  # that are counted together
FEWEST_AT_ONCE = 4  # that are so behind one that was cut again; more where the last such one was further away

Span = tuple[int, int]
Lengths = Any  # numpy's int64[n]


def checked_budget(text: object, max_tokens: int, overlap: int, template: int) -> tuple[int, int]:
    """The tokens that are left for a chunk beside a template's, and the overlap. TypeError for a text that is no str
    and for what is no int, ValueError for numbers that leave nothing."""
    if not isinstance(text, str):
        raise TypeError(f"the text to split must be a str, not {type(text).__name__}")
    why = f" (the template has {template})" if template else ""
    budget = checked_int("max_tokens", max_tokens, template + 1, why) - template
    overlap = checked_int("overlap", overlap, 0)
    if overlap >= budget:
        raise ValueError(f"overlap is {overlap:,}; a chunk may have {number_of(budget, 'token')}, and it must be less")
    return budget, overlap


def split_text(
    encoder: Encoder, text: str, budget: int, overlap: int, allowed: SpecialTokens | None, lengths: Lengths
) -> list[tuple[int, int]]:
    """Chunks of a text as (start, end) in characters: each has at most `budget` tokens when it is encoded alone, and
    what it shares with the one before it at most `overlap`. They are in order, and together are the whole text.
    lengths: of each token, by id, in bytes.

    ValueError for a grapheme, or a special token, that is more than the budget itself.
    """
    clean = without_surrogates(text)
    if not clean:
        return []
    borders = Borders(clean, () if allowed is None else list(allowed.ids))
    chunker = Chunker(encoder, clean, borders, budget, allowed)
    try:
        if overlap:
            chunks = list(counted_sharing(chunker, Starts(encoder, clean, allowed, lengths), overlap))
        elif borders.special_starts:
            chunks = list(counted(chunker, planned_with_care(chunker, Starts(encoder, clean, allowed, lengths))))
        else:
            chunks = list(counted(chunker, planned(chunker, Places(encoder, clean, allowed, lengths))))
    except TokensElsewhere:
        chunks = list(chunker.chunks(0, len(clean), overlap))
    if len(clean) == len(text):
        return chunks
    original = original_places(text)
    return [(original[start], original[end]) for start, end in chunks]


class TokensElsewhere(Exception):  # noqa: N818
    """The tokens do not spell the text: it is changed before it is encoded, or the split pattern leaves some out."""


class Places:
    """Where the tokens of a text begin, of one stretch at a time."""

    def __init__(self, encoder: Encoder, text: str, allowed: SpecialTokens | None, lengths: Lengths) -> None:
        self.encoder = encoder
        self.text = text
        self.allowed = allowed
        self.lengths = lengths

    def move_to(self, start: int, budget: int) -> Stretch:
        """Encode the stretch that begins here. TokensElsewhere if its tokens do not spell it."""
        end = min(start + max(STRETCH, CHARACTERS_PER_TOKEN * budget), len(self.text))
        ids = self.encoder._encode_buffer(self.text[start:end], self.allowed, None)
        self.stretch = Stretch(self.text, start, end, ids, self.lengths)
        if not self.stretch.is_spelled:
            raise TokensElsewhere
        return self.stretch


class Starts(Places):
    """The same, with the places of all of them."""

    base = end = 0
    starts: Sequence[int] = ()  # of the stretch from base to end, and its own end
    index = 0  # of a token at or before the place that was asked for last

    def move_to(self, start: int, budget: int) -> Stretch:
        stretch = super().move_to(start, budget)
        self.base, self.end = stretch.base, stretch.stop
        self.starts = memoryview(stretch.starts()).cast("q")
        self.index = 0
        return stretch

    def go_back(self, start: int, budget: int) -> None:
        """Make ready to be asked for places from here on."""
        if start < self.base:
            self.move_to(start, budget)
        self.index = max(bisect_left(self.starts, start - self.base) - 1, 0)

    def end_of_full(self, start: int, budget: int) -> int:
        """Where a chunk that begins here is full, as far as the tokens of the whole text tell. What is left of a token
        in which it begins counts as one."""
        starts = self.starts
        self.index = bisect_left(starts, start - self.base, self.index, min(self.index + 2 * budget, len(starts)))
        begins_within = self.index < len(starts) and starts[self.index] > start - self.base
        full = self.index + budget - begins_within
        if full >= len(starts) - 1 and self.end < len(self.text) and start > self.base:
            self.move_to(start, budget)
            return self.end_of_full(start, budget)
        return self.end if full >= len(starts) else self.base + starts[full]

    def start_of_last(self, end: int, n: int) -> int:
        """Where the last n tokens before a place begin, or the stretch, if it has fewer before it."""
        i = bisect_left(self.starts, end - self.base, self.index) - n
        return self.base + self.starts[max(i, 0)]


def planned(chunker: Chunker, places: Places) -> Iterator[Span]:
    """Chunks by the places of the tokens in the whole text."""
    text, borders = chunker.text, chunker.borders
    start, stretch = 0, places.move_to(0, chunker.budget)
    while start < len(text):
        chunks, start, limit = stretch.sure_chunks(start, chunker.budget)
        yield from chunks
        if start == len(text):
            return
        if limit < 0 and start > stretch.base:
            stretch = places.move_to(start, chunker.budget)
            continue
        end = next(borders.ends(start, start, limit if limit >= 0 else stretch.stop), None)
        if end is None:
            end = chunker.end_of_any_chunk(start, len(text))
        yield start, end
        start = end
        if start > stretch.stop:
            stretch = places.move_to(start, chunker.budget)


def planned_with_care(
    chunker: Chunker, places: Starts, overlap: int = 0, start: int = 0, covered: int = 0
) -> Iterator[Span]:
    """The same of chunks that share tokens, or of a text with special tokens, from a chunk on that begins at `start`
    and ends behind what is covered. Both ends of each chunk are behind those of the one before it."""
    text, borders = chunker.text, chunker.borders
    if start == 0:
        places.move_to(0, chunker.budget)
    else:
        places.go_back(start, chunker.budget)
    while covered < len(text):
        limit = places.end_of_full(start, chunker.budget)
        end = limit if limit == len(text) else next(borders.ends(start, covered, limit), None)
        if end is None and start < covered:
            start = covered  # there is no room for more than what two chunks would share
            continue
        if end is None:
            end = chunker.end_of_any_chunk(start, len(text))
        yield start, end
        before, start, covered = start, end, end
        if overlap and end < len(text):
            first = max(places.start_of_last(end, overlap), before + 1)  # a short chunk may have no more than that
            if first < end:
                start = borders.start_from(first, before, end)


def counted(chunker: Chunker, plan: Iterator[Span]) -> Iterator[Span]:
    """Chunks that share nothing. One that is too much when it is encoded alone is cut by counting, and so is what is
    left of it together with the next one, until a chunk ends where one of the plan does."""
    start = None  # of what is left
    for (begin, end), is_too_much in with_sizes(chunker, plan):
        if start is None and not is_too_much:
            yield begin, end
            continue
        start = begin if start is None else start
        while start is not None:
            _, found = chunker.next_chunk(start, start, end)
            yield start, found
            start = found if found < end else None
            if found == begin and not is_too_much:
                yield begin, end
                start = None
            elif begin < found and end < len(chunker.text):
                break


def with_sizes(chunker: Chunker, plan: Iterator[Span]) -> Iterator[tuple[Span, bool]]:
    """The same chunks, with whether they are too much."""
    while chunks := [*islice(plan, CHUNKS_AT_ONCE)]:
        yield from zip(chunks, (sizes_of(chunker, chunks) > chunker.budget).tolist(), strict=True)


def counted_sharing(chunker: Chunker, places: Starts, overlap: int) -> Iterator[Span]:
    """Chunks that share tokens. Where one is too much when it is encoded alone, or what it shares, it is found by
    counting, and those behind it are planned anew."""
    text, before, covered, n_at_once = chunker.text, 0, 0, FEWEST_AT_ONCE
    plan = planned_with_care(chunker, places, overlap)
    while chunks := [*islice(plan, n_at_once)]:
        n_at_once = min(2 * n_at_once, CHUNKS_AT_ONCE)
        pairs = zip(shared_parts(chunks, covered), chunks, strict=True)
        sizes = sizes_of(chunker, [span for pair in pairs for span in pair])
        too_much = (sizes[::2] > overlap) | (sizes[1::2] > chunker.budget)
        n_good = int(too_much.argmax()) if too_much.any() else len(chunks)
        yield from chunks[:n_good]
        if n_good:
            before, covered = chunks[n_good - 1]
        if n_good < len(chunks):
            start = chunker.start_of_shared(before, covered, overlap) if covered else 0
            before, covered = chunker.next_chunk(start, covered, len(text))
            yield before, covered
            if covered == len(text):
                return
            start = chunker.start_of_shared(before, covered, overlap)
            plan, n_at_once = planned_with_care(chunker, places, overlap, start, covered), max(n_good, FEWEST_AT_ONCE)


def shared_parts(chunks: Sequence[Span], covered: int) -> list[Span]:
    """What each chunk shares with the one before it; the first one with what ends at `covered`."""
    ends = [covered, *(end for _, end in chunks[:-1])]
    return [(start, max(start, end)) for (start, _), end in zip(chunks, ends, strict=True)]


def sizes_of(chunker: Chunker, spans: list[Span]) -> Lengths:
    """How many tokens each of these is, encoded alone."""
    import numpy as np

    starts = np.frombuffer(chunker.encoder._count_parts(chunker.text, spans, chunker.allowed), dtype=np.int64)
    return starts[1:] - starts[:-1]


def original_places(text: str) -> list[int]:
    """Where the characters begin in a text with pairs of surrogates, each of which is one character; and its end."""
    found, at = [], 0
    while at < len(text):
        found.append(at)
        is_pair = "\ud800" <= text[at] <= "\udbff" and "\udc00" <= text[at + 1 : at + 2] <= "\udfff"
        at += 2 if is_pair else 1
    return [*found, at]
