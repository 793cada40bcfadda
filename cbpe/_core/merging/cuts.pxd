"""What other compiled modules may use of safe cuts: the places within a piece that no merge can reach across."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.vocabulary.tables cimport VocabTables


cdef enum:
    NO_CHARACTER = 0xFFFFFFFF
    # Some merge joins the last bytes of a character to a symbol that begins with this character.
    SEAM_BEFORE = 1
    # Some merge joins a symbol that ends with this character to the first bytes of a character.
    SEAM_BEHIND = 2


cdef struct CutTables:
    uint8_t flags[1 << 16]      # code point -> SEAM_BEFORE, SEAM_BEHIND
    uint64_t *seams             # a Bloom filter, one bit a pair: the characters between which a merge may happen
    int shift


cdef inline uint64_t seam_hash(const CutTables *c, uint32_t first, uint32_t second) noexcept nogil:
    return (<uint64_t>first << 21 | second) * <uint64_t>0x9E3779B97F4A7C15 >> c.shift


cdef inline bint may_cut(const CutTables *c, uint32_t first, uint32_t second) noexcept nogil:
    """Whether a piece may be cut between two characters below U+10000, one of which is not ASCII."""
    cdef uint64_t seam
    if c.flags[first] & SEAM_BEHIND or c.flags[second] & SEAM_BEFORE:
        return False
    seam = seam_hash(c, first, second)
    return not c.seams[seam >> 6] >> (seam & 63) & 1


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
