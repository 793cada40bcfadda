"""One piece of text to symbols by BPE-dropout (Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective
Subword Regularization", arXiv 1910.13267): at each step each possible merge is dropped with a probability p, and the
best of those that remain is applied, until none remains.

Of the possible merges, the best first, how many are dropped in a row decides: all others might as well not have been
asked. At least k are with the probability p ** k, so that one random number u from [0, 1) tells: the largest k with
u < p ** k. That takes nothing but products of doubles, which are the same on every machine.

Random numbers are those of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
Each piece has its own, by the seed and its place in the text, so that they are the same in whatever order pieces are
merged.
"""

from libc.stdlib cimport free
from libc.string cimport memmove

from cbpe._core.c.hashing cimport cbpe_mix
from cbpe._core.merging.merge cimport NO_ROOM, PAUSED, make_room, pause, resize
from cbpe._core.vocabulary.tables cimport NONE, find_pair

cdef enum:
    SHORT = 32                  # bytes of the longest piece whose merges are kept in an array
    BETWEEN_PAUSES = 1 << 16    # merges in one piece


cdef inline uint64_t scrambled(uint64_t z) noexcept nogil:
    z = (z ^ z >> 30) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * <uint64_t>0x94D049BB133111EB
    return z ^ z >> 31


cdef inline double next_random(uint64_t *state) noexcept nogil:
    """A double from [0, 1), of 53 random bits."""
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    return <double>(scrambled(state[0]) >> 11) * (1.0 / 9007199254740992.0)


cdef inline uint64_t dropped_in_a_row(const Dropout *dropout, double u) noexcept nogil:
    """The largest k, of up to POWERS bits, with u < p ** k."""
    cdef uint64_t k = 0
    cdef double power = 1.0
    cdef int bit
    if u >= dropout.powers[0]:
        return 0
    for bit in range(POWERS - 1, -1, -1):
        if u < power * dropout.powers[bit]:
            power *= dropout.powers[bit]
            k |= <uint64_t>1 << bit
    return k


cdef Py_ssize_t merge_short(
    const VocabTables *v,
    const uint8_t *piece,
    Py_ssize_t size,
    const Dropout *dropout,
    uint64_t *state,
    uint32_t *symbols,
) noexcept nogil:
    cdef uint32_t merged[SHORT]     # merged[i]: what symbols i and i + 1 merge to
    cdef uint64_t key, best, least, dropped, n_possible
    cdef uint64_t _
    cdef Py_ssize_t i, at
    for i in range(size):
        symbols[i] = piece[i]
    for i in range(size - 1):
        merged[i] = v.byte_pairs[piece[i] << 8 | piece[i + 1]]
    while True:
        n_possible = 0
        for i in range(size - 1):
            n_possible += merged[i] != NONE
        if n_possible == 0:
            return size
        dropped = dropped_in_a_row(dropout, next_random(state))
        if dropped >= n_possible:
            return size
        best = least = 0
        for _ in range(dropped + 1):
            best = <uint64_t>NONE << 32
            for i in range(size - 1):
                key = <uint64_t>merged[i] << 32 | <uint64_t>i
                if least <= key < best:
                    best = key
            least = best + 1
        at = <uint32_t>best
        size -= 1
        symbols[at] = <uint32_t>(best >> 32)
        memmove(symbols + at + 1, symbols + at + 2, (size - at - 1) * sizeof(uint32_t))
        memmove(merged + at, merged + at + 1, (size - at - 1) * sizeof(uint32_t))
        if at + 1 < size:
            merged[at] = find_pair(v, symbols[at], symbols[at + 1])
        if at > 0:
            merged[at - 1] = find_pair(v, symbols[at - 1], symbols[at])


# The possible merges of a long piece stand in a treap (Seidel and Aragon, "Randomized search trees", 1996) by merge,
# then place, whose nodes know how many there are below them: any of them is found, added or removed in O(log n).

cdef inline uint64_t node_key(const Dropout *d, uint32_t node) noexcept nogil:
    return <uint64_t>d.nodes[node].merge << 32 | node


cdef inline uint64_t node_priority(const Dropout *d, uint32_t node) noexcept nogil:
    return cbpe_mix(d.salt ^ node, <uint64_t>0x9E3779B97F4A7C15)


cdef inline uint32_t tree_size(const Dropout *d, uint32_t node) noexcept nogil:
    return 0 if node == NONE else d.nodes[node].size


cdef inline void sum_up(Dropout *d, uint32_t node) noexcept nogil:
    d.nodes[node].size = 1 + tree_size(d, d.nodes[node].left) + tree_size(d, d.nodes[node].right)


cdef void divide(Dropout *d, uint32_t node, uint64_t key, uint32_t *below, uint32_t *above) noexcept nogil:
    """Divide a tree in two, by a key that is not in it."""
    if node == NONE:
        below[0] = above[0] = NONE
        return
    if node_key(d, node) < key:
        below[0] = node
        divide(d, d.nodes[node].right, key, &d.nodes[node].right, above)
    else:
        above[0] = node
        divide(d, d.nodes[node].left, key, below, &d.nodes[node].left)
    sum_up(d, node)


