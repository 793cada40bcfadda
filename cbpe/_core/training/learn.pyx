"""Learns merges: of all pairs of neighbouring tokens, again and again, joins the most frequent.

The text, one sequence or distinct words that each count several times, lies in one flat array of symbols, a slot a
byte (over characters, a slot a character, and so on in what follows), with a SEPARATOR before, between and after the
words. A token of n bytes owns n slots. The first holds its id. If
n > 1 the last holds INSIDE | n, which leads from a token back to the start of the token before it; slots between hold
nothing that is ever taken for an id. So merging moves nothing, and positions stay what they were.

Each pair knows its count and the positions where it occurs, ascending. A merge walks the positions of one pair,
replaces the tokens, and adds up per neighbour what that does to other pairs, so that the table of pairs is asked once
for each neighbour and not once for each occurrence. Two tokens that have been parted never meet again as the same pair,
because every new pair contains the new token. Hence counts of known pairs only fall and their first positions only
rise, and a heap whose entries are put right when they come up always yields the true best.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from cbpe._core.c.bits cimport cbpe_count_bits
from cbpe._core.c.loads cimport cbpe_prefetch
from cbpe._core.training.candidates cimport (
    INSIDE, LENGTH, LONGEST, SEPARATOR, WORK_BETWEEN_CHECKS, Block, Change, Merge, Occurrence, Side, State, WordStarts,
    best_pair, build_pairs, check, clear_pairs, kill, out_of_memory, place_lists, push_pairs
)
from cbpe._core.training.pairs cimport Pair, pair_key, table_add, table_find, table_prefetch, table_reserve
from cbpe._core.training.spelling cimport Spellings, add_spelling, close_spellings, is_spelled, mixes_scripts
from cbpe._core.vocabulary.vocabulary cimport MAX_LEARNED_BYTES, MAX_TOKENS

cdef enum:
    LOOK_AHEAD = 24                 # positions between the one being merged and the one being fetched


cdef inline int64_t weight_at(const State *state, uint32_t position) noexcept nogil:
    # How often the word at this position occurs: counts the words that begin up to here.
    cdef const WordStarts *block
    if state.starts == NULL:
        return state.one_weight
    block = &state.starts[position >> 6]
    return state.weights[
        block.n_before + cbpe_count_bits(block.bits & (<uint64_t>-1 >> (63 - (position & 63)))) - 1
    ]


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
            cbpe_prefetch(&symbols[positions[i + LOOK_AHEAD]])
            if state.starts != NULL:
                cbpe_prefetch(&state.starts[positions[i + LOOK_AHEAD] >> 6])
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


cdef inline uint64_t old_key(const Pair *merged, uint32_t neighbour, bint on_left) noexcept nogil:
    return pair_key(neighbour, merged.left) if on_left else pair_key(merged.right, neighbour)


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
            table_prefetch(&state.table, old_key(merged, side.touched[i + 8], on_left))
        neighbour = side.touched[i]
        change = &side.changes[neighbour]
        pair = table_find(&state.table, old_key(merged, neighbour, on_left))
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
    capacity = max(n_ids, min(2 * capacity, state.ids_wanted))
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
    state.n_bytes += state.lengths[new_id]
    if state.spellings.n and add_spelling(&state.spellings, left, right) < 0:
        return out_of_memory()
    merge = &state.merges[new_id - state.n_start]
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


cdef bint may_be_made(const Spellings *spellings, const Pair *pair) noexcept nogil:
    """Whether a merge over characters makes a token that is new, and of one script."""
    if is_spelled(spellings, pair.left, pair.right):
        return False
    return spellings.scripts == NULL or not mixes_scripts(spellings, pair.left, pair.right)


cdef int learn(State *state, size_t n_merges) except -1 nogil:
    """Learn up to n_merges merges, or until the deadline; 1 when there is nothing left to merge, 2 when a vocabulary
    could not hold the next token."""
    cdef Pair *pair
    state.ids_wanted = state.n_ids + n_merges
    while n_merges > 0:
        pair = best_pair(state)
        if pair == NULL:
            if state.cutoff <= state.min_count:
                return 1
            build_pairs(state, 2 * n_merges)
            continue
        if state.spellings.n and not may_be_made(&state.spellings, pair):
            kill(state, pair)
            state.work += 16
            continue
        if (
            state.n_ids + 1 >= MAX_TOKENS
            or state.n_bytes + state.lengths[pair.left] + state.lengths[pair.right] > MAX_LEARNED_BYTES
        ):
            return 2
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
                if state.max_length == LONGEST:
                    return 1
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
    close_spellings(&state.spellings)
