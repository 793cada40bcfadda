"""The merges that spell characters, for all ways to a vocabulary over characters or words."""


cdef class Spellings:
    cdef dict symbols       # bytes -> symbol, single bytes included
    cdef list lefts, rights, made

    # Merge two that are bytes or made before, if they are not merged yet.
    cdef int join(self, bytes left, bytes right) except -1


# (number, left symbol, right symbol, token) of those of the tokens that merging makes, by rising number of the merge;
# numbers: {(left, right): number}, the merge with the lowest number first.
cdef list merges_that_happen(Spellings spellings, list tokens, dict numbers)
