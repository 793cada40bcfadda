"""UTF-8 text to token ids: split into pieces, cut the long ones where no merge reaches across, look each up in the
cache, merge those that are new. Plain C data, no Python object."""

from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

from cbpe._core.c.allocation cimport cbpe_want_large_pages
from cbpe._core.c.cache_loops cimport COPIED_IDS, FIRST_WORTH_CUTTING, INLINE_IDS, NO_ENTRIES, copy_ids, worth_cutting
from cbpe._core.c.keys cimport cbpe_key_masks
from cbpe._core.c.loads cimport cbpe_load64, cbpe_prefetch
from cbpe._core.encoding.cache cimport (
    TO_CUT, add_entry, close_cache, entry_ids, find_entry, first_place, give_characters, home_of, home_slot, open_cache,
    take_characters
)
from cbpe._core.encoding.places cimport note_pieces
from cbpe._core.encoding.symbols cimport is_marked, put_ids
from cbpe._core.merging.cuts cimport NO_CHARACTER, next_cut, shared_cut_tables
from cbpe._core.merging.dropout cimport merge_dropping
from cbpe._core.merging.merge cimport NO_ROOM, free_merge_room, merge_piece, pause
from cbpe._core.splitting.bonds cimport BONDS_AFTER, BONDS_BEFORE, BondTables, may_cut as may_cut_between
from cbpe._core.splitting.split cimport find_pieces, find_sure_pieces, read_from
from cbpe._core.text.keys cimport INLINE_BYTES, LONG, make_key, short_hash
from cbpe._core.text.utf8 cimport character_start, read_character
from cbpe._core.vocabulary.tables cimport BEGIN, END, NONE
from cbpe._core.vocabulary.words cimport SHORT_WORD, find_short_word, find_word, word_hash

cdef enum:
    BETWEEN_PAUSES = 1 << 20    # bytes of one piece
    INNER = 0x40                # in keys of parts: they are not merged as a piece of the same bytes would be
    KEPT = 1 << 16              # a workspace gives back larger buffers
    ROOM_TAKEN = 1 << 14        # bytes of text that are encoded as single characters at once
    MANY_BYTES = 128            # of a piece among them
    MOST_OTHERS = 8             # such pieces in a row
    AFTER_CHARACTERS = 32       # pieces that are looked up together where the text was of single characters before


cdef Workspace *new_workspace(
    CacheBudget *cache_budget, uint64_t seed, WalkTables **walk, CutTables **cuts, const CacheLoops *loops
) noexcept nogil:
    cdef Workspace *work = <Workspace *>calloc(1, sizeof(Workspace))
    if work != NULL:
        open_cache(&work.cache, cache_budget, seed, loops)
        work.room.walk = walk
        work.cuts = cuts
    return work


cdef void free_workspace(Workspace *work) noexcept nogil:
    if work != NULL:
        give_characters(&work.cache, work.characters)
        close_cache(&work.cache)
        free_merge_room(&work.room)
        free(work.marked)
        free(work.ids)
        free(work)


cdef void tidy_workspace(Workspace *work) noexcept nogil:
    work.n_ids = work.n_counted = 0
    work.counting = False
    work.room.stopped = NULL
    work.dropout = NULL
    work.jumps = NULL
    if work.capacity > KEPT:
        free(work.ids)
        work.ids = NULL
        work.capacity = 0
    if work.marked_capacity > KEPT:
        free(work.marked)
        work.marked = NULL
        work.marked_capacity = 0
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


cdef EncodeStatus append_symbols(const VocabTables *v, Workspace *work, Py_ssize_t n) noexcept nogil:
    """Append the ids of n symbols that merging has written after the others; or n is what merging failed with."""
    if n < 0:
        return NO_MEMORY if n == NO_ROOM else INTERRUPTED
    n = put_ids(v, work.ids + work.n_ids, n, &work.byte)
    if n < 0:
        return NO_TOKEN
    work.n_ids += n
    return DONE


