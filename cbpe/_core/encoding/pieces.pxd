"""Encoding pieces into a workspace: each appends the ids. There is room for as many as the pieces have bytes, and
COPIED_IDS, where nothing else is said."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.c.cache_loops cimport CacheEntry
from cbpe._core.c.keys cimport PieceKey
from cbpe._core.encoding.cache cimport CharacterIds, entry_ids, find_entry
from cbpe._core.encoding.workspace cimport EncodeStatus, Workspace
from cbpe._core.splitting.split cimport Span
from cbpe._core.vocabulary.tables cimport VocabTables


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


# Merge a piece that is not in the cache, and remember its ids there.
cdef EncodeStatus encode_new(
    const VocabTables *v, Workspace *work, const PieceKey *key, const uint8_t *piece, Py_ssize_t size
) noexcept nogil

# Merge one character of up to three bytes, and remember its ids at its place in the table of characters.
cdef EncodeStatus encode_character(
    const VocabTables *v, Workspace *work, CharacterIds *known, const uint8_t *piece, Py_ssize_t size
) noexcept nogil

# Append the ids of a part of a piece, which neither begins nor ends it if that makes a difference.
cdef EncodeStatus append_inner(
    const VocabTables *v, Workspace *work, const uint8_t *part, Py_ssize_t size
) noexcept nogil

# Merge a part of a piece, which it begins or ends. There is room for `size` + 2 ids.
cdef EncodeStatus append_marked(
    const VocabTables *v, Workspace *work, const uint8_t *part, Py_ssize_t size, bint begins, bint ends
) noexcept nogil

# Merge n pieces by BPE-dropout.
cdef EncodeStatus append_dropping(
    const VocabTables *v, Workspace *work, const uint8_t *text, const Span *spans, Py_ssize_t n
) noexcept nogil

# Encode one piece of text, without splitting it. Room is taken here.
cdef EncodeStatus encode_piece(
    const VocabTables *v, Workspace *work, const uint8_t *piece, Py_ssize_t size
) noexcept nogil

# Encode one piece, text[span.start:span.end], as the workspace says: with merges dropped, or its place noted. Room is
# taken here.
cdef EncodeStatus encode_span(
    const VocabTables *v, Workspace *work, const uint8_t *text, const Span *span
) noexcept nogil
