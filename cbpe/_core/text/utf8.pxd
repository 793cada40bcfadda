"""The UTF-8 form of a text: Python's own, where it has one, or ours for the time of a call."""

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint8_t


cdef extern from "utf8.h" nogil:
    ctypedef ptrdiff_t (*cbpe_write_utf8)(const void *characters, int width, ptrdiff_t n, uint8_t *out) noexcept nogil
    cbpe_write_utf8 cbpe_utf8_writer(const char *name)
    enum:
        CBPE_UTF8_SLACK


cdef inline Py_ssize_t character_start(const uint8_t *text, Py_ssize_t size, Py_ssize_t at) noexcept nogil:
    """The start of the character that text[at] is in; `size` behind the text."""
    if at >= size:
        return size
    while at > 0 and text[at] & 0xC0 == 0x80:
        at -= 1
    return at


cdef struct Utf8:
    const uint8_t *bytes
    Py_ssize_t size
    uint8_t *owned          # to be freed; NULL if the bytes belong to the str


# The text itself, as an exact str; with every lone surrogate replaced, as tiktoken does, if UTF-8 cannot hold it. Its
# UTF-8 form then belongs to it. TypeError for what is no str.
cdef str encodable(text)

# The UTF-8 form that belongs to a text that is encodable.
cdef Utf8 utf8_of(str text) except *

# An encodable text and its UTF-8 form, which is the caller's if it is `owned`: a long text that is not ASCII is
# converted faster by ours, and keeps nothing. `last` is where the last such text is noted; one that comes twice keeps
# its UTF-8 form, as Python has it.
cdef str read_utf8(text, cbpe_write_utf8 write, void **last, Utf8 *utf8)
