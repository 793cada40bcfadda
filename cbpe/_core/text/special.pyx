"""Special tokens: found in UTF-8 text by their first bytes and a hash table, without a regular expression.

The leftmost occurrence is found; where several special tokens begin at the same place, the longest.
"""

import os

from cpython.exc cimport PyErr_CheckSignals
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr, memcmp, memcpy

from cbpe._core.c.hashing cimport cbpe_hash
from cbpe._core.text.utf8 cimport exact_text


cdef enum:
    WITH_GIL = 1 << 20          # bytes of text, or as much work, that are not worth giving up the GIL for
    CANDIDATE = 64              # bytes that are looked at in the time that it takes to try one length at one place


cdef Py_ssize_t find_first(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t start
) noexcept nogil:
    """Where a byte that special tokens start with stands, at or after text[start]; `size` if there is none.

    Few such bytes are looked for one after the other, in windows that grow, so that a rare one costs what memchr costs
    and a frequent one is found at once.
    """
    cdef Py_ssize_t end, window = 64
    cdef const void *hit
    cdef uint32_t i
    if s.n_first > FEW:
        while start < size and not s.starts[text[start]]:
            start += 1
        return start
    while start < size:
        end = min(size, start + window) if s.n_first > 1 else size
        hit = NULL
        for i in range(s.n_first):
            # What is found sets the window for the others.
            hit = memchr(text + start, s.first[i], <size_t>(end - start))
            if hit != NULL:
                end = <const uint8_t *>hit - text
        if end < size and s.starts[text[end]]:
            return end
        start = end
        window = min(2 * window, LARGEST_WINDOW)
    return size


cdef inline bint has_beginning(const SpecialTables *s, uint8_t first, uint8_t second) noexcept nogil:
    return s.beginnings[(first << 8 | second) >> 6] >> (second & 63) & 1


cdef bint longest_here(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t *effort, uint32_t *which
) noexcept nogil:
    """Whether a special token begins at text[0], the longest of which is which[0]."""
    cdef uint32_t i, k, number
    cdef uint64_t slot
    for k in range(s.n_lengths):
        if s.lengths[k] > <uint64_t>size:
            continue
        effort[0] -= CANDIDATE + s.lengths[k]
        slot = cbpe_hash(text, s.lengths[k], s.seed) & s.mask
        while s.slots[slot] != 0:
            number = s.slots[slot] - 1
            i = s.offsets[number]
            if s.offsets[number + 1] - i == s.lengths[k] and memcmp(s.bytes + i, text, s.lengths[k]) == 0:
                which[0] = number
                return True
            slot = (slot + 1) & s.mask
    return False


cdef Py_ssize_t find_special(
    const SpecialTables *s,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *start,
    Py_ssize_t effort,
    uint32_t *which,
) noexcept nogil:
    cdef Py_ssize_t at = start[0], before, stop
    if s.n == 0:
        start[0] = size
        return -1
    while at < size and effort > 0:
        before = at
        stop = min(size, at + effort)
        at = find_first(s, text, stop, at)
        effort -= at - before
        if at >= stop:
            break
        if at + 1 == size or has_beginning(s, text[at], text[at + 1]):
            if longest_here(s, text + at, size - at, &effort, which):
                start[0] = at
                return at
        at += 1
    start[0] = at
    return -1


cdef Py_ssize_t next_special(
    const SpecialTables *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, uint32_t *which
) except -2:
    cdef Py_ssize_t at = find_special(s, text, size, &start, WITH_GIL, which)
    while at < 0 and start < size:
        PyErr_CheckSignals()
        with nogil:
            at = find_special(s, text, size, &start, SEARCHED, which)
    return at


cdef class SpecialTokens:
    """Special tokens and their ids: dict[str, int]. Immutable. ValueError for an empty one.

    Of two with the same id the later one is what the id decodes to.
    """

    def __cinit__(self, dict ids not None):
        cdef SpecialTables *s = &self.tables
        cdef uint32_t number = 0, pair
        cdef int second
        cdef uint64_t slot
        cdef bytes token
        # Of what was handed in, no method is called from here on: the exact texts are.
        self.ids = {exact_text(text): token_id for text, token_id in list(ids.items())}
        tokens = [str.encode(text, "utf-8", "surrogatepass") for text in self.ids]
        if not all(tokens):
            from cbpe._core.text.shown import shown      # messages alone take it

            raise ValueError(f"the special token with id {shown(self.ids[''])} is empty")
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
        s.seed = int.from_bytes(os.urandom(8), "little")
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
        for number, token_id in enumerate(self.ids.values()):
            s.ids[number] = token_id
        for number, token in enumerate(tokens):
            PyErr_CheckSignals()
            s.offsets[number + 1] = s.offsets[number] + <uint32_t>len(token)
            memcpy(s.bytes + s.offsets[number], <const char *>token, len(token))
            if not s.starts[s.bytes[s.offsets[number]]]:
                s.starts[s.bytes[s.offsets[number]]] = True
                if s.n_first < FEW:
                    s.first[s.n_first] = s.bytes[s.offsets[number]]
                s.n_first += 1
            for second in range(256):
                if len(token) == 1 or <uint8_t>token[1] == second:
                    pair = <uint32_t>(<uint8_t>token[0]) << 8 | <uint32_t>second
                    s.beginnings[pair >> 6] |= <uint64_t>1 << (pair & 63)
            slot = cbpe_hash(s.bytes + s.offsets[number], <size_t>len(token), s.seed) & s.mask
            while s.slots[slot] != 0:
                slot = (slot + 1) & s.mask
            s.slots[slot] = number + 1

    def __dealloc__(self):
        free(self.tables.offsets)
        free(self.tables.bytes)
        free(self.tables.ids)
        free(self.tables.lengths)
        free(self.tables.slots)
