"""The symbols that end at each place of a piece: the automaton of Aho and Corasick ("Efficient string matching", 1975)
over the trie of the symbols. Reading a piece takes at most two steps for each byte, however long symbols are."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc

from cbpe._core.c.atomics cimport cbpe_atomic_load, cbpe_atomic_put
from cbpe._core.merging.walk cimport find_child
from cbpe._core.vocabulary.tables cimport NONE


cdef uint32_t next_node(const WalkTables *w, const SuffixTables *s, uint32_t node, uint8_t byte) noexcept nogil:
    cdef uint32_t child = find_child(w, node, byte)
    while child == 0 and node != 0:
        node = s.links[node]
        child = find_child(w, node, byte)
    return child


# The nodes by their depth, and the edges that lead to them.
cdef struct Order:
    uint32_t *parents
    uint8_t *edges
    uint32_t *depths
    uint32_t *starts            # depth -> where the nodes of that depth begin in `nodes`
    uint32_t *nodes


cdef bint open_order(const WalkTables *w, Order *order) noexcept nogil:
    """False where there is no memory."""
    cdef uint32_t n = w.n_nodes, node, count, at = 0
    cdef uint64_t slot, entry
    order.parents = <uint32_t *>calloc(n, sizeof(uint32_t))
    order.edges = <uint8_t *>calloc(n, 1)
    order.depths = <uint32_t *>calloc(n, sizeof(uint32_t))
    order.starts = <uint32_t *>calloc(n, sizeof(uint32_t))
    order.nodes = <uint32_t *>calloc(n, sizeof(uint32_t))
    if (
        order.parents == NULL or order.edges == NULL or order.depths == NULL or order.starts == NULL
        or order.nodes == NULL
    ):
        return False
    for slot in range(w.edges_mask + 1):
        entry = w.edges[slot]
        if entry:
            order.parents[entry & 0xFFFFFFF] = <uint32_t>(entry >> 36)
            order.edges[entry & 0xFFFFFFF] = <uint8_t>(entry >> 28 & 0xFF)
    order.starts[0] = 1
    for node in range(1, n):    # a node is made after the one above it
        order.depths[node] = order.depths[order.parents[node]] + 1
        order.starts[order.depths[node]] += 1
    for node in range(n):
        count = order.starts[node]
        order.starts[node] = at
        at += count
    for node in range(n):
        order.nodes[order.starts[order.depths[node]]] = node
        order.starts[order.depths[node]] += 1
    return True


cdef void close_order(Order *order) noexcept nogil:
    free(order.parents)
    free(order.edges)
    free(order.depths)
    free(order.starts)
    free(order.nodes)


cdef void fill(const WalkTables *w, const Order *order, SuffixTables *s) noexcept nogil:
    cdef uint32_t i, node, parent, symbol, link
    s.links[0] = 0
    s.endings[0] = NONE
    for i in range(1, w.n_nodes):
        node = order.nodes[i]
        parent = order.parents[node]
        link = 0
        if parent != 0:
            link = next_node(w, s, s.links[parent], order.edges[node])
        s.links[node] = link
        symbol = w.symbols[node]
        s.endings[node] = symbol if symbol != NONE else s.endings[link]
        if symbol != NONE:
            s.shorter[symbol] = s.endings[link]


cdef void *new_suffix_tables(const WalkTables *w, uint32_t n_symbols) noexcept nogil:
    """All in one block, which free() gives back."""
    cdef size_t n = w.n_nodes
    cdef SuffixTables *s = <SuffixTables *>malloc(sizeof(SuffixTables) + (2 * n + n_symbols) * sizeof(uint32_t))
    cdef Order order
    if s == NULL:
        return NULL
    s.links = <uint32_t *>(s + 1)
    s.endings = s.links + n
    s.shorter = s.endings + n
    if open_order(w, &order):
        fill(w, &order, s)
    else:
        free(s)
        s = NULL
    close_order(&order)
    return s


cdef const SuffixTables *shared_suffix_tables(const WalkTables *w, uint32_t n_symbols) noexcept nogil:
    cdef void **place = <void **>&w.suffixes
    cdef void *tables = cbpe_atomic_load(place)
    if tables == NULL:
        tables = new_suffix_tables(w, n_symbols)
        if tables != NULL and not cbpe_atomic_put(place, tables):
            # Another thread was faster.
            free(tables)
            tables = cbpe_atomic_load(place)
    return <const SuffixTables *>tables
