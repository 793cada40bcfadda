"""What other compiled modules may use of making a column for others."""

from libc.stdint cimport int64_t, uint8_t


# What a column and all arrays that it has exported share. The last of them to let go of it frees it.
cdef struct Shared:
    int64_t n_owners
    void *validity              # a bit for each row; NULL if all are there
    void *places                # where each row begins, and the last ends: int32 or int64; NULL where rows are numbers
    void *values


cdef class ArrowColumn:
    cdef Shared *shared
    cdef const char *kind       # Arrow's names of the type, and of the type of the items if rows are lists
    cdef const char *item_kind
    cdef int64_t n_rows
    cdef int64_t n_nulls
    cdef int64_t n_items

    # The column takes the memory of values at once, whatever it raises; the validity is copied.
    cdef int take_values(self, void *values) except -1
    cdef int copy_validity(self, const uint8_t *validity, Py_ssize_t n_nulls) except -1
    # Where the rows end, of which there are n_rows, after 0. As int32 if they can be, else as int64; which tells the
    # result.
    cdef bint put_ends(self, const int64_t *ends) except -1


# A column of numbers or texts, or one of lists of items, with no rows yet.
cdef ArrowColumn new_column(int64_t n_rows)
