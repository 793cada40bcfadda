"""A table of distinct pieces and how often each occurs, as plain C data."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from cbpe._core.splitting.split cimport Span


cdef enum:
    BATCH = 512                 # pieces looked up together, so that the memory fetches overlap


cdef struct PieceSlot:
    # One distinct piece: `low` and `high` as in a PieceKey. An empty slot has high == 0.
    uint64_t low
    uint64_t high
    int64_t count
    size_t index                # in order of first appearance


cdef struct PieceTable:
    PieceSlot *slots            # open addressing, at most three quarters full
    uint64_t mask               # number of slots - 1, that is a power of two - 1
    uint64_t seed
    size_t n_pieces
    int64_t *ends               # of each piece: where its bytes end in data
    size_t ends_capacity
    uint8_t *data               # the bytes of all distinct pieces, one after the other
    size_t data_capacity
    int64_t total               # of all counts


# An empty table; all that may fail returns -1 when there is no memory, and changes nothing then.
cdef int open_table(PieceTable *table, uint64_t seed) noexcept nogil

cdef void close_table(PieceTable *table) noexcept nogil

# Make an open, empty table a copy of another.
cdef int copy_table(PieceTable *table, const PieceTable *other) noexcept nogil

# Forget all pieces, and keep the memory for others.
cdef void clear_table(PieceTable *table) noexcept nogil

# Room for so many more distinct pieces of so many bytes together.
cdef int make_room(PieceTable *table, size_t n_more, size_t bytes_more) noexcept nogil

# Add n <= BATCH pieces, text[span.start:span.end] each, to the counts (once each if counts is NULL). Bytes up to `end`
# may be read. The caller has seen to it that `total` does not overflow.
cdef int add_pieces(
    PieceTable *table, const uint8_t *text, const Span *spans, size_t n, const int64_t *counts, const uint8_t *end
) noexcept nogil

# How often each piece occurs, in order of first appearance: int64[n_pieces].
cdef void read_counts(const PieceTable *table, int64_t *counts) noexcept nogil

# Drop all but the `most` most frequent pieces, of equally frequent ones those that appeared last. `counts`, as of
# read_counts, is overwritten.
cdef void keep_most_frequent(PieceTable *table, size_t most, int64_t *counts) noexcept nogil


cdef inline int64_t piece_start(const PieceTable *table, size_t index) noexcept nogil:
    return table.ends[index - 1] if index else 0


cdef inline int64_t all_bytes(const PieceTable *table) noexcept nogil:
    return table.ends[table.n_pieces - 1] if table.n_pieces else 0
