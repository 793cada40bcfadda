"""The tokens and merges of a tokenizer.json as the file lists them: texts in UTF-8, in flat arrays."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef class ListedTokens:
    cdef:
        readonly uint32_t n
        uint8_t *texts              # of all tokens
        uint64_t *offsets           # token -> where its text starts; n + 1 of them
        uint32_t *ids
        uint64_t *slots             # hash table: text -> token + 1, with the upper half of the hash above it
        uint64_t mask
        uint64_t seed
        uint64_t capacity           # bytes of texts
        uint32_t most               # tokens that there is room for

    # Room for a text of this size behind those that are there: where it is to be written.
    cdef uint8_t *room(self, uint64_t size) except NULL

    # Take the text that was written there.
    cdef int add(self, uint64_t size, uint32_t token_id) except -1

    # Make the table of all: whether no text and no id is there twice.
    cdef bint enter(self) except -1

    # Whether no id is there twice.
    cdef bint has_single_ids(self) except -1

    # The number of a token, or NONE.
    cdef uint32_t find(self, const uint8_t *text, uint64_t size) noexcept nogil

    # The slot of a token, or the free one where it would be.
    cdef uint64_t slot_of(self, const uint8_t *text, uint64_t size, uint64_t hashed) noexcept nogil

    cdef uint32_t number_of(self, object text) except? 0

    cdef str text(self, uint32_t number)


cdef class ListedMerges:
    cdef:
        readonly uint32_t n
        uint8_t *texts              # of the two tokens of each merge, one behind the other
        uint64_t *offsets           # merge -> where its texts start; n + 1 of them
        uint32_t *lefts             # merge -> the size of its first text
        uint64_t capacity
        uint32_t most
        bint are_lists              # in the file, a merge is a list of two texts, and no text with a space

    cdef uint8_t *room(self, uint64_t size) except NULL

    # Take the two texts that were written there.
    cdef int add(self, uint64_t left, uint64_t right) except -1
