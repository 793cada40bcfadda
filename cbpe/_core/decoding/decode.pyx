"""Token ids to bytes: one table look-up and one copy of 16 bytes for most tokens."""

from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

from cbpe._core.vocabulary.tables cimport NONE


cdef void fill_slot(DecodeSlot *slot, const uint8_t *token, uint32_t size) noexcept nogil:
    if size <= 15:
        memcpy(slot.bytes, token, size)
        slot.size = <uint8_t>size
    else:
        memcpy(slot.bytes, &token, sizeof(token))
        memcpy(slot.bytes + 8, &size, sizeof(size))
        slot.size = FAR


cdef int open_decode_table(DecodeTable *table, const VocabTables *v, const SpecialTables *s) except -1:
    cdef uint32_t i, index, largest = v.n_ids - 1
    for i in range(s.n):
        # Special tokens stand a little above the vocabulary; one that is far away is the caller's to know.
        if largest < s.ids[i] < 4 * <uint64_t>v.n_ids + (1 << 16):
            largest = s.ids[i]
    table.slots = <DecodeSlot *>calloc(largest + <size_t>1, sizeof(DecodeSlot))
    if table.slots == NULL:
        raise MemoryError
    table.n_slots = largest + <Py_ssize_t>1
    table.marked = v if v.begins or v.ends else NULL
    for i in range(v.n_ids):
        index = v.indices[i]
        if index != NONE:
            fill_slot(
                table.slots + i, v.shown + v.shown_offsets[index], v.shown_offsets[index + 1] - v.shown_offsets[index]
            )
    for i in range(s.n):
        # One with the id of a token is a text that is looked for: it is the token's bytes that the id stands for.
        if s.ids[i] <= largest and (s.ids[i] >= v.n_ids or v.indices[s.ids[i]] == NONE):
            fill_slot(table.slots + s.ids[i], s.bytes + s.offsets[i], s.offsets[i + 1] - s.offsets[i])
    return 0


cdef void close_decode_table(DecodeTable *table) noexcept nogil:
    free(table.slots)


cdef bint reserve_bytes(ByteBuffer *buffer, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t capacity
    cdef void *grown
    if n > (<Py_ssize_t>1 << 60) - buffer.used:
        return False
    if buffer.capacity - buffer.used >= n + 16:
        return True
    capacity = buffer.used + n + 16 + (buffer.capacity >> 1)
    grown = realloc(buffer.bytes, capacity)
    if grown == NULL:
        return False
    buffer.bytes = <uint8_t *>grown
    buffer.capacity = capacity
    return True


cdef int append_slowly(const DecodeSlot *slot, ByteBuffer *buffer) noexcept nogil:
    cdef const uint8_t *token = <const uint8_t *>slot.bytes
    cdef uint32_t size = slot.size
    if size == 0:
        return 0
    if size == FAR:
        memcpy(&token, slot.bytes, sizeof(token))
        memcpy(&size, slot.bytes + 8, sizeof(size))
    return append_bytes(buffer, token, size)


cdef int append_bytes(ByteBuffer *buffer, const uint8_t *token, uint32_t size) noexcept nogil:
    if not reserve_bytes(buffer, size):
        return -1
    memcpy(buffer.bytes + buffer.used, token, size)
    buffer.used += size
    return 1
