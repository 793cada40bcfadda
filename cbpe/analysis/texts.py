"""What a tokenizer makes of texts: how many tokens, and which."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cbpe._core.calls.encoder import Encoder
from cbpe.common.progress import ProgressCallback
from cbpe.common.public import public
from cbpe.common.wording import number_of, share_in_words
from cbpe.corpus.sources import Reader
from cbpe.text.streams import in_stream, text_parts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from cbpe.text.added_tokens import Sighting

__all__ = ["AS_TEXT", "EMPTY", "LEFT_OUT", "UNKNOWN", "TextStatistics", "TextTally", "told_of_measures"]

# In messages about measures, which the command line prints with the names of files.
EMPTY = "holds no text, and nothing is measured"
AS_TEXT = "ordinary text to the measures: encode and count find them, and may give other numbers"
LEFT_OUT, UNKNOWN = "out, which its split pattern does not match", "stand for characters without a token"


@public
@dataclass(frozen=True, repr=False)
class TextStatistics:
    """What a tokenizer makes of some texts, in sums over all of them; what divides by nothing is nan."""

    texts: int
    bytes: int  # in UTF-8
    characters: int
    words: int  # separated by white space
    tokens: int
    tokens_used: int  # different ones, special tokens aside
    vocab_size: int  # tokens of the vocabulary, special ones aside
    covered_bytes: int  # those of `bytes` that are in tokens: not what the split pattern leaves out
    unknown_tokens: int = 0  # those of `tokens` that stand for characters without a token, each for one or more of them
    added_as_text: bool = False  # whether there are added tokens in them that are not special: ordinary text here

    def __repr__(self) -> str:
        """<TextStatistics: 1 text, 11 bytes, 2 words, 2 tokens: 5.50 bytes per token, 1.00 tokens per word>"""
        named = ((self.texts, "text"), (self.bytes, "byte"), (self.words, "word"), (self.tokens, "token"))
        sizes = ", ".join(number_of(n, what) for n, what in named)
        ratios = f"{self.bytes_per_token:.2f} bytes per token, {self.tokens_per_word:.2f} tokens per word"
        return f"<TextStatistics: {sizes}: {ratios}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the sums and the ratios."""
        from cbpe.views.html import block, pairs

        about = (
            ("texts", self.texts),
            ("bytes", self.bytes),
            ("bytes in tokens", self.covered_bytes),
            ("characters", self.characters),
            ("words", self.words),
            ("tokens", self.tokens),
            *([("unknown tokens", self.unknown_tokens)] if self.unknown_tokens else []),
            ("bytes per token", self.bytes_per_token),
            ("tokens per word", self.tokens_per_word),
            ("tokens of the vocabulary that came up", f"{self.tokens_used:,} of {self.vocab_size:,}"),
        )
        return block(pairs("Statistics of texts", about))

    @property
    def bytes_per_token(self) -> float:
        """The compression. What the split pattern leaves out is not counted: it is in no token."""
        return ratio(self.covered_bytes, self.tokens)

    @property
    def tokens_per_word(self) -> float:
        """Also called fertility. It says little where white space does not separate words."""
        return ratio(self.tokens, self.words)

    @property
    def vocabulary_used(self) -> float:
        """The share of the vocabulary that came up, from 0 to 1."""
        return ratio(self.tokens_used, self.vocab_size)


class TextTally:
    """Adds up texts for their statistics. Tallies with one tokenizer can be added in turn.

    encoder: what encodes the texts. beside: ids that count for no token of the vocabulary. added: what looks for its
    added tokens that are not special. whole_texts: as for text_parts. lengths: how many bytes of a text each token is,
    by id; None where all bytes of a text count as covered.
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        whole_texts: bool,
        lengths: npt.NDArray[np.int64] | None = None,
        added: Sighting,
        beside: Collection[int] = (),
    ) -> None:
        import numpy as np

        self.encoder = encoder
        self.beside = beside
        self.whole_texts = whole_texts
        self.lengths = lengths
        self.used = np.zeros(encoder._vocabulary.max_id + 1, bool)
        self.texts = self.bytes = self.characters = self.words = self.tokens = self.covered_bytes = 0
        self.unknown_tokens = 0
        self.added = added
        self.added_as_text = False

    def __repr__(self) -> str:
        """<TextTally: 1 text, 2 tokens>"""
        return f"<TextTally: {number_of(self.texts, 'text')}, {number_of(self.tokens, 'token')}>"

    def add(self, reader: Reader, report: ProgressCallback | None = None) -> None:
        """Add all texts that a reader reads; where a text can be cut (see text/streams.py), it is not held whole.
        report is a progress callback."""
        for chunks in reader.strings(report):
            self.texts += 1
            in_word, before = False, 0
            for part in text_parts(self.encoder._splitter, self.added.seen(chunks), whole=self.whole_texts):
                try:
                    self._add_part(part)
                except KeyError as error:
                    raise reader.of_text(in_stream(error, before)) from None
                before += len(part)
                self.words -= in_word and not part[:1].isspace()  # a word with a cut in it was counted twice
                in_word = not part[-1:].isspace()
        self.added_as_text |= self.added.found

    def _add_part(self, part: str) -> None:
        import numpy as np

        ids = np.frombuffer(memoryview(self.encoder._encode_buffer(part, None, None)), dtype=np.uint32)
        self.used[ids] = True
        n_bytes = len(part) if part.isascii() else len(part.encode())
        self.bytes += n_bytes
        self.covered_bytes += n_bytes if self.lengths is None else int(self.lengths[ids].sum())
        self.characters += len(part)
        self.words += len(part.split())
        self.tokens += len(ids)
        if self.encoder._vocabulary.unknown is not None:
            self.unknown_tokens += int((ids == self.encoder._vocabulary.unknown).sum())

    def __iadd__(self, other: TextTally) -> TextTally:
        self.used |= other.used
        self.added_as_text |= other.added_as_text
        for name in ("texts", "bytes", "characters", "words", "tokens", "covered_bytes", "unknown_tokens"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def statistics(self) -> TextStatistics:
        """The statistics of all texts that were added."""
        vocab_size = len(self.encoder._vocabulary)
        # A character without a token may have come up as a special token, <unk>, which is none of the vocabulary's.
        used = self.used.copy()
        used[[*self.beside]] = False
        sizes = self.texts, self.bytes, self.characters, self.words, self.tokens
        others = self.covered_bytes, self.unknown_tokens, self.added_as_text
        return TextStatistics(*sizes, int(used.sum()), vocab_size, *others)


def told_of_measures(
    tokenizer: str,
    corpus: str,
    n_bytes: int,
    covered_bytes: int,
    tokens: int,
    unknown_tokens: int = 0,
    added_as_text: bool = False,
) -> list[str]:
    """What misleads about the measures of a tokenizer on a text: that it leaves some out, has no tokens for some, or
    finds added tokens elsewhere."""
    told = []
    if covered_bytes < n_bytes:
        share = share_in_words(n_bytes - covered_bytes, n_bytes)
        told.append(
            f"{tokenizer} leaves {share} of {corpus} {LEFT_OUT}: bytes/token is that of the rest, and tokens for each "
            "word, or beside another tokenizer, are too few"
        )
    if unknown_tokens:
        told.append(
            f"{unknown_tokens:,} of the {tokens:,} tokens of {tokenizer} on {corpus} {UNKNOWN}, each for one or more "
            "of them: bytes/token and what is derived from it is too good"
        )
    if added_as_text:
        told.append(f"{tokenizer} has added tokens that are not special in {corpus}, which are {AS_TEXT}")
    return told


def ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
