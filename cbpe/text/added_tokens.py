"""Finds the added tokens of a tokenizer.json in a text, in the two steps in which Hugging Face finds them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import namedtuple
from functools import cache, cached_property

from cbpe._core.splitting.split import Splitter
from cbpe.text.surrogates import without_surrogates
from cbpe.text.unicode_versions import WHITE_SPACE, WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

__all__ = ["FLAGS", "NO_CHANGE_OF_TEXT", "AnyOf", "Finder", "Finders", "Sighting"]

# Lists of added tokens in a tokenizer's processing: those that take the white space before them, or after them, those
# that are looked for in normalized text, those that are not called special, and those that are none within a word. They
# say how added tokens are found; ordinary text is not changed by them.
FLAGS = ("lstrip", "normalized", "ordinary", "rstrip", "single_word")
# All of processing that changes no ordinary text before it is encoded.
NO_CHANGE_OF_TEXT = frozenset({*FLAGS, "template", "trim_offsets"})

FEW = 16
FEW_BEGINNINGS = 4
AFTER_WHITE_SPACE = re.compile(f"[{WHITE_SPACE}]*")


# How a token is found, by the text that is looked for. (Importing typing takes longer than loading some vocabularies.)
Found = namedtuple("Found", "token_id lstrip rstrip single_word")


class Finder:
    """Finds texts, and of several at one place the longest.

    A token may be none within a word, or take the white space beside it. What was found is not searched again: neither
    for a shorter token where one stood in a word, nor are the ends of tokens moved by the white space that they take.
    """

    def __init__(self, tokens: Mapping[str, Found]) -> None:
        self.tokens = tokens
        self.any = AnyOf(tokens)

    @cached_property
    def expression(self) -> re.Pattern[str]:
        # Made when a text is likely to hold a token: for hundreds of tokens it takes as long as encoding 10 MB.
        longest_first = sorted(self.tokens, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def cut(self, text: str) -> Iterator[tuple[str, int | None]]:
        """The tokens in a text, with their ids, and the stretches between them that are not empty, with None. A token
        has the white space that it takes. (Where one takes the beginning of the next, both have it.)"""
        start = 0
        # Most texts hold none of them.
        for match in self.expression.finditer(text) if self.any.is_in(text) else ():
            found = self.tokens[match[0]]
            first, last = match.span()
            if found.single_word and (is_word(text[first - 1 : first]) or is_word(text[last : last + 1])):
                continue
            if found.lstrip:
                while first > start and text[first - 1] in WHITE_SPACE:
                    first -= 1
                first = max(first, start)
            if found.rstrip:
                space = AFTER_WHITE_SPACE.match(text, last)
                assert space is not None
                last = space.end()
            if start < first:
                yield text[start:first], None
            yield text[first:last], found.token_id
            start = last
        if start < len(text):
            yield text[start:], None


class Finders:
    """Finds added tokens in two steps: some in the text as it is, others in what is between these, normalized."""

    def __init__(
        self, ids: Mapping[str, int], flags: Mapping[str, Iterable[str]], normalized: Callable[[str], str]
    ) -> None:
        listed = {name: frozenset(flags.get(name, ())) for name in FLAGS}

        def found(text: str) -> Found:
            return Found(ids[text], *(text in listed[name] for name in ("lstrip", "rstrip", "single_word")))

        late = {token: normalized(token) for token in ids if token in listed["normalized"]}
        first = [token for token in ids if token not in late]
        self.as_it_is = Finder({token: found(token) for token in first})
        self.normalized = Finder({text: found(token) for token, text in late.items()})
        # Whether text that is not normalized by then holds a token only if it holds this.
        self.all = AnyOf([*ids, *late.values()])
        # What a search for the longest token of all does not find as it should: tokens with flags, and those that are
        # looked for in another form.
        odd = [token for token in ids if any(found(token)[1:])]
        odd += [text for token, form in late.items() if form != token for text in (token, form)]
        self.odd = AnyOf(odd)
        self.has_other_forms = any(form != token for token, form in late.items())
        # Whether it makes a difference that some are found first: one of them may begin inside of another.
        ordered = sorted(first)
        self.in_two_steps = any(
            begins_with_one(text[start:], ordered) or (start and begins_one(text[start:], ordered))
            for text in late.values()
            for start in range(len(text))
        )


class AnyOf:
    """Tells whether a text holds any of some others."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        # Most texts hold none of these.
        self.beginnings = common_beginnings(self.texts)

    @cached_property
    def expression(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.texts)))

    def is_in(self, text: str) -> bool:
        if not any(beginning in text for beginning in self.beginnings):
            return False
        # Looking for each of a few texts takes less time than one look for all.
        if len(self.texts) <= FEW:
            return any(one in text for one in self.texts)
        return self.expression.search(text) is not None


class Sighting:
    """Whether texts that come in chunks hold any of some added tokens, of which there may be none."""

    def __init__(self, texts: Collection[str]) -> None:
        self.any_of = AnyOf(texts) if texts else None
        self.kept = max(map(len, texts), default=1) - 1  # characters of a token that is not whole yet
        self.before = ""
        self.found = False

    def seen(self, chunks: Iterable[str]) -> Iterator[str]:
        """The same chunks of a text."""
        for chunk in chunks:
            self.push(chunk)
            yield chunk
        self.end()

    def whole(self, text: str) -> None:
        """Look at a whole text."""
        self.push(text)
        self.end()

    def push(self, chunk: str) -> None:
        """Look at the next chunk of a text."""
        if self.any_of is not None and not self.found:
            text = self.before + chunk
            self.found = self.any_of.is_in(text)
            self.before = text[max(0, len(text) - self.kept) :]

    def end(self) -> None:
        """The text ends here."""
        self.before = ""


def common_beginnings(texts: Iterable[str]) -> list[str]:
    """A few beginnings that some texts have: ["<x1>", "<x2>", "<x3>", "<x4>", "<x5>"] -> ["<x"]"""
    found = [""]
    for size in range(1, 9):
        longer = list(dict.fromkeys(text[:size] for text in texts))
        if len(longer) > FEW_BEGINNINGS:
            break
        found = longer
    return found


def begins_with_one(text: str, ordered: Sequence[str]) -> bool:
    """Whether a text begins with one of others, which are in order: "<s>a" with ["</s", "<s"]."""
    at = bisect_right(ordered, text)
    while text and at:
        # Of those that do not come after the text, the last begins with each that the text begins with.
        last = ordered[at - 1]
        if text.startswith(last):
            return True
        text = text[: next(i for i, (a, b) in enumerate(zip(text, last, strict=False)) if a != b)]
        at = bisect_right(ordered, text)
    return False


def begins_one(text: str, ordered: Sequence[str]) -> bool:
    """Whether one of others, which are in order, begins with a text: "<s" with ["</s>", "<s>"]."""
    at = bisect_left(ordered, text)
    return at < len(ordered) and ordered[at].startswith(text)


@cache
def word_splitter() -> Splitter:
    return Splitter(f"[{WORD}]")


def is_word(character: str) -> bool:
    """Whether a character, or no character, is part of a word."""
    return bool(character) and bool(word_splitter().spans(without_surrogates(character).encode()))
