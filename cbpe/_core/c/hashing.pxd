"""What hashing.h declares: hashes, which decide where a thing is looked for, never a result."""

from libc.stdint cimport uint8_t, uint64_t


cdef extern from "hashing.h" nogil:
    uint64_t cbpe_mix(uint64_t a, uint64_t b)
    uint64_t cbpe_hash(const uint8_t *p, size_t n, uint64_t seed)
