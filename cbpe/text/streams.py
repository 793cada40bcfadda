"""Encodes a text that comes in chunks, such as a pipe of any length. It is cut only where no token depends on the cut.

A text may be cut after a special token that is encoded as one. It may also be cut where the split pattern ends a piece
and begins another, whatever stands before and after, if the pieces before the cut do not change when the text ends
there (`\\s+(?!\\S)`, for example, looks at the character after it). What has no such place is held until it is whole.
"""

from __future__ import annotations

from cbpe._core.splitting.split import Splitter
from cbpe.text.surrogates import ends_within_pair, without_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from cbpe._core.calls.encoder import Encoder, PythonSplitter
    from cbpe._core.text.special import SpecialTokens

__all__ = ["TextParts", "count_stream", "encode_stream", "in_stream", "text_parts"]

NEAR_THE_END = 4096  # characters that are searched for a cut before the whole text is


def encode_stream(
    encoder: Encoder,
    chunks: Iterable[str],
    allowed: SpecialTokens | None,
    forbidden: SpecialTokens | None,
    *,
    whole: bool = False,
) -> Iterator[list[int]]:
    """The ids of the text that the chunks make, as they become known. whole: as for text_parts."""
    before = 0
    for part in text_parts(encoder._splitter, chunks, allowed, forbidden, whole=whole):
        try:
            ids = encoder._encode(part, allowed, forbidden)
        except (KeyError, ValueError) as error:
            raise in_stream(error, before) from None
        yield ids
        before += len(part)


def count_stream(
    encoder: Encoder,
    chunks: Iterable[str],
    allowed: SpecialTokens | None,
    forbidden: SpecialTokens | None,
    workers: int | None = 1,
    *,
    whole: bool = False,
) -> int:
    """The number of tokens of the text that the chunks make. whole: as for text_parts."""
    before = found = 0
    for part in text_parts(encoder._splitter, chunks, allowed, forbidden, whole=whole):
        try:
            found += encoder._count(part, allowed, forbidden, workers)
        except (KeyError, ValueError) as error:
            raise in_stream(error, before) from None
        before += len(part)
    return found


def in_stream(error: KeyError | ValueError, before: int) -> Any:
    """The error of a part (of the same class), whose message counts characters within it, with the number of the
    character in the whole text."""
    import re

    if before == 0 or type(error) not in (KeyError, ValueError):
        return error

    def of_stream(place: re.Match[str]) -> str:
        return f"at character {int(place[1].replace(',', '')) + before:,})"

    return type(error)(re.sub(r"at character ([\d,]+)\)", of_stream, error.args[0], count=1))


def text_parts(
    splitter: Splitter | PythonSplitter,
    chunks: Iterable[str],
    allowed: SpecialTokens | None = None,
    forbidden: SpecialTokens | None = None,
    *,
    whole: bool = False,
) -> Iterator[str]:
    """A text in parts, at least one: encoded one after the other, they give the ids of the whole text. `chunks` make
    the text, cut anywhere. No special token is cut. whole: for an encoder that looks at a whole text, one part.

    Memory holds a chunk and what cannot be cut: without a split pattern, or with one that runs on the `regex` module,
    all that is between two special tokens.
    """
    parts = TextParts(splitter, allowed, forbidden, whole=whole)
    started = False
    for chunk in checked_chunks(chunks):
        part = parts.push(chunk)
        if part is not None:
            started = True
            yield part
    rest = parts.rest()
    if rest or not started:
        yield rest


def checked_chunks(chunks: Iterable[str]) -> Iterable[str]:
    """The chunks as they are; one str is one chunk, and not its characters. TypeError for what gives none."""
    if isinstance(chunks, str):
        return [chunks]
    if not hasattr(chunks, "__iter__") and not hasattr(chunks, "__getitem__"):
        raise TypeError(
            f"chunks must be an iterable of str, such as a file opened as text, not {type(chunks).__name__}"
        )
    return chunks


