"""The cache of pieces; cache.pxd says how it is laid out."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from cbpe._core.c.allocation cimport cbpe_give_back, cbpe_take_zeroed
from cbpe._core.c.atomics cimport cbpe_atomic_add, cbpe_atomic_read
from cbpe._core.c.cache_loops cimport INLINE_IDS, LONGEST_CACHED, NO_ENTRIES
from cbpe._core.text.keys cimport LONG

cdef enum:
    LINE = 2 * sizeof(CacheEntry)
    LINES = SET // 2            # of a set
    FIRST_LINES = 1 << 9
    GROWN_LINES = 1 << 17       # 8 MB
    FIRST_ARENA = 1 << 12       # in words
    LARGEST_ARENA = 1 << 30     # in words: an entry has 32 bits for where its record starts
    CHARACTERS_SIZE = sizeof(CharacterIds) << 16


# ---- The share of the budget

cdef int64_t share_of(const PieceCache *cache) noexcept nogil:
    """How many bytes a cache may take."""
    cdef int64_t n = cbpe_atomic_read(&cache.budget.n_caches)
    return cache.budget.total // n if n > 1 else cache.budget.total


cdef bint take(PieceCache *cache, int64_t n) noexcept nogil:
    """Take n bytes of the budget, or give them back if n is negative. False, and nothing taken, where they are more
    than the cache's share or than what is left."""
    if n > 0 and cache.taken + n > share_of(cache):
        return False
    if cbpe_atomic_add(&cache.budget.left, -n) < 0 and n > 0:
        cbpe_atomic_add(&cache.budget.left, n)
        return False
    cache.taken += n
    return True


cdef inline int64_t size_of(uint64_t n_lines, uint64_t arena_size) noexcept nogil:
    return <int64_t>(n_lines * LINE + arena_size * 4)


cdef void open_cache(PieceCache *cache, CacheBudget *budget, uint64_t seed, const CacheLoops *loops) noexcept nogil:
    cdef CacheEntry *entries
    memset(cache, 0, sizeof(PieceCache))
    cache.budget = budget
    cache.random = cache.seed = seed
    cache.loops = loops
    cache.entries = <CacheEntry *>NO_ENTRIES
    cache.n_lines = 1
    cbpe_atomic_add(&budget.n_caches, 1)
    if not take(cache, FIRST_LINES * LINE):
        return
    entries = <CacheEntry *>cbpe_take_zeroed(FIRST_LINES * LINE)
    if entries == NULL:
        take(cache, -FIRST_LINES * LINE)
        return
    cache.entries = entries
    cache.n_lines = FIRST_LINES


cdef void close_cache(PieceCache *cache) noexcept nogil:
    if cache.entries != NO_ENTRIES:
        take(cache, -size_of(cache.n_lines, cache.arena_size))
        cbpe_give_back(cache.entries)
    cbpe_atomic_add(&cache.budget.n_caches, -1)
    free(cache.arena)


# ---- Entries within their set

cdef inline uint64_t next_random(PieceCache *cache) noexcept nogil:
    cache.random = cache.random * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
    return cache.random >> 32


cdef CacheEntry *free_slot(PieceCache *cache, uint64_t home) noexcept nogil:
    """The first free slot for an entry of this home, or NULL."""
    cdef int probe
    for probe in range(SET):
        if cache.entries[home ^ probe].high == 0:
            return cache.entries + (home ^ probe)
    return NULL


cdef void put_entry(PieceCache *cache, CacheEntry *slot, const CacheEntry *entry, uint64_t home) noexcept nogil:
    """Write an entry to a slot of its set."""
    slot[0] = entry[0]
    slot.n_ids &= ~<uint32_t>MOVED
    if <uint64_t>(slot - cache.entries) >> 1 != home >> 1:
        slot.n_ids |= <uint32_t>MOVED


cdef CacheEntry *bring_home(PieceCache *cache, CacheEntry *entry, uint64_t home) noexcept nogil:
    cdef CacheEntry *place = cache.entries + home
    cdef CacheEntry other
    if not place.n_ids & MOVED:
        place += 1 if place[1].n_ids & MOVED else next_random(cache) & 1
    other = place[0]
    put_entry(cache, place, entry, home)
    put_entry(cache, entry, &other, home_of(cache, other.low, other.high))
    return place


cdef CacheEntry *taken_slot(PieceCache *cache, uint64_t home) noexcept nogil:
    """The slot of an entry that gives way to a new one of this home, whose set is full."""
    cdef CacheEntry *entries = cache.entries + (home & ~<uint64_t>(SET - 1))
    cdef uint64_t start = next_random(cache)
    cdef int i
    for i in range(SET):
        if entries[(start + i) % SET].n_ids & MOVED:
            return entries + (start + i) % SET
    return entries + start % SET


