"""What other compiled modules may use of the splitter."""

from libc.stdint cimport uint8_t


cdef struct Span:
    # One piece: text[start:end], in bytes of UTF-8.
    Py_ssize_t start
    Py_ssize_t end


cdef struct SplitTables:
    # A split pattern compiled to an automaton over character classes.
    const uint8_t *placeholder


# Find the next pieces of text[position[0]:size] (valid UTF-8), at most `capacity` of them, and move position[0] behind the last.
# Fewer than `capacity` spans mean that the text has ended.
cdef Py_ssize_t find_pieces(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Py_ssize_t *position, Span *spans, Py_ssize_t capacity
) noexcept nogil


cdef class Splitter:
    cdef SplitTables tables
