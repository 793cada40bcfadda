"""What keeps long pieces fast. Characters that leave the automaton in its state, as within a word, are read 64 at a
time; and what an attempt has read in vain is not read again from the next place, which would take the square of its
length.

For the latter an attempt to find a piece stops by at a few places on its way, at distances that double, and notes the
state of the automaton. If it fails, no piece ends behind such a place from such a state. T. Reps, "Maximal-munch"
tokenization in linear time (1998), notes every place; here it takes a fixed memory, and n log n at most.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from cbpe._core.c.ascii cimport cbpe_classify, cbpe_masks
from cbpe._core.c.bits cimport cbpe_lowest_bit
from cbpe._core.splitting.automaton cimport BOUNDARY, MAX_STATES, START, STATE_SHIFT, STOP


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


cdef enum:
    STEP = 64  # bytes, a power of two; places are multiples of it
    LEVELS = 48  # of distances, each twice the one before


cdef struct Passed:
    Py_ssize_t place
    uint32_t state


# Places are kept by how often two divides them. Of those that are still ahead there is one at most of each number: an
# attempt stops by at the next multiple of STEP, of 2 STEP after that, of 4 STEP after that, and so on.
cdef struct Failures:
    uint64_t filled  # bits: the levels that have a place
    Py_ssize_t places[LEVELS]
    uint64_t states[LEVELS][MAX_STATES >> 6]  # bits: those from which no piece ends behind the place
    # The attempt that goes on.
    Passed passed[LEVELS]
    int n_passed
    Py_ssize_t distance
    Py_ssize_t next  # where it stops by: before the first character that begins there or later


cdef inline int level_of(Py_ssize_t place) noexcept nogil:
    cdef int level = cbpe_lowest_bit(<uint64_t> place // STEP)
    return level if level < LEVELS else LEVELS - 1


cdef inline void begin_attempt(Failures *failures, Py_ssize_t start) noexcept nogil:
    failures.n_passed = 0
    failures.distance = STEP
    failures.next = (start + 2 * STEP) & -STEP


cdef inline bint fails_from(Failures *failures, uint32_t state) noexcept nogil:
    """Whether it is known that no piece ends behind the next place from this state. If not, note it, and go on."""
    cdef int level = level_of(failures.next)
    if (
        failures.filled >> level & 1
        and failures.places[level] == failures.next
        and failures.states[level][state >> 6] >> (state & 63) & 1
    ):
        return True
    if failures.n_passed < LEVELS:
        failures.passed[failures.n_passed] = Passed(failures.next, state)
        failures.n_passed += 1
        failures.distance *= 2
    failures.next = (failures.next + failures.distance) & -failures.distance
    return False


cdef inline void note_failure(Failures *failures, Py_ssize_t end) noexcept nogil:
    """The attempt has found no end of a piece behind this one."""
    cdef const Passed *passed
    cdef int i, level
    for i in range(failures.n_passed):
        passed = failures.passed + i
        if passed.place <= end:
            continue
        level = level_of(passed.place)
        if not failures.filled >> level & 1 or failures.places[level] != passed.place:
            failures.filled |= <uint64_t> 1 << level
            failures.places[level] = passed.place
            memset(failures.states[level], 0, sizeof(failures.states[level]))
        failures.states[level][passed.state >> 6] |= <uint64_t> 1 << (passed.state & 63)
