"""What other compiled modules may use of a column that another library lent."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from cbpe._core.arrow.interface cimport ArrowArray, ArrowSchema


# Rows array.offset + start and so on, `length` of them, of one array of a column.
cdef struct Chunk:
    const ArrowArray *array
    int64_t start               # with the array's offset
    int64_t length


cdef class ImportedColumn:
    cdef object owned_schema
    cdef list owned_arrays
    cdef const ArrowSchema *schema      # of the values: of the only column, if a table was given
    cdef Chunk *chunks
    cdef Py_ssize_t n_chunks
    cdef Py_ssize_t n_rows

    cdef int take(self, column) except -1
    cdef int take_type(self, owner) except -1
    cdef int add(self, array) except -1
    # All rows of an array, which may be a dictionary or a child. ValueError for one whose numbers are none of an
    # array's.
    cdef Chunk whole(self, const ArrowArray *array) except *
    # ValueError unless an array has as many buffers and children as its type.
    cdef int check_parts(self, const ArrowArray *array, int64_t n_buffers, int64_t n_children) except -1


# Whether the row is there: bit number `row` of a bitmap, which may be NULL if all are.
cdef inline bint is_there(const void *bitmap, int64_t row) noexcept nogil:
    return bitmap == NULL or (<const uint8_t *>bitmap)[row >> 3] >> (row & 7) & 1


cdef inline int64_t integer_at(const void *values, char kind, int64_t at) noexcept nogil:
    """Number `at` of an array of integers, of the type that Arrow calls by this letter. They may stand at any address.
    One that is 2**63 or more becomes negative."""
    cdef const char *bytes = <const char *>values
    cdef int64_t eight
    cdef int32_t four
    cdef int16_t two
    if kind == c"i" or kind == c"I":
        memcpy(&four, bytes + 4 * at, 4)
        return four if kind == c"i" else <int64_t><uint32_t>four
    if kind == c"l" or kind == c"L":
        memcpy(&eight, bytes + 8 * at, 8)
        return eight
    if kind == c"s" or kind == c"S":
        memcpy(&two, bytes + 2 * at, 2)
        return two if kind == c"s" else <int64_t><uint16_t>two
    return (<const int8_t *>bytes)[at] if kind == c"c" else <int64_t>(<const uint8_t *>bytes)[at]


# What a type is called that the interface writes as a few letters: 'int64' for b"l".
cdef str type_name(bytes kind)


# The column that an object with __arrow_c_stream__ or __arrow_c_array__ exports. TypeError for any other object.
cdef ImportedColumn import_column(column)
