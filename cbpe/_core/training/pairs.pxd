"""The trainer's two containers: a hash table of pairs of tokens, and a heap of candidates for the next merge."""

from libc.stdint cimport UINT32_MAX, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from cbpe._core.c.loads cimport cbpe_prefetch


cdef struct Pair:
    # Two neighbouring tokens. A pair is dead, and stays so, when its count is 0.
    uint32_t left
    uint32_t right
    int64_t count
    uint32_t *positions     # where it occurs, ascending; some may be stale: the tokens there have been merged since
    uint32_t n_positions
    uint32_t first          # all positions before this index are stale


cdef struct PairSlot:
    uint64_t key            # left id in the upper half, right id in the lower; all bits set in an empty slot
    uint32_t index          # of the pair in PairTable.pairs


cdef struct PairTable:
    # Open addressing, at most two thirds full. Which slot a pair has never shows in any result.
    PairSlot *slots
    uint64_t mask           # number of slots - 1, that is a power of two - 1
    size_t n_used
    Pair *pairs             # in order of insertion
    size_t n_pairs
    size_t capacity


cdef struct Candidate:
    # What was true of a pair when the entry was made. Since then its count can only have fallen, its key only risen.
    int64_t count
    uint64_t key            # decides between equal counts: the lower one wins
    uint32_t index          # of the pair in PairTable.pairs


cdef struct Heap:
    Candidate *entries
    size_t size
    size_t capacity


cdef inline uint64_t pair_key(uint32_t left, uint32_t right) noexcept nogil:
    return (<uint64_t>left << 32) | right


cdef inline uint64_t mix(uint64_t key) noexcept nogil:
    # Multiply and fold: the constant is 2^64 / the golden ratio; the fold brings the well mixed upper bits down.
    key *= <uint64_t>0x9E3779B97F4A7C15
    return key ^ (key >> 29) ^ (key >> 43)


cdef inline uint64_t home_slot(const PairTable *table, uint64_t key) noexcept nogil:
    return mix(key) & table.mask


cdef inline void table_prefetch(const PairTable *table, uint64_t key) noexcept nogil:
    cbpe_prefetch(&table.slots[home_slot(table, key)])


cdef inline Pair *table_find(const PairTable *table, uint64_t key) noexcept nogil:
    cdef uint64_t i = home_slot(table, key)
    while table.slots[i].key != key:
        if table.slots[i].key == <uint64_t>-1:
            return NULL
        i = (i + 1) & table.mask
    return &table.pairs[table.slots[i].index]


cdef inline Pair *table_add(PairTable *table, uint64_t key) noexcept nogil:
    # A new pair, all zero but for its ids; room for it has been made, and it is not in the table.
    cdef uint64_t i = home_slot(table, key)
    cdef Pair *pair = &table.pairs[table.n_pairs]
    while table.slots[i].key != <uint64_t>-1:
        i = (i + 1) & table.mask
    table.slots[i].key = key
    table.slots[i].index = <uint32_t>table.n_pairs
    memset(pair, 0, sizeof(Pair))
    pair.left = <uint32_t>(key >> 32)
    pair.right = <uint32_t>key
    table.n_pairs += 1
    table.n_used += 1
    return pair


cdef inline int table_rebuild(PairTable *table, size_t n_slots) noexcept nogil:
    # Put the pairs that are alive into n_slots (a power of two) new slots; -1 when there is no memory.
    cdef:
        PairSlot *slots
        size_t i
        uint64_t key, at
    if n_slots > <size_t>-1 // sizeof(PairSlot):
        return -1
    slots = <PairSlot *>realloc(table.slots, n_slots * sizeof(PairSlot))
    if slots == NULL:
        return -1
    memset(slots, 0xFF, n_slots * sizeof(PairSlot))
    table.slots = slots
    table.mask = n_slots - 1
    table.n_used = 0
    for i in range(table.n_pairs):
        if table.pairs[i].count == 0:
            continue
        key = pair_key(table.pairs[i].left, table.pairs[i].right)
        at = home_slot(table, key)
        while slots[at].key != <uint64_t>-1:
            at = (at + 1) & table.mask
        slots[at].key = key
        slots[at].index = <uint32_t>i
        table.n_used += 1
    return 0


cdef inline int table_reserve(PairTable *table, size_t n_more) noexcept nogil:
    # Make room for n_more pairs, so that adding them moves nothing; -1 when there is no memory.
    cdef:
        size_t needed = table.n_pairs + n_more
        size_t capacity, n_slots
        Pair *pairs
    if needed > UINT32_MAX:
        return -1
    if needed > table.capacity:
        capacity = max(needed, table.capacity + table.capacity // 2)
        pairs = <Pair *>realloc(table.pairs, capacity * sizeof(Pair))
        if pairs == NULL:
            return -1
        table.pairs = pairs
        table.capacity = capacity
    if table.slots == NULL or (table.n_used + n_more) // 2 * 3 + 3 > table.mask:
        n_slots = 1024
        while n_slots < (table.n_used + n_more) * 2:
            n_slots *= 2
        return table_rebuild(table, n_slots)
    return 0


cdef inline void table_clear(PairTable *table) noexcept nogil:
    # Give all memory back; the table can be used again.
    free(table.slots)
    free(table.pairs)
    memset(table, 0, sizeof(PairTable))


cdef inline bint comes_before(const Candidate *a, const Candidate *b) noexcept nogil:
    return a.count > b.count or (a.count == b.count and a.key < b.key)


cdef inline void heap_sink(Heap *heap, size_t i) noexcept nogil:
    # Entry i may come later than those below it: move it down to where it belongs.
    cdef:
        Candidate moved = heap.entries[i]
        size_t child
    while 2 * i + 1 < heap.size:
        child = 2 * i + 1
        if child + 1 < heap.size and comes_before(&heap.entries[child + 1], &heap.entries[child]):
            child += 1
        if not comes_before(&heap.entries[child], &moved):
            break
        heap.entries[i] = heap.entries[child]
        i = child
    heap.entries[i] = moved


cdef inline void heap_push(Heap *heap, Candidate added) noexcept nogil:
    # Room has been made.
    cdef size_t i = heap.size
    heap.size += 1
    while i > 0 and comes_before(&added, &heap.entries[(i - 1) // 2]):
        heap.entries[i] = heap.entries[(i - 1) // 2]
        i = (i - 1) // 2
    heap.entries[i] = added


cdef inline void heap_drop(Heap *heap) noexcept nogil:
    # Remove the first entry of a heap that is not empty.
    heap.size -= 1
    heap.entries[0] = heap.entries[heap.size]
    if heap.size:
        heap_sink(heap, 0)


cdef inline int heap_reserve(Heap *heap, size_t n_more) noexcept nogil:
    # Make room for n_more entries; -1 when there is no memory.
    cdef:
        size_t capacity = heap.capacity + heap.capacity // 2
        Candidate *entries
    if heap.size + n_more <= heap.capacity:
        return 0
    capacity = max(capacity, heap.size + n_more)
    entries = <Candidate *>realloc(heap.entries, capacity * sizeof(Candidate))
    if entries == NULL:
        return -1
    heap.entries = entries
    heap.capacity = capacity
    return 0


cdef inline void heap_clear(Heap *heap) noexcept nogil:
    free(heap.entries)
    memset(heap, 0, sizeof(Heap))
