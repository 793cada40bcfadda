"""What each token is merged from last, found for the shortest tokens first.

What happens inside a stretch of bytes does not depend on what surrounds it until a merge crosses its borders. So the
two parts that a token is merged from are always those that are left when its own bytes are merged and only the last
merge is to come. Until then, only shorter tokens are made. So with the pairs of all shorter tokens in the table,
merging a token's bytes finds its own pair, whatever the order in which merges apply. For n bytes, this takes n log n
steps.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint8_t
from libc.stdlib cimport free

from cbpe._core.merging.merge cimport check_merged, free_merge_room, merge_piece, resize
from cbpe._core.vocabulary.filling cimport allocate_pairs, free_pairs
from cbpe._core.vocabulary.tables cimport add_pair
from cbpe._core.vocabulary.vocabulary cimport MAX_TOKENS


cdef class LastParts:
    """The pairs so far. n: how many there may be in the end. ValueError for more than a vocabulary can hold."""

    def __cinit__(self, Py_ssize_t n):
        if n >= MAX_TOKENS - 256:
            raise ValueError(f"{n:,} tokens or merges are too many: the limit is {MAX_TOKENS - 257:,}")
        allocate_pairs(&self.pairs, <uint32_t>n)

    def __dealloc__(self):
        free_pairs(&self.pairs)
        free_merge_room(&self.room)
        free(self.rest)

    cdef bint find(self, bytes token, uint32_t *left, uint32_t *right) except -1:
        return self.find_in(<const uint8_t *>PyBytes_AS_STRING(token), PyBytes_GET_SIZE(token), left, right)

    cdef bint find_in(self, const uint8_t *data, Py_ssize_t size, uint32_t *left, uint32_t *right) except -1:
        cdef Py_ssize_t n
        PyErr_CheckSignals()
        if size > self.capacity:
            if not resize(&self.rest, size, sizeof(uint32_t)):
                raise MemoryError
            self.capacity = size
        n = merge_piece(&self.pairs, data, size, &self.room, self.rest)
        check_merged(n)
        left[0], right[0] = self.rest[0], self.rest[1]
        return n == 2

    cdef int add(self, uint32_t left, uint32_t right, uint32_t symbol) except -1:
        add_pair(&self.pairs, left, right, symbol)
        return 0


cdef list shortest_first(list tokens):
    cdef dict by_size = {}
    cdef Py_ssize_t number, size
    for number in range(len(tokens)):
        size = len(tokens[number])
        if size > 1:
            by_size.setdefault(size, []).append(number)
    return [number for size in sorted(by_size) for number in by_size[size]]
