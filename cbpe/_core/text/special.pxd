"""What other compiled modules may use of special tokens."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef enum:
    FEW = 4                     # so many bytes are looked for one by one
    LARGEST_WINDOW = 1 << 12
    NO_SPECIAL = 0xFFFFFFFF
    SEARCHED = 1 << 26          # bytes of text, or as much work, between two looks at the signals


cdef struct SpecialTables:
    uint32_t n
    uint32_t longest            # bytes of the longest
    uint32_t n_first            # how many bytes there are that a special token starts with
    uint8_t first[FEW]          # the first of them
    bint starts[256]            # whether a special token starts with this byte
    uint32_t singles[256]       # the number of the special token that is this byte alone; NO_SPECIAL: there is none
    uint64_t beginnings[1024]   # a bit for each pair of bytes that a longer one starts with: first << 8 | second
    uint32_t *offsets           # n + 1 of them: where each one's bytes start
    uint8_t *bytes
    uint32_t *ids
    uint32_t *ordered           # their numbers, by rising bytes
    uint32_t by_first[257]      # byte -> the place in it from which on they start with this byte, or a larger one


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
    cdef public dict advice
