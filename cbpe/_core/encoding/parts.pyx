"""A piece in parts; parts.pxd says what there is.

The entries of parts lie far apart in the cache, and waiting for each in turn took a fifth of the time that Chinese
text takes with a large vocabulary. So the parts of the pieces in a queue are listed first, with the ids of those
between them that are one character of three bytes, which stand in a table of their own.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from cbpe._core.c.cache_loops cimport COPIED_IDS, LONGEST_CACHED
from cbpe._core.c.loads cimport cbpe_prefetch
from cbpe._core.encoding.cache cimport CharacterIds, add_entry, home_of, take_characters
from cbpe._core.encoding.pieces cimport append_inner, append_marked, copy_known, encode_character, encode_new
from cbpe._core.encoding.symbols cimport is_marked
from cbpe._core.encoding.workspace cimport DONE, INTERRUPTED, LISTED_IDS, NO_MEMORY, PARTS, SPARE_IDS, Part
from cbpe._core.merging.cuts cimport NO_CHARACTER, may_cut, next_cut, shared_cut_tables
from cbpe._core.merging.merge cimport pause
from cbpe._core.text.keys cimport LONG, make_key
from cbpe._core.text.utf8 cimport character_start, is_of_three, three_bytes

cdef enum:
    BETWEEN_PAUSES = 1 << 20    # bytes of one piece
    WINDOW = 1 << 12            # bytes of a longer piece whose parts are listed together
    INNER = 0x40                # in keys of parts: they are not merged as a piece of the same bytes would be

cdef uint64_t NOT_LISTED = ~<uint64_t>0


cdef const CutTables *begin_parts(const VocabTables *v, Workspace *work) noexcept nogil:
    work.n_parts = work.n_listed = 0
    work.parts_lines = work.cache.n_lines
    if work.characters == NULL or is_marked(v):
        return NULL
    return shared_cut_tables(v, work.cuts)


cdef void add_part(
    Workspace *work, const uint8_t *piece, Py_ssize_t start, Py_ssize_t end, const uint8_t *text_end
) noexcept nogil:
    cdef Part *part = &work.parts[work.n_parts]
    part.before = <uint16_t>work.n_listed
    part.start = <uint16_t>start
    part.end = <uint16_t>end
    make_key(&part.key, piece + start, end - start, text_end, work.cache.seed)
    part.home = home_of(&work.cache, part.key.low, part.key.high)
    cbpe_prefetch(work.cache.entries + part.home)
    work.n_parts += 1


cdef Py_ssize_t find_parts(
    const CutTables *cuts, Workspace *work, const uint8_t *piece, Py_ssize_t size, bint ends, const uint8_t *text_end
) noexcept nogil:
    """List the parts of text that a part begins, of up to WINDOW bytes, and the ids of known characters that are parts,
    as long as there is room. Returns where the last part ends; one that ends with the text counts if its piece does."""
    cdef Py_ssize_t start = 0, end
    cdef uint32_t *out
    cdef uint32_t first, after, character
    cdef const CharacterIds *known
    cdef bint joined, is_three
    if work.n_listed + size + COPIED_IDS > LISTED_IDS:
        return 0
    while start < size:
        joined = False
        is_three = size - start >= 3 and is_of_three(piece[start])
        if is_three:
            out = work.listed_ids + work.n_listed
            after = three_bytes(piece + start)
            while size - start >= 6 and is_of_three(piece[start + 3]):
                first, after = after, three_bytes(piece + start + 3)
                joined = not may_cut(cuts, first, after)
                known = work.characters + first
                if joined or known.n_ids == 0:
                    break
                memcpy(out, known, sizeof(CharacterIds))
                out += known.n_ids
                start += 3
            work.n_listed = out - work.listed_ids
        if work.n_parts == PARTS:
            break
        end = size
        if not is_three or size - start > 3:
            end = next_cut(cuts, piece, start + 3 if joined else start, size, &character)
        if end == size and not ends:
            break
        known = work.characters + three_bytes(piece + start) if is_three and end - start == 3 else NULL
        if known == NULL or known.n_ids == 0:
            add_part(work, piece, start, end, text_end)
        else:
            memcpy(work.listed_ids + work.n_listed, known, sizeof(CharacterIds))
            work.n_listed += known.n_ids
        start = end
    return start


cdef void list_parts(
    const CutTables *cuts, Workspace *work, PieceKey *key, const uint8_t *piece, Py_ssize_t size,
    const uint8_t *text_end
) noexcept nogil:
    cdef uint64_t first = work.n_parts, before = work.n_listed
    key.low = NOT_LISTED
    if cuts == NULL or size > LONGEST_CACHED:
        return
    if find_parts(cuts, work, piece, size, True, text_end) == size:
        key.low = first | work.n_parts << 16 | before << 32 | work.n_listed << 48
    else:
        work.n_parts = first
        work.n_listed = before


cdef inline void copy_listed(Workspace *work, uint64_t start, uint64_t end) noexcept nogil:
    """Append listed ids, and maybe write a few more."""
    cdef uint32_t *out = work.ids + work.n_ids
    work.n_ids += end - start
    while start < end:
        memcpy(out, work.listed_ids + start, SPARE_IDS * sizeof(uint32_t))
        out += SPARE_IDS
        start += SPARE_IDS


cdef EncodeStatus encode_listed(
    const VocabTables *v, Workspace *work, const uint8_t *piece, uint64_t first, uint64_t last,
    uint64_t before, uint64_t after, uint64_t n_lines
) noexcept nogil:
    """Append the ids of text whose parts are those from number `first` to before `last`, listed when the cache had
    n_lines lines, and listed ids."""
    cdef uint64_t i, home
    cdef const Part *part
    cdef EncodeStatus status
    for i in range(first, last):
        part = &work.parts[i]
        copy_listed(work, before, part.before)
        before = part.before
        home = part.home
        if work.cache.n_lines != n_lines:
            home = home_of(&work.cache, part.key.low, part.key.high)
        status = DONE
        if part.end - part.start == 3 and is_of_three(piece[part.start]):
            status = encode_character(
                v, work, work.characters + three_bytes(piece + part.start), piece + part.start, 3
            )
        elif not copy_known(work, &part.key, home, piece + part.start):
            status = encode_new(v, work, &part.key, piece + part.start, part.end - part.start)
        if status != DONE:
            return status
    copy_listed(work, before, after)
    return DONE


cdef EncodeStatus encode_part(
    const VocabTables *v, Workspace *work, const uint8_t *part, Py_ssize_t size, const uint8_t *text_end
) noexcept nogil:
    """Append the ids of a part as append_inner does, and remember them."""
    cdef Py_ssize_t before = work.n_ids
    cdef EncodeStatus status
    cdef PieceKey key
    make_key(&key, part, size, text_end, work.cache.seed)
    if is_marked(v):
        key.high |= <uint64_t>1 << 40 if key.high >> 56 == LONG else <uint64_t>INNER << 56
    if copy_known(work, &key, home_of(&work.cache, key.low, key.high), part):
        return DONE
    if not is_marked(v):
        return encode_new(v, work, &key, part, size)
    status = append_inner(v, work, part, size)
    if status == DONE:
        add_entry(&work.cache, &key, part, work.ids + before, work.n_ids - before)
    return status


cdef inline EncodeStatus encode_known(
    const VocabTables *v, Workspace *work, CharacterIds *known, const uint8_t *text, Py_ssize_t size
) noexcept nogil:
    """Append the ids of a character that is a part."""
    if known.n_ids == 0:
        return encode_character(v, work, known, text, size)
    memcpy(work.ids + work.n_ids, known, sizeof(CharacterIds))
    work.n_ids += known.n_ids
    return DONE


cdef EncodeStatus encode_next(
    const VocabTables *v, Workspace *work, const CutTables *cuts, const uint8_t *piece, Py_ssize_t size,
    Py_ssize_t *start, const uint8_t *text_end
) noexcept nogil:
    """Append the ids of the part that begins at start[0], however long it is, which moves to its end."""
    cdef const uint8_t *part = piece + start[0]
    cdef Py_ssize_t begin = start[0], seen = character_start(piece, size, begin + BETWEEN_PAUSES), end
    cdef uint32_t character
    end = next_cut(cuts, piece, begin, seen, &character)
    while end == seen < size:
        # No cut in so many bytes: look on from the last character of them.
        if pause(&work.room) < 0:
            return INTERRUPTED
        seen = character_start(piece, size, end + BETWEEN_PAUSES)
        end = next_cut(cuts, piece, character_start(piece, size, end - 1), seen, &character)
        character = NO_CHARACTER
    start[0] = end
    if is_marked(v) and (begin == 0 and v.begins or end == size and v.ends):
        return append_marked(v, work, part, end - begin, begin == 0, end == size)
    if character < 1 << 16 and work.characters != NULL:
        return encode_known(v, work, work.characters + character, part, end - begin)
    return encode_part(v, work, part, end - begin, text_end)


cdef EncodeStatus encode_cut(
    const VocabTables *v, Workspace *work, const PieceKey *key, const uint8_t *piece, Py_ssize_t size,
    const uint8_t *text_end
) noexcept nogil:
    cdef const CutTables *cuts
    cdef Py_ssize_t start = 0, end, paused = 0
    cdef uint64_t first = work.n_parts, before = work.n_listed, n_lines
    cdef EncodeStatus status = DONE
    if key.low != NOT_LISTED:
        return encode_listed(
            v, work, piece, key.low & 0xFFFF, key.low >> 16 & 0xFFFF, key.low >> 32 & 0xFFFF, key.low >> 48,
            work.parts_lines
        )
    cuts = shared_cut_tables(v, work.cuts)
    if cuts == NULL:
        return NO_MEMORY
    if work.characters == NULL:
        work.characters = take_characters(&work.cache)
    while start < size and status == DONE:
        if start - paused > BETWEEN_PAUSES:
            paused = start
            if pause(&work.room) < 0:
                return INTERRUPTED
        end = start
        if work.characters != NULL and not is_marked(v):
            end = character_start(piece, size, start + WINDOW)
            n_lines = work.cache.n_lines
            end = start + find_parts(cuts, work, piece + start, end - start, end == size, text_end)
            status = encode_listed(v, work, piece + start, first, work.n_parts, before, work.n_listed, n_lines)
            work.n_parts = first
            work.n_listed = before
        if end > start:
            start = end
        elif status == DONE:
            status = encode_next(v, work, cuts, piece, size, &start, text_end)
    return status
