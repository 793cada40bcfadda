"""Cutting text between characters that no merge joins."""

from libc.stdint cimport uint8_t, uint64_t


cdef struct BondTables:
    uint64_t apart[256]         # [first << 1 | second >> 6]: a bit for each second of two ASCII characters with no bond
    uint64_t *filter            # two bits of one word for each other bond: without both there is none
    int shift
    bint at_spaces              # no character has a bond with a space after it
    uint64_t *known             # a bit for each code point that has a token; NULL: those without one have no bonds


# The places in text[0:64], or before `left` where less is there, at which it may be cut: a bit for each, but for 0. A
# character begins there.
cdef uint64_t places_in_block(const BondTables *b, const uint8_t *text, Py_ssize_t left) noexcept nogil

# The first place from text[at] on, where a character begins and another one ends, at which the text may be cut; `stop`,
# or the end of a character a little later, if none is found before.
cdef Py_ssize_t next_place(
    const BondTables *b, const uint8_t *text, Py_ssize_t size, Py_ssize_t at, Py_ssize_t stop
) noexcept nogil

# Whether the text may be cut at text[at], which lies between two characters.
cdef bint may_cut_at(const BondTables *b, const uint8_t *text, Py_ssize_t size, Py_ssize_t at) noexcept nogil


cdef class Bonds:
    cdef BondTables tables
    # What it is made of.
    cdef readonly bytes pairs
    cdef readonly bint at_spaces
    cdef readonly object known
