"""Going on from a tokenizer: what training takes over from it, and which ids the new tokens get.

The new tokens' ids follow the old ones, in order; where a special token of the old tokenizer has one of these ids, it
keeps it, and the merges go on behind it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping

from cbpe._core.analysis.reach import judge
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.checks import N_BYTES
from cbpe.formats.hugging_face import FLAGS
from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["all_special_tokens", "all_token_ids", "ids_in_order", "initial_vocabulary", "untrained_vocabulary"]


def untrained_vocabulary() -> Vocabulary:
    """The 256 bytes, each its own id, and no merge."""
    return Vocabulary(array("I"), array("I"), array("I", range(N_BYTES)))


def initial_vocabulary(initial: Tokenizer) -> Vocabulary:
    """The vocabulary of a tokenizer, after it was made sure that training can go on from it exactly.

    Merging pairs in their order has to give what the tokenizer gives, whichever semantics it has. Raises TypeError for
    what is no tokenizer, ValueError for one that also normalizes or the like, and for a vocabulary that has a byte
    without a token, tokens that no merge makes, or a merge that is made of a later one; by ranks, also for a token that
    its own bytes do not merge to.
    """
    if not isinstance(initial, Tokenizer):
        raise TypeError(f"initial must be a tokenizer, such as cbpe.train returns, not {type(initial).__name__}")
    vocabulary = initial._vocabulary
    unmerged = vocabulary.unmerged()
    steps = sorted(initial._processing().keys() - {*FLAGS, "template"})
    if steps:
        problem = f"what is trained splits and merges text as it is, and this changes it before: {', '.join(steps)}"
    elif unmerged:
        token_id, token = next(iter(unmerged.items()))
        problem = f"no merge makes {len(unmerged)} of its tokens, such as {token!r} ({token_id})"
    elif not vocabulary.monotone:
        problem = "one of its tokens is merged from a token of a higher rank"
    elif len(vocabulary) < N_BYTES + vocabulary.n_merges:
        missing = next(byte for byte in range(N_BYTES) if vocabulary.find(bytes([byte])) is None)
        problem = f"the byte 0x{missing:02x} has no token"
    elif vocabulary.whole_pieces and (others := judge(vocabulary, None).never_merged):
        problem = f"token {others[0]} is no token that merging its bytes gives"
    else:
        return vocabulary
    raise ValueError(f"training cannot go on from {initial!r}: {problem}")


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
    """The old special tokens and the given ones; of these, those without an id get the next behind all tokens that no
    old one has.

    Raises TypeError for a single str, ValueError for a token that is given twice, or with another id than its old one.
    """
    if isinstance(given, str):
        raise TypeError(f"special_tokens are several texts, not one: write [{given!r}]")
    if not isinstance(given, Iterable):
        raise TypeError(f"special_tokens are texts, or a dict of texts and their ids, not {type(given).__name__}")
    ids = dict(old)
    if isinstance(given, Mapping):
        for token, token_id in given.items():
            if ids.setdefault(token, token_id) != token_id:
                raise ValueError(
                    f"the special token {token!r} has the id {ids[token]} in the initial tokenizer, and keeps it: "
                    f"it cannot have the id {token_id}"
                )
        return ids
    free = free_ids(max(token_ids) + 1, old.values())
    seen = set()
    for token in given:
        if token in seen:
            raise ValueError(f"the special token {token!r} is given twice")
        seen.add(token)
        if token not in ids:
            ids[token] = next(free)
    return ids


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
