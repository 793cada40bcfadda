"""The merges that spell characters, for both ways to a vocabulary over characters."""


cdef class Spellings:
    cdef dict symbols       # bytes -> symbol, single bytes included
    cdef list lefts, rights, made

    cdef void spell(self, bytes beginning)
