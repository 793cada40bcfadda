"""The cache of pieces; cache.pxd says how it is laid out."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from cbpe._core.c.allocation cimport cbpe_give_back, cbpe_take_zeroed
from cbpe._core.c.atomics cimport cbpe_atomic_add
from cbpe._core.c.cache_loops cimport INLINE_IDS, LONGEST_CACHED, NO_ENTRIES
from cbpe._core.text.keys cimport LONG

cdef enum:
    FIRST_SLOTS = 1 << 10
    CHARACTERS_SIZE = sizeof(CharacterIds) << 16
    LARGEST_ARENA = 1 << 30     # in words: an entry has 32 bits for where its record starts


cdef bint take(int64_t *budget, uint64_t n) noexcept nogil:
    if cbpe_atomic_add(budget, -<int64_t>n) >= 0:
        return True
    cbpe_atomic_add(budget, <int64_t>n)
    return False


cdef void open_cache(PieceCache *cache, int64_t *budget, uint64_t seed, const CacheLoops *loops) noexcept nogil:
    cdef CacheEntry *entries
    memset(cache, 0, sizeof(PieceCache))
    cache.budget = budget
    cache.seed = seed
    cache.loops = loops
    cache.entries = <CacheEntry *>NO_ENTRIES
    if not take(budget, FIRST_SLOTS * sizeof(CacheEntry)):
        return
    entries = <CacheEntry *>cbpe_take_zeroed(FIRST_SLOTS * sizeof(CacheEntry))
    if entries == NULL:
        cbpe_atomic_add(budget, FIRST_SLOTS * sizeof(CacheEntry))
        return
    cache.entries = entries
    cache.mask = FIRST_SLOTS - 1


cdef void close_cache(PieceCache *cache) noexcept nogil:
    if cache.entries != NO_ENTRIES:
        cbpe_atomic_add(cache.budget, (cache.mask + 1) * sizeof(CacheEntry) + cache.arena_size * 4)
        cbpe_give_back(cache.entries)
    free(cache.arena)


cdef CacheEntry *free_slot(PieceCache *cache, uint64_t low, uint64_t high) noexcept nogil:
    cdef uint64_t home = home_slot(cache_hash(cache, low, high), cache.mask)
    cdef int probe
    for probe in range(PROBES):
        if cache.entries[(home + probe) & cache.mask].high == 0:
            return cache.entries + ((home + probe) & cache.mask)
    return NULL


cdef bint double_slots(PieceCache *cache) noexcept nogil:
    """Twice the slots, the entries moved over; False, and nothing changed, where budget or memory forbid."""
    cdef uint64_t i, n = cache.mask + 1
    cdef CacheEntry *old = cache.entries
    cdef CacheEntry *grown
    cdef CacheEntry *slot
    if not take(cache.budget, n * sizeof(CacheEntry)):
        return False
    grown = <CacheEntry *>cbpe_take_zeroed(2 * n * sizeof(CacheEntry))
    if grown == NULL:
        cbpe_atomic_add(cache.budget, n * sizeof(CacheEntry))
        return False
    cache.entries = grown
    cache.mask = 2 * n - 1
    for i in range(n):
        if old[i].high:
            slot = free_slot(cache, old[i].low, old[i].high)
            if slot != NULL:
                slot[0] = old[i]
    cbpe_give_back(old)
    return True


cdef bint arena_room(PieceCache *cache, uint64_t words) noexcept nogil:
    cdef uint64_t size = cache.arena_size
    cdef void *grown
    if cache.arena_used + words <= size:
        return True
    if cache.arena_used + words > <uint64_t>LARGEST_ARENA:
        return False
    while size < cache.arena_used + words:
        size = size * 2 if size else 4096
    if not take(cache.budget, (size - cache.arena_size) * 4):
        return False
    grown = realloc(cache.arena, size * 4)
    if grown == NULL:
        cbpe_atomic_add(cache.budget, (size - cache.arena_size) * 4)
        return False
    cache.arena = <uint32_t *>grown
    cache.arena_size = size
    return True


cdef void add_entry(
    PieceCache *cache, const PieceKey *key, const uint8_t *piece, const uint32_t *ids, Py_ssize_t n_ids
) noexcept nogil:
    cdef CacheEntry *entry
    cdef bint is_long = key.high >> 56 == LONG
    cdef uint64_t size = key.high & <uint64_t>0xFFFFFFFF
    cdef uint64_t words = 0
    if cache.entries == NO_ENTRIES or is_long and size > LONGEST_CACHED:
        return
    if is_long:
        words = (size + 3) // 4
    if is_long or n_ids > INLINE_IDS:
        words += <uint64_t>n_ids
    if 2 * (cache.used + 1) > cache.mask + 1 and not double_slots(cache) or not arena_room(cache, words):
        memset(cache.entries, 0, (cache.mask + 1) * sizeof(CacheEntry))
        cache.used = 0
        cache.arena_used = 0
        if not arena_room(cache, words):
            return
    entry = free_slot(cache, key.low, key.high)
    if entry == NULL:
        return
    entry.low = key.low
    entry.high = key.high
    entry.n_ids = <uint32_t>n_ids
    if words:
        entry.n_ids |= <uint32_t>(FAR_IDS | FAR_BYTES if is_long else FAR_IDS)
        entry.ids[0] = <uint32_t>cache.arena_used
        if is_long:
            memcpy(cache.arena + cache.arena_used, piece, size)
        memcpy(cache.arena + cache.arena_used + words - n_ids, ids, n_ids * sizeof(uint32_t))
        cache.arena_used += words
    else:
        memcpy(entry.ids, ids, n_ids * sizeof(uint32_t))
    cache.used += 1


cdef CharacterIds *take_characters(PieceCache *cache) noexcept nogil:
    cdef CharacterIds *characters
    if not take(cache.budget, CHARACTERS_SIZE):
        return NULL
    characters = <CharacterIds *>cbpe_take_zeroed(CHARACTERS_SIZE)
    if characters == NULL:
        cbpe_atomic_add(cache.budget, CHARACTERS_SIZE)
    return characters


cdef void give_characters(PieceCache *cache, CharacterIds *characters) noexcept nogil:
    if characters != NULL:
        cbpe_give_back(characters)
        cbpe_atomic_add(cache.budget, CHARACTERS_SIZE)
