"""What loads.h declares: reading memory."""

from libc.stdint cimport uint8_t, uint64_t


cdef extern from "loads.h" nogil:
    uint64_t cbpe_load64(const uint8_t *p)
    void cbpe_prefetch(const void *p)
