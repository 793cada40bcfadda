"""What tokens over characters spell: by it ties are broken, and no two tokens spell the same."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef enum:
    # What belongs to no script, and what takes the script of the character before it. Higher numbers are scripts.
    ANY_SCRIPT
    INHERITED_SCRIPT


cdef struct Spellings:
    # Entry i spells symbols[starts[i]:starts[i + 1]]: the characters first, then the texts that no token may spell,
    # then what each merge makes. All NULL where training is over bytes.
    uint32_t *symbols
    size_t symbols_capacity
    size_t *starts
    uint64_t *beginnings    # of each entry: its first characters in 56 bits, which sort as it does
    size_t n
    size_t capacity
    size_t n_characters
    size_t n_refused
    uint8_t *scripts        # of each character; NULL where all of a word may be merged
    uint32_t *slots         # a hash table of the entries of more than one symbol: their numbers + 1
    size_t n_slots          # a power of two
    int bits                # of a character in a beginning
    int n_first             # characters in a beginning


# 0, or -1 where there is no memory.
cdef int open_spellings(Spellings *spellings, uint32_t n_characters) noexcept nogil
cdef int refuse_spelling(Spellings *spellings, const uint32_t *symbols, size_t n) noexcept nogil
cdef int add_spelling(Spellings *spellings, uint32_t left, uint32_t right) noexcept nogil
cdef void close_spellings(Spellings *spellings) noexcept nogil

# Whether there is an entry that spells what two tokens together do.
cdef bint is_spelled(const Spellings *spellings, uint32_t left, uint32_t right) noexcept nogil

# Whether what two tokens spell together has characters of two scripts. Words have none such side by side; but a mark
# that takes the script of the character before it may stand between two.
cdef bint mixes_scripts(const Spellings *spellings, uint32_t left, uint32_t right) noexcept nogil

# A number that is lower for what is merged earlier; equal for some that compare_spellings tells apart.
cdef uint64_t spelling_key(const Spellings *spellings, uint32_t left, uint32_t right) noexcept nogil

# Below 0 if the first pair of tokens is merged before the second, of two with the same count: the shorter one, then the
# one that sorts first, then the one with the shorter left token.
cdef int compare_spellings(
    const Spellings *spellings, uint32_t left, uint32_t right, uint32_t other_left, uint32_t other_right
) noexcept nogil
