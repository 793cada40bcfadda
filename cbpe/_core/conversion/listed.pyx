"""The tokens and merges of a tokenizer.json as the file lists them, with no Python object for each."""

import os

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

from cbpe._core.c.allocation cimport cbpe_give_back, cbpe_take_zeroed
from cbpe._core.c.hashing cimport cbpe_hash
from cbpe._core.c.loads cimport cbpe_prefetch
from cbpe._core.merging.merge cimport resize
from cbpe._core.vocabulary.tables cimport NONE

cdef enum:
    AHEAD = 16                  # tokens whose slots are fetched before they are filled
    SIGNALS = 4095              # how often to look for Ctrl-C: each time that these bits are 0
    SPARSE_IDS = 1 << 24        # above it, ids are compared by a set, and not by a table of all


cdef bytes utf8_of(text):
    """The UTF-8 of a text; None for what is no text, or one that UTF-8 cannot hold."""
    if not isinstance(text, str):
        return None
    try:
        return (<str>text).encode()
    except UnicodeEncodeError:
        return None


cdef class Rows:
    """Texts in a row, and a number for each."""

    def __dealloc__(self):
        free(self.texts)
        free(self.offsets)
        free(self.numbers)

    cdef uint8_t *room(self, uint64_t size) except NULL:
        cdef uint64_t used = self.offsets[self.n] if self.n else 0
        if used + size + 1 > self.capacity:
            if not resize(&self.texts, <Py_ssize_t>(2 * (used + size + 1)), 1):
                raise MemoryError
            self.capacity = 2 * (used + size + 1)
        return self.texts + used

    cdef int take(self, uint64_t size, uint32_t number) except -1:
        if self.n + <uint64_t>1 >= self.most:
            if self.most >= NONE // 2:
                raise ValueError(f"{self.n:,} tokens or merges are too many")
            if not (
                resize(&self.offsets, 2 * <Py_ssize_t>self.most + 64, sizeof(uint64_t))
                and resize(&self.numbers, 2 * <Py_ssize_t>self.most + 64, sizeof(uint32_t))
            ):
                raise MemoryError
            self.most = 2 * self.most + 64
        if self.n == 0:
            self.offsets[0] = 0
        self.offsets[self.n + 1] = self.offsets[self.n] + size
        self.numbers[self.n] = number
        self.n += 1
        if not self.n & SIGNALS:
            PyErr_CheckSignals()
        return 0

    def __len__(self):
        return self.n


