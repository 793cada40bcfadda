"""What other compiled modules may use of offsets: where in the text its tokens are."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from cbpe._core.decoding.decode cimport DecodeTable
from cbpe._core.splitting.split cimport Span


# A stretch of text that is no piece. The tokens of a piece have its bytes, so that these stretches are all that it
# takes to know where each token is.
cdef struct Jump:
    Py_ssize_t start
    Py_ssize_t stop             # where the text goes on: before `start`, if the pattern matches from the end
    bint special                # it is a special token, with an id; else it is dropped


cdef struct Jumps:
    Jump *items
    Py_ssize_t n
    Py_ssize_t capacity
    Py_ssize_t reached          # the end of the last piece or special token


# How far the tokens of a text have been located.
cdef struct Location:
    Py_ssize_t n_ids
    Py_ssize_t n_jumps
    Py_ssize_t place            # in bytes
    Py_ssize_t characters       # that begin before there


# Remember what is not in the next pieces, or a special token; False where there is no memory. The owner of Jumps, which
# are all 0 at first, frees the items.
cdef bint note_pieces(Jumps *jumps, const Span *spans, Py_ssize_t n) noexcept nogil
cdef bint note_special(Jumps *jumps, Py_ssize_t start, Py_ssize_t stop) noexcept nogil

# Write the character spans of the ids up to number `stop`, from where the Location is, to spans[2 * i] and
# spans[2 * i + 1].
cdef void locate_ids(
    const DecodeTable *table,
    const Jumps *jumps,
    const uint8_t *text,
    const uint32_t *ids,
    Py_ssize_t stop,
    Location *location,
    int64_t *spans,
) noexcept nogil

# Spans in `encodable`, which is `text` with the halves of characters joined, become spans in `text`.
cdef int undo_joining(str text, str encodable, int64_t *spans, Py_ssize_t n) except -1

# Spans as a list of (start, end).
cdef list to_tuples(const int64_t *spans, Py_ssize_t n)
