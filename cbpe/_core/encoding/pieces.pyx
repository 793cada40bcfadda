"""Encoding one piece; pieces.pxd says what there is."""

from libc.stdlib cimport realloc
from libc.string cimport memcpy

from cbpe._core.c.cache_loops cimport COPIED_IDS
from cbpe._core.encoding.cache cimport add_entry
from cbpe._core.encoding.places cimport note_pieces
from cbpe._core.encoding.symbols cimport is_marked, put_ids
from cbpe._core.encoding.workspace cimport DONE, INTERRUPTED, NO_MEMORY, NO_TOKEN, reserve
from cbpe._core.merging.dropout cimport merge_dropping
from cbpe._core.merging.merge cimport NO_ROOM, merge_piece
from cbpe._core.text.keys cimport INLINE_BYTES
from cbpe._core.vocabulary.tables cimport BEGIN, END, NONE
from cbpe._core.vocabulary.words cimport find_short_word, find_word, word_hash

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


cdef EncodeStatus append_inner(
    const VocabTables *v, Workspace *work, const uint8_t *part, Py_ssize_t size
) noexcept nogil:
    """Append the ids of a part of a piece, which neither begins nor ends it if that makes a difference."""
    if is_marked(v):
        return append_symbols(v, work, merge_piece(v, part, size, &work.room, work.ids + work.n_ids))
    return merge_new(v, work, part, size)


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
