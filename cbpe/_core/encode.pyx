"""UTF-8 text to token ids: split into pieces, cut the long ones where no merge reaches across, look each up in the
cache, merge those that are new. Plain C data, no Python object."""

from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

from cbpe._core.cache cimport (
    CacheEntry, CharacterIds, INLINE_BYTES, INLINE_IDS, LONG, TO_CUT, add_entry, close_cache, entry_ids, find_entry,
    give_characters, make_key, open_cache, take_characters
)
from cbpe._core.cut cimport free_cut_tables, new_cut_tables, next_cut
from cbpe._core.merge cimport free_merge_room, merge_piece
from cbpe._core.split cimport find_pieces
from cbpe._core.vocab cimport NONE, cbpe_prefetch, find_word

cdef extern from "bits.h" nogil:
    void cbpe_want_large_pages(void *p, size_t n)
    void *cbpe_atomic_load(void **place)
    bint cbpe_atomic_put(void **place, void *p)

cdef enum:
    KEPT = 1 << 16              # a workspace gives back larger buffers


cdef Workspace *new_workspace(
    int64_t *cache_budget, uint64_t seed, WalkTables **walk, CutTables **cuts
) noexcept nogil:
    cdef Workspace *work = <Workspace *>calloc(1, sizeof(Workspace))
    if work != NULL:
        open_cache(&work.cache, cache_budget, seed)
        work.room.walk = walk
        work.cuts = cuts
    return work


cdef void free_workspace(Workspace *work) noexcept nogil:
    if work != NULL:
        give_characters(&work.cache, work.characters)
        close_cache(&work.cache)
        free_merge_room(&work.room)
        free(work.ids)
        free(work)


cdef void tidy_workspace(Workspace *work) noexcept nogil:
    work.n_ids = work.n_counted = 0
    work.counting = False
    if work.capacity > KEPT:
        free(work.ids)
        work.ids = NULL
        work.capacity = 0
    if work.room.capacity > KEPT or work.room.alive_capacity > KEPT:
        free_merge_room(&work.room)


