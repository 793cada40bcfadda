"""Merging a long piece in linear time, by walking over it from left to right instead of merging it from the bytes up.

What merging leaves of a piece is the one sequence of symbols in which every two neighbours are what merging leaves of
their own bytes: a merge across a border of the sequence would have happened between these two neighbours alone as well.
So the longest symbol is taken where it goes with the one before, a shorter one where it does not, and where none goes
the last step is taken back. The idea and the proof are those of GitHub's article "So many tokens, so little time"
(2024) and the crate `bpe` that it describes.

What happens at a border is undone from its end, so the order in which the merges of two symbols happened has to be
known. In a monotone vocabulary it is the order of their numbers. A merge that is made of later ones happens as soon as
the latest of these has: there the order is that of the latest merge that it takes.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memset

from cbpe._core.merging.shared cimport shared_tables
from cbpe._core.vocabulary.tables cimport NONE, find_pair, stay_apart


cdef bint comes_first(
    const VocabTables *v, const uint32_t *latest, uint32_t a, uint32_t b, uint32_t undone, bint of_a
) noexcept nogil:
    """Whether two neighbours merge before the merge `undone` takes away one of them, a if `of_a`, else b. The later of
    the two was made at latest merge `made`."""
    cdef uint32_t merge = find_pair(v, a, b), made = max(latest[a], latest[b]), limit = latest[undone]
    if merge == NONE or merge > limit:
        return False
    if max(merge, made) < limit:
        return True
    if made < limit:
        # Two equal merges. The left one comes first, and with it what it makes possible.
        return not of_a
    if of_a:
        return merge < undone
    # Its other part is there already, or a merge further to the right has yet to come.
    return merge <= undone or latest[b] < limit or latest[v.right[undone - 256]] == limit


cdef bint stay_apart_until(
    const VocabTables *v, const uint32_t *latest, uint32_t a, uint32_t b, bint and_then
) noexcept nogil:
    """Whether two symbols that merging makes of their own bytes are both made when their bytes are merged, in any
    vocabulary; and whether they then stay neighbours, if `and_then`."""
    cdef uint32_t undone
    cdef bint of_a
    if and_then and find_pair(v, a, b) != NONE:
        return False
    while True:
        of_a = latest[a] > latest[b]
        undone = a if of_a else b
        if undone < 256:
            return True
        if of_a:
            a = v.right[a - 256]
        else:
            b = v.left[b - 256]
        if comes_first(v, latest, a, b, undone, of_a):
            return False


cdef bint are_apart(const VocabTables *v, const WalkTables *w, uint32_t a, uint32_t b) noexcept nogil:
    if w.latest == NULL:
        return stay_apart(v, a, b, NONE)
    return stay_apart_until(v, w.latest, a, b, True)


cdef inline bint are_known_apart(
    const VocabTables *v, const WalkTables *w, uint64_t *neighbours, uint32_t a, uint32_t b
) noexcept nogil:
    """The same, looked up where it was found out before: in long pieces the same pairs come again and again."""
    cdef uint64_t pair = (<uint64_t>a << 32 | b) + 1        # there are fewer than 1 << 28 symbols
    cdef uint64_t *place = neighbours + (pair * <uint64_t>0x9E3779B97F4A7C15 >> (64 - NEIGHBOUR_BITS))
    if place[0] >> 1 != pair:
        place[0] = pair << 1 | are_apart(v, w, a, b)
    return place[0] & 1


cdef inline uint64_t edge_key(uint32_t node, uint8_t byte) noexcept nogil:
    return <uint64_t>node << 36 | <uint64_t>byte << 28


cdef uint32_t find_child(const WalkTables *w, uint32_t node, uint8_t byte) noexcept nogil:
    cdef uint64_t key = edge_key(node, byte)
    cdef uint64_t slot = (key * <uint64_t>0x9E3779B97F4A7C15) >> w.edges_shift
    cdef uint64_t entry
    while True:
        entry = w.edges[slot]
        if (entry ^ key) >> 28 == 0:
            return <uint32_t>(entry & 0xFFFFFFF)
        if entry == 0:
            return 0
        slot = (slot + 1) & w.edges_mask


cdef uint32_t add_child(
    WalkTables *w, uint32_t node, uint8_t byte, uint32_t *n_nodes, uint32_t *parents
) noexcept nogil:
    cdef uint32_t child = find_child(w, node, byte)
    cdef uint64_t key = edge_key(node, byte)
    cdef uint64_t slot = (key * <uint64_t>0x9E3779B97F4A7C15) >> w.edges_shift
    if child:
        return child
    while w.edges[slot] != 0:
        slot = (slot + 1) & w.edges_mask
    child = n_nodes[0]
    n_nodes[0] += 1
    w.edges[slot] = key | child
    w.symbols[child] = NONE
    parents[child] = node
    return child


# What only making the tables needs.
cdef struct Making:
    uint32_t n_nodes
    uint32_t *nodes             # symbol -> its node, 0 if merging never makes it
    uint32_t *parents           # node -> the node above it
    uint32_t *stack             # symbols that wait for what they are made of; NULL in a monotone vocabulary
    uint8_t *entered            # symbol -> whether it is done; likewise


cdef void enter_symbol(const VocabTables *v, WalkTables *w, Making *making, uint32_t symbol) noexcept nogil:
    """Enter a symbol whose parts are entered."""
    cdef uint32_t left = v.left[symbol - 256], right = v.right[symbol - 256], node = making.nodes[left], i
    cdef bint made = node != 0 and making.nodes[right] != 0
    making.nodes[symbol] = 0
    if w.latest == NULL:
        made = made and stay_apart(v, left, right, symbol)
    else:
        w.latest[symbol] = max(symbol, w.latest[left], w.latest[right])
        making.entered[symbol] = True
        made = made and stay_apart_until(v, w.latest, left, right, False)
    if made:
        for i in range(v.offsets[right], v.offsets[right + 1]):
            node = add_child(w, node, v.bytes[i], &making.n_nodes, making.parents)
        making.nodes[symbol] = node
        w.symbols[node] = symbol


cdef void enter_after_parts(const VocabTables *v, WalkTables *w, Making *making, uint32_t symbol) noexcept nogil:
    """Enter a symbol that may be made of later ones, and before it all that it is made of."""
    cdef uint32_t depth = 1
    making.stack[0] = symbol
    while depth:
        symbol = making.stack[depth - 1]
        if making.entered[symbol]:
            depth -= 1
        elif not making.entered[v.left[symbol - 256]]:
            making.stack[depth] = v.left[symbol - 256]
            depth += 1
        elif not making.entered[v.right[symbol - 256]]:
            making.stack[depth] = v.right[symbol - 256]
            depth += 1
        else:
            enter_symbol(v, w, making, symbol)
            depth -= 1


cdef bint begin_making(const VocabTables *v, WalkTables *w, Making *making) noexcept nogil:
    """Take the memory for the tables, and for making them; False where there is none."""
    cdef uint64_t room = 257        # nodes: the root, the bytes, at most one for each byte of each merge's right part
    cdef uint32_t symbol, right
    cdef int bits = 10
    for symbol in range(256, v.n_symbols):
        right = v.right[symbol - 256]
        room += v.offsets[right + 1] - v.offsets[right]
    while <uint64_t>1 << bits < room + room // 2:
        bits += 1
    if room >= 1 << 28:
        return False
    w.edges_shift = 64 - bits
    w.edges_mask = (<uint64_t>1 << bits) - 1
    w.edges = <uint64_t *>calloc(<size_t>1 << bits, sizeof(uint64_t))
    w.symbols = <uint32_t *>malloc(room * sizeof(uint32_t))
    w.shorter = <uint32_t *>malloc(v.n_symbols * sizeof(uint32_t))
    w.pairs = <uint32_t *>malloc((1 << 16) * sizeof(uint32_t))
    making.n_nodes = 1
    making.nodes = <uint32_t *>malloc(v.n_symbols * sizeof(uint32_t))
    making.parents = <uint32_t *>malloc(room * sizeof(uint32_t))
    if not v.monotone:
        w.latest = <uint32_t *>malloc(v.n_symbols * sizeof(uint32_t))
        making.stack = <uint32_t *>malloc(v.n_symbols * sizeof(uint32_t))
        making.entered = <uint8_t *>calloc(v.n_symbols, 1)
        if w.latest == NULL or making.stack == NULL or making.entered == NULL:
            return False
    return (
        w.edges != NULL and w.symbols != NULL and w.shorter != NULL
        and w.pairs != NULL and making.nodes != NULL and making.parents != NULL
    )


cdef void enter_symbols(const VocabTables *v, WalkTables *w, Making *making) noexcept nogil:
    cdef uint32_t symbol, node
    w.symbols[0] = NONE
    for symbol in range(256):
        making.nodes[symbol] = node = add_child(w, 0, <uint8_t>symbol, &making.n_nodes, making.parents)
        w.symbols[node] = symbol
        if w.latest != NULL:
            w.latest[symbol] = symbol
            making.entered[symbol] = True
    for symbol in range(256, v.n_symbols):
        if w.latest == NULL:
            enter_symbol(v, w, making, symbol)
        else:
            enter_after_parts(v, w, making, symbol)
    for symbol in range(v.n_symbols):
        w.shorter[symbol] = NONE
        if making.nodes[symbol]:
            node = making.parents[making.nodes[symbol]]
            while node and w.symbols[node] == NONE:
                node = making.parents[node]
            w.shorter[symbol] = w.symbols[node]
    for symbol in range(1 << 16):
        w.pairs[symbol] = find_child(w, making.nodes[symbol >> 8], <uint8_t>(symbol & 0xFF))
    w.n_nodes = making.n_nodes


cdef void *new_walk_tables(const VocabTables *v) noexcept nogil:
    cdef WalkTables *w = <WalkTables *>calloc(1, sizeof(WalkTables))
    cdef Making making
    if w == NULL:
        return NULL
    memset(&making, 0, sizeof(Making))
    if begin_making(v, w, &making):
        enter_symbols(v, w, &making)
    else:
        free_walk_tables(w)
        w = NULL
    free(making.nodes)
    free(making.parents)
    free(making.stack)
    free(making.entered)
    return w


cdef void free_walk_tables(void *tables) noexcept nogil:
    cdef WalkTables *w = <WalkTables *>tables
    if w != NULL:
        free(w.edges)
        free(w.pairs)
        free(w.symbols)
        free(w.shorter)
        free(w.latest)
        free(w.suffixes)
        free(w)


cdef const WalkTables *shared_walk_tables(const VocabTables *v, WalkTables **place) noexcept nogil:
    return <const WalkTables *>shared_tables(v, <void **>place, new_walk_tables, free_walk_tables)


cdef inline uint32_t longest_symbol(
    const WalkTables *w, const uint8_t *text, Py_ssize_t size, Py_ssize_t *n_read
) noexcept nogil:
    """The longest symbol that text begins with; n_read[0] becomes how many bytes it took to tell, 0 if the text ended
    first."""
    cdef uint32_t node, found = text[0]
    cdef Py_ssize_t i
    n_read[0] = 0
    if size == 1:
        return found
    node = w.pairs[<uint32_t>text[0] << 8 | text[1]]
    for i in range(2, size):
        if node == 0:
            n_read[0] = i
            break
        if w.symbols[node] != NONE:
            found = w.symbols[node]
        node = find_child(w, node, text[i])
    else:
        if node and w.symbols[node] != NONE:
            found = w.symbols[node]
        elif node == 0:
            n_read[0] = size
    return found


cdef inline bint is_repeated(
    const uint8_t *piece, Py_ssize_t size, Py_ssize_t before, Py_ssize_t at, Py_ssize_t n
) noexcept nogil:
    """Whether the n bytes (0: nothing is known) from `before` on come again from `at` on."""
    return n != 0 and piece[before] == piece[at] and size - at >= n and memcmp(piece + before, piece + at, n) == 0


cdef bint walk_piece(
    const VocabTables *v,
    const WalkTables *w,
    const uint8_t *piece,
    Py_ssize_t size,
    uint64_t *alive,
    uint64_t *neighbours,
    uint32_t *out,
    Py_ssize_t *reached,
    Py_ssize_t *n_symbols,
    Py_ssize_t steps,
) noexcept nogil:
    cdef Py_ssize_t position = reached[0], end, n = n_symbols[0], before = position, n_read = 0
    cdef uint32_t symbol, longest
    cdef bint apart
    if position == 0 and n == 0:
        memset(alive, 0xFF, ((size >> 6) + 1) * sizeof(uint64_t))   # a bit for each place that may still be a border
    symbol = longest = longest_symbol(w, piece + position, size - position, &n_read)
    while True:
        end = position + v.offsets[symbol + 1] - v.offsets[symbol]
        apart = False
        if alive[end >> 6] >> (end & 63) & 1:
            # In a run of the same symbol, the last two have been looked at.
            apart = n == 0 or n > 1 and out[n - 1] == symbol and out[n - 2] == symbol
            apart = apart or are_known_apart(v, w, neighbours, out[n - 1], symbol)
        if apart:
            out[n] = symbol
            n += 1
            position = end
            steps -= 1
            if position == size or steps < 0:
                reached[0], n_symbols[0] = position, n
                return position == size
            if not is_repeated(piece, size, before, position, n_read):
                longest = longest_symbol(w, piece + position, size - position, &n_read)
            symbol = longest
            before = position
        elif w.shorter[symbol] != NONE:
            symbol = w.shorter[symbol]
        else:
            alive[position >> 6] &= ~(<uint64_t>1 << (position & 63))
            n -= 1
            symbol = out[n]
            position -= v.offsets[symbol + 1] - v.offsets[symbol]
