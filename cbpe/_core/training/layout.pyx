"""The words in the trainer's symbols before the first merge that it learns: as bytes, or as the tokens of a vocabulary
from which training goes on.

Words are encoded as any text is (merging/merge.pyx), which takes a fraction of the time and of the memory that learning
their merges took.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from cbpe._core.merging.merge cimport MergeRoom, check_merged, free_merge_room, merge_piece
from cbpe._core.merging.walk cimport WalkTables, free_walk_tables
from cbpe._core.text.utf8 cimport read_character
from cbpe._core.training.candidates cimport INSIDE, SEPARATOR, WORK_BETWEEN_CHECKS, check, out_of_memory
from cbpe._core.vocabulary.tables cimport NONE, stay_apart

cdef enum:
    WINDOW = 1 << 20        # bytes of a long word that are encoded at once: some tens of milliseconds
    MARGIN = 64             # tokens at the end of a window that the bytes after it might change


cdef struct Coder:
    const VocabTables *v
    MergeRoom room
    WalkTables *walk
    uint8_t *word           # the bytes of the word at hand
    size_t capacity


cdef inline int count_work(State *state, size_t work) except -1 nogil:
    state.work += work
    return check(state) if state.work > WORK_BETWEEN_CHECKS else 0


cdef int64_t n_symbols(const uint8_t *word, int64_t length, const uint32_t *numbers) noexcept nogil:
    cdef:
        int64_t at = 0, n = 0
        int size
    if numbers == NULL:
        return length
    while at < length:
        if numbers[read_character(word + at, length - at, &size)] == 0:
            return -1
        at += size
        n += 1
    return n


cdef int lay_out(
    State *state, const uint8_t *data, const int64_t *lengths, const int64_t *counts, size_t n, const uint32_t *numbers
) except -1 nogil:
    """Words of one symbol are left out: they hold no pair."""
    cdef:
        size_t i, word = 0, at = 1, offset = 0, block = 0
        int64_t j, k, step
        int size
    state.symbols[0] = SEPARATOR
    for i in range(n):
        if n_symbols(data + offset, lengths[i], numbers) > 1:
            if state.starts != NULL:
                while block <= at >> 6:
                    state.starts[block].n_before = word
                    block += 1
                state.starts[at >> 6].bits |= <uint64_t>1 << (at & 63)
                state.weights[word] = counts[i]
            word += 1
            k = 0
            while k < lengths[i] and numbers != NULL:
                state.symbols[at] = numbers[read_character(data + offset + k, lengths[i] - k, &size)] - 1
                k += size
                at += 1
                count_work(state, 1)
            while k < lengths[i]:
                step = min(lengths[i] - k, 1 << 16)
                for j in range(step):
                    state.symbols[at + j] = data[offset + k + j]
                k += step
                at += step
                count_work(state, step)
            state.symbols[at] = SEPARATOR
            at += 1
        offset += lengths[i]
    if state.starts != NULL:
        while block <= at >> 6:
            state.starts[block].n_before = word
            block += 1
    return 0


cdef void spread(const State *state, uint32_t *symbols, size_t n, size_t n_slots) noexcept nogil:
    """Move the first n symbols, which stand side by side, to where their bytes begin in n_slots slots."""
    cdef:
        size_t i, end = n_slots
        uint32_t symbol, length, k
    for i in range(n, 0, -1):
        symbol = symbols[i - 1]
        length = state.lengths[symbol]
        end -= length
        for k in range(1, length):
            symbols[end + k] = INSIDE
        if length > 1:
            symbols[end + length - 1] = INSIDE | length
        symbols[end] = symbol


cdef int encode_word(State *state, Coder *coder, uint32_t *symbols, size_t size) except -1 nogil:
    """Replace a word in the symbols, bytes[size], by its tokens.

    A long word is encoded in windows. What was left of one and what comes of the next are the word's tokens if the two
    at the border stay neighbours (merging/walk.pyx says why). Otherwise all begins anew with larger windows.
    """
    cdef:
        size_t begin = 0, window = WINDOW, length
        Py_ssize_t n, kept
        uint32_t last = NONE
    while begin < size:
        length = min(window, size - begin)
        n = merge_piece(coder.v, coder.word + begin, length, &coder.room, symbols + begin)
        check_merged(n)
        count_work(state, length)
        if last != NONE and not stay_apart(coder.v, last, symbols[begin], NONE):
            begin = 0
            last = NONE
            window *= 2
            continue
        if length < size - begin:
            for kept in range(n - min(MARGIN, n // 2), n):
                length -= state.lengths[symbols[begin + kept]]
            n -= min(MARGIN, n // 2)
        last = symbols[begin + n - 1]
        spread(state, symbols + begin, n, length)
        begin += length
    return 0


cdef int copy_word(State *state, Coder *coder, const uint32_t *symbols, size_t size) except -1 nogil:
    cdef:
        void *larger
        size_t i
    if size > coder.capacity:
        larger = realloc(coder.word, 2 * size)
        if larger == NULL:
            return out_of_memory()
        coder.word = <uint8_t *>larger
        coder.capacity = 2 * size
    for i in range(size):
        coder.word[i] = <uint8_t>symbols[i]
    return 0


cdef int lay_out_tokens(State *state, const VocabTables *v) except -1 nogil:
    cdef:
        Coder coder
        size_t begin = 1, end
    memset(&coder, 0, sizeof(coder))
    coder.v = v
    coder.room.walk = &coder.walk
    try:
        while begin < state.n_slots:
            end = begin
            while state.symbols[end] != SEPARATOR:
                end += 1
            copy_word(state, &coder, state.symbols + begin, end - begin)
            encode_word(state, &coder, state.symbols + begin, end - begin)
            begin = end + 1
    finally:
        free_merge_room(&coder.room)
        free_walk_tables(coder.walk)
        free(coder.word)
    return 0


cdef int trace_merges(State *state) except -1 nogil:
    """A token in the text was made by its merge, and by those of its parts."""
    cdef:
        int64_t *made = <int64_t *>calloc(state.n_ids, sizeof(int64_t))
        size_t position = 1, word = 0, i
        uint32_t symbol
        int64_t tokens = state.tokens
    if made == NULL:
        return out_of_memory()
    try:
        while position < state.n_slots:
            symbol = state.symbols[position]
            if symbol == SEPARATOR:
                word += 1
                position += 1
            else:
                made[symbol] += state.weights[word] if state.starts != NULL else state.one_weight
                position += state.lengths[symbol]
            count_work(state, 1)
        for i in range(state.n_ids - 1, state.n_start - 1, -1):
            made[state.merges[i - state.n_start].left] += made[i]
            made[state.merges[i - state.n_start].right] += made[i]
        for i in range(state.n_start, state.n_ids):
            tokens -= made[i]
            state.merges[i - state.n_start].count = made[i]
            state.merges[i - state.n_start].tokens = tokens
        state.tokens = tokens
    finally:
        free(made)
    return 0
