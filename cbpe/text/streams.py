"""Encoding a text that comes in chunks, such as a pipe of any length: it is cut only where no token depends on it.

Where may a text be cut? Behind a special token that is encoded as one; and at a place where the split pattern ends a
piece and begins another whatever is before and behind, if the pieces before it do not change when the text ends there
either (`\\s+(?!\\S)` looks at the character behind it, for example). What has no such place is held until it is whole.
"""

from __future__ import annotations

from cbpe._core.counting.count import utf8
from cbpe._core.splitting.split import Splitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Iterator

    from cbpe._core.text.special import SpecialTokens
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["count_stream", "encode_stream", "text_parts"]

# Steps of a tokenizer's processing that look at a whole text, or at all that is between two special tokens.
WHOLE_TEXT_STEPS = {"normalizer", "normalized", "prefix_space"}
NEAR_THE_END = 4096  # characters that are searched for a cut before all are


def encode_stream(
    tok: Tokenizer, chunks: Iterable[str], allowed: SpecialTokens | None, forbidden: SpecialTokens | None
) -> Iterator[list[int]]:
    """The ids of the text that the chunks make, as they become known; as Tokenizer.encode_stream says."""
    for part in text_parts(tok, chunks, allowed, forbidden):
        yield tok._encode(part, allowed, forbidden)


def count_stream(
    tok: Tokenizer,
    chunks: Iterable[str],
    allowed: SpecialTokens | None,
    forbidden: SpecialTokens | None,
    workers: int | None = 1,
) -> int:
    """The number of tokens of the text that the chunks make; as Tokenizer.count_stream says."""
    return sum(tok._count(part, allowed, forbidden, workers) for part in text_parts(tok, chunks, allowed, forbidden))


def text_parts(
    tok: Tokenizer,
    chunks: Iterable[str],
    allowed: SpecialTokens | None = None,
    forbidden: SpecialTokens | None = None,
) -> Iterator[str]:
    """A text in parts, one at least, whose ids one after another are those of the whole: what is special in it is so in
    a part. `chunks` make the text, cut anywhere.

    No more is held than a chunk and what cannot be cut. Without a split pattern, or with one that runs on the `regex`
    module, that is all that is between two special tokens; with a tokenizer that normalizes, the whole text.
    """
    if WHOLE_TEXT_STEPS & tok._processing().keys():
        yield "".join(chunks)
        return
    cutter = Cutter(tok._splitter, allowed, forbidden)
    held: list[str] = []
    size = try_from = 0  # characters held, and how many it takes to look for a cut again
    started = False
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size < try_from or not chunk:
            continue
        text, half_pair = whole_characters("".join(held))
        cut = cutter.find(text)
        if cut:
            started = True
            yield text[:cut]
        held = [text[cut:] + half_pair]
        size = len(held[0])
        try_from = 0 if cut else 2 * size  # so that what is long and cannot be cut is looked through a few times
    if size or not started:
        yield "".join(held)


class Cutter:
    """Finds places where a text may be cut."""

    def __init__(self, splitter: object, allowed: SpecialTokens | None, forbidden: SpecialTokens | None) -> None:
        sets = [special.ids for special in (allowed, forbidden) if special is not None]
        self.splitter = splitter if isinstance(splitter, Splitter) and splitter.pattern is not None else None
        self.allowed = None if allowed is None else alternatives(allowed.ids)
        self.special = alternatives({token for tokens in sets for token in tokens}) if sets else None
        self.longest = max((len(token) for tokens in sets for token in tokens), default=1)

    def find(self, text: str) -> int:
        """The last place that is found where a text may be cut that is not at its end; 0 if there is none."""
        decided = len(text) - (self.longest - 1)  # a special token that begins before it is here whole
        start = 0  # of the text behind the last special token that is encoded as one
        for match in self.allowed.finditer(text) if self.allowed else ():
            if match.start() >= decided:
                break
            start = match.end()
        border = last_cut(self.splitter, text[start:decided]) if self.splitter else 0
        for cut in (start + border, start):
            if cut <= decided and not self.is_inside_special(text, cut):
                return cut
        return 0

    def is_inside_special(self, text: str, cut: int) -> bool:
        """Whether a special token begins before this place and ends behind it."""
        if self.special is None:
            return False
        matches = (self.special.match(text, at) for at in range(max(0, cut - self.longest + 1), cut))
        return any(match is not None and match.end() > cut for match in matches)


def alternatives(tokens: Collection[str]) -> re.Pattern[str]:
    """An expression for any of these, the longest that fits."""
    import re

    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))


def whole_characters(text: str) -> tuple[str, str]:
    """A text as it is encoded, without lone surrogates, and a half of a pair of them that its end may be."""
    half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    text = text[: len(text) - len(half)]
    return (text if text.isascii() else utf8(text).decode()), half


def last_cut(splitter: Splitter, text: str) -> int:
    """The last place in a text (0: none) where cutting it changes no piece, whatever it goes on with."""
    near = text[-NEAR_THE_END:]
    cut = last_cut_behind(splitter, near, near is text or len(near) == len(text))
    if cut or len(near) == len(text):
        return cut and len(text) - len(near) + cut
    return last_cut_behind(splitter, text, True)


def last_cut_behind(splitter: Splitter, text: str, from_start: bool) -> int:
    """As last_cut; if the text does not begin where a piece does, nothing is known before its first sure border."""
    data = text.encode()
    view = memoryview(data)
    border, behind = splitter.last_border(view)
    while border:
        earlier, behind_earlier = splitter.last_border(view[:border])
        if not earlier and not from_start:
            return 0
        # Between two sure borders the pieces are those of what is between them, and of nothing before.
        if_it_ends = splitter.spans(data[earlier:border])
        if_it_goes_on = splitter.sure_spans(data[earlier:behind])[0]
        if [(start, end) for start, end in if_it_goes_on if end <= border - earlier] == if_it_ends:
            return len(data[:border].decode())
        border, behind = earlier, behind_earlier
    return 0