# ---- Growing and settling

cdef inline uint64_t record_size(const CacheEntry *entry) noexcept nogil:
    """The words that an entry has in the arena."""
    cdef uint64_t words = 0
    if entry.n_ids & FAR_IDS:
        words = entry.n_ids & N_IDS
        if entry.n_ids & FAR_BYTES:
            words += (<uint32_t>entry.high + 3) // 4
    return words


cdef bint move_record(PieceCache *cache, CacheEntry *entry, const uint32_t *arena) noexcept nogil:
    """Copy the record that an entry has in another arena to this one; False where there is no room."""
    cdef uint64_t words = record_size(entry)
    if words > cache.arena_size - cache.arena_used:
        return False
    if words:
        memcpy(cache.arena + cache.arena_used, arena + entry.ids[0], words * sizeof(uint32_t))
        entry.ids[0] = <uint32_t>cache.arena_used
        cache.arena_used += words
    return True


cdef bint resize(PieceCache *cache, uint64_t n_lines, uint64_t arena_size) noexcept nogil:
    """Have n_lines lines, and an arena of this size; the same size leaves the arena alone. What finds no room is
    forgotten. False, and nothing changed, where budget or memory forbid."""
    cdef CacheEntry *old = cache.entries
    cdef CacheEntry *entries
    cdef uint32_t *old_arena = cache.arena
    cdef uint32_t *arena = NULL
    cdef uint64_t i, home, n = 2 * cache.n_lines
    cdef bint moves = arena_size != cache.arena_size
    cdef int64_t more = size_of(n_lines, arena_size) - size_of(cache.n_lines, cache.arena_size)
    cdef CacheEntry *slot
    if not take(cache, more):
        return False
    entries = <CacheEntry *>cbpe_take_zeroed(n_lines * LINE)
    if moves and arena_size:
        arena = <uint32_t *>malloc(arena_size * 4)
    if entries == NULL or moves and arena_size and arena == NULL:
        cbpe_give_back(entries)
        free(arena)
        take(cache, -more)
        return False
    cache.entries = entries
    cache.n_lines = n_lines
    cache.used = 0
    if moves:
        cache.arena = arena
        cache.arena_size = arena_size
        cache.arena_used = 0
    for i in range(n):
        if old[i].high:
            home = home_of(cache, old[i].low, old[i].high)
            slot = free_slot(cache, home)
            if slot != NULL and (not moves or move_record(cache, old + i, old_arena)):
                put_entry(cache, slot, old + i, home)
                cache.used += 1
    cbpe_give_back(old)
    if moves:
        free(old_arena)
    return True


cdef bint may_grow(const PieceCache *cache, uint64_t n_lines, uint64_t arena_size) noexcept nogil:
    return not cache.settled and 2 * size_of(n_lines, arena_size) <= share_of(cache)


