"""What other compiled modules may use of merging."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport realloc

from cbpe._core.merging.walk cimport WalkTables
from cbpe._core.vocabulary.tables cimport VocabTables


cdef enum:
    NO_ROOM = -1                # there is no memory
    PAUSED = -2                 # a signal came, and its exception is set; or the work is not wanted any more


# Memory for merging long pieces, kept between calls. Its owner calls free_merge_room at the end; it may be used again
# after that.
cdef struct MergeRoom:
    WalkTables **walk           # where the tables for walking are, from the first long piece on; NULL: merge without
    int64_t *stopped            # becomes 1 when the work is not wanted any more; may be NULL
    Py_ssize_t long_bytes       # of the long pieces so far
    uint64_t *alive
    Py_ssize_t alive_capacity   # in words of 8 bytes
    uint64_t *neighbours        # of walking: what it has found out of pairs of symbols of the one vocabulary
    Py_ssize_t capacity         # of the three that follow: the symbols of a piece as a linked list
    uint32_t *symbols
    uint32_t *following
    uint32_t *preceding
    Py_ssize_t heap_capacity
    uint64_t *heap


cdef inline bint resize(void *memory, Py_ssize_t n, size_t item) noexcept nogil:
    """Make room for n items of so many bytes; `memory` is the address of a pointer to what malloc gave. False, and the
    pointer stays as it was, where there is no memory."""
    cdef void **place = <void **>memory
    cdef void *grown = realloc(place[0], n * item)
    if grown == NULL:
        return False
    place[0] = grown
    return True


# Room for the linked list of a piece of `size` bytes; False where there is no memory.
cdef bint make_room(MergeRoom *room, Py_ssize_t size) noexcept nogil


# Apply the merges to one piece and write the symbols that remain to `out` (room for `size` of them).
# Returns how many they are, NO_ROOM or PAUSED (see check_merged).
cdef Py_ssize_t merge_piece(
    const VocabTables *v, const uint8_t *piece, Py_ssize_t size, MergeRoom *room, uint32_t *out
) noexcept nogil

# The same by walking, for a vocabulary that fits_walking; room.walk is not NULL. Once there are more than `most`
# symbols, it may stop: they are then what a prefix of the piece merges to.
cdef Py_ssize_t merge_walking(
    const VocabTables *v, const uint8_t *piece, Py_ssize_t size, Py_ssize_t most, MergeRoom *room, uint32_t *out
) noexcept nogil

cdef void free_merge_room(MergeRoom *room) noexcept nogil

# Whether to go on with what takes long: 0, or PAUSED. Needs no GIL, and takes it to look at the signals.
cdef int pause(const MergeRoom *room) noexcept nogil

# Raise what merging failed with, if `n`, which it returned, says that it did, where nobody else stops the work.
cdef int check_merged(Py_ssize_t n) except -1 nogil

# Whether the tables for walking take no more memory than they may.
cdef bint fits_walking(const VocabTables *v) noexcept nogil
