"""Which pairs of neighbouring tokens there are, where they occur, and which is the next to merge.

Only pairs whose count reaches a cutoff are kept at all. Most pairs are rare, and a rare pair can never become frequent.
When no kept pair is left, the text is read again with a lower cutoff.
"""

import time

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport UINT32_MAX, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from cbpe._core.c.bits cimport cbpe_highest_bit
from cbpe._core.training.pairs cimport (
    Candidate, Pair, PairTable, heap_clear, heap_drop, heap_push, heap_reserve, heap_sink, mix, pair_key, table_add,
    table_clear, table_find, table_prefetch, table_rebuild, table_reserve
)
from cbpe._core.training.spelling cimport compare_spellings, spelling_key

cdef enum:
    LONG_LIST = 1024                # a position list this long has memory of its own; shorter ones share a block
    CUTOFF_FACTOR = 32              # pairs this much rarer than the most frequent one are left for a later scan
    BATCH = 256                     # pairs looked up together, so that the memory fetches overlap


cdef struct Batch:
    uint64_t keys[BATCH]
    int64_t weights[BATCH]
    uint32_t positions[BATCH]


cdef struct Cursor:
    # Where the reading of the text stands.
    size_t position
    size_t word
    uint32_t previous               # the token before, or SEPARATOR
    uint32_t last                   # its position


cdef int check(State *state) except -1 nogil:
    """Let signal handlers run, and see what time it is."""
    state.work = 0
    with gil:
        PyErr_CheckSignals()
        if state.deadline > 0 and time.monotonic() >= state.deadline:
            state.expired = True
    return 0


cdef int out_of_memory() except -1 nogil:
    with gil:
        raise MemoryError("not enough memory to go on training; train on less text, or raise min_count")


cdef inline bint occurs_at(const State *state, const Pair *pair, uint32_t position) noexcept nogil:
    return state.symbols[position] == pair.left and state.symbols[position + state.lengths[pair.left]] == pair.right


cdef inline Block *block_of(State *state, const Pair *pair) noexcept nogil:
    if <size_t>(pair - state.table.pairs) < state.n_built:
        return &state.blocks[0]
    return &state.blocks[max(pair.left, pair.right)]


cdef void kill(State *state, Pair *pair) noexcept nogil:
    """The pair will never be merged (again): forget its positions. Its heap entry is dropped when it comes up."""
    cdef Block *block
    pair.count = 0
    if pair.n_positions >= LONG_LIST:
        free(pair.positions)
    else:
        block = block_of(state, pair)
        block.n_lists -= 1
        if block.n_lists == 0:
            free(block.positions)
            block.positions = NULL
    pair.positions = NULL
    pair.n_positions = 0


cdef void clear_pairs(State *state) noexcept nogil:
    cdef size_t i
    for i in range(state.table.n_pairs):
        if state.table.pairs[i].n_positions >= LONG_LIST:
            free(state.table.pairs[i].positions)
    for i in range(state.n_ids):
        free(state.blocks[i].positions)
        state.blocks[i].positions = NULL
        state.blocks[i].n_lists = 0
    table_clear(&state.table)
    heap_clear(&state.heap)
    state.n_built = 0


cdef int place_lists(State *state, size_t begin, Block *block) except -1 nogil:
    """Give each pair from index begin on room for its n_positions, the short ones in the block, which is empty."""
    cdef:
        size_t i, n_short = 0
        uint32_t *free_part
        Pair *pair
    for i in range(begin, state.table.n_pairs):
        pair = &state.table.pairs[i]
        if pair.n_positions < LONG_LIST:
            n_short += pair.n_positions
            block.n_lists += 1
    if n_short:
        block.positions = <uint32_t *>malloc(n_short * sizeof(uint32_t))
        if block.positions == NULL:
            return out_of_memory()
    free_part = block.positions
    for i in range(begin, state.table.n_pairs):
        pair = &state.table.pairs[i]
        if pair.n_positions < LONG_LIST:
            pair.positions = free_part
            free_part += pair.n_positions
        else:
            pair.positions = <uint32_t *>malloc(pair.n_positions * sizeof(uint32_t))
            if pair.positions == NULL:
                return out_of_memory()
    return 0


cdef inline uint64_t tie_key(const State *state, const Pair *pair) noexcept nogil:
    if state.tie_break == TIE_FIRST:
        return pair.positions[pair.first]
    if state.tie_break == TIE_LARGEST:
        return ~pair_key(pair.left, pair.right)
    if state.tie_break == TIE_SHORTEST:
        return spelling_key(&state.spellings, pair.left, pair.right)
    return pair_key(pair.left, pair.right)


