"""Going on from a vocabulary: whether training can, and which ids the new tokens get.

The ids of the new tokens follow the old ones, in order. A special token that has one of these ids keeps it, and the
merges take the ids after it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cbpe._core.analysis.reach import judge
from cbpe._core.text.shown import shown
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.checks import N_BYTES, refuse_unordered
from cbpe.common.wording import token_shown

__all__ = [
    "all_special_tokens",
    "all_token_ids",
    "free_ids",
    "ids_in_order",
    "problem_with",
    "read_once",
    "with_next_ids",
]


def problem_with(vocabulary: Vocabulary) -> str | None:
    """Why training cannot go on from a vocabulary exactly; None if it can.

    Merging pairs in their order has to give what the tokenizer gives, whichever semantics it has. So each byte has a
    token, a merge makes each other token, and no merge is made of a later one; by ranks, the bytes of each token merge
    to it.
    """
    if vocabulary.prefix or vocabulary.suffix:
        return "it has other tokens where words begin or end, and training has not"
    if vocabulary.characters:
        return "it is over characters, not over bytes"
    unmerged = vocabulary.unmerged()
    if unmerged:
        token_id, token = next(iter(unmerged.items()))
        return f"no merge makes {len(unmerged)} of its tokens, such as {token_shown(token)} ({token_id})"
    if not vocabulary.monotone:
        return "one of its tokens is merged from a token of a higher rank"
    if len(vocabulary) < N_BYTES + vocabulary.n_merges:
        missing = next(byte for byte in range(N_BYTES) if vocabulary.find(bytes([byte])) is None)
        return f"the byte 0x{missing:02x} has no token"
    if vocabulary.whole_pieces and (others := judge(vocabulary, None).never_merged):
        return f"token {others[0]} is no token that merging its bytes gives"
    return None


def all_token_ids(vocabulary: Vocabulary, n_merges: int, taken: Iterable[int]) -> array[int]:
    """The ids of the bytes and of n_merges merges, array("I"): those of the vocabulary, then the next that are not
    taken."""
    known = [vocabulary.find(bytes([byte])) or 0 for byte in range(N_BYTES)]
    ids = array("I", [*known, *vocabulary.merges().values()])
    free = free_ids(vocabulary.max_id + 1, taken)
    ids.extend(next(free) for _ in range(n_merges - vocabulary.n_merges))
    return ids


def all_special_tokens(
    old: Mapping[str, int], given: Iterable[str] | Mapping[str, int], token_ids: array[int]
) -> dict[str, int]:
    """The old special tokens and the given ones. Of these, those without an id get the next ones after all tokens that
    no old one has.

    Raises TypeError for what is no texts in an order, and no dict; ValueError for a token that is given twice, or with
    another id than its old one.
    """
    ids = dict(old)
    if isinstance(given, Mapping):
        for token, token_id in given.items():
            if ids.setdefault(token, token_id) != token_id:
                raise ValueError(
                    f"the special token {shown(token)} has the id {ids[token]} in the initial tokenizer, and keeps it: "
                    f"it cannot have the id {token_id}"
                )
        return ids
    return with_next_ids(ids, given, max(token_ids) + 1)


def with_next_ids(old: Mapping[str, int], given: Iterable[str], first: int) -> dict[str, int]:
    """The old special tokens and the given texts. Those that have no id yet get the next ones, from the first on, that
    no old one has. ValueError for a token that is given twice."""
    ids = dict(old)
    free = free_ids(first, old.values())
    seen = set()
    for token in checked_texts(given):
        if token in seen:
            raise ValueError(f"the special token {shown(token)} is given twice")
        seen.add(token)
        if token not in ids:
            ids[token] = next(free)
    return ids


def checked_texts(given: Iterable[str]) -> Iterable[str]:
    """Special tokens that are given without ids. TypeError for what is no several texts in an order."""
    if isinstance(given, str):
        raise TypeError(f"special_tokens are several texts, not one: write [{shown(given)}]")
    if not isinstance(given, Iterable):
        raise TypeError(f"special_tokens are texts, or a dict of texts and their ids, not {type(given).__name__}")
    refuse_unordered("special_tokens", given)
    return given


def read_once(given: Iterable[str] | Mapping[str, int]) -> Sequence[str] | Mapping[str, int]:
    """Special tokens as they are given, which may be looked at again and again. TypeError for what is neither several
    texts in an order nor a dict."""
    return given if isinstance(given, Mapping) else tuple(checked_texts(given))


def ids_in_order(ids: array[int]) -> bool:
    """Whether a token that comes later has the higher id."""
    return all(ids[i] < ids[i + 1] for i in range(len(ids) - 1))


def free_ids(first: int, taken: Iterable[int]) -> Iterator[int]:
    """The ids from the first on that are not taken."""
    taken = set(taken)
    while True:
        if first not in taken:
            yield first
        first += 1
