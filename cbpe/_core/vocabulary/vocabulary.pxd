"""What other compiled modules may use of a vocabulary."""

cimport cython
from libc.stdint cimport uint32_t

from cbpe._core.vocabulary.tables cimport VocabTables, WordTable


cdef enum:
    MAX_TOKENS = 1 << 21        # two symbols and a merge fit in the 64 bits of a pair's entry
    MAX_BYTES = 1 << 28         # of all tokens together: more is refused before memory is taken
    MAX_LEARNED_BYTES = 1 << 26  # of those that training makes: a .model of any length may hold as many


@cython.final
cdef class Vocabulary:
    cdef VocabTables tables
    cdef readonly bytes prefix  # of tokens that begin no piece, as they are shown; b"" where there is no BEGIN
    cdef readonly bytes suffix  # of tokens that end one; b"" where there is no END
    cdef const WordTable *words(self) except NULL
    cdef bytes spell(self, uint32_t index)
    cdef bytes with_marks(self, bytes token)