cdef int push_pairs(State *state, size_t begin) except -1 nogil:
    """Make the pairs from index begin on candidates."""
    cdef:
        Candidate candidate
        size_t i
    if heap_reserve(&state.heap, state.table.n_pairs - begin) < 0:
        return out_of_memory()
    for i in range(begin, state.table.n_pairs):
        candidate.count = state.table.pairs[i].count
        candidate.key = tie_key(state, &state.table.pairs[i])
        candidate.index = <uint32_t>i
        heap_push(&state.heap, candidate)
    return 0


cdef Pair *best_pair(State *state) noexcept nogil:
    """The pair to merge next, or NULL when none is kept. Entries that are out of date go to where they now belong."""
    cdef:
        Candidate *top
        Pair *pair
    while state.heap.size:
        top = &state.heap.entries[0]
        pair = &state.table.pairs[top.index]
        if pair.count == 0:
            heap_drop(&state.heap)
            continue
        if pair.count == top.count:
            if state.tie_break == TIE_SHORTEST:
                return first_of_equals(state)
            if state.tie_break != TIE_FIRST:
                return pair
            while not occurs_at(state, pair, pair.positions[pair.first]):
                pair.first += 1
                state.work += 1
            if pair.positions[pair.first] == top.key:
                return pair
            top.key = pair.positions[pair.first]
        top.count = pair.count
        heap_sink(&state.heap, 0)
    return NULL


cdef Pair *first_of_equals(State *state) noexcept nogil:
    """Of the pairs with the first entry's count and key, of which it is one, the one to merge first. Its entry is
    dropped; those of the others wait behind the heap's end, where dropping has made room, and then go back."""
    cdef:
        Heap *heap = &state.heap
        Candidate best = heap.entries[0], other
        size_t n_waiting = 0
        Pair *pair
        const Pair *first
    heap_drop(heap)
    while heap.size and heap.entries[0].count == best.count and heap.entries[0].key == best.key:
        other = heap.entries[0]
        pair = &state.table.pairs[other.index]
        if pair.count != 0 and pair.count != other.count:
            heap.entries[0].count = pair.count
            heap_sink(heap, 0)
            continue
        heap_drop(heap)
        # Dropping frees the place before those that wait: what waits last comes there.
        if pair.count != 0:
            first = &state.table.pairs[best.index]
            if compare_spellings(&state.spellings, pair.left, pair.right, first.left, first.right) < 0:
                best, other = other, best
            heap.entries[heap.size] = other
            n_waiting += 1
        elif n_waiting:
            heap.entries[heap.size] = heap.entries[heap.size + n_waiting]
        state.work += 1
    while n_waiting:
        heap_push(heap, heap.entries[heap.size])
        n_waiting -= 1
    return &state.table.pairs[best.index]


# ---------------------------------------------------------------- reading the pairs off the text


cdef size_t next_batch(const State *state, Cursor *cursor, Batch *batch) noexcept nogil:
    """Read on: up to BATCH pairs of neighbours into the batch; how many, 0 at the end of the text."""
    cdef:
        uint32_t *symbols = state.symbols
        uint32_t symbol
        size_t n = 0
    while n < BATCH and cursor.position < state.n_slots:
        symbol = symbols[cursor.position]
        if symbol == SEPARATOR:
            cursor.word += 1
            cursor.previous = SEPARATOR
            cursor.position += 1
            continue
        if cursor.previous != SEPARATOR:
            batch.keys[n] = pair_key(cursor.previous, symbol)
            batch.positions[n] = cursor.last
            batch.weights[n] = state.weights[cursor.word] if state.starts != NULL else state.one_weight
            n += 1
        cursor.previous = symbol
        cursor.last = <uint32_t>cursor.position
        cursor.position += state.lengths[symbol]
    return n


cdef void start(Cursor *cursor) noexcept nogil:
    cursor.position = 1
    cursor.word = 0
    cursor.previous = SEPARATOR


cdef inline int count_work(State *state, size_t work) except -1 nogil:
    state.work += work
    return check(state) if state.work > WORK_BETWEEN_CHECKS else 0


cdef uint32_t fill_sketch(State *state, uint32_t *sketch, uint64_t mask) except? 0 nogil:
    """Add up the counts of all pairs that share a cell, up to UINT32_MAX; the highest sum."""
    cdef:
        Batch batch
        Cursor cursor
        size_t i, n
        uint32_t *cell
        uint32_t highest = 0
    start(&cursor)
    while True:
        n = next_batch(state, &cursor, &batch)
        if n == 0:
            return highest
        for i in range(n):
            cell = &sketch[mix(batch.keys[i]) & mask]
            cell[0] += <uint32_t>min(batch.weights[i], UINT32_MAX - cell[0])
            highest = max(highest, cell[0])
        count_work(state, n)


