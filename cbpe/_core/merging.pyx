"""Learns merges: of all pairs of neighbouring tokens, again and again, joins the most frequent.

The text, one sequence or distinct words that each count several times, lies in one flat array of symbols, a slot a byte,
with a SEPARATOR before, between and after the words. A token of n bytes owns n slots. The first holds its id. If n > 1
the last holds INSIDE | n, which leads from a token back to the start of the token before it; slots between hold nothing
that is ever taken for an id. So merging moves nothing, and positions stay what they were.

Each pair knows its count and the positions where it occurs, ascending. A merge walks the positions of one pair, replaces
the tokens, and adds up per neighbour what that does to other pairs, so that the table of pairs is asked once for each
neighbour and not once for each occurrence. Two tokens that have been parted never meet again as the same pair, because
every new pair contains the new token. Hence counts of known pairs only fall and their first positions only rise, and a
heap whose entries are put right when they come up always yields the true best.

Only pairs whose count reaches a cutoff are kept at all. Most pairs are rare, and a rare pair can never become frequent.
When no kept pair is left, the text is scanned again with a lower cutoff.
"""

import time

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from .pairs cimport (
    Candidate, Pair, heap_clear, heap_drop, heap_push, heap_reserve, heap_sink, pair_key, prefetch, table_add, table_clear,
    table_find, table_prefetch, table_rebuild, table_reserve
)

cdef enum:
    LONG_LIST = 1024                # a position list this long has memory of its own; shorter ones share a block
    LOOK_AHEAD = 24                 # positions between the one being merged and the one being fetched
    CUTOFF_FACTOR = 64              # pairs this much rarer than the most frequent one are left for a later scan


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


