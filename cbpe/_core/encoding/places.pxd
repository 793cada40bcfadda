"""Where in the text the pieces and special tokens are that were encoded."""

from libc.stdlib cimport realloc

from cbpe._core.splitting.split cimport Span


# A stretch of text that is no piece. The tokens of a piece have its bytes, so that these stretches are all that it
# takes to know where each token is.
cdef struct Jump:
    Py_ssize_t start
    Py_ssize_t stop             # where the text goes on: before `start`, if the pattern matches from the end
    bint special                # it is a special token, with an id; else it is dropped


# All 0 at first; the owner frees the items.
cdef struct Jumps:
    Jump *items
    Py_ssize_t n
    Py_ssize_t capacity
    Py_ssize_t reached          # the end of the last piece or special token


cdef inline bint note_jump(Jumps *jumps, Py_ssize_t start, Py_ssize_t stop, bint special) noexcept nogil:
    cdef void *grown
    if jumps.n == jumps.capacity:
        grown = realloc(jumps.items, 2 * (jumps.capacity + 8) * sizeof(Jump))
        if grown == NULL:
            return False
        jumps.items = <Jump *>grown
        jumps.capacity = 2 * (jumps.capacity + 8)
    jumps.items[jumps.n] = Jump(start, stop, special)
    jumps.n += 1
    return True


cdef inline bint note_pieces(Jumps *jumps, const Span *spans, Py_ssize_t n) noexcept nogil:
    """Remember what is not in the next n pieces; False where there is no memory."""
    cdef Py_ssize_t i
    for i in range(n):
        if spans[i].start != jumps.reached and not note_jump(jumps, jumps.reached, spans[i].start, False):
            return False
        jumps.reached = spans[i].end
    return True


cdef inline bint note_special(Jumps *jumps, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Remember a special token; False where there is no memory."""
    if start != jumps.reached and not note_jump(jumps, jumps.reached, start, False):
        return False
    jumps.reached = stop
    return note_jump(jumps, start, stop, True)
