"""The trainer, for other compiled modules."""

from libc.stdint cimport int64_t

from cbpe._core.training.candidates cimport State
from cbpe._core.vocabulary.vocabulary cimport Vocabulary


cdef class Trainer:
    cdef State state
    cdef bint running
    cdef bint broken
    cdef readonly int64_t tokens_at_start
    cdef readonly str stopped

    cdef int allocate(self, size_t n_weights) except -1
    cdef int number_ids(self, Vocabulary initial) except -1
    cdef int enter(self) except -1
    cdef int leave(self) except -1
    cdef int refuse_broken(self) except -1
    cdef str describe(self, int reason)
