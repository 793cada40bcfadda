"""A table of distinct pieces: what counting writes to.

A hash table leads from a piece to its count. A piece of up to 15 bytes stands in its slot, so that one fetch from
memory decides; of a longer one the slot has a hash, and its bytes are compared. The bytes of all pieces stand one after
the other in order of first appearance, which is also the order that everything is read in. The seed of the hash is the
caller's, and random, so that no text can be written that fills one corner of the table; no result depends on it.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memmove, memset

from cbpe._core.c.allocation cimport cbpe_give_back, cbpe_take_zeroed
from cbpe._core.c.keys cimport PieceKey
from cbpe._core.c.loads cimport cbpe_prefetch
from cbpe._core.text.keys cimport LONG, key_hash, make_key

cdef enum:
    FIRST_SLOTS = 1024


cdef inline size_t room(size_t n_slots) noexcept nogil:
    """How many pieces so many slots hold."""
    return n_slots // 8 * 5


cdef int open_table(PieceTable *table, uint64_t seed) noexcept nogil:
    memset(table, 0, sizeof(PieceTable))
    table.seed = seed
    return grow_slots(table, FIRST_SLOTS)


cdef void close_table(PieceTable *table) noexcept nogil:
    cbpe_give_back(table.slots)
    free(table.ends)
    free(table.data)
    memset(table, 0, sizeof(PieceTable))


cdef int copy_table(PieceTable *table, const PieceTable *other) noexcept nogil:
    table.seed = other.seed
    if make_room(table, other.n_pieces, all_bytes(other)) < 0:
        return -1
    if other.n_pieces == 0:
        return 0
    copy_slots(table.slots, table.mask, other)
    memcpy(table.ends, other.ends, other.n_pieces * sizeof(int64_t))
    memcpy(table.data, other.data, all_bytes(other))
    table.n_pieces = other.n_pieces
    table.total = other.total
    return 0


cdef void clear_table(PieceTable *table) noexcept nogil:
    memset(table.slots, 0, (table.mask + 1) * sizeof(PieceSlot))
    table.n_pieces = 0
    table.total = 0


cdef void copy_slots(PieceSlot *slots, uint64_t mask, const PieceTable *table) noexcept nogil:
    """Put the pieces of a table into other slots, mask + 1 empty ones."""
    cdef:
        const PieceSlot *slot
        size_t i
        uint64_t at
    for i in range(table.mask + 1):
        slot = &table.slots[i]
        if slot.high == 0:
            continue
        at = key_hash(slot.low, slot.high, table.seed) & mask
        while slots[at].high != 0:
            at = (at + 1) & mask
        slots[at] = slot[0]


cdef int grow_slots(PieceTable *table, size_t n_slots) noexcept nogil:
    """Move the pieces into n_slots (a power of two) slots."""
    cdef PieceSlot *slots = <PieceSlot *>cbpe_take_zeroed(n_slots * sizeof(PieceSlot))
    if slots == NULL:
        return -1
    if table.slots != NULL:
        copy_slots(slots, n_slots - 1, table)
        cbpe_give_back(table.slots)
    table.slots = slots
    table.mask = n_slots - 1
    return 0


cdef int make_room(PieceTable *table, size_t n_more, size_t bytes_more) noexcept nogil:
    cdef:
        size_t n_slots = table.mask + 1
        size_t n_bytes = all_bytes(table)
        size_t capacity
        void *larger
    if table.n_pieces + n_more > table.ends_capacity:
        capacity = max(table.n_pieces + n_more, table.ends_capacity + table.ends_capacity // 2)
        larger = realloc(table.ends, capacity * sizeof(int64_t))
        if larger == NULL:
            return -1
        table.ends = <int64_t *>larger
        table.ends_capacity = capacity
    if n_bytes + bytes_more > table.data_capacity:
        capacity = max(n_bytes + bytes_more, table.data_capacity + table.data_capacity // 2)
        larger = realloc(table.data, capacity)
        if larger == NULL:
            return -1
        table.data = <uint8_t *>larger
        table.data_capacity = capacity
    if table.n_pieces + n_more > room(n_slots):
        while room(n_slots) < table.n_pieces + n_more:
            n_slots *= 2
        return grow_slots(table, n_slots)
    return 0


cdef inline bint is_piece(
    const PieceTable *table, const PieceSlot *slot, const PieceKey *key, const uint8_t *piece, size_t size
) noexcept nogil:
    if slot.low != key.low or slot.high != key.high:
        return False
    if slot.high >> 56 != LONG:
        return True
    return memcmp(table.data + piece_start(table, slot.index), piece, size) == 0


cdef inline PieceSlot *find_slot(
    const PieceTable *table, const PieceKey *key, uint64_t hashed, const uint8_t *piece, size_t size
) noexcept nogil:
    """The slot of a piece, or the empty one where it would have to be."""
    cdef:
        uint64_t at = hashed & table.mask
        PieceSlot *slot
    while True:
        slot = &table.slots[at]
        if slot.high == 0 or is_piece(table, slot, key, piece, size):
            return slot
        at = (at + 1) & table.mask


cdef inline void add_piece(
    PieceTable *table, const PieceKey *key, uint64_t hashed, const uint8_t *piece, size_t size, int64_t count
) noexcept nogil:
    """Count one piece; room for it has been made."""
    cdef:
        PieceSlot *slot = find_slot(table, key, hashed, piece, size)
        int64_t begin
    if slot.high != 0:
        slot.count += count
        return
    slot.low = key.low
    slot.high = key.high
    slot.count = count
    slot.index = table.n_pieces
    begin = all_bytes(table)
    memcpy(table.data + begin, piece, size)
    table.ends[table.n_pieces] = begin + <int64_t>size
    table.n_pieces += 1


cdef int add_pieces(
    PieceTable *table, const uint8_t *text, const Span *spans, size_t n, const int64_t *counts, const uint8_t *end
) noexcept nogil:
    cdef:
        PieceKey keys[BATCH]
        uint64_t hashed[BATCH]
        size_t i, n_bytes = 0
        int64_t total = 0
    for i in range(n):
        n_bytes += spans[i].end - spans[i].start
    if make_room(table, n, n_bytes) < 0:
        return -1
    for i in range(n):
        make_key(&keys[i], text + spans[i].start, spans[i].end - spans[i].start, end, table.seed)
        hashed[i] = key_hash(keys[i].low, keys[i].high, table.seed)
        cbpe_prefetch(&table.slots[hashed[i] & table.mask])
    if counts == NULL:
        for i in range(n):
            add_piece(table, &keys[i], hashed[i], text + spans[i].start, spans[i].end - spans[i].start, 1)
        total = n
    else:
        for i in range(n):
            add_piece(table, &keys[i], hashed[i], text + spans[i].start, spans[i].end - spans[i].start, counts[i])
            total += counts[i]
    table.total += total
    return 0


cdef void read_counts(const PieceTable *table, int64_t *counts) noexcept nogil:
    cdef size_t i
    for i in range(table.mask + 1):
        if table.slots[i].high != 0:
            counts[table.slots[i].index] = table.slots[i].count


cdef inline size_t number_above(const int64_t *counts, size_t n, int64_t bound) noexcept nogil:
    cdef size_t i, above = 0
    for i in range(n):
        above += counts[i] > bound
    return above


cdef void keep_most_frequent(PieceTable *table, size_t most, int64_t *counts) noexcept nogil:
    cdef:
        size_t n = table.n_pieces, i, kept = 0, equal
        int64_t low = 0, high = table.total, middle, begin = 0, end, target = 0, size
        PieceKey key
        PieceSlot *slot
    if n <= most:
        return
    # The smallest bound that at most `most` pieces are above: by halving, between 0 and all occurrences.
    while low < high:
        middle = low + (high - low) // 2
        if number_above(counts, n, middle) <= most:
            high = middle
        else:
            low = middle + 1
    equal = most - number_above(counts, n, low)     # so many of those that are just as frequent as the bound stay
    memset(table.slots, 0, (table.mask + 1) * sizeof(PieceSlot))
    table.total = 0
    for i in range(n):
        end = table.ends[i]
        size = end - begin
        if counts[i] > low or (counts[i] == low and equal > 0):
            equal -= counts[i] == low
            memmove(table.data + target, table.data + begin, size)
            make_key(&key, table.data + target, size, table.data + end, table.seed)
            slot = &table.slots[key_hash(key.low, key.high, table.seed) & table.mask]
            while slot.high != 0:
                slot = slot + 1 if slot < table.slots + table.mask else table.slots
            slot.low = key.low
            slot.high = key.high
            slot.count = counts[i]
            slot.index = kept
            table.total += counts[i]
            target += size
            table.ends[kept] = target
            kept += 1
        begin = end
    table.n_pieces = kept
