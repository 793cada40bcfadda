"""A workspace: all that one call of encode writes to."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from cbpe._core.c.cache_loops cimport CacheEntry, CacheLoops
from cbpe._core.c.keys cimport PieceKey
from cbpe._core.encoding.cache cimport CacheBudget, CharacterIds, PieceCache
from cbpe._core.encoding.places cimport Jumps
from cbpe._core.merging.cuts cimport CutTables
from cbpe._core.merging.dropout cimport Dropout
from cbpe._core.merging.merge cimport MergeRoom
from cbpe._core.merging.walk cimport WalkTables
from cbpe._core.splitting.split cimport Span


cdef enum:
    BATCH = 256                 # pieces that are looked up together
    PARTS = 512                 # of such pieces, where they come apart
    LISTED_IDS = 1 << 13
    SPARE_IDS = 16              # that may be written after the last, where many are copied together
    RESERVED_IDS = 1 << 26      # room taken at once for a long text: what is not written to takes no memory
    SLICE = 1 << 22             # bytes of text between two looks at the signals

cdef enum EncodeStatus:
    DONE
    MORE                        # the slice is done, the text is not
    NO_MEMORY
    NO_TOKEN                    # the vocabulary lacks the byte Workspace.byte
    INTERRUPTED                 # by a signal, whose exception is set, or because the work is not wanted any more


# A part of a piece that comes apart. Bytes are counted from where the piece begins, or the window of a long one.
cdef struct Part:
    PieceKey key
    uint64_t home               # where its entry is looked for
    uint16_t start
    uint16_t end
    uint16_t before             # how many of the listed ids stand before its own


# All that one call of encode writes to: used by one call at a time, kept for the next.
cdef struct Workspace:
    Span spans[BATCH]
    PieceKey keys[BATCH]
    CacheEntry *places[BATCH]     # where each piece's entry is looked for first, if that decides
    int missed[BATCH]           # numbers of pieces: without a key yet, or whose entries are not at their places
    Part parts[PARTS]
    uint64_t n_parts
    uint32_t listed_ids[LISTED_IDS + SPARE_IDS]     # of the characters around these parts
    uint64_t n_listed
    uint64_t parts_lines        # of the cache, when they were listed
    CutTables **cuts
    CharacterIds *characters    # by code point below 1 << 16; NULL until a piece is cut
    PieceCache cache
    MergeRoom room
    uint8_t *marked             # a piece with BEGIN and END
    Py_ssize_t marked_capacity
    uint32_t *ids               # the token ids of the text so far
    Py_ssize_t n_ids
    Py_ssize_t capacity
    bint counting               # the ids are counted and forgotten, batch by batch
    Py_ssize_t n_counted
    uint8_t byte
    Dropout *dropout            # the caller's, NULL: no merge is dropped
    Jumps *jumps                # the caller's, NULL: where tokens are is not asked


# What all workspaces of one owner share stays the owner's: the budget of the caches, and where the tables for walking
# and cutting are.
cdef Workspace *new_workspace(
    CacheBudget *cache_budget, uint64_t seed, WalkTables **walk, CutTables **cuts, const CacheLoops *loops
) noexcept nogil

cdef void free_workspace(Workspace *work) noexcept nogil

# Forget the text that was encoded, and give back the memory that only a long one needs.
cdef void tidy_workspace(Workspace *work) noexcept nogil

# Room for n more ids; False where there is no memory.
cdef bint reserve(Workspace *work, Py_ssize_t n) noexcept nogil

# Append one id.
cdef EncodeStatus append_id(Workspace *work, uint32_t token_id) noexcept nogil
