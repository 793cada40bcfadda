"""Special tokens: found in UTF-8 text by their first bytes and a hash table, without a regular expression.

The leftmost occurrence is found; where several special tokens begin at the same place, the longest.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr, memcmp, memcpy

from cbpe._core.vocab cimport cbpe_hash


cdef Py_ssize_t find_special(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, uint32_t *which
) noexcept nogil:
    cdef const void *hit
    cdef uint32_t i, k, number
    cdef uint64_t slot
    if s.n == 0:
        return -1
    while start < size:
        if s.n_first == 1:
            hit = memchr(text + start, s.first, <size_t>(size - start))
            if hit == NULL:
                return -1
            start = <const uint8_t *>hit - text
        elif not s.starts[text[start]]:
            start += 1
            continue
        for k in range(s.n_lengths):
            if s.lengths[k] > <uint64_t>(size - start):
                continue
            slot = cbpe_hash(text + start, s.lengths[k], 0) & s.mask
            while s.slots[slot] != 0:
                number = s.slots[slot] - 1
                i = s.offsets[number]
                if s.offsets[number + 1] - i == s.lengths[k] and memcmp(s.bytes + i, text + start, s.lengths[k]) == 0:
                    which[0] = number
                    return start
                slot = (slot + 1) & s.mask
        start += 1
    return -1


cdef class SpecialTokens:
    """Special tokens and their ids: dict[str, int]. Immutable. Of two with the same id the later one is what the id decodes to."""

    def __cinit__(self, dict ids not None):
        cdef SpecialTables *s = &self.tables
        cdef uint32_t number = 0
        cdef uint64_t slot
        cdef bytes token
        self.ids = dict(ids)
        tokens = [text.encode("utf-8", "surrogatepass") for text in ids]
        total = sum(map(len, tokens))
        lengths = sorted(set(map(len, tokens)), reverse=True)
        if total >= 1 << 31:
            raise ValueError(f"special tokens of {total} bytes together are too many")
        s.n = len(tokens)
        s.n_lengths = len(lengths)
        slots = 4
        while slots < 2 * s.n:
            slots *= 2
        s.mask = slots - 1
        s.offsets = <uint32_t *>malloc((s.n + <size_t>1) * sizeof(uint32_t))
        s.bytes = <uint8_t *>malloc(total + 1)
        s.ids = <uint32_t *>malloc((s.n + <size_t>1) * sizeof(uint32_t))
        s.lengths = <uint32_t *>malloc((s.n_lengths + <size_t>1) * sizeof(uint32_t))
        s.slots = <uint32_t *>calloc(slots, sizeof(uint32_t))
        if s.offsets == NULL or s.bytes == NULL or s.ids == NULL or s.lengths == NULL or s.slots == NULL:
            raise MemoryError
        for number, length in enumerate(lengths):
            s.lengths[number] = length
        s.offsets[0] = 0
        for number, token_id in enumerate(ids.values()):
            s.ids[number] = token_id
        for number, token in enumerate(tokens):
            s.offsets[number + 1] = s.offsets[number] + <uint32_t>len(token)
            memcpy(s.bytes + s.offsets[number], <const char *>token, len(token))
            if not s.starts[s.bytes[s.offsets[number]]]:
                s.first = s.bytes[s.offsets[number]]
                s.starts[s.first] = True
                s.n_first += 1
            slot = cbpe_hash(s.bytes + s.offsets[number], <size_t>len(token), 0) & s.mask
            while s.slots[slot] != 0:
                slot = (slot + 1) & s.mask
            s.slots[slot] = number + 1

    def __dealloc__(self):
        free(self.tables.offsets)
        free(self.tables.bytes)
        free(self.tables.ids)
        free(self.tables.lengths)
        free(self.tables.slots)
