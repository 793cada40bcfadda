"""UTF-8 text to token ids: split into pieces, cut the long ones where no merge reaches across, look each up in the
cache, merge those that are new. Plain C data, no Python object."""

from libc.string cimport memcpy

from cbpe._core.c.cache_loops cimport COPIED_IDS, FIRST_WORTH_CUTTING, NO_ENTRIES, copy_ids, worth_cutting
from cbpe._core.c.keys cimport PieceKey, cbpe_key_masks
from cbpe._core.c.loads cimport cbpe_load64, cbpe_prefetch
from cbpe._core.encoding.cache cimport TO_CUT, CharacterIds, first_place, home_of, home_slot, take_characters
from cbpe._core.encoding.parts cimport begin_parts, encode_cut, list_parts
from cbpe._core.encoding.pieces cimport append_dropping, copy_known, encode_character, encode_new
from cbpe._core.encoding.places cimport note_pieces
from cbpe._core.encoding.symbols cimport is_marked
from cbpe._core.encoding.workspace cimport BATCH, DONE, MORE, NO_MEMORY, SLICE, SPARE_IDS, reserve
from cbpe._core.merging.cuts cimport CutTables
from cbpe._core.splitting.bonds cimport BONDS_AFTER, BONDS_BEFORE, BondTables, may_cut as may_cut_between
from cbpe._core.splitting.split cimport find_pieces, find_sure_pieces, start_reading
from cbpe._core.text.keys cimport INLINE_BYTES, LONG, make_key, short_hash
from cbpe._core.text.utf8 cimport is_of_three, read_character, three_bytes
from cbpe._core.vocabulary.words cimport SHORT_WORD, word_hash

cdef enum:
    ROOM_TAKEN = 1 << 14        # bytes of text that are encoded as single characters at once
    MANY_BYTES = 128            # of a piece among them
    MOST_OTHERS = 8             # such pieces in a row
    AFTER_CHARACTERS = 32       # pieces that are looked up together where the text was of single characters before


cdef void make_key_of(
    Workspace *work, const uint8_t *text, Py_ssize_t i, const uint8_t *text_end, bint may_cut, const CutTables *cuts
) noexcept nogil:
    """The key of piece number i, whatever it is, and its entry on the way to the processor."""
    cdef const uint8_t *piece = text + work.spans[i].start
    cdef Py_ssize_t size = work.spans[i].end - work.spans[i].start
    cdef PieceKey *key = &work.keys[i]
    if may_cut and worth_cutting(piece, size):
        key.high = TO_CUT
        work.places[i] = work.cache.entries
        list_parts(cuts, work, key, piece, size, text_end)
    else:
        make_key(key, piece, size, text_end, work.cache.seed)
        work.places[i] = first_place(&work.cache, key)
        cbpe_prefetch(work.places[i])
        if key.high >> 56 == LONG:
            work.places[i] = <CacheEntry *>NO_ENTRIES     # its bytes are still to be compared


cdef void make_keys(
    const VocabTables *v, Workspace *work, const uint8_t *text, Py_ssize_t n, const uint8_t *text_end, bint may_cut
) noexcept nogil:
    """The keys of n pieces, and their entries on the way to the processor."""
    cdef const CutTables *cuts = begin_parts(v, work)
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
            make_key_of(work, text, work.missed[i], text_end, may_cut, cuts)
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
        make_key_of(work, text, i, text_end, may_cut, cuts)


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
            status = encode_cut(v, work, &work.keys[i], piece, size, text_end)
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
    while start < stop and n_others < MOST_OTHERS and status == DONE:
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
    start_reading(reading, start)
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
            start_reading(reading, work.spans[n].start)
        if n:
            if not reserve(work, work.spans[n - 1].end - work.spans[0].start + SPARE_IDS):
                return NO_MEMORY
            if work.jumps != NULL and not note_pieces(work.jumps, work.spans, n):
                return NO_MEMORY
            if work.dropout != NULL:
                status = append_dropping(v, work, text, work.spans, n)
            else:
                make_keys(v, work, text, n, text + size, may_cut)
                status = encode_queued(v, work, text, n, text + size)
            if status != DONE:
                return status
        forget_counted(work)
        if undecided != NULL and undecided[0]:
            break
        if reading.position < stop and (not in_time or reading.position >= slice_end):
            return MORE
    return DONE