cdef class ListedTokens(Rows):
    """Texts with ids, as a mapping in the order of the file."""

    def __cinit__(self):
        self.seed = int.from_bytes(os.urandom(8), "little")

    def __dealloc__(self):
        cbpe_give_back(self.slots)

    @staticmethod
    def of(dict vocab not None):
        """Those of a dict. None where a key is no text, or a value no id from 0 to 2**32 - 2, or an id is there
        twice."""
        cdef ListedTokens tokens = ListedTokens()
        cdef bytes data
        for text, token_id in vocab.items():
            data = utf8_of(text)
            if data is None or type(token_id) is not int or not 0 <= token_id < NONE:
                return None
            memcpy(tokens.room(PyBytes_GET_SIZE(data)), PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
            tokens.take(PyBytes_GET_SIZE(data), token_id)
        return tokens if tokens.enter() else None

    cdef uint64_t slot_of(self, const uint8_t *text, uint64_t size, uint64_t hashed) noexcept nogil:
        cdef uint64_t slot = hashed & self.mask
        cdef uint32_t row
        while self.slots[slot]:
            if (self.slots[slot] ^ hashed) >> 32 == 0:      # the same, but for one in 4 billion
                row = <uint32_t>self.slots[slot] - 1
                if (self.offsets[row + 1] - self.offsets[row] == size
                        and memcmp(self.texts + self.offsets[row], text, size) == 0):
                    break
            slot = (slot + 1) & self.mask
        return slot

    cdef uint32_t find(self, const uint8_t *text, uint64_t size) noexcept nogil:
        cdef uint64_t found = self.slots[self.slot_of(text, size, cbpe_hash(text, size, self.seed))]
        return <uint32_t>found - 1 if found else NONE

    cdef bint enter(self) except -1:
        cdef uint64_t hashes[AHEAD]
        cdef uint64_t ahead, hashed, slot, size
        cdef uint32_t row
        self.mask = 15
        while self.mask < <uint64_t>self.n * 2:
            self.mask = self.mask * 2 + 1
        self.slots = <uint64_t *>cbpe_take_zeroed((self.mask + 1) * sizeof(uint64_t))
        if self.slots == NULL:
            raise MemoryError
        for ahead in range(self.n + <uint64_t>AHEAD):
            if ahead >= AHEAD:
                row = <uint32_t>(ahead - AHEAD)
                hashed = hashes[row % AHEAD]
                size = self.offsets[row + 1] - self.offsets[row]
                slot = self.slot_of(self.texts + self.offsets[row], size, hashed)
                if self.slots[slot]:
                    return False
                self.slots[slot] = hashed >> 32 << 32 | (row + 1)
            if ahead < self.n:
                size = self.offsets[ahead + 1] - self.offsets[ahead]
                hashes[ahead % AHEAD] = cbpe_hash(self.texts + self.offsets[ahead], size, self.seed)
                cbpe_prefetch(self.slots + (hashes[ahead % AHEAD] & self.mask))
        return self.has_single_ids()

    cdef bint has_single_ids(self) except -1:
        """Whether no id is there twice."""
        cdef uint32_t row, largest = 0
        cdef uint8_t *seen
        cdef bint single = True
        for row in range(self.n):
            largest = max(largest, self.numbers[row])
        if largest >= SPARSE_IDS:
            return len({self.numbers[row] for row in range(self.n)}) == self.n
        seen = <uint8_t *>calloc(<size_t>largest + 1, 1)
        if seen == NULL:
            raise MemoryError
        for row in range(self.n):
            single &= not seen[self.numbers[row]]
            seen[self.numbers[row]] = True
        free(seen)
        return single

    cdef uint32_t row_of(self, text) except? 0:
        cdef bytes data = utf8_of(text)
        if data is None:
            return NONE
        return self.find(<const uint8_t *>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    cdef str text(self, uint32_t row):
        return PyUnicode_DecodeUTF8(
            <char *>self.texts + self.offsets[row], self.offsets[row + 1] - self.offsets[row], NULL
        )

    def __contains__(self, text):
        return self.row_of(text) != NONE

    def __getitem__(self, text):
        cdef uint32_t row = self.row_of(text)
        if row == NONE:
            raise KeyError(text)
        return self.numbers[row]

    def get(self, text, default=None):
        """The id of a text, or what is given for one that is none of these."""
        cdef uint32_t row = self.row_of(text)
        return default if row == NONE else self.numbers[row]

    def __iter__(self):
        cdef uint32_t row
        return iter([self.text(row) for row in range(self.n)])

    def items(self):
        """(text, id) of each."""
        cdef uint32_t row
        return [(self.text(row), self.numbers[row]) for row in range(self.n)]

    def values(self):
        """All ids."""
        cdef uint32_t row
        return [self.numbers[row] for row in range(self.n)]


cdef class ListedMerges(Rows):
    """Pairs of texts, in the order of the file."""

    @staticmethod
    def of(list merges not None):
        """Those of a list, in which each is "a b" or each is ["a", "b"]. None where one is neither."""
        cdef ListedMerges found = ListedMerges()
        cdef bytes left, right
        found.are_lists = bool(merges) and type(merges[0]) is list
        for merge in merges:
            if type(merge) is not (list if found.are_lists else str):
                return None
            parts = merge if found.are_lists else (<str>merge).split(" ")
            if len(parts) != 2:
                return None
            left, right = utf8_of(parts[0]), utf8_of(parts[1])
            if not left or not right:
                return None
            both = left + right
            memcpy(found.room(PyBytes_GET_SIZE(both)), PyBytes_AS_STRING(both), PyBytes_GET_SIZE(both))
            found.add(PyBytes_GET_SIZE(left), PyBytes_GET_SIZE(right))
        return found

    cdef int add(self, uint64_t left, uint64_t right) except -1:
        if left >= NONE:
            raise ValueError(f"a token of {left:,} bytes is too long")
        return self.take(left + right, <uint32_t>left)

    def __iter__(self):
        cdef uint32_t row
        cdef char *start
        cdef list found = []
        for row in range(self.n):
            start = <char *>self.texts + self.offsets[row]
            left = PyUnicode_DecodeUTF8(start, self.numbers[row], NULL)
            start += self.numbers[row]
            right = PyUnicode_DecodeUTF8(start, <char *>self.texts + self.offsets[row + 1] - start, NULL)
            found.append([left, right] if self.are_lists else f"{left} {right}")
        return iter(found)