cdef void settle(PieceCache *cache, uint64_t words) noexcept nogil:
    """Take all of the share, divided as the entries and their records need it; `words` more are wanted in the arena.
    Where that would change little, nothing changes."""
    cdef double for_entries = <double>cache.used * sizeof(CacheEntry) + 1
    cdef double for_arena = <double>(cache.arena_used + words) * 4
    cdef int64_t held = size_of(cache.n_lines, cache.arena_size)
    cdef int64_t size = share_of(cache) - (cache.taken - held), left = cbpe_atomic_read(&cache.budget.left)
    cdef double part = min(0.5, max(1.0 / 32, for_arena / (for_arena + for_entries)))
    cdef uint64_t n_lines, arena_size
    cache.settled = True
    size = min(size, held + max(0, left))
    if size < LINES * LINE:
        return
    arena_size = min(<uint64_t>LARGEST_ARENA, <uint64_t>(size * part) // 4)
    n_lines = (<uint64_t>size - arena_size * 4) // (LINES * LINE) * LINES
    if size > held + held // 8 or size < held or arena_size > cache.arena_size + cache.arena_size // 4:
        resize(cache, n_lines, arena_size)


cdef void fit_share(PieceCache *cache) noexcept nogil:
    cdef int64_t share = share_of(cache)
    if cache.entries == NO_ENTRIES:
        return
    if cache.taken > share + share // 4:
        settle(cache, 0)
    elif cache.settled and cache.taken <= min(share // 2, cbpe_atomic_read(&cache.budget.left)):
        cache.settled = False


# ---- The arena

cdef void sweep_set(PieceCache *cache, uint64_t first, const uint32_t *old_arena) noexcept nogil:
    """Move the records of a set, of which this is the first slot, from another arena to this one, of which a quarter
    stays free, and forget those that nobody asked for."""
    cdef CacheEntry *entries = cache.entries + first
    cdef CacheEntry kept[SET]
    cdef uint64_t home
    cdef int i
    cdef bint moved
    memcpy(kept, entries, sizeof(kept))
    memset(entries, 0, sizeof(kept))
    for moved in range(2):      # those in their homes first
        for i in range(SET):
            if kept[i].high == 0 or (kept[i].n_ids & MOVED != 0) != moved:
                continue
            if kept[i].n_ids & FAR_IDS:
                if not kept[i].n_ids & USED or 4 * cache.arena_used > 3 * cache.arena_size:
                    cache.used -= 1
                    continue
                kept[i].n_ids &= ~<uint32_t>USED
                move_record(cache, &kept[i], old_arena)
            home = home_of(cache, kept[i].low, kept[i].high) if moved else first + (i & ~1)
            put_entry(cache, free_slot(cache, home), &kept[i], home)


cdef void sweep(PieceCache *cache) noexcept nogil:
    cdef uint32_t *arena = <uint32_t *>malloc(cache.arena_size * 4)
    cdef uint32_t *old = cache.arena
    cdef uint64_t n_sets = cache.n_lines // LINES, i
    cdef uint64_t start = next_random(cache) % n_sets       # what is beyond three quarters is forgotten anywhere
    if arena == NULL:
        return
    cache.arena = arena
    cache.arena_used = 0
    for i in range(n_sets):
        sweep_set(cache, (start + i) % n_sets * SET, old)
    free(old)


cdef bint arena_room(PieceCache *cache, uint64_t words) noexcept nogil:
    """Have room for a record of so many words; False where there is none."""
    cdef uint64_t size = cache.arena_size
    cdef void *grown
    if words <= size - cache.arena_used:
        return True
    while size < cache.arena_used + words:
        size = size * 2 if size else FIRST_ARENA
    if size <= <uint64_t>LARGEST_ARENA and may_grow(cache, cache.n_lines, size):
        if take(cache, (size - cache.arena_size) * 4):
            grown = realloc(cache.arena, size * 4)
            if grown != NULL:
                cache.arena = <uint32_t *>grown
                cache.arena_size = size
                return True
            take(cache, -<int64_t>(size - cache.arena_size) * 4)
    if size <= <uint64_t>LARGEST_ARENA:
        settle(cache, words)
    if words > cache.arena_size - cache.arena_used and 8 * words <= cache.arena_size:
        sweep(cache)
    return words <= cache.arena_size - cache.arena_used


# ---- Remembering

cdef void add_entry(
    PieceCache *cache, const PieceKey *key, const uint8_t *piece, const uint32_t *ids, Py_ssize_t n_ids
) noexcept nogil:
    cdef CacheEntry entry
    cdef CacheEntry *slot
    cdef bint is_long = key.high >> 56 == LONG
    cdef uint64_t size = key.high & <uint64_t>0xFFFFFFFF, home, more
    cdef uint64_t words = 0
    if cache.entries == NO_ENTRIES or is_long and size > LONGEST_CACHED:
        return
    if is_long:
        words = (size + 3) // 4
    if is_long or n_ids > INLINE_IDS:
        words += <uint64_t>n_ids
    if cache.used >= cache.n_lines and not cache.settled:       # half of the slots
        # A small one is soon full again: it grows faster, so that less is moved.
        more = (4 if cache.n_lines < GROWN_LINES else 2) * cache.n_lines
        if not (may_grow(cache, more, cache.arena_size) and resize(cache, more, cache.arena_size)):
            settle(cache, words)
    if words and not arena_room(cache, words):
        return
    memset(&entry, 0, sizeof(entry))
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
    home = home_of(cache, key.low, key.high)
    slot = free_slot(cache, home)
    if slot == NULL:
        slot = taken_slot(cache, home)
    else:
        cache.used += 1
    put_entry(cache, slot, &entry, home)


cdef CharacterIds *take_characters(PieceCache *cache) noexcept nogil:
    cdef CharacterIds *characters
    if cache.entries == NO_ENTRIES or 4 * <int64_t>CHARACTERS_SIZE > share_of(cache):
        return NULL
    if not take(cache, CHARACTERS_SIZE):
        return NULL
    characters = <CharacterIds *>cbpe_take_zeroed(CHARACTERS_SIZE)
    if characters == NULL:
        take(cache, -<int64_t>CHARACTERS_SIZE)
    return characters


cdef void give_characters(PieceCache *cache, CharacterIds *characters) noexcept nogil:
    if characters != NULL:
        cbpe_give_back(characters)
        take(cache, -<int64_t>CHARACTERS_SIZE)