cdef uint32_t unite(Dropout *d, uint32_t below, uint32_t above) noexcept nogil:
    """One tree of two, all keys in the first of which are smaller."""
    if below == NONE or above == NONE:
        return above if below == NONE else below
    if node_priority(d, below) > node_priority(d, above):
        d.nodes[below].right = unite(d, d.nodes[below].right, above)
        sum_up(d, below)
        return below
    d.nodes[above].left = unite(d, below, d.nodes[above].left)
    sum_up(d, above)
    return above


cdef void add_possible(Dropout *d, uint32_t node, uint32_t merge) noexcept nogil:
    """Add the merge of the symbol at a place with the one after it; NONE is none."""
    cdef uint32_t *place = &d.root
    cdef uint64_t key, priority = node_priority(d, node)
    d.nodes[node].merge = merge
    if merge == NONE:
        return
    key = node_key(d, node)
    while place[0] != NONE and node_priority(d, place[0]) > priority:
        d.nodes[place[0]].size += 1
        place = &d.nodes[place[0]].right if node_key(d, place[0]) < key else &d.nodes[place[0]].left
    divide(d, place[0], key, &d.nodes[node].left, &d.nodes[node].right)
    place[0] = node
    sum_up(d, node)


cdef void remove_possible(Dropout *d, uint32_t node) noexcept nogil:
    """Remove the merge of the symbol at a place, if it has one."""
    cdef uint32_t *place = &d.root
    cdef uint64_t key = node_key(d, node)
    if d.nodes[node].merge == NONE:
        return
    while place[0] != node:
        d.nodes[place[0]].size -= 1
        place = &d.nodes[place[0]].right if node_key(d, place[0]) < key else &d.nodes[place[0]].left
    place[0] = unite(d, d.nodes[node].left, d.nodes[node].right)
    d.nodes[node].merge = NONE


cdef uint32_t find_possible(const Dropout *d, uint32_t number) noexcept nogil:
    """The merge that so many come before."""
    cdef uint32_t node = d.root, n_left
    while True:
        n_left = tree_size(d, d.nodes[node].left)
        if number == n_left:
            return node
        if number < n_left:
            node = d.nodes[node].left
        else:
            number -= n_left + 1
            node = d.nodes[node].right


cdef bint make_node_room(Dropout *d, Py_ssize_t n) noexcept nogil:
    if n > d.capacity:
        if not resize(&d.nodes, n, sizeof(Possible)):
            return False
        d.capacity = n
    return True


cdef Py_ssize_t merge_long(
    const VocabTables *v,
    const uint8_t *piece,
    Py_ssize_t size,
    Dropout *d,
    uint64_t *state,
    MergeRoom *room,
    uint32_t *out,
) noexcept nogil:
    cdef uint32_t *symbols
    cdef uint32_t *following
    cdef uint32_t *preceding
    cdef uint32_t at, right, left, end
    cdef uint64_t dropped
    cdef Py_ssize_t i, written = 0, steps = 0
    if size >= <Py_ssize_t>NONE or not make_room(room, size) or not make_node_room(d, size):
        return NO_ROOM
    symbols, following, preceding = room.symbols, room.following, room.preceding
    end = <uint32_t>size
    d.root = NONE
    for i in range(size):
        if i % BETWEEN_PAUSES == 0 and pause(room) < 0:
            return PAUSED
        symbols[i] = piece[i]
        following[i] = <uint32_t>(i + 1)
        preceding[i] = <uint32_t>(i - 1) if i else NONE
        add_possible(d, <uint32_t>i, v.byte_pairs[piece[i] << 8 | piece[i + 1]] if i + 1 < size else NONE)
    while d.root != NONE:
        dropped = dropped_in_a_row(d, next_random(state))
        if dropped >= tree_size(d, d.root):
            break
        steps += 1
        if steps % BETWEEN_PAUSES == 0 and pause(room) < 0:
            return PAUSED
        at = find_possible(d, <uint32_t>dropped)
        left, right = preceding[at], following[at]
        symbols[at] = d.nodes[at].merge
        remove_possible(d, at)
        remove_possible(d, right)
        right = following[right]
        following[at] = right
        if right != end:
            preceding[right] = at
            add_possible(d, at, find_pair(v, symbols[at], symbols[right]))
        if left != NONE:
            remove_possible(d, left)
            add_possible(d, left, find_pair(v, symbols[left], symbols[at]))
    at = 0
    while at != end:
        out[written] = symbols[at]
        written += 1
        at = following[at]
    return written


cdef void open_dropout(Dropout *dropout, double p, uint64_t seed, uint64_t salt) noexcept nogil:
    cdef int bit
    dropout.seed = scrambled(seed)
    dropout.salt = salt
    for bit in range(POWERS):
        dropout.powers[bit] = p
        p *= p
    dropout.capacity = 0
    dropout.nodes = NULL
    dropout.root = NONE


cdef void close_dropout(Dropout *dropout) noexcept nogil:
    free(dropout.nodes)


cdef Py_ssize_t merge_dropping(
    const VocabTables *v,
    const uint8_t *piece,
    Py_ssize_t size,
    uint64_t place,
    Dropout *dropout,
    MergeRoom *room,
    uint32_t *out,
) noexcept nogil:
    cdef uint64_t state = scrambled(dropout.seed + place)
    if size <= SHORT:
        return merge_short(v, piece, size, dropout, &state, out)
    return merge_long(v, piece, size, dropout, &state, room, out)
