"""Workspaces; workspace.pxd says what they are."""

from libc.stdlib cimport calloc, free, realloc

from cbpe._core.c.allocation cimport cbpe_want_large_pages
from cbpe._core.encoding.cache cimport close_cache, give_characters, open_cache
from cbpe._core.merging.merge cimport free_merge_room

cdef enum:
    KEPT = 1 << 16              # a workspace gives back larger buffers


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
    if work.n_ids == 0:     # nothing to keep: realloc would copy it, and touch it for that
        free(work.ids)
        work.ids = NULL
        work.capacity = capacity = 0
    capacity = work.n_ids + n + (capacity >> 1)
    grown = realloc(work.ids, capacity * sizeof(uint32_t))
    if grown == NULL:
        return False
    cbpe_want_large_pages(grown, capacity * sizeof(uint32_t))
    work.ids = <uint32_t *>grown
    work.capacity = capacity
    return True


cdef EncodeStatus append_id(Workspace *work, uint32_t token_id) noexcept nogil:
    if not reserve(work, 1):
        return NO_MEMORY
    work.ids[work.n_ids] = token_id
    work.n_ids += 1
    return DONE
