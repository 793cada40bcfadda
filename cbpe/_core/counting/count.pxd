"""The counter of pieces, for other compiled modules."""

from cbpe._core.counting.pieces cimport PieceTable


cdef class PieceCounter:
    cdef PieceTable table
    cdef bint running
    cdef void *stopped          # not NULL: counting shall end; written by another thread

    cdef int enter(self) except -1
