"""From ranks of joined bytes (tiktoken's form of a vocabulary) to merges of pairs.

tiktoken joins two neighbours whenever their joined bytes are a token, the lowest rank first. The two parts that a token
is joined from are always the same (last_parts.pyx says why). With these pairs as merges, merging pairs gives what
joining by rank gives. A token whose bytes never join to it has no such pair: only the look-up of whole pieces finds it.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.number cimport PyNumber_Index
from libc.stdint cimport uint32_t

from cbpe._core.conversion.last_parts cimport LastParts, shortest_first
from cbpe._core.text.utf8 cimport exact_bytes
from cbpe._core.vocabulary.tables cimport NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

from cbpe._core.text.shown import shown


def checked_ranks(ranks):
    """The ranks as a list of (rank, token) by rising rank, after checking them: exact ints and bytes, whatever the
    methods of those that were given do. Raises TypeError or ValueError."""
    cdef list ordered = []
    cdef bytes exact
    if not isinstance(ranks, dict):
        raise TypeError(f"mergeable ranks are a dict of tokens and their ranks, not {type(ranks).__name__}")
    for token, rank in ranks.items():
        PyErr_CheckSignals()
        if not isinstance(token, bytes):
            raise TypeError(f"a token is bytes, not {type(token).__name__}: {shown(token)}")
        if not isinstance(rank, int) or isinstance(rank, bool):
            raise TypeError(f"the rank of {shown(token)} is an int, not {type(rank).__name__}: {shown(rank)}")
        exact = exact_bytes(token)
        number = PyNumber_Index(rank)
        if not exact:
            raise ValueError(f"the token with rank {shown(number)} is empty")
        if not 0 <= number < NONE:
            named = f"the rank {shown(number)} of {shown(exact)}"
            raise ValueError(f"{named} is out of range: ranks are from 0 to {NONE - 1}")
        ordered.append((number, exact))
    ordered.sort()
    for (rank, token), (next_rank, next_token) in zip(ordered, ordered[1:]):
        if rank == next_rank:
            raise ValueError(f"the tokens {shown(token)} and {shown(next_token)} have the same rank {rank}")
    if len({token for _, token in ordered}) < len(ordered):
        raise ValueError("a token is given twice")
    return ordered


def vocabulary_from_ranks(ranks):
    """The Vocabulary that gives what tiktoken gives with these ranks: dict[bytes, int], ids being the ranks.

    Raises TypeError or ValueError for a token that is not bytes or is empty, and for a rank that is no int, out of
    range, or given twice.
    """
    import array    # not needed for what is loaded packed, and it takes as long to import as some of our modules

    cdef list ordered = checked_ranks(ranks)
    cdef list tokens = [token for _, token in ordered]
    cdef list joined = [], unmerged = []
    cdef LastParts known = LastParts(len(tokens))
    cdef uint32_t left, right
    # Tokens are numbered by rank, from 256 on, and symbols leave out what is never joined.
    lefts, rights, symbols = (array.array("I", [NONE]) * (256 + len(tokens)) for _ in range(3))
    ids = array.array("I", [NONE]) * 256
    for number in shortest_first(tokens):
        if known.find(tokens[number], &left, &right):
            lefts[number], rights[number] = left, right
            known.add(left, right, 256 + <uint32_t>number)
    for number in range(256):
        symbols[number] = number
    for number, token in enumerate(tokens):
        if lefts[number] != NONE:
            symbols[256 + number] = 256 + len(joined)
            joined.append(number)
        elif len(token) > 1:
            unmerged.append(number)
        else:
            ids[token[0]] = ordered[number][0]
    return Vocabulary(
        array.array("I", [symbols[lefts[number]] for number in joined]),
        array.array("I", [symbols[rights[number]] for number in joined]),
        ids + array.array("I", [ordered[number][0] for number in joined + unmerged]),
        [tokens[number] for number in unmerged],
        whole_pieces=True,
        merges_happen=True,
    )
