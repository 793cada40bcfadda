"""From a list of merges of tokens (GPT-2's and Hugging Face's form of a vocabulary) to merges that can happen.

Such a list may merge two pairs to the same token: converters from ranks write down every way to cut a token in two. But
what happens inside a stretch of bytes does not depend on what surrounds it until a merge crosses its borders. So a
merge happens somewhere only if it is the last one when the bytes of its own result are merged, and of several merges to
one token at most one is. The others are left out, which changes no result.
"""

import array
import heapq

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from cbpe._core.merging.merge cimport MergeRoom, check_merged, free_merge_room, merge_piece
from cbpe._core.vocabulary.tables cimport NONE, VocabTables, add_pair
from cbpe._core.vocabulary.vocabulary cimport Vocabulary, allocate_pairs, free_pairs


def last_merge(bytes token not None, dict numbers not None):
    """The number of the merge that is left to do at last when a token's bytes are merged, the merge with the lowest
    number first: numbers[left, right]. None if they never become one token."""
    cdef list parts = [token[i : i + 1] for i in range(len(token))]
    cdef list following = list(range(1, len(token) + 1))
    cdef list preceding = list(range(-1, len(token) - 1))
    cdef Py_ssize_t n = len(token), i, k, end = len(token)
    cdef list heap = []
    for i in range(n - 1):
        number = numbers.get((parts[i], parts[i + 1]))
        if number is not None:
            heap.append((number, i))
    heapq.heapify(heap)
    while heap:
        number, i = heapq.heappop(heap)
        k = following[i]
        # Stale if one of the two was merged away or is not what it was.
        if parts[i] is None or k == end or numbers.get((parts[i], parts[k])) != number:
            continue
        if n == 2:
            return number
        n -= 1
        parts[i] += parts[k]
        parts[k] = None
        k = following[k]
        following[i] = k
        if k != end:
            preceding[k] = i
            number = numbers.get((parts[i], parts[k]))
            if number is not None:
                heapq.heappush(heap, (number, i))
        k = preceding[i]
        if k >= 0:
            number = numbers.get((parts[k], parts[i]))
            if number is not None:
                heapq.heappush(heap, (number, k))
    return None


def checked_merges(dict ids, merges):
    """The merges as {(left, right): number}. ValueError where one is given twice, or is not of tokens to a token,
    and for an id that is out of range."""
    cdef dict numbers = {}
    for token, token_id in ids.items():
        if not 0 <= token_id < NONE:
            raise ValueError(f"the id {token_id} of {token!r} is out of range: ids are from 0 to {NONE - 1}")
    for number, (left, right) in enumerate(merges):
        for token in (left, right, left + right):
            if token not in ids:
                raise ValueError(f"merge {number} is of {left!r} and {right!r}, and there is no token {token!r}")
        if numbers.setdefault((left, right), number) != number:
            first = numbers[left, right]
            raise ValueError(f"the merge of {left!r} and {right!r} is given twice, as {first} and {number}")
    return numbers


def vocabulary_from_merges(dict ids not None, merges, bint whole_pieces=False):
    """The Vocabulary of tokens and their ids, dict[bytes, int], and a list of merges, (left, right) as bytes, the first
    of which is merged first. With whole_pieces, a piece that is a token is that token before any merge applies.

    Tokens that no merge ever makes are unmerged ones. ValueError for a merge that is given twice or is not of tokens to
    a token, and for what a Vocabulary refuses.
    """
    cdef VocabTables v      # as far as it has come: merging needs its table of pairs and nothing else
    cdef MergeRoom room
    cdef uint32_t symbol = 256
    cdef uint32_t *rest = NULL
    cdef Py_ssize_t n
    cdef bytes token, left, right
    cdef bint monotone = True, happens
    cdef dict symbols = {bytes([byte]): byte for byte in range(256)}
    cdef dict numbers = checked_merges(ids, merges)
    cdef list made = []
    memset(&v, 0, sizeof(v))
    memset(&room, 0, sizeof(room))
    try:
        allocate_pairs(&v, len(numbers))
        rest = <uint32_t *>malloc((max(map(len, ids), default=0) + <size_t>1) * sizeof(uint32_t))
        if rest == NULL:
            raise MemoryError
        # As long as every merge is of tokens that earlier merges have made, the earlier merges alone decide whether it
        # can happen; from the first other one on, all merges are tried.
        for (left, right), number in numbers.items():
            token = left + right
            if token in symbols:
                continue
            if monotone and left in symbols and right in symbols:
                n = merge_piece(&v, <const uint8_t *>PyBytes_AS_STRING(token), PyBytes_GET_SIZE(token), &room, rest)
                check_merged(n)
                happens = n == 2 and rest[0] == <uint32_t>symbols[left] and rest[1] == <uint32_t>symbols[right]
                if happens:
                    add_pair(&v, rest[0], rest[1], symbol)
            else:
                happens = last_merge(token, numbers) == number
                monotone = monotone and not happens
            if happens:
                symbols[token] = symbol
                symbol += 1
                made.append((left, right))
    finally:
        free_pairs(&v)
        free(rest)
        free_merge_room(&room)
    unmerged = sorted((ids[token], token) for token in ids if token not in symbols)
    return Vocabulary(
        array.array("I", [symbols[left] for left, _ in made]),
        array.array("I", [symbols[right] for _, right in made]),
        array.array("I", [
            *(ids.get(bytes([byte]), NONE) for byte in range(256)),
            *(ids[left + right] for left, right in made),
            *(token_id for token_id, _ in unmerged),
        ]),
        [token for _, token in unmerged],
        whole_pieces=whole_pieces,
    )
