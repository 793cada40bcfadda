"""How many tokens each prefix of a piece becomes."""

from libc.stdint cimport uint8_t, uint32_t

from cbpe._core.merging.merge cimport MergeRoom
from cbpe._core.vocabulary.tables cimport VocabTables


# counts[k - base] is the number of tokens of piece[:k], for first <= k <= last. Longer prefixes have more tokens than
# was asked for. The owner sets all to 0 at first, and calls free_prefix_counts.
cdef struct PrefixCounts:
    Py_ssize_t first
    Py_ssize_t last
    Py_ssize_t base
    uint32_t *counts
    uint32_t *symbols   # symbols[k - base]: the last symbol of piece[:k], NONE where it is not known
    Py_ssize_t capacity


# Count the tokens of the prefixes near the longest one that has at most `budget` of them, from about `reach`
# bytes before it on, or from a later place where less is found. Needs a vocabulary that fits_walking.
# Returns 0, NO_ROOM or PAUSED, as merge_piece does.
cdef Py_ssize_t count_prefixes(
    const VocabTables *v,
    const uint8_t *piece,
    Py_ssize_t size,
    Py_ssize_t budget,
    Py_ssize_t reach,
    MergeRoom *room,
    PrefixCounts *found,
) noexcept nogil

cdef void free_prefix_counts(PrefixCounts *found) noexcept nogil
