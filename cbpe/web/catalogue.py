"""The tokenizers and texts that a page offers. A browser names them by what is listed here: no path comes from it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Literal

from cbpe.common.wording import shown
from cbpe.encodings.named import SPECS
from cbpe.tokenizers.registry import get_encoding
from cbpe.web.refusals import Refused, in_a_line

if TYPE_CHECKING:
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["Catalogue", "Choice", "Text"]

TO_TRY = 100_000  # characters of a text that are read to see whether it can be
MOST_LOADED = 8  # tokenizers of a store that stay in memory


@dataclass(frozen=True)
class Choice:
    """A tokenizer that can be chosen: its name, where it comes from, and what loads it."""

    name: str
    source: Literal["given", "encoding", "store"]
    load: Callable[[], Tokenizer]


@dataclass(frozen=True)
class Text:
    """A text that was named at start: its name, and what reads its first bytes -> (text, whether that is all)."""

    name: str
    read: Callable[[int], tuple[str, bool]]

    def problem(self) -> str | None:
        """Why its beginning cannot be read, or is no text; None where it can."""
        try:
            self.read(TO_TRY)
        except (OSError, ValueError) as error:
            return str(error)
        return None


class Catalogue:
    """What can be chosen: tokenizers that were named at start, the named encodings, versions in a store; and texts.

    given: what was named at start. stored: a function that lists the newest versions in a store; find: one that finds
    an older one there by its name, "book@3", or nothing. Both are asked anew each time.
    """

    def __init__(
        self,
        given: Iterable[Choice] = (),
        stored: Callable[[], Iterable[Choice]] = tuple,
        texts: Iterable[Text] = (),
        find: Callable[[str], Choice | None] = lambda name: None,
    ) -> None:
        self.texts = list(texts)
        encodings = (Choice(name, "encoding", partial(get_encoding, name)) for name in SPECS)
        self._elsewhere: dict[str, Choice] = {}  # in no store
        for choice in (*given, *encodings):
            self._elsewhere.setdefault(choice.name, choice)
        self._stored = stored
        self._find = find
        self._loaded: OrderedDict[str, Tokenizer] = OrderedDict()
        self._lock = Lock()

    def choices(self) -> list[Choice]:
        """All tokenizers, each name once: those named at start first."""
        found = dict(self._elsewhere)
        for choice in self._stored():
            found.setdefault(choice.name, choice)
        return list(found.values())

    def ready(self) -> Iterator[tuple[str, Tokenizer]]:
        """The tokenizers that are looked into beside another: those named at start, the named encodings, and versions
        of the store that are loaded."""
        for choice in self.choices():
            if choice.source != "store" or choice.name in self._loaded:
                yield choice.name, self.tokenizer(choice.name)

    def outside(self, name: str) -> Tokenizer | None:
        """The tokenizer of a name that was given at start, or is a named encoding's: of no version in a store."""
        return self.tokenizer(name) if name in self._elsewhere else None

    def tokenizer(self, name: str) -> Tokenizer:
        """The tokenizer of a name that is listed; Refused for any other, and for a version that the store cannot load.
        For what is in no store, none is asked."""
        with self._lock:
            if name in self._loaded:
                self._loaded.move_to_end(name)
                return self._loaded[name]
        choice = self._elsewhere.get(name)
        if choice is None:
            choice = next((choice for choice in self._stored() if choice.name == name), None) or self._find(name)
        if choice is None:
            raise Refused(404, f"there is no tokenizer {shown(name)} (any more): choose another one")
        try:
            tok = choice.load()
        except (OSError, ValueError) as error:
            raise Refused(503, in_a_line(error)) from error
        with self._lock:
            self._loaded[name] = tok
            while len(self._loaded) > MOST_LOADED:
                self._loaded.popitem(last=False)
        return tok
