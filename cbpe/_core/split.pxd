"""What other compiled modules may use of the splitter."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

from .blocks cimport cbpe_classify


cdef struct Span:
    # One piece: text[start:end], in bytes of UTF-8.
    Py_ssize_t start
    Py_ssize_t end


cdef struct SplitTables:
    # A split pattern compiled to an automaton over character classes; no pattern at all if `ascii_rows` is NULL. The
    # Splitter owns the memory. Entries are as automaton.pxd says: (number of the next state << STATE_SHIFT) | flags.
    const uint16_t *ascii_rows  # [state][byte], 128 to a state
    const uint16_t *class_rows  # [state][class], MAX_CLASSES to a state
    const uint16_t *block_of  # [code point >> 8]
    const uint8_t *blocks  # [block][code point & 255]: a class
    uint32_t rules  # AsciiRules that say the same of ASCII as the pattern does; 0: none, the automaton does it all
    cbpe_classify classify


# Find the next pieces of text[position[0]:size] (valid UTF-8), at most `capacity` of them, and move position[0] behind
# the last. The text has ended when position[0] is size: fewer
# than `capacity` spans may also mean that the pattern takes long, and that it is time to look at the signals.
cdef Py_ssize_t find_pieces(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *position,
    Span *spans,
    Py_ssize_t capacity,
) noexcept nogil


cdef class Splitter:
    cdef SplitTables tables
    cdef readonly object pattern
    # What the tables point to.
    cdef bytes ascii_rows
    cdef bytes class_rows
    cdef bytes block_of
    cdef bytes blocks
