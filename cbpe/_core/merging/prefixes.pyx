"""How many tokens each prefix of a piece becomes, in linear time.

Walking over the piece (walk.pyx) tells where its symbols end, and what stands before such a place is what that prefix
merges to. From one of these places on, prefixes are counted one after the other: a prefix merges to the symbols of a
shorter one and a last symbol that goes with them, and there is one such pair. Over characters a symbol may be no token:
part of a character that becomes its bytes, or is unknown. An automaton (suffixes.pyx) tells which symbols the prefix
ends with. Prefixes whose last symbols begin before that place are not found so; there are few of
them, and none from soon after it on, except in odd vocabularies.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memset

from cbpe._core.merging.merge cimport NO_ROOM, PAUSED, merge_walking, pause, resize
from cbpe._core.merging.suffixes cimport SuffixTables, next_node, shared_suffix_tables
from cbpe._core.merging.walk cimport WalkTables, are_apart, shared_walk_tables
from cbpe._core.vocabulary.tables cimport NONE

cdef enum:
    BETWEEN_PAUSES = 1 << 15    # symbols that are tried


cdef inline Py_ssize_t size_of(const VocabTables *v, uint32_t symbol) noexcept nogil:
    return v.offsets[symbol + 1] - v.offsets[symbol]


# How many tokens a symbol adds to those before it; `preceding` is the symbol there, or NONE.
cdef inline Py_ssize_t tokens_of(const VocabTables *v, uint32_t symbol, uint32_t preceding) noexcept nogil:
    if v.ids[symbol] != NONE:
        return 1
    if v.unknown == NONE:
        return size_of(v, symbol)   # a part of a character without a token
    if v.fuses_unknown:
        return preceding == NONE or v.ids[preceding] != NONE
    return not v.characters or v.bytes[v.offsets[symbol]] & 0xC0 != 0x80   # a character counts where it begins


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


cdef Py_ssize_t find_last(
    const VocabTables *v,
    const WalkTables *w,
    const SuffixTables *s,
    uint32_t node,
    Py_ssize_t at,
    PrefixCounts *found,
) noexcept nogil:
    """Enter the last symbol of piece[:at], where it begins at found.base or later and the last symbol before it is
    known. `node` is where the automaton is. Returns how many symbols were tried."""
    cdef uint32_t symbol = s.endings[node], preceding
    cdef Py_ssize_t place, tries = 0
    while symbol != NONE:
        tries += 1
        place = at - size_of(v, symbol)
        preceding = found.symbols[place - found.base]
        if place == 0 or preceding != NONE and are_apart(v, w, preceding, symbol):
            found.symbols[at - found.base] = symbol
            found.counts[at - found.base] = found.counts[place - found.base] + <uint32_t> tokens_of(
                v, symbol, NONE if place == 0 else preceding
            )
            break
        symbol = s.shorter[symbol]
    return tries


cdef Py_ssize_t count_from(
    const VocabTables *v,
    const WalkTables *w,
    const SuffixTables *s,
    const uint8_t *piece,
    Py_ssize_t size,
    Py_ssize_t budget,
    Py_ssize_t patience,
    MergeRoom *room,
    PrefixCounts *found,
) noexcept nogil:
    """Count from found.base on, where the count and the last symbol are entered, until no longer prefix can be within
    the budget: each has a place in it, at most the longest symbol before its end, with no more tokens."""
    cdef Py_ssize_t longest = <Py_ssize_t> v.longest, base = found.base, at = base, quiet = 0
    cdef Py_ssize_t tries = 0
    cdef uint32_t node = 0
    found.first = base
    while True:
        if at == base or found.symbols[at - base] != NONE:
            quiet = quiet + 1 if <Py_ssize_t> found.counts[at - base] > budget else 0
        else:
            found.first = at + 1
            quiet = 0
        if quiet > longest or at == size or (found.first > at and at - base > patience):
            found.last = at
            return 0
        if tries > BETWEEN_PAUSES:
            tries = 0
            if pause(room) < 0:
                return PAUSED
        node = next_node(w, s, node, piece[at])
        at += 1
        if not make_room(found, at - base + 1):
            return NO_ROOM
        tries += find_last(v, w, s, node, at, found) + 1


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
    cdef Py_ssize_t n, k = 0, end = 0, used = 0, status = NO_ROOM
    cdef const WalkTables *w
    cdef const SuffixTables *s
    if symbols == NULL:
        return NO_ROOM
    # Many symbols may be one unknown token.
    n = merge_walking(v, piece, size, budget if v.unknown == NONE else size, room, symbols)
    if n < 0:
        free(symbols)
        return n
    while k < n and used < budget:
        end += size_of(v, symbols[k])
        used += tokens_of(v, symbols[k], symbols[k - 1] if k else NONE)
        k += 1
    found.base = end
    while k > 0 and end - found.base < reach:
        k -= 1
        found.base -= size_of(v, symbols[k])
        used -= tokens_of(v, symbols[k], symbols[k - 1] if k else NONE)
    if found.capacity:
        memset(found.symbols, 0xFF, <size_t> found.capacity * sizeof(uint32_t))
    w = shared_walk_tables(v, room.walk)
    s = shared_suffix_tables(w, v.n_symbols)
    if s != NULL and make_room(found, 1):
        found.counts[0] = <uint32_t> used
        if k > 0:
            found.symbols[0] = symbols[k - 1]
        status = count_from(v, w, s, piece, size, budget, (end - found.base) + 8 * reach, room, found)
    free(symbols)
    return status


cdef void free_prefix_counts(PrefixCounts *found) noexcept nogil:
    free(found.counts)
    free(found.symbols)
    memset(found, 0, sizeof(PrefixCounts))
