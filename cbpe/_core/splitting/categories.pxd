"""The generated table of general categories (see cbpe/_unicode/generate.py)."""

from libc.stdint cimport uint8_t, uint16_t


cdef extern from "tables.h" nogil:
    const char *CBPE_UNICODE_VERSION
    int CBPE_N_CATEGORIES
    int CBPE_N_BLOCKS
    const char CBPE_CATEGORY_NAMES[31][3]
    const uint16_t CBPE_BLOCK_OF[4352]
    const uint8_t CBPE_BLOCKS[1][256]
    enum:
        CBPE_CC_SPACE


cdef inline int category_of(int code_point) noexcept nogil:
    """The category's number of a code point in range(0x110000)."""
    return CBPE_BLOCKS[CBPE_BLOCK_OF[code_point >> 8]][code_point & 255]