cdef bint reserve(Workspace *work, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t capacity = work.capacity
    cdef void *grown
    if n <= capacity - work.n_ids:
        return True
    if n > (<Py_ssize_t>1 << 56) - work.n_ids:
        return False
    capacity = work.n_ids + n + (capacity >> 1)
    grown = realloc(work.ids, capacity * sizeof(uint32_t))
    if grown == NULL:
        return False
    cbpe_want_large_pages(grown, capacity * sizeof(uint32_t))
    work.ids = <uint32_t *>grown
    work.capacity = capacity
    return True


cdef EncodeStatus merge_new(
    const VocabTables *v, Workspace *work, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    """Append the ids of a piece that is not in the cache; there is room for `size` of them."""
    cdef uint32_t *ids = work.ids + work.n_ids
    cdef uint32_t index
    cdef Py_ssize_t i, n
    if v.whole_pieces:
        index = find_word(v, piece, size)
        if index != NONE:
            ids[0] = v.ids[index]
            work.n_ids += 1
            return DONE
    n = merge_piece(v, piece, size, &work.room, ids)
    if n < 0:
        return NO_MEMORY
    for i in range(n):
        if v.ids[ids[i]] == NONE:
            work.byte = <uint8_t>ids[i]
            return NO_TOKEN
        ids[i] = v.ids[ids[i]]
    work.n_ids += n
    return DONE


cdef const CutTables *shared_cut_tables(const VocabTables *v, CutTables **place) noexcept nogil:
    """The tables at a place that threads share, made now if they are not there yet; NULL where there is no memory."""
    cdef CutTables *tables = <CutTables *>cbpe_atomic_load(<void **>place)
    if tables == NULL:
        tables = new_cut_tables(v)
        if tables != NULL and not cbpe_atomic_put(<void **>place, tables):
            free_cut_tables(tables)
            tables = <CutTables *>cbpe_atomic_load(<void **>place)
    return tables


cdef EncodeStatus encode_new(
    const VocabTables *v, Workspace *work, const PieceKey *key, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    """Append the ids of a piece that is not in the cache, and remember them there."""
    cdef Py_ssize_t before = work.n_ids
    cdef EncodeStatus status = merge_new(v, work, piece, size)
    if status == DONE and work.cache.entries != NULL:
        add_entry(&work.cache, key, piece, work.ids + before, work.n_ids - before)
    return status


cdef inline bint copy_known(Workspace *work, const PieceKey *key, const uint8_t *piece) noexcept nogil:
    """Append the ids of a piece if it is in the cache."""
    cdef const CacheEntry *entry
    cdef const uint32_t *ids
    cdef uint32_t i
    if work.cache.entries == NULL:
        return False
    entry = find_entry(&work.cache, key, piece)
    if entry == NULL:
        return False
    if entry.n_ids <= INLINE_IDS and key.high >> 56 != LONG:
        memcpy(work.ids + work.n_ids, entry.ids, INLINE_IDS * sizeof(uint32_t))
    else:
        ids = entry_ids(&work.cache, entry)
        for i in range(entry.n_ids):
            work.ids[work.n_ids + i] = ids[i]
    work.n_ids += entry.n_ids
    return True


cdef EncodeStatus encode_character(
    const VocabTables *v, Workspace *work, CharacterIds *known, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    """Append the ids of one character of up to three bytes, and remember them at its place in the table."""
    cdef Py_ssize_t before = work.n_ids
    cdef EncodeStatus status = merge_new(v, work, piece, size)
    if status == DONE:
        known.n_ids = <uint32_t>(work.n_ids - before)
        memcpy(known.ids, work.ids + before, known.n_ids * sizeof(uint32_t))
    return status


cdef EncodeStatus encode_cut(
    const VocabTables *v, Workspace *work, const uint8_t *piece, Py_ssize_t size, const uint8_t *text_end
) noexcept nogil:
    """Append the ids of a piece in parts, cut where no merge reaches across. Most parts are single characters."""
    cdef const CutTables *cuts = shared_cut_tables(v, work.cuts)
    cdef Py_ssize_t start = 0, end
    cdef CharacterIds *known
    cdef PieceKey key
    cdef EncodeStatus status = DONE
    cdef uint32_t character
    if cuts == NULL:
        return NO_MEMORY
    if work.characters == NULL:
        work.characters = take_characters(&work.cache)
    while start < size and status == DONE:
        end = next_cut(cuts, piece, start, size, &character)
        if character < 1 << 16 and work.characters != NULL:
            known = work.characters + character
            if known.n_ids:
                memcpy(work.ids + work.n_ids, known.ids, INLINE_IDS * sizeof(uint32_t))
                work.n_ids += known.n_ids
            else:
                status = encode_character(v, work, known, piece + start, end - start)
        else:
            make_key(&key, piece + start, end - start, text_end, work.cache.seed)
            if not copy_known(work, &key, piece + start):
                status = encode_new(v, work, &key, piece + start, end - start)
        start = end
    return status


cdef EncodeStatus encode_queued(
    const VocabTables *v, Workspace *work, const uint8_t *text, Py_ssize_t n, const uint8_t *text_end
) noexcept nogil:
    """Append the ids of n pieces whose keys are made; there is room for as many as they have bytes, and INLINE_IDS."""
    cdef Py_ssize_t i
    cdef const uint8_t *piece
    cdef PieceKey *key
    cdef EncodeStatus status = DONE
    for i in range(n):
        piece = text + work.spans[i].start
        key = &work.keys[i]
        if key.high == TO_CUT:
            status = encode_cut(v, work, piece, work.spans[i].end - work.spans[i].start, text_end)
        elif not copy_known(work, key, piece):
            status = encode_new(v, work, key, piece, work.spans[i].end - work.spans[i].start)
        if status != DONE:
            break
    return status


cdef inline bint worth_cutting(const uint8_t *piece, Py_ssize_t size) noexcept nogil:
    """Whether a piece may come apart: it is long, or ends with a character from U+3000 on (Chinese, Japanese)."""
    return size > INLINE_BYTES or size > 6 and piece[size - 3] >= 0xE3


cdef EncodeStatus encode_slice(
    const VocabTables *v,
    const SplitTables *split,
    Workspace *work,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *position,
) noexcept nogil:
    cdef Py_ssize_t n, i, length, stop = position[0] + SLICE
    # A token that no merge makes is found by its whole piece only, so that a vocabulary with such tokens does not cut.
    cdef bint may_cut = v.n_tokens == v.n_symbols
    cdef const uint8_t *piece
    cdef PieceKey *key
    cdef EncodeStatus status
    while True:
        n = find_pieces(split, text, size, position, work.spans, BATCH)
        if n == 0:
            return DONE if position[0] >= size else MORE
        if not reserve(work, work.spans[n - 1].end - work.spans[0].start + INLINE_IDS):
            return NO_MEMORY
        for i in range(n):
            piece = text + work.spans[i].start
            length = work.spans[i].end - work.spans[i].start
            key = &work.keys[i]
            if may_cut and worth_cutting(piece, length):
                key.high = TO_CUT
            elif work.cache.entries != NULL:
                make_key(key, piece, length, text + size, work.cache.seed)
                cbpe_prefetch(work.cache.entries + (key.hashed & work.cache.mask))
            else:
                key.high = 0
        status = encode_queued(v, work, text, n, text + size)
        if status != DONE:
            return status
        if work.counting:
            work.n_counted += work.n_ids
            work.n_ids = 0
        if position[0] >= size:
            return DONE
        if n < BATCH or position[0] >= stop:
            return MORE


cdef EncodeStatus encode_piece(
    const VocabTables *v, Workspace *work, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    if size == 0:
        return DONE
    if not reserve(work, size + INLINE_IDS):
        return NO_MEMORY
    return merge_new(v, work, piece, size)


cdef EncodeStatus append_id(Workspace *work, uint32_t token_id) noexcept nogil:
    if not reserve(work, 1):
        return NO_MEMORY
    work.ids[work.n_ids] = token_id
    work.n_ids += 1
    return DONE
