"""How many symbols each prefix of a piece merges to, in linear time.

Walking over the piece (walk.pyx) tells where its symbols end, and what stands before such a place is what that prefix
merges to. From one of these places on, prefixes are counted one after the other: a prefix merges to the symbols of a
shorter one and a last symbol that goes with them, and there is one such pair. Prefixes whose last symbols begin before
that place are not found so; there are few of them, and none from soon after it on, except in odd vocabularies.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memset

from cbpe._core.merging.merge cimport NO_ROOM, merge_walking, resize
from cbpe._core.merging.walk cimport WalkTables, find_child, shared_walk_tables, stay_apart
from cbpe._core.vocabulary.tables cimport NONE


cdef inline Py_ssize_t size_of(const VocabTables *v, uint32_t symbol) noexcept nogil:
    return v.offsets[symbol + 1] - v.offsets[symbol]


cdef bint make_room(PrefixCounts *found, Py_ssize_t n) noexcept nogil:
    """Room for n places."""
    cdef Py_ssize_t capacity = found.capacity
    if n <= capacity:
        return True
    n += n >> 1
    if not resize(&found.counts, n, sizeof(uint32_t)) or not resize(&found.symbols, n, sizeof(uint32_t)):
        return False
    memset(found.symbols + capacity, 0xFF, <size_t> (n - capacity) * sizeof(uint32_t))
    found.capacity = n
    return True


cdef void extend(
    const VocabTables *v, const WalkTables *w, const uint8_t *piece, Py_ssize_t size, Py_ssize_t at, PrefixCounts *found
) noexcept nogil:
    """Enter the prefixes whose last symbol begins at `at`, where the last symbol of piece[:at] is known."""
    cdef Py_ssize_t k
    cdef uint32_t node = 0, symbol, before = found.symbols[at - found.base]
    for k in range(at, size):
        node = find_child(w, node, piece[k])
        if node == 0:
            break
        symbol = w.symbols[node]
        if symbol != NONE and found.symbols[k + 1 - found.base] == NONE:
            if at == 0 or stay_apart(v, before, symbol, NONE):
                found.symbols[k + 1 - found.base] = symbol
                found.counts[k + 1 - found.base] = found.counts[at - found.base] + 1


cdef Py_ssize_t count_from(
    const VocabTables *v,
    const WalkTables *w,
    const uint8_t *piece,
    Py_ssize_t size,
    Py_ssize_t budget,
    Py_ssize_t patience,
    PrefixCounts *found,
) noexcept nogil:
    """Count from found.base on, where the count and the last symbol are entered, until no longer prefix can be within
    the budget: each has a place in it, at most the longest symbol before its end, with fewer symbols."""
    cdef Py_ssize_t longest = <Py_ssize_t> v.longest, base = found.base, at = base, quiet = 0
    found.first = base
    while True:
        if not make_room(found, min(size, at + longest) - base + 1):
            return NO_ROOM
        if at == base or found.symbols[at - base] != NONE:
            quiet = quiet + 1 if <Py_ssize_t> found.counts[at - base] > budget else 0
            extend(v, w, piece, size, at, found)
        else:
            found.first = at + 1
            quiet = 0
        if quiet > longest or at == size or (found.first > at and at - base > patience):
            found.last = at
            return 0
        at += 1


cdef Py_ssize_t count_prefixes(
    const VocabTables *v,
    const uint8_t *piece,
    Py_ssize_t size,
    Py_ssize_t budget,
    Py_ssize_t reach,
    MergeRoom *room,
    PrefixCounts *found,
) noexcept nogil:
    cdef uint32_t *symbols = <uint32_t *> malloc(<size_t> size * sizeof(uint32_t))
    cdef Py_ssize_t n, k = 0, end = 0, status = NO_ROOM
    if symbols == NULL:
        return NO_ROOM
    n = merge_walking(v, piece, size, budget, room, symbols)
    if n < 0:
        free(symbols)
        return n
    while k < n and k < budget:
        end += size_of(v, symbols[k])
        k += 1
    found.base = end
    while k > 0 and end - found.base < reach:
        k -= 1
        found.base -= size_of(v, symbols[k])
    if found.capacity:
        memset(found.symbols, 0xFF, <size_t> found.capacity * sizeof(uint32_t))
    if make_room(found, 1):
        found.counts[0] = <uint32_t> k
        if k > 0:
            found.symbols[0] = symbols[k - 1]
        status = count_from(
            v, shared_walk_tables(v, room.walk), piece, size, budget, (end - found.base) + 8 * reach, found
        )
    free(symbols)
    return status


cdef void free_prefix_counts(PrefixCounts *found) noexcept nogil:
    free(found.counts)
    free(found.symbols)
    memset(found, 0, sizeof(PrefixCounts))
