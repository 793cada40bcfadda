"""The trainer, for other compiled modules."""

from libc.stdint cimport int64_t

from .candidates cimport State
from .vocab cimport Vocabulary


cdef class Trainer:
    cdef State state
    cdef bint running
    cdef bint broken
    cdef readonly int64_t tokens_at_start
    cdef readonly str stopped

    cdef int number_ids(self, Vocabulary initial) except -1
    cdef int enter(self) except -1
    cdef int refuse_broken(self) except -1
    cdef str describe(self, int reason)
