"""What is counted while a corpus is read once: how often each token comes up, and each word.

Texts come whole, or as chunks cut anywhere; they are encoded in batches, by all cores. So memory holds a batch, and a
number for each token of a vocabulary.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from string import printable
from typing import TYPE_CHECKING, Any

from cbpe._core.counting.count import PieceCounter
from cbpe._core.splitting.split import Splitter
from cbpe._core.text.utf8 import utf8
from cbpe.common.wording import shortened
from cbpe.text.added_tokens import Sighting
from cbpe.text.streams import TextParts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["NotEncoded", "TokenTally", "WordTally", "not_encoded", "tokens_of_words"]

BATCH_CHARACTERS = 1 << 22
WORD = r"[^\s\x1c-\x1f]+"  # white space separates words: that of str.split, as everywhere else
MOST_WORDS = 1 << 20  # distinct ones; of a corpus with more, the rarest are dropped
WORDS_AT_ONCE = 1 << 16
LONGEST_SHOWN = 60  # characters of a text in a message


class TokenTally:
    """Counts the tokens of one tokenizer: special tokens in a text are ordinary text, and no template is put around.

    by_text: also keep the number of tokens of each text.
    """

    def __init__(self, tok: Tokenizer, name: str, workers: int | None, *, by_text: bool = False) -> None:
        import numpy as np

        self.tok = tok
        self.name = name
        self.workers = workers
        self.counts = np.zeros(tok._vocabulary.max_id + 1, dtype=np.int64)  # item i is of the token with the id i
        self.texts: array[int] | None = array("q") if by_text else None
        self.parts = TextParts(tok._splitter, whole=tok._takes_whole_texts())
        self.batch: list[str] = []
        self.size = 0
        self.added = Sighting(tok._found_always())  # which are ordinary text here

    def add(self, text: str) -> None:
        """Count a text, or a part of one that is encoded alone as it is in the whole."""
        self.batch.append(text)
        self.size += len(text)
        if self.size >= BATCH_CHARACTERS:
            self.flush()

    def push(self, chunk: str) -> None:
        """Count a text that goes on: its next chunk."""
        part = self.parts.push(chunk)
        if part is not None:
            self.add(part)

    def end(self) -> None:
        """The text whose chunks were pushed ends here."""
        rest = self.parts.rest()
        if rest:
            self.add(rest)

    def covered(self, n_bytes: int, n_characters: int) -> tuple[int, int]:
        """Of so many bytes and characters of the texts those that are in tokens, and not left out by the split
        pattern."""
        lengths = self.tok._covered_lengths()
        in_tokens = n_bytes if lengths is None else int(self.counts @ lengths)
        if in_tokens == n_bytes:
            return n_bytes, n_characters
        tokens = self.tok._vocabulary.tokens()
        seen = self.counts.nonzero()[0].tolist()
        return in_tokens, sum(int(self.counts[each]) * first_bytes(tokens[each]) for each in seen)

    def flush(self) -> None:
        """Count what is held."""
        import numpy as np

        try:
            tokens, starts = self.tok._encode_flat(self.batch, None, None, self.workers)
        except KeyError as error:
            raise not_encoded(error, self.name, self.first_without_tokens()) from None
        found = np.frombuffer(memoryview(tokens), dtype=np.uint32)
        self.counts += np.bincount(found, minlength=len(self.counts))
        if self.texts is not None:
            self.texts.frombytes(np.diff(np.frombuffer(starts, dtype=np.int64)).tobytes())
        self.batch, self.size = [], 0

    def first_without_tokens(self) -> str:
        """The first of the texts that are held that has a byte without a token; "" if none has."""
        for text in self.batch:
            try:
                self.tok._encode_flat([text], None, None, 1)
            except KeyError:
                return text
        return ""


class NotEncoded(KeyError):  # noqa: N818
    """A tokenizer has no token for a byte of a text. (Another KeyError is that of an iterable of texts.)"""


def not_encoded(error: KeyError, name: str, text: str = "") -> NotEncoded:
    """The error about a byte without a token, as the end of a sentence that begins with a corpus. Where in it the byte
    is, is not known any more; text: the part of it that has the byte, whose beginning is shown."""
    reason = re.sub(r", at character [\d,]+\)", ")", error.args[0], count=1)
    if text:
        reason = reason.replace(": ", f", as in {shortened(text, LONGEST_SHOWN)}: ", 1)
    return NotEncoded(f"cannot be encoded by {name}: {reason}")


def first_bytes(token: bytes) -> int:
    """How many characters begin in a token."""
    return sum(byte & 0xC0 != 0x80 for byte in token)


class WordTally:
    """Counts words: how many there are, and how often each of the distinct ones comes up."""

    def __init__(self) -> None:
        self.splitter = Splitter(WORD)
        self.counter = PieceCounter()
        self.dropped = 0  # occurrences of the distinct words that were dropped
        self.bytes = self.characters = 0
        self.parts = TextParts(self.splitter)
        self.batch = bytearray()
        self.ends = array("q")

    @property
    def words(self) -> int:
        """How many words there were."""
        return self.counter.total + self.dropped

    def add(self, text: str) -> None:
        """As TokenTally's."""
        self.batch += utf8(text)
        self.characters += len(text)
        self.ends.append(len(self.batch))
        if len(self.batch) >= BATCH_CHARACTERS:
            self.flush()

    push, end = TokenTally.push, TokenTally.end

    def flush(self) -> None:
        """Count what is held."""
        self.counter.add_texts(self.batch, self.ends, self.splitter)
        self.bytes += len(self.batch)
        self.batch, self.ends = bytearray(), array("q")
        if len(self.counter) > MOST_WORDS + MOST_WORDS // 4:
            self.dropped += self.counter.drop_rarest(MOST_WORDS)[1]


def tokens_of_words(tok: Tokenizer, words: PieceCounter, workers: int | None) -> npt.NDArray[np.int64]:
    """How many tokens each distinct word is, with a space before it, as it stands in a text. A tokenizer that puts one
    there itself gets none."""
    import numpy as np

    space = "" if puts_space(tok) else " "
    found: list[npt.NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for batch in batches_of_words(words.data(), words.lengths(), space):
        _, starts = tok._encode_flat(batch, None, None, workers)
        places = np.frombuffer(starts, dtype=np.int64)
        found.append(places[1:] - places[:-1])
    return np.concatenate(found)


def batches_of_words(data: bytes, lengths: Sequence[int], space: str) -> Iterator[list[str]]:
    batch: list[str] = []
    start = 0
    for length in lengths:
        batch.append(space + data[start : start + length].decode())
        start += length
        if len(batch) == WORDS_AT_ONCE:
            yield batch
            batch = []
    yield batch


def puts_space(tok: Any) -> bool:
    """Whether a tokenizer puts a space before every text."""
    ids: list[int] = []
    for character in printable:  # not all of which need have a token
        with suppress(KeyError):
            ids = tok.encode_ordinary(character)
            break
    return len(ids) > 0 and b"".join(tok.vocab[token_id] for token_id in ids).startswith(b" ")
