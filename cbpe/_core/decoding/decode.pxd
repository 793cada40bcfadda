"""What other compiled modules may use of decoding: a table from ids to bytes, and the buffer that they are written
to."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from cbpe._core.text.special cimport SpecialTables
from cbpe._core.vocabulary.tables cimport VocabTables


# The bytes of one id, 16 bytes in all. Up to 15 stand here; of more, only where they are.
cdef struct DecodeSlot:
    uint8_t bytes[15]
    uint8_t size                # 0: the id is not used, FAR: see below


cdef enum:
    FAR = 255                   # bytes holds a pointer of 8 bytes, then the size as uint32


cdef struct DecodeTable:
    DecodeSlot *slots
    Py_ssize_t n_slots
    const VocabTables *marked   # of a vocabulary whose tokens show more than they have of a text; else NULL


cdef struct ByteBuffer:
    uint8_t *bytes
    Py_ssize_t used
    Py_ssize_t capacity


# The table for a vocabulary and special tokens, both of which must outlive it. Ids of special tokens at or beyond
# n_slots are left out.
cdef int open_decode_table(DecodeTable *table, const VocabTables *v, const SpecialTables *s) except -1

cdef void close_decode_table(DecodeTable *table) noexcept nogil

# Room for 16 bytes more than n.
cdef bint reserve_bytes(ByteBuffer *buffer, Py_ssize_t n) noexcept nogil

# Append the bytes of an id; 1: done, 0: the id is not in the table, -1: no memory.
cdef inline int append_token(const DecodeTable *table, ByteBuffer *buffer, Py_ssize_t token_id) noexcept nogil:
    cdef const DecodeSlot *slot
    if <size_t>token_id >= <size_t>table.n_slots:
        return 0
    slot = table.slots + token_id
    if slot.size == FAR or slot.size == 0 or buffer.capacity - buffer.used < 16:
        return append_slowly(slot, buffer)
    memcpy(buffer.bytes + buffer.used, slot, sizeof(DecodeSlot))
    buffer.used += slot.size
    return 1

# Append bytes; 1: done, -1: no memory.
cdef int append_bytes(ByteBuffer *buffer, const uint8_t *token, uint32_t size) noexcept nogil

cdef int append_slowly(const DecodeSlot *slot, ByteBuffer *buffer) noexcept nogil
