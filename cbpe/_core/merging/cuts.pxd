"""What other compiled modules may use of safe cuts: the places within a piece that no merge can reach across."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.vocabulary.tables cimport VocabTables


cdef enum:
    NO_CHARACTER = 0xFFFFFFFF


cdef struct CutTables:
    uint8_t flags[1 << 16]      # code point -> SEAM_BEFORE, SEAM_BEHIND
    uint64_t *seams             # a Bloom filter, one bit a pair: the characters between which a merge may happen
    int shift


# The first place after text[start], which lies within a piece that ends at `end`, where the piece may be cut: its
# parts merge to what the whole piece merges to. `end` if there is none. The text is valid UTF-8. `character` becomes
# what stands before the cut if that is a single character, and NO_CHARACTER otherwise.
cdef Py_ssize_t next_cut(
    const CutTables *c, const uint8_t *text, Py_ssize_t start, Py_ssize_t end, uint32_t *character
) noexcept nogil

# The tables for a vocabulary at a place that threads share, made now if they are not there yet; NULL where there is no
# memory. The owner of the place frees them with free_cut_tables.
cdef const CutTables *shared_cut_tables(const VocabTables *v, CutTables **place) noexcept nogil

cdef void free_cut_tables(void *tables) noexcept nogil
