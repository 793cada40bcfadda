"""The cache of pieces: a piece's bytes to its token ids, as plain C data of bounded size.

An entry is 32 bytes. The bytes of a piece of up to 15 stand in the entry itself, with their number, so that comparing
16 bytes decides. Those of a longer one stand in the arena, and the entry has their hash. Up to three ids stand in the
entry, more in the arena.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from cbpe._core.c.cache_loops cimport CacheEntry, CacheLoops
from cbpe._core.c.keys cimport PieceKey
from cbpe._core.text.keys cimport LONG, short_hash


cdef enum:
    TO_CUT = 1                  # as `high`, it marks a piece that has no key: encode cuts it and looks up its parts
    FAR_IDS = 1 << 31           # flag of an entry's n_ids: the ids stand in the arena
    FAR_BYTES = 1 << 30         # ... and so do the piece's bytes, which are to be compared
    PROBES = 8                  # an entry stands within so many slots of its hash, or not at all


# The ids of one character; n_ids is 0 as long as they are not known.
cdef struct CharacterIds:
    uint32_t ids[3]
    uint32_t n_ids


cdef struct PieceCache:
    CacheEntry *entries
    uint64_t mask               # number of slots - 1; where it has changed, encode_queued looks its places up again
    uint64_t used
    uint32_t *arena             # records: a long piece's bytes, padded to whole words, and its ids
    uint64_t arena_used         # in words of 4 bytes
    uint64_t arena_size
    int64_t *budget             # bytes that all caches of one owner may still take; shared, changed atomically
    uint64_t seed
    const CacheLoops *loops     # for this machine's instructions; NULL: there are none


# Where a cache looks for the piece of a key: its loops have a hash of their own (cache_loops.h says why).
cdef inline uint64_t cache_hash(const PieceCache *cache, uint64_t low, uint64_t high) noexcept nogil:
    if high >> 56 == LONG:
        return low
    return short_hash(low, high, cache.seed) if cache.loops == NULL else cache.loops.hash_key(low, high, cache.seed)


# Where a hash begins to be looked for: the first of the two slots of a cache line.
cdef inline uint64_t home_slot(uint64_t hashed, uint64_t mask) noexcept nogil:
    return hashed & mask & ~<uint64_t>1


cdef inline const CacheEntry *first_place(const PieceCache *cache, const PieceKey *key) noexcept nogil:
    return cache.entries + home_slot(cache_hash(cache, key.low, key.high), cache.mask)


# The entry of a piece, or NULL.
cdef inline const CacheEntry *find_entry(
    const PieceCache *cache, const PieceKey *key, const uint8_t *piece
) noexcept nogil:
    cdef const CacheEntry *entry
    cdef uint64_t home = home_slot(cache_hash(cache, key.low, key.high), cache.mask)
    cdef int probe
    for probe in range(PROBES):
        entry = cache.entries + ((home + probe) & cache.mask)
        if entry.low == key.low and entry.high == key.high:
            if entry.high >> 56 != LONG or memcmp(cache.arena + entry.ids[0], piece, <uint32_t>entry.high) == 0:
                return entry
        if entry.high == 0:
            return NULL
    return NULL


# Where an entry's ids stand; n_ids[0] becomes how many they are.
cdef inline const uint32_t *entry_ids(const PieceCache *cache, const CacheEntry *entry, uint32_t *n_ids) noexcept nogil:
    n_ids[0] = entry.n_ids & ~<uint32_t>(FAR_IDS | FAR_BYTES)
    if n_ids[0] == entry.n_ids:
        return entry.ids
    if entry.n_ids & FAR_BYTES:
        return cache.arena + entry.ids[0] + (<uint32_t>entry.high + 3) // 4
    return cache.arena + entry.ids[0]


# Set up an empty cache; one that finds no budget or memory remembers nothing.
cdef void open_cache(PieceCache *cache, int64_t *budget, uint64_t seed, const CacheLoops *loops) noexcept nogil

cdef void close_cache(PieceCache *cache) noexcept nogil

# Remember a piece that is not in the cache. A cache that is full starts again from nothing: what is common comes back
# soon.
cdef void add_entry(
    PieceCache *cache, const PieceKey *key, const uint8_t *piece, const uint32_t *ids, Py_ssize_t n_ids
) noexcept nogil

# A table of CharacterIds for the code points below 1 << 16, from the same budget; NULL where that or memory is lacking.
cdef CharacterIds *take_characters(PieceCache *cache) noexcept nogil

cdef void give_characters(PieceCache *cache, CharacterIds *characters) noexcept nogil
