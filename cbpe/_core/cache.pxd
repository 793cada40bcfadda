"""The cache of pieces: a piece's bytes to its token ids, as plain C data of bounded size.

An entry is 32 bytes. The bytes of a piece of up to 15 stand in the entry itself, with their number, so that comparing
16 bytes decides.
Those of a longer one stand in the arena, and the entry has their hash. Up to three ids stand in the entry, more in the
arena.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from cbpe._core.vocab cimport cbpe_hash, cbpe_load64, cbpe_mix


cdef enum:
    INLINE_BYTES = 15           # the longest piece whose bytes stand in its entry
    INLINE_IDS = 3
    LONG = 0xFF                 # stands for the size of a longer piece on top of its key
    LONGEST_CACHED = 255        # longer pieces are rarely met twice
    PROBES = 8                  # an entry stands within so many slots of its hash, or not at all


cdef struct PieceKey:
    uint64_t low                # the first 8 bytes, or the hash of a long piece
    uint64_t high               # the next 7, their number on top; of a long piece its size, LONG on top. 0: no piece
    uint64_t hashed


cdef struct CacheEntry:
    uint64_t low
    uint64_t high
    uint32_t ids[3]             # of a long piece or more than three ids: ids[0] is where its record starts in the arena
    uint32_t n_ids


cdef struct PieceCache:
    CacheEntry *entries
    uint64_t mask               # number of slots - 1
    uint64_t used
    uint32_t *arena             # records: a long piece's bytes, padded to whole words, and its ids
    uint64_t arena_used         # in words of 4 bytes
    uint64_t arena_size
    int64_t *budget             # bytes that all caches of one owner may still take; shared, changed atomically
    uint64_t seed


# Where an entry is looked for: a long piece's `low` is a hash already.
cdef inline uint64_t entry_hash(uint64_t low, uint64_t high, uint64_t seed) noexcept nogil:
    return low if high >> 56 == LONG else cbpe_mix(low ^ seed, high ^ <uint64_t>0x9E3779B97F4A7C15)


cdef inline void make_key(
    PieceKey *key, const uint8_t *piece, Py_ssize_t size, const uint8_t *end, uint64_t seed
) noexcept nogil:
    """The key of a piece of text, which is not empty; bytes up to `end` may be read."""
    cdef uint64_t low = 0, high = 0
    cdef Py_ssize_t in_low = size if size < 8 else 8
    cdef Py_ssize_t i
    if size <= INLINE_BYTES:
        if end - piece >= 16:
            low = cbpe_load64(piece) & ~<uint64_t>0 >> (64 - 8 * in_low)
            high = cbpe_load64(piece + 8) & ((<uint64_t>1 << 8 * (size - in_low)) - 1)
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
    key.hashed = entry_hash(low, high, seed)


# The entry of a piece, or NULL.
cdef inline const CacheEntry *find_entry(
    const PieceCache *cache, const PieceKey *key, const uint8_t *piece
) noexcept nogil:
    cdef const CacheEntry *entry
    cdef int probe
    for probe in range(PROBES):
        entry = cache.entries + ((key.hashed + probe) & cache.mask)
        if entry.low == key.low and entry.high == key.high:
            if entry.high >> 56 != LONG or memcmp(cache.arena + entry.ids[0], piece, <uint32_t>entry.high) == 0:
                return entry
        if entry.high == 0:
            return NULL
    return NULL


# Where an entry's ids stand.
cdef inline const uint32_t *entry_ids(const PieceCache *cache, const CacheEntry *entry) noexcept nogil:
    if entry.high >> 56 == LONG:
        return cache.arena + entry.ids[0] + (<uint32_t>entry.high + 3) // 4
    if entry.n_ids > INLINE_IDS:
        return cache.arena + entry.ids[0]
    return entry.ids


# Set up an empty cache; one that finds no budget or memory stays without entries and remembers nothing.
cdef void open_cache(PieceCache *cache, int64_t *budget, uint64_t seed) noexcept nogil

cdef void close_cache(PieceCache *cache) noexcept nogil

# Remember a piece that is not in the cache. A cache that is full starts again from nothing: what is common comes back
# soon.
cdef void add_entry(
    PieceCache *cache, const PieceKey *key, const uint8_t *piece, const uint32_t *ids, Py_ssize_t n_ids
) noexcept nogil
