"""Classes of characters: what a split pattern cannot tell apart."""

from libc.stdint cimport uint64_t

cdef enum:
    # A set of classes is the bits of a uint64_t. The last class is the end of the text.
    MAX_CLASSES = 64
    END_OF_TEXT = 63


cdef class Classes:
    cdef int count  # of classes, the end of the text aside
    cdef list masks  # the classes of each set of the pattern, as bits
    # The class of a code point is blocks[256 * block_of[code_point >> 8] + (code_point & 255)]; block_of holds uint16_t
    # for every number that the lead byte of UTF-8 can begin, valid or not: range(0x200000).
    cdef bytes block_of
    cdef bytes blocks


cdef Classes classify(list sets)
