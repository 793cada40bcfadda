"""The trainer, for other compiled modules."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from cbpe._core.training.candidates cimport State
from cbpe._core.vocabulary.vocabulary cimport Vocabulary


cdef class Trainer:
    cdef State state
    cdef uint32_t *numbers      # code point -> the number of its symbol + 1, over characters; else NULL
    cdef bint running
    cdef bint broken
    cdef readonly int64_t tokens_at_start
    cdef readonly str stopped

    cdef int spell(self, str alphabet, refused, const uint8_t[::1] scripts) except -1
    cdef int note_scripts(self, const uint8_t[::1] scripts) except -1
    cdef int allocate(self, size_t n_weights) except -1
    cdef int number_ids(self, Vocabulary initial) except -1
    cdef int enter(self) except -1
    cdef int leave(self) except -1
    cdef int refuse_broken(self) except -1
    cdef str describe(self, int reason)
    cdef str describe_characters(self)
