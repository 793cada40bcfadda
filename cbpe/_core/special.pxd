"""What other compiled modules may use of special tokens."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef struct SpecialTables:
    uint32_t n
    uint32_t n_first            # how many bytes a special token starts with
    uint8_t first               # one of them
    bint starts[256]            # whether a special token starts with this byte
    uint32_t *offsets           # n + 1 of them: where each one's bytes start
    uint8_t *bytes
    uint32_t *ids
    uint32_t *slots             # hash table: number + 1, 0 where free
    uint64_t mask
    uint32_t *lengths           # the different lengths, falling
    uint32_t n_lengths


# Where the first special token at or behind text[start] begins, or -1. which[0] becomes its number: the longest of
# those that begin there.
cdef Py_ssize_t find_special(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, uint32_t *which
) noexcept nogil


cdef class SpecialTokens:
    cdef SpecialTables tables
    cdef readonly dict ids
