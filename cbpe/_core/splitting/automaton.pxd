"""A split pattern as a deterministic automaton over classes of characters."""

from libc.stdint cimport uint16_t

from cbpe._core.splitting.classes cimport Classes
from cbpe._core.splitting.pattern cimport Pattern

# An entry of the table of transitions is the number of the next state, shifted, and flags. Matches are known one
# character late, so that an assertion about the next character needs nothing special: a flag speaks of the place before
# the character that is being read.
cdef enum:
    STATE_SHIFT = 7
    FLAGS = 127
    BOUNDARY = 1  # a piece ends here for certain, and the next state has read this character as the first of another
    MARK = 2  # a piece may end here; a longer or later one may turn out to be preferred
    STOP = 4  # the piece ends at the last mark
    MAX_STATES = 512
    DEAD = 0
    START = 1


cdef class Automaton:
    cdef int n_states
    # uint16_t[n_states][MAX_CLASSES]
    cdef bytes transitions


# Where a pattern is not portable, a possessive repeat of one set may differ from a greedy one.
cdef Automaton compile_pattern(Pattern pattern, Classes classes, bint portable=*)
