"""What other compiled modules may use of suffixes: the symbols that end at each place of a piece."""

from libc.stdint cimport uint8_t, uint32_t

from cbpe._core.merging.walk cimport WalkTables


# Of each node of the trie in WalkTables, which stands for some bytes: what else these bytes end with.
cdef struct SuffixTables:
    uint32_t *links             # node -> the node of the longest proper suffix that has one
    uint32_t *endings           # node -> the longest symbol that its bytes end with, NONE for the root
    uint32_t *shorter           # symbol -> the longest symbol that is a proper suffix of it, or NONE


# The node of the longest bytes with a node that end with the bytes of `node` and this one after them.
cdef uint32_t next_node(const WalkTables *w, const SuffixTables *s, uint32_t node, uint8_t byte) noexcept nogil

# The tables that belong to w, made now if they are not there yet; NULL where there is no memory. Whoever frees w frees
# them.
cdef const SuffixTables *shared_suffix_tables(const WalkTables *w, uint32_t n_symbols) noexcept nogil
