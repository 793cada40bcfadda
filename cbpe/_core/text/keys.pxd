"""The keys of pieces: two words that stand for a piece's bytes, and the hash of them.

The key of a piece of up to 15 bytes holds them all, so that comparing 16 bytes decides whether two pieces are the same.
The key of a longer one holds a hash, and its bytes are still to be compared.
"""

from libc.stdint cimport uint8_t, uint64_t

from cbpe._core.c.hashing cimport cbpe_hash, cbpe_mix
from cbpe._core.c.keys cimport PieceKey, cbpe_key_masks
from cbpe._core.c.loads cimport cbpe_load64


cdef enum:
    INLINE_BYTES = 15           # the longest piece whose bytes stand in its key
    LONG = 0xFF                 # stands for the size of a longer piece on top of its key


# The hash of the key of a short piece.
cdef inline uint64_t short_hash(uint64_t low, uint64_t high, uint64_t seed) noexcept nogil:
    return cbpe_mix(low ^ seed, high ^ <uint64_t>0x9E3779B97F4A7C15)


# The hash of any key: a long one's `low` is a hash already.
cdef inline uint64_t key_hash(uint64_t low, uint64_t high, uint64_t seed) noexcept nogil:
    return low if high >> 56 == LONG else short_hash(low, high, seed)


cdef inline void make_key(
    PieceKey *key, const uint8_t *piece, Py_ssize_t size, const uint8_t *end, uint64_t seed
) noexcept nogil:
    """The key of a piece of text, which is not empty; bytes up to `end` may be read."""
    cdef uint64_t low = 0, high = 0
    cdef Py_ssize_t i
    if size <= INLINE_BYTES:
        if end - piece >= 16:
            low = cbpe_load64(piece) & cbpe_key_masks[size][0]
            high = cbpe_load64(piece + 8) & cbpe_key_masks[size][1]
        else:
            for i in range(size):
                if i < 8:
                    low |= <uint64_t>piece[i] << (8 * i)
                else:
                    high |= <uint64_t>piece[i] << (8 * (i - 8))
        high |= <uint64_t>size << 56
    else:
        low = cbpe_hash(piece, <size_t>size, seed)
        high = <uint64_t>LONG << 56 | <uint64_t>size
    key.low = low
    key.high = high
