"""Tables that threads share, and that the first of them makes that needs them."""

from cbpe._core.c.atomics cimport cbpe_atomic_load, cbpe_atomic_put
from cbpe._core.vocabulary.tables cimport VocabTables

ctypedef void *(*MakeTables)(const VocabTables *v) noexcept nogil
ctypedef void (*FreeTables)(void *tables) noexcept nogil


cdef inline void *shared_tables(
    const VocabTables *v, void **place, MakeTables make_tables, FreeTables free_tables
) noexcept nogil:
    """The tables at a place, made now if they are not there yet; NULL where there is no memory."""
    cdef void *tables = cbpe_atomic_load(place)
    if tables == NULL:
        tables = make_tables(v)
        if tables != NULL and not cbpe_atomic_put(place, tables):
            # Another thread was faster.
            free_tables(tables)
            tables = cbpe_atomic_load(place)
    return tables
