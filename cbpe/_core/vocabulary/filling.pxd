"""What a vocabulary is filled with. The owner of the tables frees what they point to, also after a failure."""

from libc.stdint cimport uint32_t, uint64_t

from cbpe._core.vocabulary.tables cimport VocabTables


# Make room for n pairs in v's (empty) tables. The owner of v frees it with free_pairs.
cdef int allocate_pairs(VocabTables *v, uint32_t n) except -1

cdef void free_pairs(VocabTables *v) noexcept nogil

# The table of pairs, from left and right, and whether the vocabulary `looks_up`; merges_happen is as for Vocabulary.
# ValueError for a pair that is merged twice.
cdef int fill_pairs(VocabTables *v, bint merges_happen) except -1

# The table from ids to indices. ValueError for an id that two tokens have, and for absurd gaps.
cdef int fill_indices(VocabTables *v) except -1

# The bytes of all tokens; `extras` are those that no merge makes. ValueError for more than `most` together.
cdef int fill_bytes(VocabTables *v, list extras, uint64_t most) except -1

# The number of merges that spell characters. ValueError where they are not what a vocabulary over characters has.
cdef int check_characters(VocabTables *v) except -1

# The number of merges that spell characters or join BEGIN and END to them. ValueError where these do not come first.
cdef int check_marked(VocabTables *v) except -1

# The bytes that tokens are shown as. ValueError for more than `most` together.
cdef int fill_shown(VocabTables *v, bytes prefix, bytes suffix, uint64_t most) except -1

# A copy of n numbers in a buffer of uint32, to be freed. ValueError for any other buffer.
cdef uint32_t *copy_ids(object values, Py_ssize_t n) except? NULL

cdef uint64_t random_bits() except? 0
