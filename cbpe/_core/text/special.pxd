"""What other compiled modules may use of special tokens."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef enum:
    FEW = 4                     # so many bytes are looked for one by one
    LARGEST_WINDOW = 1 << 12
    SEARCHED = 1 << 26          # bytes of text, or as much work, between two looks at the signals


cdef struct SpecialTables:
    uint32_t n
    uint32_t n_first            # how many bytes there are that a special token starts with
    uint8_t first[FEW]          # the first of them
    bint starts[256]            # whether a special token starts with this byte
    uint64_t beginnings[1024]   # a bit for each pair of bytes that one starts with: first << 8 | second
    uint32_t *offsets           # n + 1 of them: where each one's bytes start
    uint8_t *bytes
    uint32_t *ids
    uint32_t *slots             # hash table: number + 1, 0 where free
    uint64_t mask
    uint64_t seed               # random: no texts can be chosen that fill one corner of the table
    uint32_t *lengths           # the different lengths, falling
    uint32_t n_lengths


# Where the first special token at or after text[start[0]] begins, or -1. which[0] becomes its number: the longest of
# those that begin there. start[0] becomes where the search has come to: `size` if there is none; a place before that if
# it stopped after about as much work as looking at `effort` bytes takes, to be called again.
cdef Py_ssize_t find_special(
    const SpecialTables *s,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *start,
    Py_ssize_t effort,
    uint32_t *which,
) noexcept nogil

# The same for a whole text, however long it is: the signals are looked at, and the GIL is given up where it takes long.
cdef Py_ssize_t next_special(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, uint32_t *which
) except -2


cdef class SpecialTokens:
    cdef SpecialTables tables
    cdef readonly dict ids
