"""Cutting text between characters that no merge joins: the shorter the pieces, the more often one is met again.

Two characters have a bond if some merge joins a symbol that ends with the first to one that begins with the second.
Between characters without a bond, merging is the same whether the text is cut there or not: symbols are whole
characters, and what joins the two sides would be a merge of a symbol that ends at the place with one that begins there.
So the pieces that merge on their own are all that is between two such places.

A text may be cut at fewer places than that: the table of pairs that are not ASCII is a filter, which takes a few of
them for bonds that are none.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memset

from cbpe._core.text.utf8 cimport character_start, read_character

cdef enum:
    BLOCK = 64
    FEWEST_BITS = 12            # of the filter, as a power of two
    MOST_BITS = 24
    CODE_POINTS = 0x110000


cdef uint64_t places_in_block(const BondTables *b, const uint8_t *text, Py_ssize_t left) noexcept nogil:
    cdef uint64_t places = 0
    cdef int size, stop = <int>min(left, <Py_ssize_t>BLOCK)
    cdef uint32_t before = read_character(text, left, &size), character
    cdef int at = size
    while at < stop:
        character = text[at]
        if (before | character) < 0x80:
            places |= (b.apart[before << 1 | character >> 6] >> (character & 63) & 1) << at
            at += 1
        else:
            character = read_character(text + at, left - at, &size)
            places |= <uint64_t>(not have_bond(b, before, character)) << at
            at += size
        before = character
    return places


cdef Py_ssize_t next_place(
    const BondTables *b, const uint8_t *text, Py_ssize_t size, Py_ssize_t at, Py_ssize_t stop
) noexcept nogil:
    cdef Py_ssize_t start = character_start(text, size, at - 1)
    cdef int length
    cdef uint32_t before = read_character(text + start, size - start, &length), character
    while at < stop:
        character = read_character(text + at, size - at, &length)
        if may_cut(b, before, character):
            return at
        at += length
        before = character
    return at


cdef bint may_cut_at(const BondTables *b, const uint8_t *text, Py_ssize_t size, Py_ssize_t at) noexcept nogil:
    cdef int length
    cdef Py_ssize_t start = character_start(text, size, at - 1)
    cdef uint32_t before = read_character(text + start, size - start, &length)
    return may_cut(b, before, read_character(text + at, size - at, &length))


cdef inline void note_sides(BondTables *b, uint32_t first, uint32_t second) noexcept nogil:
    if first < SIDES:
        b.sides[first] |= BONDS_AFTER
    if second < SIDES:
        b.sides[second] |= BONDS_BEFORE


cdef void bind_unknown(BondTables *b) noexcept nogil:
    """Enter the bonds of characters without a token: the sides of all, and the pairs of ASCII."""
    cdef uint32_t first, second
    for first in range(<uint32_t>SIDES):
        if not is_known(b, first):
            note_sides(b, first, first)
    for first in range(128):
        for second in range(128):
            if not (second == SPACE and b.at_spaces) and not is_known(b, first) and not is_known(b, second):
                b.apart[first << 1 | second >> 6] &= ~(<uint64_t>1 << (second & 63))


cdef class Bonds:
    """The bonds of a vocabulary.

    pairs: uint64 of this machine, first << 32 | second, code points of two characters that have a bond. at_spaces: no
    character has one with a space after it, whatever the pairs say. known: None, or uint32, the code points of
    characters that have a token; two in a row that are not among them then have a bond.
    """

    def __cinit__(self, bytes pairs not None, bint at_spaces=False, bytes known=None):
        cdef const uint64_t *pair = <const uint64_t *><const char *>pairs
        cdef const uint32_t *character
        cdef Py_ssize_t n = len(pairs) // 8, i
        cdef uint32_t first, second
        cdef uint64_t hashed
        cdef int bits = FEWEST_BITS
        self.pairs, self.known = pairs, known
        self.at_spaces = self.tables.at_spaces = at_spaces
        while <Py_ssize_t>1 << bits < 16 * n and bits < MOST_BITS:
            bits += 1
        self.tables.shift = 64 - (bits - 6)
        self.tables.filter = <uint64_t *>calloc(<size_t>1 << (bits - 6), sizeof(uint64_t))
        self.tables.sides = <uint8_t *>calloc(SIDES, 1)
        if self.tables.filter == NULL or self.tables.sides == NULL:
            raise MemoryError
        memset(self.tables.apart, 0xFF, sizeof(self.tables.apart))
        for i in range(n):
            first, second = <uint32_t>(pair[i] >> 32), <uint32_t>pair[i]
            if max(first, second) >= CODE_POINTS:
                raise ValueError(f"no code points of two characters: {first:#x}, {second:#x}")
            if second == SPACE and at_spaces:
                continue
            note_sides(&self.tables, first, second)
            if (first | second) < 0x80:
                self.tables.apart[first << 1 | second >> 6] &= ~(<uint64_t>1 << (second & 63))
            else:
                hashed = hash_bond(first, second)
                self.tables.filter[hashed >> self.tables.shift] |= filter_bits(hashed)
        if known is None:
            return
        self.tables.known = <uint64_t *>calloc(CODE_POINTS >> 6, sizeof(uint64_t))
        if self.tables.known == NULL:
            raise MemoryError
        character = <const uint32_t *><const char *>known
        for i in range(len(known) // 4):
            if character[i] >= CODE_POINTS:
                raise ValueError(f"no code point: {character[i]:#x}")
            self.tables.known[character[i] >> 6] |= <uint64_t>1 << (character[i] & 63)
        bind_unknown(&self.tables)

    def __dealloc__(self):
        free(self.tables.filter)
        free(self.tables.sides)
        free(self.tables.known)

    def __reduce__(self):
        return Bonds, (self.pairs, self.at_spaces, self.known)
