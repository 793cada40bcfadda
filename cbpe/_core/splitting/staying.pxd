"""Where characters leave the automaton in its state, as within a long word: they are read 64 at a time."""

from libc.stdint cimport uint8_t, uint16_t, uint64_t

from cbpe._core.c.ascii cimport cbpe_classify, cbpe_masks
from cbpe._core.c.bits cimport cbpe_lowest_bit
from cbpe._core.splitting.automaton cimport BOUNDARY, START, STATE_SHIFT, STOP


cdef enum StayingSets:
    SMALL = 1
    CAPITALS = 2
    DIGITS = 4
    SPACES = 8

# What leaves a state as it is: the sets of ASCII characters all of which lead from it to this entry, which is its own.
cdef struct Stay:
    uint16_t entry
    uint16_t sets


cdef inline Py_ssize_t stay(
    const Stay *state, cbpe_classify classify, const uint8_t *text, Py_ssize_t at, Py_ssize_t end
) noexcept nogil:
    """How far text[at:end] leaves the automaton in this state."""
    cdef uint64_t within = ~<uint64_t> 0
    cdef cbpe_masks m
    while state.sets and within == ~<uint64_t> 0 and end - at >= 64 and text[at] < 128:
        classify(text + at, &m)
        within = m.letter & ~m.upper if state.sets & SMALL else 0
        within |= m.upper if state.sets & CAPITALS else 0
        within |= m.digit if state.sets & DIGITS else 0
        within |= m.space if state.sets & SPACES else 0
        at += 64 if within == ~<uint64_t> 0 else cbpe_lowest_bit(~within)
    return at


cdef inline bytes find_stays(bytes ascii_rows, int n_states):
    """Stay[n_states]"""
    cdef bytes found = bytes(n_states * sizeof(Stay))
    cdef Stay *stays = <Stay *> <char *> found
    cdef const uint16_t *rows = <const uint16_t *> <const char *> ascii_rows
    cdef int state
    for state in range(START, n_states):
        add_set(stays + state, rows + 128 * state, state, SMALL, c'a', c'z')
        add_set(stays + state, rows + 128 * state, state, CAPITALS, c'A', c'Z')
        add_set(stays + state, rows + 128 * state, state, DIGITS, c'0', c'9')
        add_set(stays + state, rows + 128 * state, state, SPACES, c' ', c' ')
    return found


cdef inline void add_set(
    Stay *stay, const uint16_t *row, int state, uint16_t members, uint8_t first, uint8_t last
) noexcept nogil:
    """Add the characters from first to last, if they leave the state as the sets do that it has."""
    cdef uint16_t entry = row[first]
    cdef int i
    if entry >> STATE_SHIFT != state or entry & (BOUNDARY | STOP) or stay.sets and stay.entry != entry:
        return
    for i in range(first + 1, last + 1):
        if row[i] != entry:
            return
    stay.entry = entry
    stay.sets |= members
