"""The cache of pieces: a piece's bytes to its token ids, as plain C data of bounded size.

An entry is 32 bytes. The bytes of a piece of up to 15 stand in the entry itself, with their number, so that comparing
16 bytes decides. Those of a longer one stand in the arena, and the entry has their hash. Up to three ids stand in the
entry, more in the arena.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from cbpe._core.vocabulary.vocabulary cimport cbpe_hash, cbpe_load64, cbpe_mix

cdef extern from "bits.h" nogil:
    const uint64_t cbpe_key_masks[16][2]

cdef extern from "keys.h" nogil:
    ctypedef struct PieceKey "cbpe_key":
        uint64_t low            # the first 8 bytes, or the hash of a long piece
        uint64_t high           # the next 7, their number on top; of a long piece its size, LONG on top. 0: no piece

    ctypedef struct CacheEntry "cbpe_entry":
        uint64_t low
        uint64_t high
        uint32_t ids[3]         # of a long piece or more than three ids: ids[0] is where its record starts in the arena
        uint32_t n_ids          # with FAR_IDS and FAR_BYTES on top

    const CacheEntry NO_ENTRIES "cbpe_no_entries"[2]    # the slots of a cache that remembers nothing; always free

    # What keys.h says of them.
    ctypedef struct KeyLoops "cbpe_key_loops":
        uint64_t (*hash_key)(uint64_t low, uint64_t high, uint64_t seed) noexcept nogil
        Py_ssize_t (*make_keys)(
            const uint8_t *text, const uint8_t *text_end, const Py_ssize_t *spans, Py_ssize_t n, bint may_cut,
            uint64_t seed, const CacheEntry *entries, uint64_t mask, PieceKey *keys, const CacheEntry **places,
            int *others
        ) noexcept nogil
        Py_ssize_t (*copy_known)(
            const PieceKey *keys, const CacheEntry **places, Py_ssize_t start, Py_ssize_t n, const uint32_t *arena,
            uint32_t **out
        ) noexcept nogil
        Py_ssize_t (*find_missed)(
            const PieceKey *keys, const CacheEntry **places, Py_ssize_t start, Py_ssize_t n, int *missed
        ) noexcept nogil

    uint32_t copy_ids "cbpe_copy_ids"(const CacheEntry *entry, const uint32_t *arena, uint32_t *out)
    enum:
        INLINE_IDS "CBPE_INLINE_IDS"            # ids that stand in an entry
        COPIED_IDS "CBPE_COPIED_IDS"            # so many are copied at once: some more may be written behind the last
        LONGEST_CACHED "CBPE_LONGEST_CACHED"    # in bytes: longer pieces are rarely met twice
    bint worth_cutting "cbpe_worth_cutting"(const uint8_t *piece, Py_ssize_t size)
    const KeyLoops *cbpe_key_loops_by_name(const char *name)


cdef enum:
    INLINE_BYTES = 15           # the longest piece whose bytes stand in its entry
    LONG = 0xFF                 # stands for the size of a longer piece on top of its key
    TO_CUT = 1                  # instead of the upper half of a key: none is made, the piece is looked up in parts
    FAR_IDS = 1 << 31           # flag of an entry's n_ids: the ids stand in the arena
    FAR_BYTES = 1 << 30         # ... and so do the piece's bytes, which are to be compared
    PROBES = 8                  # an entry stands within so many slots of its hash, or not at all


# The ids of one character; n_ids is 0 as long as they are not known.
cdef struct CharacterIds:
    uint32_t ids[3]
    uint32_t n_ids


cdef struct PieceCache:
    CacheEntry *entries
    uint64_t mask               # number of slots - 1
    uint64_t used
    uint64_t cleared            # how many times it has started again from nothing
    uint32_t *arena             # records: a long piece's bytes, padded to whole words, and its ids
    uint64_t arena_used         # in words of 4 bytes
    uint64_t arena_size
    int64_t *budget             # bytes that all caches of one owner may still take; shared, changed atomically
    uint64_t seed
    const KeyLoops *loops       # for this machine's instructions; NULL: there are none


cdef inline uint64_t short_hash(uint64_t low, uint64_t high, uint64_t seed) noexcept nogil:
    return cbpe_mix(low ^ seed, high ^ <uint64_t>0x9E3779B97F4A7C15)


# Where the piece of a key is looked for: a long one's `low` is a hash already.
cdef inline uint64_t key_hash(uint64_t low, uint64_t high, uint64_t seed) noexcept nogil:
    return low if high >> 56 == LONG else short_hash(low, high, seed)


# Where a cache looks for it: its loops have a hash of their own.
cdef inline uint64_t cache_hash(const PieceCache *cache, uint64_t low, uint64_t high) noexcept nogil:
    if high >> 56 == LONG:
        return low
    return short_hash(low, high, cache.seed) if cache.loops == NULL else cache.loops.hash_key(low, high, cache.seed)


cdef inline void make_key(
    PieceKey *key, const uint8_t *piece, Py_ssize_t size, const uint8_t *end, uint64_t seed
) noexcept nogil:
    """The key of a piece of text, which is not empty; bytes up to `end` may be read."""
    cdef uint64_t low = 0, high = 0
    cdef Py_ssize_t i
    if size <= INLINE_BYTES:
        if end - piece >= 16:
            low = cbpe_load64(piece) & cbpe_key_masks[size][0]
            high = cbpe_load64(piece + 8) & cbpe_key_masks[size][1]
        else:
            for i in range(size):
                if i < 8:
                    low |= <uint64_t>piece[i] << (8 * i)
                else:
                    high |= <uint64_t>piece[i] << (8 * (i - 8))
        high |= <uint64_t>size << 56
    else:
        low = cbpe_hash(piece, <size_t>size, seed)
        high = <uint64_t>LONG << 56 | <uint64_t>size
    key.low = low
    key.high = high


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
cdef void open_cache(PieceCache *cache, int64_t *budget, uint64_t seed, const KeyLoops *loops) noexcept nogil

cdef void close_cache(PieceCache *cache) noexcept nogil

# Remember a piece that is not in the cache. A cache that is full starts again from nothing: what is common comes back
# soon.
cdef void add_entry(
    PieceCache *cache, const PieceKey *key, const uint8_t *piece, const uint32_t *ids, Py_ssize_t n_ids
) noexcept nogil

# A table of CharacterIds for the code points below 1 << 16, from the same budget; NULL where that or memory is lacking.
cdef CharacterIds *take_characters(PieceCache *cache) noexcept nogil

cdef void give_characters(PieceCache *cache, CharacterIds *characters) noexcept nogil
