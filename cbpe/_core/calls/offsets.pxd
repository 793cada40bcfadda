"""What other compiled modules may use of offsets: where in the text its tokens are."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from cbpe._core.decoding.decode cimport DecodeTable
from cbpe._core.encoding.places cimport Jumps


# How far the tokens of a text have been located.
cdef struct Location:
    Py_ssize_t n_ids
    Py_ssize_t n_jumps
    Py_ssize_t place            # in bytes
    Py_ssize_t characters       # that begin before there


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
