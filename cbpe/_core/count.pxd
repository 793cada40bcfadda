"""Distinct pieces and how often each occurs, as plain C data."""

from libc.stdint cimport int64_t, uint8_t, uint64_t


cdef struct PieceSlot:
    # One distinct piece: `low` and `high` as in cache.pxd's PieceKey. An empty slot has high == 0.
    uint64_t low
    uint64_t high
    int64_t count
    size_t index            # in order of first appearance


cdef struct PieceTable:
    PieceSlot *slots        # open addressing, at most half full
    uint64_t mask           # number of slots - 1, that is a power of two - 1
    uint64_t seed
    size_t n_pieces
    int64_t *ends           # of each piece: where its bytes end in data
    size_t ends_capacity
    uint8_t *data           # the bytes of all distinct pieces, one after the other
    size_t data_capacity


cdef class PieceCounter:
    cdef PieceTable table
    cdef bint running

    cdef int enter(self) except -1
