"""What utf8.h and valid_utf8.h declare: the characters of a Python string to UTF-8; whether bytes are UTF-8."""

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint8_t


cdef extern from "utf8.h" nogil:
    ctypedef ptrdiff_t (*cbpe_write_utf8)(const void *characters, int width, ptrdiff_t n, uint8_t *out) noexcept nogil
    enum:
        CBPE_UTF8_SLACK


cdef extern from "valid_utf8.h" nogil:
    ctypedef ptrdiff_t (*cbpe_valid_size)(const uint8_t *text, ptrdiff_t n) noexcept nogil
