"""What the loops of the splitter read in place of an automaton's transitions, made once for a split pattern."""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

from cbpe._core.splitting.automaton cimport BOUNDARY, START, STATE_SHIFT, STOP
from cbpe._core.splitting.classes cimport MAX_CLASSES


cdef bytes ascii_rows(Automaton automaton, Classes classes):
    """The transitions by byte instead of by class, which saves the lookup of the class."""
    cdef bytes rows = bytes(128 * sizeof(uint16_t) * automaton.n_states)
    cdef uint16_t *target = <uint16_t *> <char *> rows
    cdef const uint16_t *by_class = <const uint16_t *> <const char *> automaton.transitions
    cdef const uint8_t *class_of = <const uint8_t *> <const char *> classes.blocks
    cdef int state, byte
    class_of += 256 * (<const uint16_t *> <const char *> classes.block_of)[0]
    for state in range(automaton.n_states):
        for byte in range(128):
            target[128 * state + byte] = by_class[MAX_CLASSES * state + class_of[byte]]
    return rows


cdef bytes classes_below(Classes classes):
    """The class of each character of up to three bytes, which takes one lookup in place of two: uint8_t[1 << 16]."""
    cdef bytes table = bytes(1 << 16)
    cdef uint8_t *target = <uint8_t *> <char *> table
    cdef const uint16_t *block_of = <const uint16_t *> <const char *> classes.block_of
    cdef const uint8_t *blocks = <const uint8_t *> <const char *> classes.blocks
    cdef int i
    for i in range(256):
        memcpy(target + 256 * i, blocks + 256 * block_of[i], 256)
    return table


cdef bytes sure_borders(Automaton automaton, Classes classes):
    """For each class of characters the classes, as bits, before which a piece ends for certain: uint64_t[MAX_CLASSES].

    Whatever the automaton has read before, a character of the first class takes it to one of a few states. If none of
    them can read a character of the second class, no match goes over the place between the two, and however often the
    automaton begins anew, it comes to begin there.
    """
    cdef bytes borders = bytes(MAX_CLASSES * sizeof(uint64_t))
    cdef uint64_t *target = <uint64_t *> <char *> borders
    cdef const uint16_t *entries = <const uint16_t *> <const char *> automaton.transitions
    cdef uint64_t sure
    cdef uint16_t entry
    cdef int state, first, second
    cdef set reached
    for first in range(classes.count):
        reached = set()
        for state in range(START, automaton.n_states):
            reached.add(entries[MAX_CLASSES * state + first] >> STATE_SHIFT)
        sure = (<uint64_t> 1 << classes.count) - 1
        for state in reached:
            for second in range(classes.count):
                entry = entries[MAX_CLASSES * state + second]
                if not entry & (BOUNDARY | STOP):
                    sure &= ~(<uint64_t> 1 << second)
        target[first] = sure
    return borders
