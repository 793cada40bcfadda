"""What spans.h declares: the ends of pieces, as bits, to spans."""

from libc.stdint cimport uint64_t


cdef extern from "spans.h" nogil:
    ctypedef void (*cbpe_write_spans)(uint64_t ends, Py_ssize_t n, Py_ssize_t base, Py_ssize_t *spans) noexcept nogil
    enum:
        SPANS_AT_ONCE "CBPE_SPANS_AT_ONCE"
