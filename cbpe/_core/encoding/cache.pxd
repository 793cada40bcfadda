"""The cache of pieces: a piece's bytes to its token ids, as plain C data of bounded size.

An entry is 32 bytes. The bytes of a piece of up to 15 stand in the entry itself, with their number, so that comparing
16 bytes decides. Those of a longer one stand in the arena, and the entry has their hash. Up to three ids stand in the
entry, more in the arena.

Two entries share a line of the processor's cache, and eight lines are a set. A hash names a line, the piece's home, and
the entry stands there or elsewhere in the set. Those at home are found at once. One that was moved goes home when it is
asked for, in place of another; and where a set is full, a new entry takes the place of one that was moved. So what is
common stays.

A cache grows with what it holds, up to half of its share of the budget. Then it takes all of its share at once, and
grows no more (it is settled): new entries take the place of old ones. An arena that is full takes of the room that the
entries do not need, or else a sweep forgets the records that nobody asked for since the last.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from cbpe._core.c.cache_loops cimport CacheEntry, CacheLoops, note_use
from cbpe._core.c.keys cimport PieceKey
from cbpe._core.c.loads cimport cbpe_prefetch
from cbpe._core.text.keys cimport LONG, short_hash


cdef enum:
    TO_CUT = 1                  # as `high`, it marks a piece that has no key: encode cuts it and looks up its parts
    FAR_IDS = 1 << 31           # flag of an entry's n_ids: the ids stand in the arena
    FAR_BYTES = 1 << 30         # ... and so do the piece's bytes, which are to be compared
    USED = 1 << 29              # ... somebody asked for this record since the last sweep
    MOVED = 1 << 28             # ... the entry does not stand in its home
    N_IDS = MOVED - 1           # what is left is their number
    SET = 16                    # entries that a piece may be one of


# The ids of one character; n_ids is 0 as long as they are not known.
cdef struct CharacterIds:
    uint32_t ids[3]
    uint32_t n_ids


# What the caches of one owner share: each may take an equal share of the total. All are changed atomically.
cdef struct CacheBudget:
    int64_t total               # in bytes; never changes
    int64_t left
    int64_t n_caches


cdef struct PieceCache:
    CacheEntry *entries         # where they have changed, encode_queued looks its places up again
    uint64_t n_lines
    uint64_t used               # entries
    uint32_t *arena             # records: a long piece's bytes, padded to whole words, and its ids
    uint64_t arena_used         # in words of 4 bytes
    uint64_t arena_size
    CacheBudget *budget
    int64_t taken               # bytes of the budget
    bint settled
    uint64_t random
    uint64_t seed
    const CacheLoops *loops     # for this machine's instructions; NULL: there are none


# Where a cache looks for the piece of a key: its loops have a hash of their own (cache_loops.h says why).
cdef inline uint64_t cache_hash(const PieceCache *cache, uint64_t low, uint64_t high) noexcept nogil:
    if high >> 56 == LONG:
        return low
    return short_hash(low, high, cache.seed) if cache.loops == NULL else cache.loops.hash_key(low, high, cache.seed)


# The first of the two slots of a hash's home.
cdef inline uint64_t home_slot(uint64_t hashed, uint64_t n_lines) noexcept nogil:
    return ((hashed & <uint64_t>0xFFFFFFFF) * n_lines >> 32) * 2


cdef inline uint64_t home_of(const PieceCache *cache, uint64_t low, uint64_t high) noexcept nogil:
    return home_slot(cache_hash(cache, low, high), cache.n_lines)


cdef inline CacheEntry *first_place(const PieceCache *cache, const PieceKey *key) noexcept nogil:
    return cache.entries + home_of(cache, key.low, key.high)


# Have the other lines of a set on their way to the processor.
cdef inline void fetch_set(const PieceCache *cache, uint64_t home) noexcept nogil:
    cdef int line
    for line in range(2, SET, 2):
        cbpe_prefetch(cache.entries + (home ^ line))


# The entry of a piece whose home is known, or NULL.
cdef inline CacheEntry *find_entry(
    PieceCache *cache, const PieceKey *key, uint64_t home, const uint8_t *piece
) noexcept nogil:
    cdef CacheEntry *entry
    cdef int probe
    for probe in range(SET):
        if probe == 2:
            fetch_set(cache, home)
        entry = cache.entries + (home ^ probe)
        if entry.low == key.low and entry.high == key.high:
            if entry.high >> 56 != LONG:
                return entry if probe < 2 else bring_home(cache, entry, home)
            if memcmp(cache.arena + entry.ids[0], piece, <uint32_t>entry.high) == 0:
                return entry
        if entry.high == 0:
            return NULL
    return NULL


# Where an entry's ids stand; n_ids[0] becomes how many they are.
cdef inline const uint32_t *entry_ids(const PieceCache *cache, CacheEntry *entry, uint32_t *n_ids) noexcept nogil:
    n_ids[0] = entry.n_ids & N_IDS
    if not entry.n_ids & FAR_IDS:
        return entry.ids
    note_use(entry)
    if entry.n_ids & FAR_BYTES:
        return cache.arena + entry.ids[0] + (<uint32_t>entry.high + 3) // 4
    return cache.arena + entry.ids[0]


# Set up an empty cache; one that finds no budget or memory remembers nothing.
cdef void open_cache(PieceCache *cache, CacheBudget *budget, uint64_t seed, const CacheLoops *loops) noexcept nogil

cdef void close_cache(PieceCache *cache) noexcept nogil

# Have a cache keep to its share where the number of caches has changed. No piece may be on its way.
cdef void fit_share(PieceCache *cache) noexcept nogil

# Remember a piece that is not in the cache.
cdef void add_entry(
    PieceCache *cache, const PieceKey *key, const uint8_t *piece, const uint32_t *ids, Py_ssize_t n_ids
) noexcept nogil

# Exchange a moved entry for one in its home. Returns where it stands now.
cdef CacheEntry *bring_home(PieceCache *cache, CacheEntry *entry, uint64_t home) noexcept nogil

# A table of CharacterIds for the code points below 1 << 16, from the same budget; NULL where that or memory is lacking.
cdef CharacterIds *take_characters(PieceCache *cache) noexcept nogil

cdef void give_characters(PieceCache *cache, CharacterIds *characters) noexcept nogil
