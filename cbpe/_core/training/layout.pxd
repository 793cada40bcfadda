"""Writing words into the trainer's symbols, for the trainer."""

from libc.stdint cimport int64_t, uint32_t, uint8_t

from cbpe._core.training.candidates cimport State
from cbpe._core.vocabulary.tables cimport VocabTables


# What fails raises, and leaves a state that can only be freed.
# Write n words as their bytes, and their counts where a position finds them. With `numbers`, for each code point the
# number of its symbol + 1, as their characters, all of which have a symbol.
cdef int lay_out(
    State *state, const uint8_t *data, const int64_t *lengths, const int64_t *counts, size_t n, const uint32_t *numbers
) except -1 nogil

# How many symbols a word has: its bytes, or its characters; -1 where one of these has no symbol.
cdef int64_t n_symbols(const uint8_t *word, int64_t length, const uint32_t *numbers) noexcept nogil

# Replace the bytes of words just laid out by the tokens that a monotone vocabulary merges them to.
cdef int lay_out_tokens(State *state, const VocabTables *v) except -1 nogil

# Reckon from the tokens in the text how often each initial merge was applied and how many tokens remained after it.
cdef int trace_merges(State *state) except -1 nogil
