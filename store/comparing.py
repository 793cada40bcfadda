"""Comparing two versions, or tokenizers that are in no store: what differs, and how many tokens each makes of texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import add
from typing import NamedTuple

from sqlalchemy import Connection

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.analysis.texts import told_of_measures
from cbpe.common.public import public_of
from cbpe.common.warning import warn
from cbpe.common.wording import number_of
from cbpe.corpus.sources import Reader
from cbpe.text.added_tokens import AnyOf
from cbpe.tokenizers.description import Model, describe
from cbpe.tokenizers.tokenizer import Tokenizer
from cbpe.views.readable import readable_bytes
from store.records.content import model_of
from store.records.versions import STORED, Version, fetch_one, find_row

__all__ = [
    "Diff",
    "MergeDifference",
    "MovedToken",
    "TextComparison",
    "VersionComparison",
    "all_together",
    "compare",
    "continuation",
    "diff",
    "find_sides",
]

Pair = tuple[bytes, bytes]
SHOWN = 20  # tokens of a side, or texts, in a notebook
Side = Version | Tokenizer


@public_of("store")
class MovedToken(NamedTuple):
    """A token that both have under different ids. Most tokens have one id; a trained tokenizer may have the same bytes
    twice."""

    token: bytes
    ids_a: tuple[int, ...]
    ids_b: tuple[int, ...]


@public_of("store")
class MergeDifference(NamedTuple):
    """The first merge in which two differ: the pair that each merges there, or None if it has no more merges."""

    rank: int
    a: Pair | None
    b: Pair | None


@public_of("store")
@dataclass(frozen=True)
class Diff:
    """What differs between two versions or tokenizers. It is true if they differ in anything that changes results.

    `a` and `b` are the two, `same` is whether both give the same results on every text. `only_a` and `only_b`: the
    tokens, as (id, bytes), that only one has; `moved`: those that both have under other ids. `first_merge`: the first
    merge in which they differ, or None. `special_only_a` and `special_only_b`: special tokens, with their ids, that
    only one has; `special_moved`: those of both with other ids, to (id of a, id of b). `settings`: which of "pattern",
    "semantics", "unicode_version" and "processing" (what is done to a text before and after) differ, to (of a, of b).
    """

    a: Version | Tokenizer
    b: Version | Tokenizer
    only_a: tuple[tuple[int, bytes], ...]  # ids and bytes of tokens
    only_b: tuple[tuple[int, bytes], ...]
    moved: tuple[MovedToken, ...]
    first_merge: MergeDifference | None  # None where all merges are the same
    special_only_a: dict[str, int]
    special_only_b: dict[str, int]
    special_moved: dict[str, tuple[int, int]]
    settings: dict[str, tuple[object, object]]  # "pattern", "semantics", "unicode_version", "processing": what differs
    same: bool  # whether both give the same results on every text

    def __bool__(self) -> bool:
        return not self.same

    @property
    def more_merges(self) -> int | None:
        """How many merges b has after all those of a; less than 0 where a has more. None where both have the
        same merges, and where each has a merge or a token that the other has not, or another id for one.

        >>> models.diff("pylib@1", "pylib@2").more_merges
        100
        """
        if self.first_merge is None or self.moved or (self.only_a and self.only_b):
            return None
        if (self.first_merge.a is None and not self.only_a) or (self.first_merge.b is None and not self.only_b):
            return merges_of(self.b) - merges_of(self.a)
        return None

    def _repr_html_(self) -> str:
        """What a notebook shows: how many tokens differ, the first of them, and what else differs."""
        from cbpe.views.html import Apart, LeftToRight, block, in_commas, pairs, table
        from cbpe.views.settings import differing

        special = {**self.special_only_a, **self.special_only_b, **self.special_moved}
        about: list[tuple[str, object]] = [
            ("a", self.a),
            ("b", self.b),
            ("same results", "yes" if self.same else "no"),
            ("only in a", len(self.only_a)),
            ("only in b", len(self.only_b)),
            ("under other ids", len(self.moved)),
            *(
                [("special tokens that differ", Apart(in_commas([[token] for token in special], SHOWN)))]
                if special
                else []
            ),
            *(
                (f"{name} of {side}", value)
                for name, ours, theirs in differing(self.settings)
                for side, value in (("a", ours), ("b", theirs))
            ),
        ]
        if self.more_merges is not None:
            about.append(("merges", Apart(continuation_parts(self, str(self.a), str(self.b)))))
        elif self.first_merge is not None:
            rank, here, there = self.first_merge
            told = (f"rank {rank:,}: ", *merge_parts(here), " in a, ", *merge_parts(there), " in b")
            about.append(("first other merge", Apart(told)))
        first = [
            (which, str(token_id), LeftToRight(token_shown(token)))
            for which, side in (("a", self.only_a), ("b", self.only_b))
            for token_id, token in side[:SHOWN]
        ]
        tokens = table(("only in", "id", "token"), first, caption="The first tokens that only one has")
        return block(pairs("Differences", about), tokens if first else "")

    def __repr__(self) -> str:
        if self.same:
            return f"<Diff: {self.a!s} and {self.b!s} give the same results>"
        special = [
            f"{number_of(n, 'special token')} {where}"
            for n, where in (
                (len(self.special_only_a), f"only in {self.a!s}"),
                (len(self.special_only_b), f"only in {self.b!s}"),
                (len(self.special_moved), "under other ids"),
            )
            if n
        ]
        told = [
            *([f"{number_of(len(self.only_a), 'token')} only in {self.a!s}"] if self.only_a else []),
            *([f"{number_of(len(self.only_b), 'token')} only in {self.b!s}"] if self.only_b else []),
            *([f"{number_of(len(self.moved), 'token')} under other ids"] if self.moved else []),
            *([f"other merges from rank {self.first_merge.rank:,} on"] if self.first_merge else []),
        ]
        if self.more_merges is not None:
            told = [continuation(self, str(self.a), str(self.b))]
            if not special and not self.settings:
                return f"<Diff: {told[0]}>"
        told += [*special, *self.settings]
        return f"<Diff of {self.a!s} and {self.b!s}: {', '.join(told)}>"


def continuation(found: Diff, a: str, b: str) -> str:
    """Which of two has all merges of the other, in words; a and b are their names."""
    return "".join(continuation_parts(found, a, b))


def continuation_parts(found: Diff, a: str, b: str) -> tuple[str, ...]:
    """The same, with the names apart from what is said of them."""
    more = found.more_merges or 0
    longer, shorter = (b, a) if more > 0 else (a, b)
    return longer, " has all merges of ", shorter, f" and {abs(more):,} more"


def merge_parts(pair: tuple[bytes, bytes] | None) -> list[str]:
    """What a notebook shows of a merge, in parts that each run in a direction of their own."""
    from cbpe.views.html import LeftToRight

    return ["none"] if pair is None else [LeftToRight(token_shown(pair[0])), " + ", LeftToRight(token_shown(pair[1]))]


def token_shown(token: bytes) -> str:
    return f'"{readable_bytes(token)}"'


def merges_of(side: Side) -> int:
    """How many merges a version or a tokenizer has."""
    return len(side.merges) if isinstance(side, Tokenizer) else side.n_merges


def find_sides(connection: Connection, *both: str | Version | Tokenizer) -> list[tuple[Side, Model]]:
    """What is to be compared, and the model of each."""
    return [find_side(connection, given) for given in both]


def find_side(connection: Connection, given: str | Version | Tokenizer) -> tuple[Side, Model]:
    if isinstance(given, Tokenizer):
        return given, describe(given)
    row = find_row(connection, given, STORED)
    return fetch_one(connection, row.id), model_of(row)


def diff(a: Side, b: Side, model_a: Model, model_b: Model) -> Diff:
    """What differs between two sides and their models."""
    vocabulary_a, vocabulary_b = Vocabulary.unpack(model_a.vocabulary), Vocabulary.unpack(model_b.vocabulary)
    ids_a, ids_b = ids_of(vocabulary_a), ids_of(vocabulary_b)
    special_a, special_b = model_a.special_tokens, model_b.special_tokens
    return Diff(
        a,
        b,
        tuple((token_id, token) for token, ids in ids_a.items() if token not in ids_b for token_id in ids),
        tuple((token_id, token) for token, ids in ids_b.items() if token not in ids_a for token_id in ids),
        tuple(
            MovedToken(token, tuple(ids), tuple(ids_b[token]))
            for token, ids in ids_a.items()
            if token in ids_b and ids != ids_b[token]
        ),
        first_difference(vocabulary_a, vocabulary_b),
        {token: token_id for token, token_id in special_a.items() if token not in special_b},
        {token: token_id for token, token_id in special_b.items() if token not in special_a},
        {
            token: (token_id, special_b[token])
            for token, token_id in special_a.items()
            if token in special_b and token_id != special_b[token]
        },
        {
            setting: (getattr(model_a, setting), getattr(model_b, setting))
            for setting in ("pattern", "semantics", "unicode_version", "processing")
            if getattr(model_a, setting) != getattr(model_b, setting)
        },
        model_a.digest == model_b.digest,
    )


def ids_of(vocabulary: Vocabulary) -> dict[bytes, list[int]]:
    """The ids of each token, by its bytes."""
    ids: dict[bytes, list[int]] = {}
    for token_id, token in vocabulary.tokens().items():
        ids.setdefault(token, []).append(token_id)
    return ids


def first_difference(a: Vocabulary, b: Vocabulary) -> MergeDifference | None:
    merges_a, merges_b = spelled_merges(a), spelled_merges(b)
    for rank, (pair_a, pair_b) in enumerate(zip(merges_a, merges_b, strict=False)):
        if pair_a != pair_b:
            return MergeDifference(rank, pair_a, pair_b)
    rank = min(len(merges_a), len(merges_b))
    if len(merges_a) == len(merges_b):
        return None
    return MergeDifference(rank, *(merges[rank] if rank < len(merges) else None for merges in (merges_a, merges_b)))


def spelled_merges(vocabulary: Vocabulary) -> list[Pair]:
    """The bytes that each merge joins, in order."""
    tokens = vocabulary.tokens()

    def spelled(part: int) -> bytes:
        return tokens[part] if part >= 0 else bytes([-1 - part])

    return [(spelled(left), spelled(right)) for left, right, _ in vocabulary.merge_parts()]


@public_of("store")
class TextComparison(NamedTuple):
    """How many tokens each makes of a text."""

    text_bytes: int  # in UTF-8
    tokens_a: int
    tokens_b: int
    covered_bytes_a: int  # those of text_bytes that are in tokens: not what the split pattern leaves out
    covered_bytes_b: int
    unknown_tokens_a: int  # those of tokens_a that stand for characters without a token
    unknown_tokens_b: int
    added_as_text_a: bool = False  # whether the text has added tokens of a's that are not special: ordinary text here
    added_as_text_b: bool = False

    @property
    def sizes_a(self) -> tuple[int, int, int, int, bool]:
        """Of a: the bytes of the text, those in tokens, the tokens, and the unknown ones of these; and whether there
        are added tokens in it."""
        return self.text_bytes, self.covered_bytes_a, self.tokens_a, self.unknown_tokens_a, self.added_as_text_a

    @property
    def sizes_b(self) -> tuple[int, int, int, int, bool]:
        """As sizes_a."""
        return self.text_bytes, self.covered_bytes_b, self.tokens_b, self.unknown_tokens_b, self.added_as_text_b

    @property
    def bytes_per_token_a(self) -> float:
        """Of the covered bytes, as in TextStatistics; nan for a text without tokens."""
        return ratio(self.covered_bytes_a, self.tokens_a)

    @property
    def bytes_per_token_b(self) -> float:
        """As bytes_per_token_a."""
        return ratio(self.covered_bytes_b, self.tokens_b)


def ratio(text_bytes: int, n_tokens: int) -> float:
    return text_bytes / n_tokens if n_tokens else float("nan")


@public_of("store")
@dataclass(frozen=True)
class VersionComparison:
    """How many tokens two versions or tokenizers make of texts; item i of `texts` is about text i."""

    a: Version | Tokenizer
    b: Version | Tokenizer
    texts: tuple[TextComparison, ...]

    def __repr__(self) -> str:
        total = self.total
        sides = ((self.a, total.tokens_a, total.bytes_per_token_a), (self.b, total.tokens_b, total.bytes_per_token_b))
        counts = ", ".join(
            f"{side!s} {number_of(tokens, 'token')}, {ratio:.2f} bytes each" for side, tokens, ratio in sides
        )
        size = f"{number_of(len(self.texts), 'text')}, {number_of(total.text_bytes, 'byte')}"
        return f"<VersionComparison of {size}: {counts}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: all texts together, and the first of them."""
        from cbpe.views.html import Apart, block, table

        total = self.total
        sides = (
            (str(self.a), total.tokens_a, total.covered_bytes_a, total.bytes_per_token_a),
            (str(self.b), total.tokens_b, total.covered_bytes_b, total.bytes_per_token_b),
        )
        about = f"{number_of(len(self.texts), 'text')}, {number_of(total.text_bytes, 'byte')}"
        shown = table(("", "tokens", "bytes in tokens", "bytes/token"), sides, caption=about)
        if len(self.texts) < 2:
            return block(shown)
        columns = ("text", "bytes", "tokens of a", "tokens of b", "bytes/token of a", "bytes/token of b")
        rows = (
            (str(n), text.text_bytes, text.tokens_a, text.tokens_b, text.bytes_per_token_a, text.bytes_per_token_b)
            for n, text in enumerate(self.texts[:SHOWN])
        )
        which = "The first texts" if len(self.texts) > SHOWN else "Each text"
        caption = Apart((which, "; a is ", str(self.a), ", b is ", str(self.b)))
        return block(shown, table(columns, rows, caption=caption))

    @property
    def total(self) -> TextComparison:
        """All texts together."""
        return all_together(self.texts)


