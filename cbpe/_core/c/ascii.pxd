"""What ascii.h declares: 64 bytes of text to masks of what they are."""

from libc.stdint cimport uint8_t, uint64_t


cdef extern from "ascii.h" nogil:
    ctypedef struct cbpe_masks:
        uint64_t beyond
        uint64_t upper
        uint64_t letter
        uint64_t digit
        uint64_t space
        uint64_t blank
        uint64_t newline
        uint64_t apostrophe
        uint64_t slash

    ctypedef void (*cbpe_classify)(const uint8_t *text, cbpe_masks *masks) noexcept nogil
