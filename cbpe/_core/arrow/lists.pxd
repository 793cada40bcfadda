"""What other compiled modules may use of a column of token ids."""

from libc.stdint cimport int64_t

from cbpe._core.arrow.imported cimport ImportedColumn


# The lists of one array of a column, whose items are integers.
cdef struct Lists:
    int64_t n_rows
    int64_t start               # the number of the first row in its buffers
    const void *validity
    const void *places          # NULL where each list has `size` items
    char kind                   # of the places: "i" or "l"
    int64_t size
    const void *items
    const void *item_validity
    char item_kind              # Arrow's letter
    int64_t item_start
    int64_t n_items


cdef class IdColumn:
    cdef ImportedColumn column
    cdef Lists *chunks
    cdef Py_ssize_t n_chunks
    cdef Py_ssize_t n_rows

    cdef int read_chunk(self, Py_ssize_t number) except -1


# Where the list of a row is among the items; False where the array is damaged. A null row has no items.
cdef bint find_list(const Lists *lists, int64_t row, int64_t *start, int64_t *stop) noexcept nogil


# The column of ids that an object exports. TypeError for what is none, ValueError for a damaged one.
cdef IdColumn read_id_column(column)
