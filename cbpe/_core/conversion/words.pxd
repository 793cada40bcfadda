"""The first merges of vocabularies over words, for both ways to them."""

from cbpe._core.conversion.characters cimport Spellings


# The merges that spell characters, and those that join BEGIN and END to them.
cdef Spellings first_merges(list characters, bint begins, bint ends)
