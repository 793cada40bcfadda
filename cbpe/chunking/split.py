"""Cuts a text into chunks that have at most so many tokens each, at the borders that people would choose.

The text is encoded once, which tells where its tokens are: so many of them on, a chunk is full, and ends at the best
border before that. All chunks are then counted, each alone, by all cores: one that has more tokens alone than in the
text, which is rare, is cut again, with counting at every step (exact.py).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cbpe.chunking.borders import Borders
from cbpe.chunking.exact import Chunker
from cbpe.common.checks import checked_int
from cbpe.text.surrogates import without_surrogates

if TYPE_CHECKING:
    from cbpe._core.calls.encoder import Encoder
    from cbpe._core.text.special import SpecialTokens

__all__ = ["checked_budget", "split_text"]

STRETCH = 1 << 17  # characters that are encoded at a time
CHARACTERS_PER_TOKEN = 16  # that a stretch has at least for a chunk
CHUNKS_AT_ONCE = 1 << 12  # that are counted together

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
        raise ValueError(f"overlap is {overlap}; it must be less than the {budget} tokens that a chunk may have")
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
    places = Places(encoder, clean, allowed, lengths)
    try:
        chunks = list(counted(chunker, planned(chunker, places, overlap), overlap))
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
        self.base = self.end = 0
        self.starts: Sequence[int] = ()  # of the stretch from base to end, and its own end
        self.index = 0  # of a token at or before the place that was asked for last

    def move_to(self, start: int, budget: int) -> None:
        """Encode the stretch that begins here. TokensElsewhere if its tokens do not spell it."""
        import numpy as np

        length = max(STRETCH, CHARACTERS_PER_TOKEN * budget)
        self.base, self.end = start, min(start + length, len(self.text))
        stretch = self.text[start : self.end]
        ids = np.frombuffer(memoryview(self.encoder._encode_buffer(stretch, self.allowed, None)), dtype=np.uint32)
        if len(ids) == 0 or ids.max() >= len(self.lengths):
            raise TokensElsewhere
        ends = np.cumsum(self.lengths[ids])
        if stretch.isascii():
            size = len(stretch)
        else:
            data = np.frombuffer(stretch.encode(), dtype=np.uint8)
            size = len(data)
        if ends[-1] != size:
            raise TokensElsewhere
        starts = np.concatenate((np.zeros(1, dtype=np.int64), ends))
        if not stretch.isascii():
            begins = np.concatenate(((data & 0xC0) != 0x80, np.ones(1, dtype=bool)))
            starts = np.cumsum(begins)[starts] - 1  # of a token within a character, where that begins
        self.starts = memoryview(starts.data)
        self.index = 0

    def end_of_full(self, start: int, budget: int) -> int:
        """Where a chunk that begins here is full, as far as the tokens of the whole text tell."""
        starts = self.starts
        self.index = bisect_left(starts, start - self.base, self.index, min(self.index + 2 * budget, len(starts)))
        full = self.index + budget
        if full >= len(starts) - 1 and self.end < len(self.text) and start > self.base:
            self.move_to(start, budget)
            return self.end_of_full(start, budget)
        return self.end if full >= len(starts) else self.base + starts[full]

    def start_of_last(self, end: int, n: int) -> int:
        """Where the last n tokens before a place begin."""
        i = bisect_left(self.starts, end - self.base, self.index) - n
        return self.base + self.starts[i] if i >= 0 else end


def planned(chunker: Chunker, places: Places, overlap: int) -> Iterator[Span]:
    """Chunks by the places of the tokens in the whole text."""
    text, borders = chunker.text, chunker.borders
    start = covered = 0
    places.move_to(0, chunker.budget)
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
            first = places.start_of_last(end, overlap)
            if before < first < end:
                start = borders.start_from(first, before, end)


def counted(chunker: Chunker, chunks: Iterator[Span], overlap: int) -> Iterator[Span]:
    """The same chunks, but those that are too much when they are encoded alone are cut again, and those that share too
    much with the one before them begin later."""
    covered = 0
    for several in batches(chunks):
        sizes = sizes_of(chunker, several)
        shared = sizes_of(chunker, shared_parts(several, covered)) if overlap else [0] * len(several)
        for (start, end), n, n_shared in zip(several, sizes, shared, strict=True):
            if n_shared > overlap:
                start, n = covered, chunker.count(covered, end)
            if n <= chunker.budget:
                yield start, end
            else:
                yield from chunker.chunks(start, end)
            covered = end


def shared_parts(chunks: Sequence[Span], covered: int) -> list[Span]:
    """What each chunk shares with the one before it; the first one with what ends at `covered`."""
    ends = [covered, *(end for _, end in chunks)]
    return [(start, max(start, end)) for (start, _), end in zip(chunks, ends, strict=False)]


def batches(chunks: Iterator[Span]) -> Iterator[list[Span]]:
    from itertools import islice

    while several := list(islice(chunks, CHUNKS_AT_ONCE)):
        yield several


def sizes_of(chunker: Chunker, spans: Sequence[Span]) -> list[int]:
    """How many tokens each of these is, encoded alone."""
    import numpy as np

    texts = [chunker.text[start:end] for start, end in spans]
    _, starts = chunker.encoder._encode_flat(texts, chunker.allowed, None)
    sizes: list[int] = np.diff(np.frombuffer(starts, dtype=np.int64)).tolist()
    return sizes


def original_places(text: str) -> list[int]:
    """Where the characters begin in a text with pairs of surrogates, each of which is one character; and its end."""
    found, at = [], 0
    while at < len(text):
        found.append(at)
        is_pair = "\ud800" <= text[at] <= "\udbff" and "\udc00" <= text[at + 1 : at + 2] <= "\udfff"
        at += 2 if is_pair else 1
    return [*found, at]
