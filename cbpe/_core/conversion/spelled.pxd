"""The tokens and merges of a tokenizer.json in flat arrays: what vocabularies over bytes and over characters share."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.conversion.listed cimport ListedMerges, ListedTokens
from cbpe._core.merging.walk cimport WalkTables
from cbpe._core.vocabulary.tables cimport VocabTables


cdef enum:
    CHARACTERS = 512            # those that spell bytes are below


# A merge on its way into the tables.
cdef struct Coming:
    const uint8_t *both         # the texts of its two tokens
    uint64_t left               # their sizes
    uint64_t right
    uint64_t left_hash
    uint64_t right_hash


cdef class Spelled:
    cdef:
        ListedTokens tokens
        ListedMerges merges
        uint32_t n_tokens
        uint32_t n_merges
        uint32_t singles[256]           # the token of each byte, or NONE
        uint8_t *data                   # what all tokens spell
        uint64_t *offsets               # token -> where its bytes start; n_tokens + 1 of them
        uint8_t *left_out               # token -> whether it is none that merging has to do with
        uint32_t *left                  # merge -> tokens
        uint32_t *right
        uint32_t *joined
        uint32_t *first                 # token -> the last merge that makes it, or NONE
        uint32_t *before                # merge -> the merge before it that makes the same token, or NONE
        uint32_t base                   # 256 + the number of first merges, which spell characters or mark words
        uint32_t *whole                 # symbol - 256 of a first merge -> the token that it makes, or NONE
        uint32_t *lefts                 # symbol - 256 -> the symbols that it is merged from; at first all merges, NONE
        uint32_t *rights                # for those that cannot happen
        uint32_t n_made                 # the merges that can happen, without the first ones
        uint32_t *made_ids              # the ids of what they make
        uint8_t *made                   # token -> whether a merge makes it, or it is one of the first
        uint32_t expected               # where the next merge's token is likely to be

    # Write the bytes that a text spells, as many as it has at most: how many, or -1 where it spells none. Two texts
    # never spell the same.
    cdef Py_ssize_t spell(self, const uint8_t *text, uint64_t size, uint8_t *into) noexcept nogil

    # Spell all tokens but those in `apart`: whether each spells bytes, but for those in `besides`, which are left out
    # where they do not.
    cdef bint take_tokens(self, apart, besides) except -1

    # Enter all merges: whether each is of two tokens to a token, and none given twice.
    cdef bint take_merges(self) except -1

    cdef bint take_some_merges(self, uint32_t first, uint32_t n) except -1

    cdef bint take_merge(self, uint32_t number, const Coming *one) except -1

    # The tokens that merges make, the shortest first; the caller frees them.
    cdef uint32_t *shortest_first(self, uint32_t *n) except NULL

    # The token of a symbol: a byte, or what the numbers from 256 on stand for.
    cdef uint32_t token_of(self, uint32_t symbol) noexcept nogil

    # Find the merges that can happen, and what they are of; the first ones are given (merge_lists.pyx says which can).
    cdef int settle(self, list lefts, list rights) except -1

    cdef int find_parts(self) except -1

    cdef void find_part(
        self, VocabTables *pairs, WalkTables *walk, uint32_t token, uint32_t *symbol_of
    ) noexcept nogil

    cdef int number_anew(self) except -1

    # What a Vocabulary is made of, when merges are settled; `unmerged` are (id, token).
    cdef list ids_of_first(self)

    cdef list unmerged(self)

    cdef vocabulary_with(self, list first_ids, list unmerged, dict options)

    cdef bytes token(self, uint32_t number)


cdef class SpelledBytes(Spelled):
    cdef uint32_t bytes_of[CHARACTERS]      # the byte that a character spells, or NO_BYTE

    cdef int take_alphabet(self, dict alphabet) except -1


# An array.array of these.
cdef as_array(const uint32_t *numbers, size_t n)