def all_together(texts: Iterable[TextComparison]) -> TextComparison:
    """The sums over some texts."""
    total = (0,) * len(TextComparison._fields)
    for text in texts:
        total = tuple(map(add, total, text))
    *sizes, added_a, added_b = total
    return TextComparison._make([*sizes, added_a > 0, added_b > 0])


def compare(a: Side, b: Side, tok_a: Tokenizer, tok_b: Tokenizer, texts: Reader) -> VersionComparison:
    """Count the tokens of texts, one text at a time. Special tokens in them count as ordinary text, and so do added
    ones."""
    rows = []
    added_a, added_b = (AnyOf(tok._found_always()) for tok in (tok_a, tok_b))
    for chunks in texts.strings():
        text = "".join(chunks)
        n_bytes = len(text.encode())
        try:
            tokens_a, covered_a, unknown_a = counted(tok_a, text, n_bytes)
            tokens_b, covered_b, unknown_b = counted(tok_b, text, n_bytes)
        except KeyError as error:
            raise texts.of_text(error) from None
        found = n_bytes, tokens_a, tokens_b, covered_a, covered_b, unknown_a, unknown_b
        rows.append(TextComparison(*found, added_a.is_in(text), added_b.is_in(text)))
    compared = VersionComparison(a, b, tuple(rows))
    for side, sizes in ((a, compared.total.sizes_a), (b, compared.total.sizes_b)):
        for told in told_of_measures(str(side), "these texts", *sizes):
            warn(told)
    return compared


def counted(tok: Tokenizer, text: str, n_bytes: int) -> tuple[int, int, int]:
    """How many tokens a text of so many bytes is, without those of a template, how many of these bytes are in tokens,
    and how many of the tokens stand for characters without one."""
    import numpy as np

    lengths, unknown = tok._covered_lengths(), tok._vocabulary.unknown
    if lengths is None and unknown is None:
        return tok.count(text, allowed_special="none", add_special_tokens=False), n_bytes, 0
    ids = np.frombuffer(memoryview(tok._encode_buffer(text, None, None)), dtype=np.uint32)
    covered = n_bytes if lengths is None else int(lengths[ids].sum())
    return len(ids), covered, 0 if unknown is None else int((ids == unknown).sum())
