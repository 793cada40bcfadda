"""What other compiled modules may use of walking: merging a long piece in linear time."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.vocabulary.tables cimport VocabTables


cdef enum:
    NEIGHBOUR_BITS = 11
    NEIGHBOURS = 1 << NEIGHBOUR_BITS    # pairs of symbols that are remembered

# A trie of the bytes of all symbols that merging can produce. Nodes are numbered in the order in which they were made;
# 0 is the root.
cdef struct WalkTables:
    uint32_t n_nodes
    uint64_t *edges             # hash table: node << 36 | byte << 28 | child, 0 where free
    int edges_shift
    uint64_t edges_mask
    uint32_t *pairs             # [first byte << 8 | second]: the node of both, or 0
    uint32_t *symbols           # node -> the symbol that ends there, or NONE
    uint32_t *shorter           # symbol -> the longest symbol that is a proper prefix of it, NONE for a byte
    uint32_t *latest            # symbol -> the latest of the merges that make it; NULL in a monotone vocabulary: itself
    void *suffixes              # of suffixes.pyx: made when they are first needed, one block of memory


# Merge a piece of at least one byte: what merge_piece does, in linear time. `alive` has room for size + 1 bits.
# `neighbours` remembers which symbols stay neighbours: NEIGHBOURS words, 0 at first, for the one vocabulary from then
# on. reached[0] and n_symbols[0] are 0 at first; after `steps` steps it stops, and goes on when called again. Returns
# whether it has reached the end of the piece.
cdef bint walk_piece(
    const VocabTables *v,
    const WalkTables *w,
    const uint8_t *piece,
    Py_ssize_t size,
    uint64_t *alive,
    uint64_t *neighbours,
    uint32_t *out,
    Py_ssize_t *reached,
    Py_ssize_t *n_symbols,
    Py_ssize_t steps,
) noexcept nogil

# The child of a node by a byte, or 0.
cdef uint32_t find_child(const WalkTables *w, uint32_t node, uint8_t byte) noexcept nogil

# The tables for a vocabulary at a place that threads share, made now if they are not there yet; NULL where
# there is no memory. The owner of the place frees them with free_walk_tables.
cdef const WalkTables *shared_walk_tables(const VocabTables *v, WalkTables **place) noexcept nogil

cdef void free_walk_tables(void *tables) noexcept nogil

# Whether two symbols that merging makes of their own bytes stay neighbours when their bytes are merged, in any
# vocabulary.
cdef bint are_apart(const VocabTables *v, const WalkTables *w, uint32_t a, uint32_t b) noexcept nogil
