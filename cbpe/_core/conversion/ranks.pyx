"""From ranks of joined bytes (tiktoken's form of a vocabulary) to merges of pairs.

tiktoken joins two neighbours whenever their joined bytes are a token, the lowest rank first. What happens inside a
stretch of bytes does not depend on what surrounds it until a merge crosses its borders, so the two parts that a token
is joined from are always the same: those that are left when the token's own bytes are encoded and only the last merge
is to come. With these pairs as merges, merging pairs gives what joining by rank gives. A token whose bytes never join
to it has no such pair: only the look-up of whole pieces finds it.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from cbpe._core.merging.merge cimport MergeRoom, check_merged, free_merge_room, merge_piece
from cbpe._core.vocabulary.tables cimport NONE, VocabTables, add_pair
from cbpe._core.vocabulary.vocabulary cimport Vocabulary, allocate_pairs, free_pairs


def join_by_rank(bytes token not None, dict ranks not None):
    """The two parts that a token's bytes are joined from last, as the length of the left one; 0 if they never become
    one token."""
    cdef list parts = [token[i : i + 1] for i in range(len(token))]
    cdef list found = [ranks.get(token[i : i + 2], NONE) for i in range(len(token) - 1)]
    while len(parts) > 2:
        lowest = min(found)
        if lowest == NONE:
            return 0
        i = found.index(lowest)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
        del found[i]
        if i < len(found):
            found[i] = ranks.get(parts[i] + parts[i + 1], NONE)
        if i > 0:
            found[i - 1] = ranks.get(parts[i - 1] + parts[i], NONE)
    return len(parts[0])


def checked_ranks(ranks):
    """The ranks as a list of (rank, token) by rising rank, after checking them. Raises TypeError or ValueError."""
    cdef list ordered = []
    if not isinstance(ranks, dict):
        raise TypeError(f"mergeable ranks are a dict of tokens and their ranks, not {type(ranks).__name__}")
    for token, rank in ranks.items():
        if not isinstance(token, bytes):
            raise TypeError(f"a token is bytes, not {type(token).__name__}: {token!r}")
        if not isinstance(rank, int) or isinstance(rank, bool):
            raise TypeError(f"the rank of {token!r} is an int, not {type(rank).__name__}: {rank!r}")
        if not token:
            raise ValueError(f"the token with rank {rank} is empty")
        if not 0 <= rank < NONE:
            raise ValueError(f"the rank {rank} of {token!r} is out of range: ranks are from 0 to {NONE - 1}")
        ordered.append((rank, token))
    ordered.sort()
    if len(set(ranks.values())) < len(ordered):
        for (rank, token), (next_rank, next_token) in zip(ordered, ordered[1:]):
            if rank == next_rank:
                raise ValueError(f"the tokens {token!r} and {next_token!r} have the same rank {rank}")
    return ordered


def ids_of_bytes(dict ranks not None):
    """The ranks of the 256 bytes, NONE for one that is no token: array("I")."""
    import array    # not needed for what is loaded packed, and it takes as long to import as some of our modules

    return array.array("I", [ranks.get(bytes([byte]), NONE) for byte in range(256)])


def vocabulary_from_ranks(ranks):
    """The Vocabulary that gives what tiktoken gives with these ranks: dict[bytes, int], ids being the ranks.

    Raises TypeError or ValueError for a token that is not bytes or is empty, and for a rank that is no int, out of
    range, or given twice.
    """
    cdef VocabTables v      # as far as it has come: merging needs its table of pairs and nothing else
    cdef MergeRoom room
    cdef uint32_t symbol = 256
    cdef uint32_t *rest = NULL
    cdef Py_ssize_t size, longest, n
    cdef bytes token
    cdef bint monotone = True
    cdef dict symbols = {bytes([byte]): byte for byte in range(256)}
    import array

    ordered = checked_ranks(ranks)
    # The first pass merges each token's bytes with the pairs of lower rank, which decides as long as no token is joined
    # from one of higher rank; from the first such token on, ranks are looked up by bytes.
    left, right, ids, unmerged, unmerged_ids, splits = (
        array.array("I"), array.array("I"), array.array("I"), [], array.array("I"), []
    )
    memset(&v, 0, sizeof(v))
    memset(&room, 0, sizeof(room))
    try:
        allocate_pairs(&v, len(ordered))
        longest = max([len(token) for _, token in ordered], default=0)
        rest = <uint32_t *>malloc((longest + 1) * sizeof(uint32_t))
        if rest == NULL:
            raise MemoryError
        for rank, token in ordered:
            size = PyBytes_GET_SIZE(token)
            if size == 1:
                continue
            cut = 0
            if monotone:
                n = merge_piece(&v, <const uint8_t *>PyBytes_AS_STRING(token), size, &room, rest)
                check_merged(n)
                if n == 2:
                    add_pair(&v, rest[0], rest[1], symbol)
                    left.append(rest[0])
                    right.append(rest[1])
                    symbols[token] = symbol
                    symbol += 1
                    ids.append(rank)
                    continue
            cut = join_by_rank(token, ranks)
            if cut:
                monotone = False
                splits.append((rank, token, cut))
            else:
                unmerged.append(token)
                unmerged_ids.append(rank)
    finally:
        free_pairs(&v)
        free(rest)
        free_merge_room(&room)
    for rank, token, _ in splits:
        symbols[token] = symbol
        symbol += 1
        ids.append(rank)
    for _, token, cut in splits:
        left.append(symbols[token[:cut]])
        right.append(symbols[token[cut:]])
    return Vocabulary(left, right, ids_of_bytes(ranks) + ids + unmerged_ids, unmerged, whole_pieces=True)
