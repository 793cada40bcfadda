"""Cutting text between characters that no merge joins."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef enum:
    BONDS_AFTER = 1             # sides of a character, as bits
    BONDS_BEFORE = 2
    SIDES = 1 << 16             # code points of which the sides with bonds are known
    SPACE = 0x20

cdef struct BondTables:
    uint64_t apart[256]         # [first << 1 | second >> 6]: a bit for each second of two ASCII characters with no bond
    uint8_t *sides              # [code point]: on which sides it has bonds
    uint64_t *filter            # two bits of one word for each other bond: without both there is none
    int shift
    bint at_spaces              # no character has a bond with a space after it
    uint64_t *known             # a bit for each code point that has a token; NULL: those without one have no bonds


cdef inline uint64_t hash_bond(uint32_t first, uint32_t second) noexcept nogil:
    return (<uint64_t>first << 21 | second) * <uint64_t>0x9E3779B97F4A7C15


cdef inline uint64_t filter_bits(uint64_t hashed) noexcept nogil:
    """The two bits of a pair in its word; the word is told by the highest bits of the hash."""
    return <uint64_t>1 << (hashed >> 24 & 63) | <uint64_t>1 << (hashed >> 30 & 63)


cdef inline bint is_known(const BondTables *b, uint32_t character) noexcept nogil:
    return b.known[character >> 6] >> (character & 63) & 1


cdef inline bint have_bond(const BondTables *b, uint32_t first, uint32_t second) noexcept nogil:
    """Whether two characters, not both ASCII, may have a bond."""
    cdef uint64_t hashed, bits
    # Of most characters of most scripts, no merge joins anything to one side.
    if first < SIDES and not b.sides[first] & BONDS_AFTER or second < SIDES and not b.sides[second] & BONDS_BEFORE:
        return False
    if second == SPACE and b.at_spaces:
        return False
    hashed = hash_bond(first, second)
    bits = filter_bits(hashed)
    if b.filter[hashed >> b.shift] & bits == bits:
        return True
    return b.known != NULL and not is_known(b, first) and not is_known(b, second)


# Whether a text may be cut between two characters.
cdef inline bint may_cut(const BondTables *b, uint32_t first, uint32_t second) noexcept nogil:
    if (first | second) < 0x80:
        return b.apart[first << 1 | second >> 6] >> (second & 63) & 1
    return not have_bond(b, first, second)

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
