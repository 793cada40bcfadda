"""What cache_loops.h declares: the entries of the cache of pieces, and the loops that wide instructions allow."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.c.keys cimport PieceKey


cdef extern from "cache_loops.h" nogil:
    ctypedef struct CacheEntry "cbpe_entry":
        uint64_t low
        uint64_t high
        uint32_t ids[3]         # of a long piece or more than three ids: ids[0] is where its record starts in the arena
        uint32_t n_ids          # with the flags of cache.pxd on top

    const CacheEntry NO_ENTRIES "cbpe_no_entries"[2]    # the slots of a cache that remembers nothing; always free

    # cache_loops.h says what each does.
    ctypedef struct CacheLoops "cbpe_cache_loops":
        uint64_t (*hash_key)(uint64_t low, uint64_t high, uint64_t seed) noexcept nogil
        Py_ssize_t (*make_keys)(
            const uint8_t *text, const uint8_t *text_end, const Py_ssize_t *spans, Py_ssize_t n, bint may_cut,
            uint64_t seed, CacheEntry *entries, uint64_t n_lines, PieceKey *keys, CacheEntry **places,
            int *others
        ) noexcept nogil
        Py_ssize_t (*copy_known)(
            const PieceKey *keys, CacheEntry **places, Py_ssize_t start, Py_ssize_t n, const uint32_t *arena,
            uint32_t **out
        ) noexcept nogil
        Py_ssize_t (*find_missed)(
            const PieceKey *keys, CacheEntry **places, Py_ssize_t start, Py_ssize_t n, int *missed
        ) noexcept nogil

    uint32_t copy_ids "cbpe_copy_ids"(CacheEntry *entry, const uint32_t *arena, uint32_t *out)
    void note_use "cbpe_note_use"(CacheEntry *entry)
    enum:
        INLINE_IDS "CBPE_INLINE_IDS"            # ids that stand in an entry
        COPIED_IDS "CBPE_COPIED_IDS"            # so many are copied at once: some more may be written after the last
        LONGEST_CACHED "CBPE_LONGEST_CACHED"    # in bytes: longer pieces are rarely met twice
        FIRST_WORTH_CUTTING "CBPE_FIRST_WORTH_CUTTING"  # the first byte of the characters of Chinese and Japanese
    bint worth_cutting "cbpe_worth_cutting"(const uint8_t *piece, Py_ssize_t size)
