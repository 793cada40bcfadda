"""What can be said of a vocabulary without any text: which of its tokens can come up at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from cbpe._core.analysis.reach import judge
from cbpe._core.splitting.split import Splitter
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.public import public
from cbpe.common.wording import listed, number_of

__all__ = ["VocabularyAnalysis", "analyze", "copied"]

IMPOSSIBLE_BYTES = "no text has these bytes: they are no part of UTF-8"
NEVER_MERGED = "its bytes are merged to other tokens"
BYTE_ALONE = "it stands for a byte, and the character of that byte has a token of its own"
ALWAYS_SPLIT = "the split pattern always cuts it"
NORMALIZED = "the normalizer leaves no such characters in a text"

IDS_SHOWN = 10  # of a kind, in a notebook


@public
@dataclass(frozen=True)
class VocabularyAnalysis:
    """What is known of a vocabulary without any text; ids rise.

    No text gives a token in `unreachable`, for the reason that stands there. Some text gives each other token, as far
    as is known. It is not known of tokens in `not_utf8`, which need others around them; of tokens beside which the
    pattern always leaves something that they are merged with; and, where the pattern runs on the `regex` module, of
    those that the pattern always cuts.
    """

    vocab_size: int  # special tokens aside
    unreachable: dict[int, str]  # id -> why no text produces the token; special tokens aside
    not_utf8: list[int]  # tokens that are no UTF-8 alone, such as parts of characters
    duplicates: list[list[int]]  # groups of ids that have the same bytes, special tokens included

    def __repr__(self) -> str:
        return (
            f"<VocabularyAnalysis: {self.vocab_size:,} tokens, {len(self.unreachable):,} unreachable, "
            f"{len(self.not_utf8):,} not UTF-8, {number_of(len(self.duplicates), 'group')} of duplicates>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: how many tokens there are of each kind, and the first ids of it."""
        from cbpe.views.html import block, table

        ids_of: dict[str, list[int]] = {}
        for token_id, reason in self.unreachable.items():
            ids_of.setdefault(f"no text gives them: {reason}", []).append(token_id)
        ids_of["alone no UTF-8"] = self.not_utf8
        ids_of["with the bytes of another"] = [token_id for group in self.duplicates for token_id in group]
        rows = ((kind, len(ids), listed(map(str, ids), IDS_SHOWN)) for kind, ids in ids_of.items())
        return block(table(("tokens", "how many", "ids"), rows, caption=f"{self.vocab_size:,} tokens"))


def analyze(
    vocabulary: Vocabulary,
    splitter: object,
    vocab: Mapping[int, bytes],
    normal: Callable[[str], str] | None = None,
) -> VocabularyAnalysis:
    """Analyze a vocabulary, the splitter that cuts texts for it, and the bytes of every id, special tokens included.
    normal: what makes something else of each character that no text has when it is split; None for none."""
    verdicts = judge(vocabulary, splitter if isinstance(splitter, Splitter) else None)
    reasons = dict.fromkeys(verdicts.always_split, ALWAYS_SPLIT)
    for token_id in verdicts.never_merged:
        # A piece that is a token is that token before anything is merged. Which pieces occur in all texts is not known,
        # but bytes that are no text are none.
        if token_id in reasons or not (vocabulary.whole_pieces and is_utf8(vocab[token_id])):
            reasons[token_id] = NEVER_MERGED
    if normal is not None:
        for token_id in normalized_away(vocabulary.tokens(), normal):
            reasons.setdefault(token_id, NORMALIZED)
    reasons.update(dict.fromkeys(verdicts.impossible_bytes, IMPOSSIBLE_BYTES))
    ids_of: dict[bytes, list[int]] = {}
    for token_id, token in vocab.items():
        ids_of.setdefault(token, []).append(token_id)
    if vocabulary.characters:  # where a token of one byte is a character, or takes the place of one without a token
        alone = (i for i in verdicts.never_merged if len(vocab[i]) == 1 and len(ids_of[vocab[i]]) > 1)
        reasons.update(dict.fromkeys(alone, BYTE_ALONE))
    return VocabularyAnalysis(
        vocab_size=len(vocabulary),
        unreachable=dict(sorted(reasons.items())),
        not_utf8=sorted([*verdicts.impossible_bytes, *verdicts.partial_characters]),
        duplicates=sorted(sorted(ids) for ids in ids_of.values() if len(ids) > 1),
    )


def normalized_away(tokens: Mapping[int, bytes], normal: Callable[[str], str]) -> Iterator[int]:
    """The ids of tokens with a character that `normal` makes something else of."""
    texts = {token_id: token.decode("utf-8", "ignore") for token_id, token in tokens.items()}
    lost = {character for character in set().union(*texts.values()) if normal(character) != character}
    return (token_id for token_id, text in texts.items() if not lost.isdisjoint(text))


def copied(found: VocabularyAnalysis) -> VocabularyAnalysis:
    """The same in lists and a dict of its own, so that who changes those changes no other."""
    groups = [list(ids) for ids in found.duplicates]
    return VocabularyAnalysis(found.vocab_size, dict(found.unreachable), list(found.not_utf8), groups)


def is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
