"""What atomics.h declares: atomics, for what threads share."""

from libc.stdint cimport int64_t


cdef extern from "atomics.h" nogil:
    int64_t cbpe_atomic_add(int64_t *p, int64_t n)
    int64_t cbpe_atomic_read(int64_t *p)
    void *cbpe_atomic_swap(void **place, void *p)
    void *cbpe_atomic_load(void **place)
    bint cbpe_atomic_put(void **place, void *p)
