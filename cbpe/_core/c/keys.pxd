"""What keys.h declares: the key of a piece, and the bytes of it that count."""

from libc.stdint cimport uint64_t


cdef extern from "keys.h" nogil:
    ctypedef struct PieceKey "cbpe_key":
        uint64_t low            # the first 8 bytes, or the hash of a long piece
        uint64_t high           # the next 7, their number on top; of a long piece its size, LONG on top. 0: no piece

    const uint64_t cbpe_key_masks[16][2]
