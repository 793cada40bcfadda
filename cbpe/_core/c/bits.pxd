"""What bits.h declares: the single bits of a word."""

from libc.stdint cimport uint64_t


cdef extern from "bits.h" nogil:
    int cbpe_lowest_bit(uint64_t x)
    int cbpe_highest_bit(uint64_t x)
    int cbpe_count_bits(uint64_t x)
