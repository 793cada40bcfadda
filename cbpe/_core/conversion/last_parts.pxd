"""What the two conversions use to find what each token is merged from last."""

from libc.stdint cimport uint8_t, uint32_t

from cbpe._core.merging.merge cimport MergeRoom
from cbpe._core.vocabulary.tables cimport VocabTables


cdef class LastParts:
    cdef VocabTables pairs      # its table of pairs and nothing else
    cdef MergeRoom room
    cdef uint32_t *rest         # what is left of the bytes of a token
    cdef Py_ssize_t capacity

    # Merge a token's bytes, by the pairs that were added: whether two symbols are left.
    cdef bint find(self, bytes token, uint32_t *left, uint32_t *right) except -1

    # The same for the bytes at a place.
    cdef bint find_in(self, const uint8_t *data, Py_ssize_t size, uint32_t *left, uint32_t *right) except -1

    # From now on this pair of symbols is merged; the smaller symbol comes first.
    cdef int add(self, uint32_t left, uint32_t right, uint32_t symbol) except -1


# The numbers of tokens of two bytes and more, the shortest tokens first.
cdef list shortest_first(list tokens)
