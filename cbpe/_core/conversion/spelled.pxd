"""The tokens and merges of a tokenizer.json in flat arrays: what vocabularies over bytes and over characters share."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.conversion.last_parts cimport LastParts

cdef enum:
    CHARACTERS = 512            # those that spell bytes are below


# A merge on its way into the tables.
cdef struct Coming:
    Py_ssize_t start            # of its bytes in the room
    uint64_t left               # bytes of its two tokens
    uint64_t right
    uint64_t left_hash
    uint64_t right_hash


cdef class Spelled:
    cdef:
        uint32_t n_tokens
        uint32_t n_merges
        uint32_t bytes_of[CHARACTERS]   # the byte that a character spells, or NO_BYTE
        uint32_t singles[256]           # the token of each byte, or NONE
        uint8_t *data                   # of all tokens
        uint64_t *offsets               # token -> where its bytes start; n_tokens + 1 of them
        uint32_t *ids
        uint64_t *slots                 # hash table: bytes -> token + 1, with the upper half of the hash above it
        uint64_t mask
        uint64_t seed
        uint32_t *left                  # merge -> tokens
        uint32_t *right
        uint32_t *joined
        uint32_t *first                 # token -> the last merge that makes it, or NONE
        uint32_t *before                # merge -> the merge before it that makes the same token, or NONE
        uint8_t *room                   # for the bytes of a merge
        Py_ssize_t capacity
        uint32_t expected               # where the next merge's token is likely to be
        Py_ssize_t n_read               # where the character is that ended the last text before its end

    # Write the bytes that a text spells from `start` on, up to the character `end`: how many, or -1 where it spells
    # none. There is room for most_bytes(text).
    cdef Py_ssize_t unspell(self, str text, Py_ssize_t start, uint8_t *into, uint32_t end) noexcept

    # The most bytes that a text can spell.
    cdef uint64_t most_bytes(self, str text) noexcept

    # Whether a token is left out where it spells nothing.
    cdef bint may_spell_nothing(self, str text) except -1

    # The number of a token, or NONE.
    cdef uint32_t find(self, const uint8_t *token, uint64_t size) noexcept nogil

    cdef uint64_t slot_of(self, const uint8_t *token, uint64_t size, uint64_t hashed) noexcept nogil

    # Enter all tokens: whether each spells bytes, and no two the same.
    cdef bint take_tokens(self, dict vocab) except -1

    # Enter all merges: whether each is of two tokens to a token, and none given twice.
    cdef bint take_merges(self, list merges) except -1

    cdef bint take_some_merges(self, list merges, uint32_t first, uint32_t n) except -1

    cdef bint unspell_merge(self, object merge, Coming *one) except -1

    cdef bint take_merge(self, uint32_t number, const Coming *one) noexcept nogil

    cdef int make_room(self, Py_ssize_t size) except -1

    # The tokens that merges make, the shortest first; the caller frees them.
    cdef uint32_t *shortest_first(self, uint32_t *n) except NULL

    # The token of a symbol: a byte, or what the numbers from 256 on stand for.
    cdef uint32_t token_of(self, uint32_t symbol) noexcept nogil

    # The merge of these two tokens to that one, or NONE.
    cdef uint32_t merge_of(self, uint32_t token, uint32_t left, uint32_t right) noexcept nogil

    # For each merge that can happen, the symbols that it is of, `base` + the number of a merge (merge_lists.pyx says
    # which can happen).
    cdef int find_parts(self, LastParts known, uint32_t base, uint32_t *lefts, uint32_t *rights) except -1

    cdef bytes token(self, uint32_t number)


# An array.array of these.
cdef as_array(const uint32_t *numbers, size_t n)
