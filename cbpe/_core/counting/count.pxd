"""The counter of pieces, for other compiled modules."""

from cbpe._core.counting.pieces cimport PieceTable


cdef class PieceCounter:
    cdef PieceTable table
    cdef Py_ssize_t users       # methods that read it just now; -1 for one that changes it
    cdef void *stopped          # not NULL: counting shall end; written by another thread

    # What reads the table, or changes it, stands between these two. RuntimeError where it is in use otherwise.
    cdef int enter(self, bint reading=?) except -1
    cdef int leave(self) except -1
