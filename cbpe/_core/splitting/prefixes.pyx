"""Where the first piece of each prefix of a text ends, read off the automaton in one pass.

A prefix that ends within a piece may be split otherwise than the whole text: its last piece is what the pattern finds
where the text ends there. After each character, the automaton's step for the end of the text tells what that would be.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from cbpe._core.splitting.automaton cimport BOUNDARY, FLAGS, MARK, START, STATE_SHIFT, STOP
from cbpe._core.splitting.classes cimport END_OF_TEXT, MAX_CLASSES
from cbpe._core.splitting.split cimport class_at

cdef enum:
    STATE = 0xFFFF & ~FLAGS


cdef inline uint32_t step(const SplitTables *tables, uint32_t state, uint32_t of_class) noexcept nogil:
    return tables.class_rows[state * MAX_CLASSES + of_class]


cdef bint settle_first(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, First *found
) noexcept nogil:
    cdef Py_ssize_t at = start, mark = start
    cdef uint32_t state = START, entry
    cdef int length = 1, first_length = 0
    if tables.ascii_rows == NULL:
        return False
    while at < size:
        entry = step(tables, state, class_at(tables, text + at, size - at, &length))
        if at == start:
            first_length = length
        if entry & BOUNDARY:
            found[0] = First(at, at + length, False)
            return True
        if entry & MARK:
            mark = at
        if entry & STOP:
            found[0] = First(mark, at + length, False)
            if mark == start:
                found[0] = First(start + first_length, at + length, True)
            return True
        state = entry >> STATE_SHIFT
        at += length
    return False


cdef bint add_run(PrefixEnds *found, Py_ssize_t place, Py_ssize_t end, bint dropped) noexcept nogil:
    """Enter a prefix whose first piece ends before it does."""
    cdef PrefixRun *run
    cdef void *grown
    cdef Py_ssize_t capacity
    if found.n_runs:
        run = found.runs + found.n_runs - 1
        if run.end == end and run.dropped == dropped:
            run.last = place
            return True
    if found.n_runs == found.capacity:
        capacity = 2 * found.capacity + 16
        grown = realloc(found.runs, <size_t> capacity * sizeof(PrefixRun))
        if grown == NULL:
            return False
        found.runs = <PrefixRun *> grown
        found.capacity = capacity
    found.runs[found.n_runs] = PrefixRun(place, place, end, dropped)
    found.n_runs += 1
    return True


cdef bint prefix_ends(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, PrefixEnds *found
) noexcept nogil:
    cdef Py_ssize_t at = start, mark = start, place, n_words = (size - start >> 6) + 1
    cdef uint32_t entry = START << STATE_SHIFT
    cdef int length = 1, first_length = 0
    cdef void *grown
    found.n_runs = 0
    if n_words > found.n_words:
        grown = realloc(found.whole, <size_t> n_words * sizeof(uint64_t))
        if grown == NULL:
            return False
        found.whole = <uint64_t *> grown
        found.n_words = n_words
    if tables == NULL or tables.ascii_rows == NULL:
        memset(found.whole, 0, <size_t> n_words * sizeof(uint64_t))
        for place in range(start + 1, size + 1):
            if place == size or text[place] & 0xC0 != 0x80:
                found.whole[place - start >> 6] |= <uint64_t> 1 << (place - start & 63)
        return True
    memset(found.whole, 0, <size_t> n_words * sizeof(uint64_t))
    while at < size:
        if text[at] < 128:
            length = 1
            entry = tables.ascii_rows[(entry & STATE) + text[at]]
        else:
            entry = tables.class_rows[((entry & STATE) >> 1) + class_at(tables, text + at, size - at, &length)]
        if at == start:
            first_length = length
        if entry & MARK:
            mark = at
        at += length
        if tables.class_rows[((entry & STATE) >> 1) + END_OF_TEXT] & MARK:
            found.whole[at - start >> 6] |= <uint64_t> 1 << (at - start & 63)
        elif not add_run(found, at, mark if mark > start else start + first_length, mark == start):
            return False
    return True


cdef void free_prefix_ends(PrefixEnds *found) noexcept nogil:
    free(found.whole)
    free(found.runs)
    memset(found, 0, sizeof(PrefixEnds))
