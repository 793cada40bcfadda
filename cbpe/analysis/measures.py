"""Analysis: what of a vocabulary can ever be used, and what a tokenizer makes of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cbpe._core.analysis.reach import judge
from cbpe._core.splitting.split import Splitter
from cbpe.common.progress import ProgressCallback
from cbpe.corpus.sources import Reader, Source
from cbpe.text.streams import text_parts

if TYPE_CHECKING:
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["TextStatistics", "TextTally", "VocabularyAnalysis", "analyze", "statistics"]

IMPOSSIBLE_BYTES = "no text has these bytes: they are no part of UTF-8"
NEVER_MERGED = "its bytes are merged to other tokens"
ALWAYS_SPLIT = "the split pattern always cuts it"


@dataclass(frozen=True)
class VocabularyAnalysis:
    """What there is to know of a vocabulary without any text; ids rise.

    A token in `unreachable` comes up in no text, for the reason that is given. The others come up in some text, with
    these exceptions, which nobody has found out about: tokens in `not_utf8`, which need others around them; tokens
    beside which the pattern always leaves something that they are merged with; and, where the pattern runs on the
    `regex` module, all that it always cuts.
    """

    n_tokens: int  # special tokens aside
    unreachable: dict[int, str]  # id -> why no text produces the token; special tokens aside
    not_utf8: list[int]  # tokens that are no UTF-8 alone, such as parts of characters
    duplicates: list[list[int]]  # groups of ids that have the same bytes, special tokens included

    def __repr__(self) -> str:
        return (
            f"<VocabularyAnalysis: {self.n_tokens} tokens, {len(self.unreachable)} unreachable, "
            f"{len(self.not_utf8)} not UTF-8, {len(self.duplicates)} groups of duplicates>"
        )


@dataclass(frozen=True)
class TextStatistics:
    """What a tokenizer makes of some texts, in sums over all of them; what divides by nothing is nan."""

    texts: int
    bytes: int  # in UTF-8
    characters: int
    words: int  # separated by white space
    tokens: int
    tokens_used: int  # different ones
    n_tokens: int  # in the vocabulary, special tokens aside

    @property
    def bytes_per_token(self) -> float:
        """The compression."""
        return ratio(self.bytes, self.tokens)

    @property
    def tokens_per_word(self) -> float:
        """Also called fertility. Of little meaning where words are not separated by white space."""
        return ratio(self.tokens, self.words)

    @property
    def vocabulary_used(self) -> float:
        """The share of the vocabulary that came up, from 0 to 1."""
        return ratio(self.tokens_used, self.n_tokens)


def analyze(tok: Tokenizer) -> VocabularyAnalysis:
    """As Tokenizer.analyze says."""
    vocabulary, splitter = tok._vocabulary, tok._splitter
    verdicts = judge(vocabulary, splitter if isinstance(splitter, Splitter) else None)
    reasons = dict.fromkeys(verdicts.always_split, ALWAYS_SPLIT)
    for token_id in verdicts.never_merged:
        if token_id in reasons or not (vocabulary.whole_pieces and may_be_a_piece(tok, token_id)):
            reasons[token_id] = NEVER_MERGED
    reasons.update(dict.fromkeys(verdicts.impossible_bytes, IMPOSSIBLE_BYTES))
    ids_of: dict[bytes, list[int]] = {}
    for token_id, token in tok.vocab.items():
        ids_of.setdefault(token, []).append(token_id)
    return VocabularyAnalysis(
        n_tokens=len(vocabulary),
        unreachable=dict(sorted(reasons.items())),
        not_utf8=sorted([*verdicts.impossible_bytes, *verdicts.partial_characters]),
        duplicates=sorted(sorted(ids) for ids in ids_of.values() if len(ids) > 1),
    )


def may_be_a_piece(tok: Tokenizer, token_id: int) -> bool:
    """Whether a token may be the whole of a piece, which is then looked up before anything is merged. (Which pieces
    there are in all texts is not known: only bytes that are no text are surely none.)"""
    try:
        tok.vocab[token_id].decode()
    except UnicodeDecodeError:
        return False
    return True


def statistics(tok: Tokenizer, source: Source, *, field: str | None = None, errors: str = "strict") -> TextStatistics:
    """As Tokenizer.statistics says."""
    tally = TextTally(tok)
    tally.add(Reader(source, field=field, errors=errors))
    return tally.statistics()


class TextTally:
    """What has been added up of texts for their statistics. Tallies with one tokenizer can be added in turn."""

    def __init__(self, tok: Tokenizer) -> None:
        import numpy as np

        self.tok = tok
        self.used = np.zeros(tok._vocabulary.max_id + 1, bool)
        self.texts = self.bytes = self.characters = self.words = self.tokens = 0

    def add(self, reader: Reader, report: ProgressCallback | None = None) -> None:
        """Add all that a reader reads, in flat memory where texts can be cut (see stream_encoding.py). report is a
        progress callback."""
        for chunks in reader.strings(report):
            self.texts += 1
            in_word = False
            for part in text_parts(self.tok, chunks):
                self._add_part(part)
                self.words -= in_word and not part[:1].isspace()  # the word that the cut is in was counted twice
                in_word = not part[-1:].isspace()

    def _add_part(self, part: str) -> None:
        import numpy as np

        ids = np.frombuffer(memoryview(self.tok._encode_buffer(part, None, None)), dtype=np.uint32)
        self.used[ids] = True
        self.bytes += len(part) if part.isascii() else len(part.encode())
        self.characters += len(part)
        self.words += len(part.split())
        self.tokens += len(ids)

    def __iadd__(self, other: TextTally) -> TextTally:
        self.used |= other.used
        for name in ("texts", "bytes", "characters", "words", "tokens"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def statistics(self) -> TextStatistics:
        n_tokens = len(self.tok._vocabulary)
        used = int(self.used.sum())
        return TextStatistics(self.texts, self.bytes, self.characters, self.words, self.tokens, used, n_tokens)


def ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
