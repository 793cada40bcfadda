"""What other compiled modules may use of a vocabulary: the class, and making room for pairs."""

cimport cython
from libc.stdint cimport uint32_t

from cbpe._core.vocabulary.tables cimport VocabTables


cdef enum:
    MAX_TOKENS = 1 << 21        # two symbols and a merge fit in the 64 bits of a pair's entry
    MAX_BYTES = 1 << 28         # of all tokens together: more is refused before memory is taken


# Make room for n pairs in v's (empty) tables. The owner of v frees it with free_pairs.
cdef int allocate_pairs(VocabTables *v, uint32_t n) except -1

cdef void free_pairs(VocabTables *v) noexcept nogil


@cython.final
cdef class Vocabulary:
    cdef VocabTables tables
    cdef bytes spell(self, uint32_t index)
