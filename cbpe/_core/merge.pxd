"""What other compiled modules may use of merging."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.vocab cimport VocabTables
from cbpe._core.walk cimport WalkTables


# Memory for merging long pieces, kept between calls. Its owner calls free_merge_room at the end; it may be used again
# after that.
cdef struct MergeRoom:
    WalkTables **walk           # where the tables for walking are, from the first long piece on; NULL: merge without
    Py_ssize_t long_bytes       # of the long pieces so far
    uint64_t *alive
    Py_ssize_t alive_capacity   # in words of 8 bytes
    Py_ssize_t capacity
    uint32_t *symbols
    uint32_t *following
    uint32_t *preceding
    uint64_t *heap


# Apply the merges to one piece and write the symbols that remain to `out` (room for `size` of them).
# Returns how many they are, or -1 where there is no memory.
cdef Py_ssize_t merge_piece(
    const VocabTables *v, const uint8_t *piece, Py_ssize_t size, MergeRoom *room, uint32_t *out
) noexcept nogil

cdef void free_merge_room(MergeRoom *room) noexcept nogil