cdef inline int64_t weight_at(const State *state, uint32_t position) noexcept nogil:
    # How often the word at this position occurs: count the words that begin up to here (bit counting as in Hacker's Delight, 5-1).
    cdef:
        const WordStarts *block
        uint64_t bits
    if state.starts == NULL:
        return state.one_weight
    block = &state.starts[position >> 6]
    bits = block.bits & (<uint64_t>-1 >> (63 - (position & 63)))
    bits = bits - ((bits >> 1) & <uint64_t>0x5555555555555555)
    bits = (bits & <uint64_t>0x3333333333333333) + ((bits >> 2) & <uint64_t>0x3333333333333333)
    bits = (bits + (bits >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return state.weights[block.n_before + ((bits * <uint64_t>0x0101010101010101) >> 56) - 1]


cdef inline bint occurs_at(const State *state, const Pair *pair, uint32_t position) noexcept nogil:
    return state.symbols[position] == pair.left and state.symbols[position + state.lengths[pair.left]] == pair.right


# ---------------------------------------------------------------- the pairs and their positions


cdef inline Block *block_of(State *state, const Pair *pair) noexcept nogil:
    if <size_t>(pair - state.table.pairs) < state.n_built:
        return &state.blocks[0]
    return &state.blocks[max(pair.left, pair.right)]


cdef inline void kill(State *state, Pair *pair) noexcept nogil:
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
    """The pair to merge next, or NULL when none is kept. Entries that are out of date go back to where they now belong."""
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


cdef int scan_pairs(State *state, bint placing) except -1 nogil:
    """Visit all pairs in the text: count those allowed, or, when placing, write down where those in the table occur."""
    cdef:
        uint32_t *symbols = state.symbols
        size_t position = 1, last = 0, word = 0
        uint32_t symbol, previous = SEPARATOR
        uint64_t key
        Pair *pair
    while position < state.n_slots:
        symbol = symbols[position]
        if symbol == SEPARATOR:
            word += 1
            previous = SEPARATOR
            position += 1
            continue
        if previous != SEPARATOR:
            key = pair_key(previous, symbol)
            pair = table_find(&state.table, key)
            if placing:
                if pair != NULL:
                    pair.positions[pair.first] = <uint32_t>last
                    pair.first += 1
            elif pair != NULL or state.lengths[previous] + state.lengths[symbol] <= state.max_length:
                if pair == NULL:
                    if table_reserve(&state.table, 1) < 0:
                        return out_of_memory()
                    pair = table_add(&state.table, key)
                pair.count += state.weights[word] if state.starts != NULL else state.one_weight
                pair.n_positions += 1
        previous = symbol
        last = position
        position += state.lengths[symbol]
        state.work += 1
        if state.work > WORK_BETWEEN_CHECKS:
            check(state)
    return 0


cdef int build_pairs(State *state, int64_t factor) except -1 nogil:
    """Find all pairs anew and keep those that reach min_count and are at most `factor` times rarer than the best."""
    cdef:
        PairTable *table = &state.table
        int64_t best = 0
        size_t i, n_kept = 0, n_slots = 1024
    clear_pairs(state)
    if table_reserve(table, 1024) < 0:
        return out_of_memory()
    scan_pairs(state, False)
    for i in range(table.n_pairs):
        best = max(best, table.pairs[i].count)
    state.cutoff = max(state.min_count, best // factor)
    for i in range(table.n_pairs):
        if table.pairs[i].count >= state.cutoff:
            table.pairs[n_kept] = table.pairs[i]
            n_kept += 1
    table.n_pairs = n_kept
    while n_slots < n_kept * 4:
        n_slots *= 2
    if table_rebuild(table, n_slots) < 0:
        return out_of_memory()
    place_lists(state, 0, &state.blocks[0])
    scan_pairs(state, True)
    for i in range(n_kept):
        table.pairs[i].first = 0
    state.n_built = n_kept
    return push_pairs(state, 0)


# ---------------------------------------------------------------- one merge


cdef inline Change *change_for(Side *side, uint32_t neighbour) noexcept nogil:
    cdef Change *change = &side.changes[neighbour]
    if change.lost == 0 and change.n == 0:
        side.touched[side.n_touched] = neighbour
        side.n_touched += 1
    return change


cdef inline void note(Side *side, Change *change, uint32_t neighbour, uint32_t position, int64_t weight) noexcept nogil:
    """A new pair with this neighbour occurs at this position."""
    change.gained += weight
    change.n += 1
    side.found[side.n_found].neighbour = neighbour
    side.found[side.n_found].position = position
    side.n_found += 1


cdef int64_t replace(State *state, const Pair *pair, uint32_t new_id, uint32_t begin, uint32_t end) noexcept nogil:
    """Merge the occurrences at positions[begin:end] of the pair; the number of tokens that this saves.

    From left to right. So a left neighbour is what it will be after the merge; a right neighbour may be merged itself
    right afterwards, and what was noted for it is then taken back.
    """
    cdef:
        uint32_t *symbols = state.symbols
        uint32_t *positions = pair.positions
        uint32_t n_left = state.lengths[pair.left]
        uint32_t n_both = n_left + state.lengths[pair.right]
        uint32_t i, position, middle, before, after, neighbour
        int64_t weight, saved = 0
        Change *change
    for i in range(begin, end):
        if i + LOOK_AHEAD < pair.n_positions:
            prefetch(&symbols[positions[i + LOOK_AHEAD]])
            if state.starts != NULL:
                prefetch(&state.starts[positions[i + LOOK_AHEAD] >> 6])
        position = positions[i]
        middle = position + n_left
        if symbols[position] != pair.left or symbols[middle] != pair.right:
            continue
        weight = weight_at(state, position)
        saved += weight
        neighbour = symbols[position - 1]
        if neighbour != SEPARATOR:
            before = position - (neighbour & LENGTH if neighbour & INSIDE else 1)
            neighbour = symbols[before]
            if neighbour == new_id:
                # Merged just now, when this token was still pair.left to its right.
                state.right.n_found -= 1
                change = &state.right.changes[pair.left]
                change.gained -= weight
                change.n -= 1
                note(&state.right, change_for(&state.right, new_id), new_id, before, weight)
            else:
                change = change_for(&state.left, neighbour)
                change.lost += weight
                note(&state.left, change, neighbour, before, weight)
        after = position + n_both
        neighbour = symbols[after]
        if neighbour != SEPARATOR:
            change = change_for(&state.right, neighbour)
            change.lost += weight
            note(&state.right, change, neighbour, position, weight)
        symbols[position] = new_id
        symbols[middle] = INSIDE
        symbols[after - 1] = INSIDE | n_both
    return saved


cdef int settle(State *state, Side *side, bint on_left, const Pair *merged, uint32_t new_id) except -1 nogil:
    """Take from the old pairs what they have lost, and make the new pairs that are frequent enough."""
    cdef:
        size_t i
        uint32_t neighbour
        Change *change
        Pair *pair
    if table_reserve(&state.table, side.n_touched) < 0:
        return out_of_memory()
    for i in range(side.n_touched):
        if i + 8 < side.n_touched:
            neighbour = side.touched[i + 8]
            table_prefetch(&state.table, pair_key(neighbour, merged.left) if on_left else pair_key(merged.right, neighbour))
        neighbour = side.touched[i]
        change = &side.changes[neighbour]
        pair = table_find(&state.table, pair_key(neighbour, merged.left) if on_left else pair_key(merged.right, neighbour))
        if pair != NULL and pair.count:
            pair.count -= change.lost
            if pair.count < state.cutoff:
                kill(state, pair)
        if change.gained >= state.cutoff and state.lengths[neighbour] + state.lengths[new_id] <= state.max_length:
            pair = table_add(&state.table, pair_key(neighbour, new_id) if on_left else pair_key(new_id, neighbour))
            pair.count = change.gained
            pair.n_positions = change.n
            change.pair = <uint32_t>(pair - state.table.pairs) + 1
    state.work += 4 * side.n_touched
    return 0


cdef void distribute(State *state, Side *side) noexcept nogil:
    """Write the positions of the new pairs into their lists, and leave the side as if nothing had been."""
    cdef:
        size_t i
        bint any_kept = False
        Change *change
        Occurrence *found
    for i in range(side.n_touched):
        change = &side.changes[side.touched[i]]
        if change.pair:
            change.out = state.table.pairs[change.pair - 1].positions
            any_kept = True
    if any_kept:
        for i in range(side.n_found):
            found = &side.found[i]
            change = &side.changes[found.neighbour]
            if change.out != NULL:
                change.out[0] = found.position
                change.out += 1
    for i in range(side.n_touched):
        memset(&side.changes[side.touched[i]], 0, sizeof(Change))
    side.n_touched = 0
    side.n_found = 0


cdef int reserve_side(Side *side, size_t n_found) except -1 nogil:
    cdef Occurrence *found
    if n_found > side.capacity:
        free(side.found)
        side.capacity = 0
        side.found = NULL
        found = <Occurrence *>malloc(n_found * sizeof(Occurrence))
        if found == NULL:
            return out_of_memory()
        side.found = found
        side.capacity = n_found
    return 0


cdef int grow(void *array_of, size_t old, size_t new, size_t item) noexcept nogil:
    """Enlarge the array that the pointer at array_of points to; what is new is zero. -1 when there is no memory."""
    cdef void *items
    memcpy(&items, array_of, sizeof(void *))    # copied as bytes, because it points to items of any type
    if new > <size_t>-1 // item:
        return -1
    items = realloc(items, new * item)
    if items == NULL:
        return -1
    memset(<char *>items + old * item, 0, (new - old) * item)
    memcpy(array_of, &items, sizeof(void *))
    return 0


cdef int reserve_ids(State *state, size_t n_ids) except -1 nogil:
    """Make room for n_ids ids in the arrays that are indexed by them; what is new is zero."""
    cdef size_t capacity = state.ids_capacity
    if n_ids <= capacity:
        return 0
    capacity = max(n_ids, 2 * capacity)
    if (
        grow(&state.lengths, state.ids_capacity, capacity, sizeof(uint32_t)) < 0
        or grow(&state.blocks, state.ids_capacity, capacity, sizeof(Block)) < 0
        or grow(&state.left.changes, state.ids_capacity, capacity, sizeof(Change)) < 0
        or grow(&state.left.touched, state.ids_capacity, capacity, sizeof(uint32_t)) < 0
        or grow(&state.right.changes, state.ids_capacity, capacity, sizeof(Change)) < 0
        or grow(&state.right.touched, state.ids_capacity, capacity, sizeof(uint32_t)) < 0
        or grow(&state.merges, state.ids_capacity, capacity, sizeof(Merge)) < 0
    ):
        return out_of_memory()
    state.ids_capacity = capacity
    return 0


cdef int apply_merge(State *state, uint32_t left, uint32_t right) except -1 nogil:
    """Merge this pair everywhere, under the next id; a pair that does not occur gets its id all the same."""
    cdef:
        uint32_t new_id = <uint32_t>state.n_ids
        uint32_t begin, end
        size_t n_pairs
        Pair merged
        Pair *pair = table_find(&state.table, pair_key(left, right))
        Merge *merge
    reserve_ids(state, state.n_ids + 1)
    state.lengths[new_id] = state.lengths[left] + state.lengths[right]
    state.n_ids += 1
    merge = &state.merges[new_id - 256]
    merge.left = left
    merge.right = right
    merge.count = 0
    if pair != NULL and pair.count:
        merged = pair[0]
        merge.count = merged.count
        n_pairs = min(merged.count, merged.n_positions - merged.first)
        reserve_side(&state.left, n_pairs)
        reserve_side(&state.right, n_pairs)
        begin = merged.first
        while begin < merged.n_positions:
            end = begin + min(merged.n_positions - begin, <uint32_t>(1 << 15))
            state.tokens -= replace(state, &merged, new_id, begin, end)
            state.work += end - begin
            begin = end
            if state.work > WORK_BETWEEN_CHECKS:
                check(state)
        kill(state, pair)
        n_pairs = state.table.n_pairs
        settle(state, &state.left, True, &merged, new_id)
        settle(state, &state.right, False, &merged, new_id)
        place_lists(state, n_pairs, &state.blocks[new_id])
        distribute(state, &state.left)
        distribute(state, &state.right)
        push_pairs(state, n_pairs)
    merge.tokens = state.tokens
    return 0


cdef int learn(State *state, size_t n_merges) except -1 nogil:
    """Learn up to n_merges merges, or until the deadline; 1 when there is nothing left to merge."""
    cdef Pair *pair
    while n_merges > 0:
        pair = best_pair(state)
        if pair == NULL:
            if state.cutoff <= state.min_count:
                return 1
            build_pairs(state, CUTOFF_FACTOR)
            continue
        apply_merge(state, pair.left, pair.right)
        n_merges -= 1
        state.work += 16
        if state.work > WORK_BETWEEN_CHECKS:
            check(state)
            if state.expired:
                break
    return 0


cdef int find_reason(const State *state) noexcept nogil:
    """Why nothing is left to merge: 0 no pair is left, 1 all are too rare, 2 all are too long or too rare."""
    cdef:
        size_t position = 1
        uint32_t symbol, previous = SEPARATOR
        int reason = 0
    while position < state.n_slots:
        symbol = state.symbols[position]
        if symbol == SEPARATOR:
            position += 1
        else:
            if previous != SEPARATOR:
                reason = 1
                if state.lengths[previous] + state.lengths[symbol] > state.max_length:
                    return 2
            position += state.lengths[symbol]
        previous = symbol
    return reason


cdef void free_state(State *state) noexcept nogil:
    clear_pairs(state)
    free(state.left.changes)
    free(state.left.touched)
    free(state.left.found)
    free(state.right.changes)
    free(state.right.touched)
    free(state.right.found)
    free(state.symbols)
    free(state.starts)
    free(state.weights)
    free(state.lengths)
    free(state.blocks)
    free(state.merges)