cdef int64_t count_with_enough_pairs(const uint32_t *sketch, size_t n_cells, size_t n_pairs) noexcept nogil:
    """A power of two that as many cells of the sketch reach as there should be pairs; 1 if there are not so many."""
    cdef:
        size_t reaching[32]     # by the exponent of the power that a cell reaches
        size_t i, n = 0
        int exponent
    memset(reaching, 0, sizeof(reaching))
    for i in range(n_cells):
        if sketch[i]:
            reaching[cbpe_highest_bit(sketch[i])] += 1
    for exponent in range(31, 0, -1):
        n += reaching[exponent]
        if n >= n_pairs:
            return <int64_t>1 << exponent
    return 1


cdef int count_pairs(State *state, const uint32_t *sketch, uint64_t mask, uint32_t least) except -1 nogil:
    """Count the pairs that are short enough, and whose cell of the sketch (NULL: no matter) holds at least `least`."""
    cdef:
        PairTable *table = &state.table
        Batch batch
        Cursor cursor
        size_t i, n, k
        uint64_t key
        Pair *pair
    start(&cursor)
    while True:
        n = next_batch(state, &cursor, &batch)
        if n == 0:
            return 0
        if sketch != NULL:
            k = 0
            for i in range(n):
                batch.keys[k] = batch.keys[i]
                batch.weights[k] = batch.weights[i]
                k += sketch[mix(batch.keys[i]) & mask] >= least
            n = k
        if table_reserve(table, n) < 0:
            return out_of_memory()
        for i in range(n):
            table_prefetch(table, batch.keys[i])
        for i in range(n):
            key = batch.keys[i]
            pair = table_find(table, key)
            if pair == NULL:
                if state.lengths[key >> 32] + state.lengths[<uint32_t>key] > state.max_length:
                    continue
                pair = table_add(table, key)
            pair.count += batch.weights[i]
            pair.n_positions += 1
        count_work(state, BATCH)


cdef int list_positions(State *state) except -1 nogil:
    """Write the positions of all pairs in the table into their lists."""
    cdef:
        Batch batch
        Cursor cursor
        size_t i, n
        Pair *pair
    start(&cursor)
    while True:
        n = next_batch(state, &cursor, &batch)
        if n == 0:
            break
        for i in range(n):
            table_prefetch(&state.table, batch.keys[i])
        for i in range(n):
            pair = table_find(&state.table, batch.keys[i])
            if pair != NULL:
                pair.positions[pair.first] = batch.positions[i]
                pair.first += 1
        count_work(state, n)
    for i in range(state.table.n_pairs):
        state.table.pairs[i].first = 0
    return 0


cdef int keep_pairs(PairTable *table, int64_t cutoff) except -1 nogil:
    """Forget the pairs of lower counts."""
    cdef size_t i, n_kept = 0, n_slots = 1024
    for i in range(table.n_pairs):
        if table.pairs[i].count >= cutoff:
            table.pairs[n_kept] = table.pairs[i]
            n_kept += 1
    table.n_pairs = n_kept
    while n_slots < n_kept * 4:
        n_slots *= 2
    if table_rebuild(table, n_slots) < 0:
        return out_of_memory()
    return 0


cdef int count_frequent_pairs(State *state, size_t wanted) except -1 nogil:
    """Set the cutoff and count the pairs that reach it, without room for all the others, thanks to a sketch."""
    cdef:
        size_t n_cells = 1 << 12
        uint32_t *sketch
        int64_t most, enough, rarest
    while n_cells < state.n_slots // 8:
        n_cells *= 2
    sketch = <uint32_t *>calloc(n_cells, sizeof(uint32_t))
    if sketch == NULL:
        return out_of_memory()
    try:
        most = fill_sketch(state, sketch, n_cells - 1)
        if most == UINT32_MAX:
            most = state.cutoff
        most = min(most, state.cutoff - 1)
        enough = count_with_enough_pairs(sketch, n_cells, wanted)
        # Characters are many, and so are the pairs that are frequent: to read the text again would take longer.
        rarest = most // CUTOFF_FACTOR if state.spellings.n == 0 else 1
        state.cutoff = max(state.min_count, rarest, min(most // 2, enough))
        count_pairs(state, sketch, n_cells - 1, <uint32_t>min(state.cutoff, UINT32_MAX))
    finally:
        free(sketch)
    return 0


cdef int build_pairs(State *state, size_t wanted) except -1 nogil:
    """Find all pairs anew and keep the frequent ones: those that reach min_count, are not too much rarer than the best,
    and are not many more than the `wanted` ones that will be merged."""
    cdef:
        int64_t best = 0
        size_t i
    clear_pairs(state)
    if state.n_ids > 256:     # too many pairs may be there to count all of them
        count_frequent_pairs(state, wanted)
    else:
        count_pairs(state, NULL, 0, 0)
        for i in range(state.table.n_pairs):
            best = max(best, state.table.pairs[i].count)
        state.cutoff = max(state.min_count, best // CUTOFF_FACTOR)
    keep_pairs(&state.table, state.cutoff)
    place_lists(state, 0, &state.blocks[0])
    list_positions(state)
    state.n_built = state.table.n_pairs
    return push_pairs(state, 0)
