"""One piece of text to symbols: the pair with the smallest symbol is merged first, of several the leftmost, until none
is left.

Short pieces keep the merge of every pair of neighbours in an array and look for the smallest: the quadratic way, and
the fastest up to some dozens of bytes. Long ones are walked (walk.pyx) in linear time where the vocabulary allows it,
and otherwise keep their pairs in a heap over a linked list, in O(n log n).
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memmove

from cbpe._core.c.atomics cimport cbpe_atomic_read
from cbpe._core.c.objects cimport cbpe_check_signals, cbpe_raised
from cbpe._core.merging.walk cimport NEIGHBOURS, shared_walk_tables, walk_piece
from cbpe._core.vocabulary.tables cimport NONE, find_pair

cdef enum:
    SHORT = 32
    WORTH_WALKING = 1 << 15     # bytes of long pieces that pay for making the tables for walking
    BETWEEN_PAUSES = 1 << 20    # merges in one piece
    WALKED_BYTES = 1 << 24      # of all symbols together: with more, the tables for walking would take too much memory


cdef int pause(const MergeRoom *room) noexcept nogil:
    if room.stopped != NULL and cbpe_atomic_read(room.stopped) or cbpe_check_signals() < 0:
        return PAUSED
    return 0


cdef int check_merged(Py_ssize_t n) except -1 nogil:
    if n < 0:
        with gil:
            cbpe_raised()
            raise MemoryError
    return 0


cdef Py_ssize_t merge_short(
    const VocabTables *v, const uint8_t *piece, Py_ssize_t size, uint32_t *symbols
) noexcept nogil:
    cdef uint32_t merged[SHORT]     # merged[i]: what symbols i and i + 1 merge to
    cdef uint32_t best
    cdef Py_ssize_t i, at = 0
    for i in range(size):
        symbols[i] = piece[i]
    for i in range(size - 1):
        merged[i] = v.byte_pairs[piece[i] << 8 | piece[i + 1]]
    while True:
        best = NONE
        for i in range(size - 1):
            if merged[i] < best:
                best = merged[i]
                at = i
        if best == NONE:
            return size
        size -= 1
        symbols[at] = best
        memmove(symbols + at + 1, symbols + at + 2, (size - at - 1) * sizeof(uint32_t))
        memmove(merged + at, merged + at + 1, (size - at - 1) * sizeof(uint32_t))
        if at + 1 < size:
            merged[at] = find_pair(v, best, symbols[at + 1])
        if at > 0:
            merged[at - 1] = find_pair(v, symbols[at - 1], best)


# A heap of merge << 32 | position: the smallest merge comes first, of several the leftmost.
cdef void sift_up(uint64_t *heap, Py_ssize_t i) noexcept nogil:
    cdef uint64_t entry = heap[i]
    while i > 0 and entry < heap[(i - 1) >> 1]:
        heap[i] = heap[(i - 1) >> 1]
        i = (i - 1) >> 1
    heap[i] = entry


cdef void sift_down(uint64_t *heap, Py_ssize_t size, Py_ssize_t i) noexcept nogil:
    cdef uint64_t entry = heap[i]
    cdef Py_ssize_t child = 2 * i + 1
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if entry <= heap[child]:
            break
        heap[i] = heap[child]
        i = child
        child = 2 * i + 1
    heap[i] = entry


cdef bint make_room(MergeRoom *room, Py_ssize_t size) noexcept nogil:
    if size <= room.capacity:
        return True
    room.capacity = 0
    if not (
        resize(&room.symbols, size, sizeof(uint32_t))
        and resize(&room.following, size, sizeof(uint32_t))
        and resize(&room.preceding, size, sizeof(uint32_t))
    ):
        return False
    room.capacity = size
    return True


cdef bint make_heap_room(MergeRoom *room, Py_ssize_t n) noexcept nogil:
    if n > room.heap_capacity:
        if not resize(&room.heap, n, sizeof(uint64_t)):
            return False
        room.heap_capacity = n
    return True


cdef Py_ssize_t merge_long(
    const VocabTables *v, const uint8_t *piece, Py_ssize_t size, MergeRoom *room, uint32_t *out
) noexcept nogil:
    cdef uint32_t *symbols
    cdef uint32_t *following
    cdef uint32_t *preceding
    cdef uint64_t *heap
    cdef Py_ssize_t n = 0, i, written = 0, merges = 0
    cdef uint32_t at, right, merge, left
    cdef uint32_t end = <uint32_t>size
    # A merge takes one entry from the heap and adds up to two, one of which replaces an entry that went stale: there
    # are never more than 2 * size.
    if size >= <Py_ssize_t>NONE or not make_room(room, size) or not make_heap_room(room, 2 * size):
        return NO_ROOM
    symbols, following, preceding, heap = room.symbols, room.following, room.preceding, room.heap
    for i in range(size):
        symbols[i] = piece[i]
        following[i] = <uint32_t>(i + 1)
        preceding[i] = <uint32_t>(i - 1) if i else NONE
    for i in range(size - 1):
        merge = v.byte_pairs[piece[i] << 8 | piece[i + 1]]
        if merge != NONE:
            heap[n] = <uint64_t>merge << 32 | <uint64_t>i
            n += 1
    for i in range(n // 2 - 1, -1, -1):
        sift_down(heap, n, i)
    while n:
        merge = <uint32_t>(heap[0] >> 32)
        at = <uint32_t>heap[0]
        n -= 1
        heap[0] = heap[n]
        sift_down(heap, n, 0)
        # An entry is stale when its left symbol was merged away, or is not what it was, or its right one is not.
        if symbols[at] == NONE or following[at] == end or find_pair(v, symbols[at], symbols[following[at]]) != merge:
            continue
        merges += 1
        if merges % BETWEEN_PAUSES == 0 and pause(room) < 0:
            return PAUSED
        right = following[at]
        symbols[at] = merge
        symbols[right] = NONE
        right = following[right]
        following[at] = right
        if right != end:
            preceding[right] = at
            merge = find_pair(v, symbols[at], symbols[right])
            if merge != NONE:
                heap[n] = <uint64_t>merge << 32 | at
                sift_up(heap, n)
                n += 1
        left = preceding[at]
        if left != NONE:
            merge = find_pair(v, symbols[left], symbols[at])
            if merge != NONE:
                heap[n] = <uint64_t>merge << 32 | left
                sift_up(heap, n)
                n += 1
    at = 0
    while at != end:
        out[written] = symbols[at]
        written += 1
        at = following[at]
    return written


cdef bint fits_walking(const VocabTables *v) noexcept nogil:
    return v.offsets[v.n_symbols] <= WALKED_BYTES


cdef Py_ssize_t merge_walking(
    const VocabTables *v, const uint8_t *piece, Py_ssize_t size, Py_ssize_t most, MergeRoom *room, uint32_t *out
) noexcept nogil:
    cdef const WalkTables *tables = shared_walk_tables(v, room.walk)
    cdef Py_ssize_t words = (size >> 6) + 1
    cdef Py_ssize_t position = 0, n = 0
    if tables == NULL:
        return NO_ROOM
    if words > room.alive_capacity:
        if not resize(&room.alive, words, sizeof(uint64_t)):
            return NO_ROOM
        room.alive_capacity = words
    if room.neighbours == NULL:
        room.neighbours = <uint64_t *>calloc(NEIGHBOURS, sizeof(uint64_t))
        if room.neighbours == NULL:
            return NO_ROOM
    while n <= most:
        if walk_piece(
            v, tables, piece, size, room.alive, room.neighbours, out, &position, &n, min(most - n + 1, BETWEEN_PAUSES)
        ):
            break
        if pause(room) < 0:
            return PAUSED
    return n


cdef Py_ssize_t merge_piece(
    const VocabTables *v, const uint8_t *piece, Py_ssize_t size, MergeRoom *room, uint32_t *out
) noexcept nogil:
    if size <= SHORT:
        return merge_short(v, piece, size, out)
    room.long_bytes += size
    if room.walk != NULL and room.long_bytes > WORTH_WALKING and v.monotone and fits_walking(v):
        return merge_walking(v, piece, size, size, room, out)
    return merge_long(v, piece, size, room, out)


cdef void free_merge_room(MergeRoom *room) noexcept nogil:
    free(room.alive)
    free(room.neighbours)
    free(room.symbols)
    free(room.following)
    free(room.preceding)
    free(room.heap)
    room.alive = room.heap = room.neighbours = NULL
    room.symbols = room.following = room.preceding = NULL
    room.alive_capacity = room.capacity = room.heap_capacity = 0
