"""Buckets: the tokens of a vocabulary dealt by a hash of their bytes, with their ids and ranks, in a form that a
database can search for a token."""

from zlib import crc32

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from libc.stdint cimport uint8_t, uint32_t

from cbpe._core.vocabulary.tables cimport NONE, VocabTables
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

cdef enum:
    ESCAPE = 0xFD
    BEGIN = 0xFE
    END = 0xFF
    MOST_NUMBERS = 24           # bytes that an entry has besides its token: two marks, two numbers and a comma
    N_BYTES = 256


def bucket_entries(Vocabulary vocabulary not None, uint32_t n_buckets):
    """What each bucket holds: list[bytes] of n_buckets, a power of two.

    A token is in the bucket of the last bits of its CRC-32, in order of ids, as an entry: FE, the token, FF, its id,
    and if a merge makes it "," and the rank, both in decimal. A rank that is the id less 256 is left out. In the token,
    FD, FE and FF are written as FD 00, FD 01 and FD 02. Raises ValueError for another number of buckets.
    """
    cdef const VocabTables *v = &vocabulary.tables
    cdef uint32_t token_id, index
    cdef Py_ssize_t start, most
    cdef uint8_t *out
    cdef bytes token
    cdef bytearray bucket
    cdef list buckets
    if n_buckets == 0 or n_buckets & (n_buckets - 1):
        raise ValueError(f"the number of buckets is a power of two, not {n_buckets}")
    buckets = [bytearray() for _ in range(n_buckets)]
    for token_id in range(v.n_ids):
        index = v.indices[token_id]
        if index == NONE:
            continue
        token = vocabulary.spell(index)
        bucket = buckets[crc32(token) & (n_buckets - 1)]
        start = PyByteArray_GET_SIZE(bucket)
        most = 2 * <Py_ssize_t>(v.shown_offsets[index + 1] - v.shown_offsets[index]) + MOST_NUMBERS
        PyByteArray_Resize(bucket, start + most)
        out = <uint8_t *>PyByteArray_AS_STRING(bucket) + start
        PyByteArray_Resize(bucket, start + (write_entry(v, index, out) - out))
    return [bytes(bucket) for bucket in buckets]


# Write the entry of a token, and return where it ends.
cdef uint8_t *write_entry(const VocabTables *v, uint32_t index, uint8_t *out) noexcept nogil:
    cdef uint32_t i, rank
    cdef uint8_t byte
    out[0] = BEGIN
    out += 1
    for i in range(v.shown_offsets[index], v.shown_offsets[index + 1]):
        byte = v.shown[i]
        if byte >= ESCAPE:
            out[0] = ESCAPE
            out[1] = byte - ESCAPE
            out += 2
        else:
            out[0] = byte
            out += 1
    out[0] = END
    out = write_number(v.ids[index], out + 1)
    if N_BYTES + v.n_spellings <= index < v.n_symbols:
        rank = index - N_BYTES - v.n_spellings
        out[0] = c","
        out += 1
        if v.ids[index] < N_BYTES or rank != v.ids[index] - N_BYTES:
            out = write_number(rank, out)
    return out


cdef uint8_t *write_number(uint32_t number, uint8_t *out) noexcept nogil:
    cdef uint32_t power = 1
    while number // power >= 10:
        power *= 10
    while power:
        out[0] = c"0" + <uint8_t>(number // power % 10)
        out += 1
        power //= 10
    return out