class TextParts:
    """The parts of one text, as text_parts gives them, for who is handed its chunks one by one."""

    def __init__(
        self,
        splitter: Splitter | PythonSplitter,
        allowed: SpecialTokens | None = None,
        forbidden: SpecialTokens | None = None,
        *,
        whole: bool = False,
    ) -> None:
        self.cutter = None if whole else Cutter(splitter, allowed, forbidden)
        self.held: list[str] = []
        self.size = self.try_from = 0  # characters held, and how many it takes to look for a cut again

    def push(self, given: str) -> str | None:
        """Take the next chunk. The part that ends now, if one does."""
        if not isinstance(given, str):
            problem = f"a chunk of a text is a str, not {type(given).__name__}"
            if isinstance(given, (bytes, bytearray, memoryview)):
                problem += ": decode bytes as they come, with codecs.getincrementaldecoder('utf-8'), or open the file "
                problem += "with encoding='utf-8'"
            raise TypeError(problem)
        chunk = str.__str__(given)  # an exact one of a subclass
        self.held.append(chunk)
        self.size += len(chunk)
        if self.cutter is None or self.size < self.try_from or not chunk:
            return None
        text, half_pair = whole_characters("".join(self.held))
        cut = self.cutter.find(text)
        self.held = [text[cut:] + half_pair]
        self.size = len(self.held[0])
        self.try_from = 0 if cut else 2 * self.size  # a long text that cannot be cut is looked through a few times only
        return text[:cut] if cut else None

    def rest(self) -> str:
        """What is held, at the end of the text. The next chunk begins another text."""
        rest = "".join(self.held)
        self.held, self.size, self.try_from = [], 0, 0
        return rest


class Cutter:
    """Finds places where a text may be cut."""

    def __init__(
        self, splitter: Splitter | PythonSplitter, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> None:
        sets = [special.ids for special in (allowed, forbidden) if special is not None]
        self.splitter = splitter if isinstance(splitter, Splitter) and splitter.pattern is not None else None
        self.allowed = None if allowed is None else alternatives(allowed.ids)
        self.special = alternatives({token for tokens in sets for token in tokens}) if sets else None
        self.longest = max((len(token) for tokens in sets for token in tokens), default=1)

    def find(self, text: str) -> int:
        """The last place found where a text may be cut, its end aside; 0 if there is none."""
        decided = len(text) - (self.longest - 1)  # the text holds the whole of a special token that begins before this
        start = 0  # of the text after the last special token that is encoded as one
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
        """Whether a special token begins before this place and ends after it."""
        if self.special is None:
            return False
        matches = (self.special.match(text, at) for at in range(max(0, cut - self.longest + 1), cut))
        return any(match is not None and match.end() > cut for match in matches)


def alternatives(tokens: Collection[str]) -> re.Pattern[str]:
    """An expression for any of these, the longest that fits."""
    import re

    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))


def whole_characters(text: str) -> tuple[str, str]:
    """A text as it is encoded, without lone surrogates, and the first half of a pair of them that it may end with."""
    half = text[-1:] if ends_within_pair(text) else ""
    return without_surrogates(text[: len(text) - len(half)]), half


def last_cut(splitter: Splitter, text: str) -> int:
    """The last place in a text (0: none) where cutting it changes no piece, whatever follows the text."""
    near = text[-NEAR_THE_END:]
    if len(near) == len(text):
        return last_cut_within(splitter, text, from_start=True)
    cut = last_cut_within(splitter, near, from_start=False)
    return len(text) - len(near) + cut if cut else last_cut_within(splitter, text, from_start=True)


def last_cut_within(splitter: Splitter, text: str, *, from_start: bool) -> int:
    """As last_cut. from_start: whether a piece begins where the text does; if not, nothing is known of the text before
    its first sure border."""
    data = text.encode()
    view = memoryview(data)
    border, seen_to = splitter.last_border(view)
    while border:
        earlier, earlier_seen_to = splitter.last_border(view[:border])
        if not earlier and not from_start:
            return 0
        # The pieces between two sure borders depend on nothing before the first of them.
        if_it_ends = splitter.spans(data[earlier:border])
        if_it_goes_on = splitter.sure_spans(data[earlier:seen_to])[0]
        if [(start, end) for start, end in if_it_goes_on if end <= border - earlier] == if_it_ends:
            return len(data[:border].decode())
        border, seen_to = earlier, earlier_seen_to
    return 0