cdef EncodeStatus append_marked(
    const VocabTables *v, Workspace *work, const uint8_t *part, Py_ssize_t size, bint begins, bint ends
) noexcept nogil:
    """Merge a part of a piece, which it begins or ends, and append its ids; there is room for `size` + 2 of them."""
    cdef uint8_t *marked
    begins, ends = begins and v.begins, ends and v.ends
    if size + 2 > work.marked_capacity:
        marked = <uint8_t *>realloc(work.marked, 2 * size + 64)
        if marked == NULL:
            return NO_MEMORY
        work.marked = marked
        work.marked_capacity = 2 * size + 64
    marked = work.marked
    marked[0] = BEGIN
    memcpy(marked + begins, part, size)
    marked[begins + size] = END
    return append_symbols(
        v, work, merge_piece(v, marked, size + begins + ends, &work.room, work.ids + work.n_ids)
    )


cdef EncodeStatus append_merged(
    const VocabTables *v, Workspace *work, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    """Merge a piece and append its ids; there is room for `size` + 2 of them."""
    if is_marked(v):
        return append_marked(v, work, piece, size, True, True)
    return append_symbols(v, work, merge_piece(v, piece, size, &work.room, work.ids + work.n_ids))


cdef EncodeStatus append_dropping(
    const VocabTables *v, Workspace *work, const uint8_t *text, const Span *spans, Py_ssize_t n
) noexcept nogil:
    """Merge n pieces by BPE-dropout and append their ids; there is room for as many as they have bytes."""
    cdef Py_ssize_t i, start, size
    cdef EncodeStatus status = DONE
    for i in range(n):
        start, size = spans[i].start, spans[i].end - spans[i].start
        status = append_symbols(v, work, merge_dropping(
            v, text + start, size, <uint64_t>start, work.dropout, &work.room, work.ids + work.n_ids
        ))
        if status != DONE:
            break
    return status


cdef inline void append_word(const VocabTables *v, Workspace *work, uint32_t index) noexcept nogil:
    work.ids[work.n_ids] = v.ids[index]
    work.n_ids += 1


cdef EncodeStatus merge_new(
    const VocabTables *v, Workspace *work, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    """Append the ids of a piece that is not in the cache; there is room for `size` + 2 of them."""
    cdef uint32_t index
    if v.looks_up:
        index = find_word(v, v.words, piece, size)
        if index != NONE:
            append_word(v, work, index)
            return DONE
    return append_merged(v, work, piece, size)


cdef EncodeStatus encode_new(
    const VocabTables *v, Workspace *work, const PieceKey *key, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    """Append the ids of a piece that is not in the cache, and remember them there."""
    cdef Py_ssize_t before = work.n_ids
    cdef EncodeStatus status = DONE
    cdef uint32_t index = NONE
    if size > INLINE_BYTES:
        status = merge_new(v, work, piece, size)
    else:
        if v.looks_up:
            index = find_short_word(v, key.low, key.high, word_hash(v.words, key.low, key.high))
        if index != NONE:
            append_word(v, work, index)
        else:
            status = append_merged(v, work, piece, size)
    if status == DONE:
        add_entry(&work.cache, key, piece, work.ids + before, work.n_ids - before)
    return status


cdef inline bint copy_known(
    Workspace *work, const PieceKey *key, uint64_t home, const uint8_t *piece
) noexcept nogil:
    """Append the ids of a piece if it is in the cache."""
    cdef CacheEntry *entry
    cdef const uint32_t *ids
    cdef uint32_t i, n
    entry = find_entry(&work.cache, key, home, piece)
    if entry == NULL:
        return False
    ids = entry_ids(&work.cache, entry, &n)
    for i in range(n):
        work.ids[work.n_ids + i] = ids[i]
    work.n_ids += n
    return True


cdef EncodeStatus append_inner(
    const VocabTables *v, Workspace *work, const uint8_t *part, Py_ssize_t size
) noexcept nogil:
    """Append the ids of a part of a piece, which neither begins nor ends it if that makes a difference."""
    if is_marked(v):
        return append_symbols(v, work, merge_piece(v, part, size, &work.room, work.ids + work.n_ids))
    return merge_new(v, work, part, size)


cdef EncodeStatus encode_part(
    const VocabTables *v, Workspace *work, PieceKey *key, const uint8_t *part, Py_ssize_t size
) noexcept nogil:
    """Append the ids of a part as append_inner does, and remember them. `key` is the part's."""
    cdef Py_ssize_t before = work.n_ids
    cdef EncodeStatus status
    if is_marked(v):
        key.high |= <uint64_t>1 << 40 if key.high >> 56 == LONG else <uint64_t>INNER << 56
    if copy_known(work, key, home_of(&work.cache, key.low, key.high), part):
        return DONE
    if not is_marked(v):
        return encode_new(v, work, key, part, size)
    status = append_inner(v, work, part, size)
    if status == DONE:
        add_entry(&work.cache, key, part, work.ids + before, work.n_ids - before)
    return status


cdef EncodeStatus encode_character(
    const VocabTables *v, Workspace *work, CharacterIds *known, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    """Append the ids of one character of up to three bytes, and remember them at its place in the table."""
    cdef Py_ssize_t before = work.n_ids
    cdef EncodeStatus status = append_inner(v, work, piece, size)
    if status == DONE:
        known.n_ids = <uint32_t>(work.n_ids - before)
        memcpy(known.ids, work.ids + before, known.n_ids * sizeof(uint32_t))
    return status


cdef EncodeStatus encode_cut(
    const VocabTables *v, Workspace *work, const uint8_t *piece, Py_ssize_t size, const uint8_t *text_end
) noexcept nogil:
    """Append the ids of a piece in parts, cut where no merge reaches across. Most parts are single characters."""
    cdef const CutTables *cuts = shared_cut_tables(v, work.cuts)
    cdef Py_ssize_t start = 0, end, seen, paused = 0
    cdef CharacterIds *known
    cdef PieceKey key
    cdef EncodeStatus status = DONE
    cdef uint32_t character
    if cuts == NULL:
        return NO_MEMORY
    if work.characters == NULL:
        work.characters = take_characters(&work.cache)
    while start < size and status == DONE:
        if start - paused > BETWEEN_PAUSES:
            paused = start
            if pause(&work.room) < 0:
                return INTERRUPTED
        seen = character_start(piece, size, start + BETWEEN_PAUSES)
        end = next_cut(cuts, piece, start, seen, &character)
        while end == seen < size:
            # No cut in so many bytes: look on from the last character of them.
            paused = end
            if pause(&work.room) < 0:
                return INTERRUPTED
            seen = character_start(piece, size, end + BETWEEN_PAUSES)
            end = next_cut(cuts, piece, character_start(piece, size, end - 1), seen, &character)
            character = NO_CHARACTER
        if is_marked(v) and (start == 0 and v.begins or end == size and v.ends):
            status = append_marked(v, work, piece + start, end - start, start == 0, end == size)
        elif character < 1 << 16 and work.characters != NULL:
            known = work.characters + character
            if known.n_ids:
                memcpy(work.ids + work.n_ids, known.ids, INLINE_IDS * sizeof(uint32_t))
                work.n_ids += known.n_ids
            else:
                status = encode_character(v, work, known, piece + start, end - start)
        else:
            make_key(&key, piece + start, end - start, text_end, work.cache.seed)
            status = encode_part(v, work, &key, piece + start, end - start)
        start = end
    return status


cdef void make_key_of(
    Workspace *work, const uint8_t *text, Py_ssize_t i, const uint8_t *text_end, bint may_cut
) noexcept nogil:
    """The key of piece number i, whatever it is, and its entry on the way to the processor."""
    cdef const uint8_t *piece = text + work.spans[i].start
    cdef Py_ssize_t size = work.spans[i].end - work.spans[i].start
    cdef PieceKey *key = &work.keys[i]
    if may_cut and worth_cutting(piece, size):
        key.high = TO_CUT
        work.places[i] = work.cache.entries
    else:
        make_key(key, piece, size, text_end, work.cache.seed)
        work.places[i] = first_place(&work.cache, key)
        cbpe_prefetch(work.places[i])
        if key.high >> 56 == LONG:
            work.places[i] = <CacheEntry *>NO_ENTRIES     # its bytes are still to be compared


cdef void make_keys(
    Workspace *work, const uint8_t *text, Py_ssize_t n, const uint8_t *text_end, bint may_cut
) noexcept nogil:
    """The keys of n pieces, and their entries on the way to the processor."""
    cdef CacheEntry *entries = work.cache.entries
    cdef uint64_t n_lines = work.cache.n_lines, seed = work.cache.seed, low, high
    cdef Py_ssize_t i, size, n_others
    cdef const uint8_t *piece
    cdef PieceKey *key
    if work.cache.loops != NULL:
        n_others = work.cache.loops.make_keys(
            text, text_end, <const Py_ssize_t *>work.spans, n, may_cut, seed, entries, n_lines, work.keys, work.places,
            work.missed
        )
        for i in range(n_others):
            make_key_of(work, text, work.missed[i], text_end, may_cut)
        return
    for i in range(n):
        piece = text + work.spans[i].start
        size = work.spans[i].end - work.spans[i].start
        key = &work.keys[i]
        if size <= INLINE_BYTES and text_end - piece >= 16:
            low = cbpe_load64(piece) & cbpe_key_masks[size][0]
            high = cbpe_load64(piece + 8) & cbpe_key_masks[size][1]
            if not (low | high) & <uint64_t>0x8080808080808080 or not (may_cut and worth_cutting(piece, size)):
                high |= <uint64_t>size << 56
                key.low = low
                key.high = high
                work.places[i] = entries + home_slot(short_hash(low, high, seed), n_lines)
                cbpe_prefetch(work.places[i])
                continue
        make_key_of(work, text, i, text_end, may_cut)


cdef void find_places(Workspace *work, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Look again where the entries of the pieces from number `start` on stand."""
    cdef Py_ssize_t i
    for i in range(start, n):
        if work.keys[i].high >> 56 != LONG:
            work.places[i] = first_place(&work.cache, &work.keys[i])


cdef inline CacheEntry *entry_at_place(const Workspace *work, Py_ssize_t i) noexcept nogil:
    """The entry of piece number i if it is one of the two at its place, or NULL."""
    cdef CacheEntry *entry = work.places[i]
    cdef const PieceKey *key = &work.keys[i]
    if entry.low == key.low and entry.high == key.high:
        return entry
    entry += 1
    return entry if entry.low == key.low and entry.high == key.high else NULL


cdef inline Py_ssize_t append_known(Workspace *work, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """Append the ids of the pieces from number i on, up to the first that needs a closer look. Returns its number; n if
    there is none."""
    cdef uint32_t *out = work.ids + work.n_ids
    cdef CacheEntry *entry
    if work.cache.loops != NULL:
        i = work.cache.loops.copy_known(work.keys, work.places, i, n, work.cache.arena, &out)
    else:
        while i < n:
            entry = entry_at_place(work, i)
            if entry == NULL:
                break
            out += copy_ids(entry, work.cache.arena, out)
            i += 1
    work.n_ids = out - work.ids
    return i


cdef Py_ssize_t find_missed(Workspace *work, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """List the pieces from number `start` on whose entries are not at their places. Returns how many they are."""
    cdef Py_ssize_t i, n_missed = 0
    if work.cache.loops != NULL:
        return work.cache.loops.find_missed(work.keys, work.places, start, n, work.missed)
    for i in range(start, n):
        work.missed[n_missed] = <int>i
        n_missed += entry_at_place(work, i) == NULL
    return n_missed


cdef void prefetch_words(const VocabTables *v, Workspace *work, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Have on the way the words that the pieces from number `start` on may be whose entries are not at their places."""
    cdef Py_ssize_t i, n_missed = find_missed(work, start, n)
    cdef const PieceKey *key
    for i in range(n_missed):
        key = &work.keys[work.missed[i]]
        if key.high != TO_CUT and key.high >> 56 <= SHORT_WORD:
            cbpe_prefetch(v.words.slots + (word_hash(v.words, key.low, key.high) & v.words.mask))


cdef inline uint64_t home_of_piece(const Workspace *work, Py_ssize_t i) noexcept nogil:
    """The home of piece number i, which has a key."""
    if work.keys[i].high >> 56 == LONG:
        return home_slot(work.keys[i].low, work.cache.n_lines)
    return work.places[i] - work.cache.entries


cdef EncodeStatus encode_queued(
    const VocabTables *v, Workspace *work, const uint8_t *text, Py_ssize_t n, const uint8_t *text_end
) noexcept nogil:
    """Append the ids of n pieces whose keys are made; there is room for as many as they have bytes, and COPIED_IDS."""
    cdef Py_ssize_t i = 0, size
    cdef const CacheEntry *entries = work.cache.entries
    cdef int n_new = 0
    cdef const uint8_t *piece
    cdef EncodeStatus status
    while True:
        i = append_known(work, i, n)
        if i == n:
            return DONE
        piece = text + work.spans[i].start
        size = work.spans[i].end - work.spans[i].start
        if work.keys[i].high == TO_CUT:
            status = encode_cut(v, work, piece, size, text_end)
        elif copy_known(work, &work.keys[i], home_of_piece(work, i), piece):
            status = DONE
        else:
            n_new += 1
            if n_new == 2 and v.looks_up:
                # New pieces come together: a text that holds two is likely to go on so.
                prefetch_words(v, work, i + 1, n)
            status = encode_new(v, work, &work.keys[i], piece, size)
        if status != DONE:
            return status
        i += 1
        if work.cache.entries != entries:   # they stand elsewhere now
            entries = work.cache.entries
            find_places(work, i, n)


cdef inline void forget_counted(Workspace *work) noexcept nogil:
    if work.counting:
        work.n_counted += work.n_ids
        work.n_ids = 0


cdef inline uint32_t three_bytes(const uint8_t *text) noexcept nogil:
    """The character that text begins with, which is of three bytes."""
    return (text[0] & <uint32_t>0x0F) << 12 | (text[1] & <uint32_t>0x3F) << 6 | (text[2] & <uint32_t>0x3F)


cdef inline bint is_of_three(uint8_t lead) noexcept nogil:
    return lead & 0xF0 == 0xE0


cdef Py_ssize_t copy_characters(
    const BondTables *bonds, Workspace *work, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Append the ids of the characters of three bytes from text[start] on, where a piece begins, up to one that is not
    known, that may have a bond, or that stands before one of another size. Returns where it begins."""
    cdef uint32_t *out = work.ids + work.n_ids
    cdef const CharacterIds *known
    cdef uint32_t first, after
    if not is_of_three(text[start]) or size - start < 6:
        return start
    stop = min(stop, size - 5)
    after = three_bytes(text + start)
    while start < stop and is_of_three(text[start + 3]):
        first, after = after, three_bytes(text + start + 3)
        known = work.characters + first
        if known.n_ids == 0 or bonds.sides[first] & BONDS_AFTER and bonds.sides[after] & BONDS_BEFORE:
            break
        memcpy(out, known, sizeof(CharacterIds))
        out += known.n_ids
        start += 3
    work.n_ids = out - work.ids
    return start


cdef inline Py_ssize_t piece_end(
    const BondTables *bonds, const uint8_t *text, Py_ssize_t size, Py_ssize_t start
) noexcept nogil:
    """The end of the piece that begins at text[start]; of its first characters where it has more than MANY_BYTES."""
    cdef Py_ssize_t end = start
    cdef int length
    cdef uint32_t before, after = 0
    while end - start <= MANY_BYTES:
        before = after
        after = read_character(text + end, size - end, &length)
        if end > start and may_cut_between(bonds, before, after):
            break
        end += length
        if end >= size:
            break
    return end


cdef EncodeStatus encode_characters(
    const VocabTables *v,
    const BondTables *bonds,
    Workspace *work,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t stop,
    Reading *reading,
) noexcept nogil:
    """Append the ids of pieces that are cut by bonds, as long as most are one character of three bytes, and move the
    position. Other pieces come soon where it has not moved. For Chinese this takes two thirds of the time that pieces
    in a queue take, each of which has a place, a key and an entry of the cache."""
    cdef Py_ssize_t start = reading.position, end
    cdef int n_others = 0
    cdef CharacterIds *known
    cdef PieceKey key
    cdef EncodeStatus status = DONE
    stop = min(stop, start + ROOM_TAKEN)
    if work.characters == NULL:
        work.characters = take_characters(&work.cache)
    if work.characters == NULL:
        return DONE
    if not reserve(work, stop - start + MANY_BYTES + COPIED_IDS):
        return NO_MEMORY
    while n_others < MOST_OTHERS and status == DONE:
        start = copy_characters(bonds, work, text, size, start, stop)
        if start >= stop:
            break
        end = piece_end(bonds, text, size, start)
        if end - start > MANY_BYTES:
            break
        if end == start + 3 and is_of_three(text[start]):
            n_others = 0
            known = work.characters + three_bytes(text + start)
            if known.n_ids:
                memcpy(work.ids + work.n_ids, known, sizeof(CharacterIds))
                work.n_ids += known.n_ids
            else:
                status = encode_character(v, work, known, text + start, 3)
        else:
            n_others += 1
            make_key(&key, text + start, end - start, text + size, work.cache.seed)
            if not copy_known(work, &key, home_of(&work.cache, key.low, key.high), text + start):
                status = encode_new(v, work, &key, text + start, end - start)
        start = end
    reading[0] = read_from(start)
    return status


cdef EncodeStatus encode_slice(
    const VocabTables *v,
    const SplitTables *split,
    Workspace *work,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t stop,
    Reading *reading,
    bint *undecided,
) noexcept nogil:
    cdef Py_ssize_t n, start, slice_end = reading.position + SLICE
    # Whole pieces may have to be looked up, and unknown characters are counted within a whole piece. With bonds, pieces
    # are cut already.
    cdef bint may_cut = not v.looks_up and not v.fuses_unknown
    cdef bint in_time, by_characters = split.bonds != NULL and undecided == NULL and not is_marked(v)
    cdef Py_ssize_t capacity = BATCH
    cdef EncodeStatus status
    may_cut = may_cut and split.bonds == NULL
    by_characters = by_characters and work.jumps == NULL and work.dropout == NULL
    while reading.position < stop:
        if by_characters and reading.at == 0 and text[reading.position] >= FIRST_WORTH_CUTTING:
            start = reading.position
            status = encode_characters(v, split.bonds, work, text, size, stop, reading)
            if status != DONE:
                return status
            capacity = AFTER_CHARACTERS
            if reading.position > start:
                forget_counted(work)
                if slice_end <= reading.position < stop:
                    return MORE
                continue
        if undecided == NULL:
            n = find_pieces(split, text, size, reading, work.spans, capacity)
        else:
            n = find_sure_pieces(split, text, size, reading, work.spans, capacity, undecided)
        in_time = n == capacity
        capacity = BATCH
        while n and work.spans[n - 1].start >= stop:
            n -= 1
            reading[0] = read_from(work.spans[n].start)
        if n:
            if not reserve(work, work.spans[n - 1].end - work.spans[0].start + COPIED_IDS):
                return NO_MEMORY
            if work.jumps != NULL and not note_pieces(work.jumps, work.spans, n):
                return NO_MEMORY
            if work.dropout != NULL:
                status = append_dropping(v, work, text, work.spans, n)
            else:
                make_keys(work, text, n, text + size, may_cut)
                status = encode_queued(v, work, text, n, text + size)
            if status != DONE:
                return status
        forget_counted(work)
        if undecided != NULL and undecided[0]:
            break
        if reading.position < stop and (not in_time or reading.position >= slice_end):
            return MORE
    return DONE


cdef EncodeStatus encode_piece(
    const VocabTables *v, Workspace *work, const uint8_t *piece, Py_ssize_t size
) noexcept nogil:
    if size == 0:
        return DONE
    if not reserve(work, size + COPIED_IDS):
        return NO_MEMORY
    return merge_new(v, work, piece, size)


cdef EncodeStatus encode_span(
    const VocabTables *v, Workspace *work, const uint8_t *text, const Span *span
) noexcept nogil:
    cdef Py_ssize_t size = span.end - span.start
    if work.jumps != NULL and not note_pieces(work.jumps, span, 1):
        return NO_MEMORY
    if work.dropout == NULL:
        return encode_piece(v, work, text + span.start, size)
    return append_dropping(v, work, text, span, 1) if reserve(work, size) else NO_MEMORY


cdef EncodeStatus append_id(Workspace *work, uint32_t token_id) noexcept nogil:
    if not reserve(work, 1):
        return NO_MEMORY
    work.ids[work.n_ids] = token_id
    work.n_ids += 1
    return DONE
