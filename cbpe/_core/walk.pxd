"""What other compiled modules may use of walking: merging a long piece in linear time."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.vocab cimport VocabTables


# A trie of the bytes of all symbols that merging can produce. Nodes are numbered in the order in which they were made;
# 0 is the root.
cdef struct WalkTables:
    uint64_t *edges             # hash table: node << 36 | byte << 28 | child, 0 where free
    int edges_shift
    uint64_t edges_mask
    uint32_t *symbols           # node -> the symbol that ends there, or NONE
    uint32_t *shorter           # symbol -> the longest symbol that is a proper prefix of it, NONE for a byte


# Merge a piece of at least one byte with a monotone vocabulary: what merge_piece does, in linear time. `alive` has room
# for size + 1 bits.
cdef Py_ssize_t walk_piece(
    const VocabTables *v, const WalkTables *w, const uint8_t *piece, Py_ssize_t size, uint64_t *alive, uint32_t *out
) noexcept nogil

# The tables for a monotone vocabulary, or NULL where there is no memory. The caller frees them with free_walk_tables.
cdef WalkTables *new_walk_tables(const VocabTables *v) noexcept nogil

cdef void free_walk_tables(WalkTables *w) noexcept nogil
