"""The ids of the symbols that merging leaves: their own, or those of their bytes, or the unknown token."""

from libc.stdint cimport uint8_t, uint32_t

from cbpe._core.vocabulary.tables cimport VocabTables


# Whether tokens at the beginning or the end of a piece differ from those within it.
cdef inline bint is_marked(const VocabTables *v) noexcept nogil:
    return v.begins or v.ends


# Put ids in the place of n symbols; there is room for as many as all have bytes. Returns how many they are, or -1, and
# the first byte that has no id.
cdef Py_ssize_t put_ids(const VocabTables *v, uint32_t *symbols, Py_ssize_t n, uint8_t *missing) noexcept nogil
