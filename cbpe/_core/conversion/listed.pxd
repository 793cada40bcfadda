"""The tokens and merges of a tokenizer.json as the file lists them: texts in UTF-8, in flat arrays."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef class Rows:
    cdef:
        readonly uint32_t n
        uint8_t *texts              # of all rows, one behind the other
        uint64_t *offsets           # row -> where its text starts; n + 1 of them
        uint32_t *numbers           # row -> a number that goes with it
        uint64_t capacity           # bytes of texts
        uint32_t most               # rows that there is room for

    # Room for a text of this size behind those that are there: where it is to be written.
    cdef uint8_t *room(self, uint64_t size) except NULL

    # Take the text that was written there, with its number.
    cdef int take(self, uint64_t size, uint32_t number) except -1


cdef class ListedTokens(Rows):      # their numbers are the ids
    cdef:
        uint64_t *slots             # hash table: text -> token + 1, with the upper half of the hash above it
        uint64_t mask
        uint64_t seed

    # Make the table of all: whether no text and no id is there twice.
    cdef bint enter(self) except -1

    # Whether no id is there twice.
    cdef bint has_single_ids(self) except -1

    # The number of a token's row, or NONE.
    cdef uint32_t find(self, const uint8_t *text, uint64_t size) noexcept nogil

    # The slot of a token, or the free one where it would be.
    cdef uint64_t slot_of(self, const uint8_t *text, uint64_t size, uint64_t hashed) noexcept nogil

    cdef uint32_t row_of(self, object text) except? 0

    cdef str text(self, uint32_t row)


cdef class ListedMerges(Rows):      # a row has the texts of both tokens, and the size of the first
    cdef bint are_lists             # in the file, a merge is a list of two texts, and no text with a space

    # Take the two texts that were written behind the others.
    cdef int add(self, uint64_t left, uint64_t right) except -1
