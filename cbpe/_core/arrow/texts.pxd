"""What other compiled modules may use of a column of texts."""

from libc.stdint cimport uint8_t

from cbpe._core.arrow.imported cimport Chunk, ImportedColumn
from cbpe._core.arrow.interface cimport ArrowSchema
from cbpe._core.c.utf8 cimport cbpe_valid_size
from cbpe._core.text.utf8 cimport Utf8Texts


cdef class TextColumn:
    cdef cbpe_valid_size valid_size
    cdef Utf8Texts texts        # of each row: empty where it is null
    cdef uint8_t *validity      # bit i: whether row i is there; NULL if all are
    cdef Py_ssize_t n_nulls

    cdef int read_chunk(self, ImportedColumn column, const Chunk *chunk, const ArrowSchema *schema) except -1
    cdef int note_nulls(self) except -1


# The column of texts that an object exports. TypeError for what is none, ValueError for a damaged one.
cdef TextColumn read_text_column(column, cbpe_valid_size valid_size)
