"""Counts the distinct pieces of texts: what training needs to know of a text, and usually a small part of its size.

A hash table leads from a piece to its count. A piece of up to 15 bytes stands in its slot, so that one fetch from
memory decides; of a longer one the slot has a hash, and its bytes are compared. The seed of the hash is random, so that
no text can be written that fills one corner of the table; no result depends on it.
"""

import os
from array import array

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy

from .cache cimport PieceKey, entry_hash, make_key
from .pairs cimport prefetch
from .split cimport Span, SplitTables, Splitter, find_pieces

cdef enum:
    BATCH = 512                     # pieces looked up together, so that the memory fetches overlap
    FIRST_SLOTS = 1024
    BYTES_BETWEEN_CHECKS = 1 << 22  # of text, some tens of milliseconds


cdef int grow_table(PieceTable *table, size_t n_slots) noexcept nogil:
    """Move the pieces into n_slots (a power of two) slots; -1 when there is no memory."""
    cdef:
        PieceSlot *slots = <PieceSlot *>calloc(n_slots, sizeof(PieceSlot))
        PieceSlot *moved
        size_t i
        uint64_t at
    if slots == NULL:
        return -1
    for i in range(table.mask + 1 if table.slots != NULL else 0):
        moved = &table.slots[i]
        if moved.high == 0:
            continue
        at = entry_hash(moved.low, moved.high, table.seed) & (n_slots - 1)
        while slots[at].high != 0:
            at = (at + 1) & (n_slots - 1)
        slots[at] = moved[0]
    free(table.slots)
    table.slots = slots
    table.mask = n_slots - 1
    return 0


cdef int make_room(PieceTable *table, size_t n_more, size_t bytes_more) noexcept nogil:
    """Room for so many more distinct pieces of so many bytes together; -1 when there is none."""
    cdef:
        size_t n_slots = table.mask + 1
        size_t n_bytes = table.ends[table.n_pieces - 1] if table.n_pieces else 0
        size_t capacity
        void *larger
    if table.n_pieces + n_more > n_slots // 2:
        while n_slots // 2 < table.n_pieces + n_more:
            n_slots *= 2
        if grow_table(table, n_slots) < 0:
            return -1
    if table.n_pieces + n_more > table.ends_capacity:
        capacity = max(table.n_pieces + n_more, table.ends_capacity + table.ends_capacity // 2)
        larger = realloc(table.ends, capacity * sizeof(int64_t))
        if larger == NULL:
            return -1
        table.ends = <int64_t *>larger
        table.ends_capacity = capacity
    if n_bytes + bytes_more > table.data_capacity:
        capacity = max(n_bytes + bytes_more, table.data_capacity + table.data_capacity // 2)
        larger = realloc(table.data, capacity)
        if larger == NULL:
            return -1
        table.data = <uint8_t *>larger
        table.data_capacity = capacity
    return 0


cdef inline bint is_piece(
    const PieceTable *table, const PieceSlot *slot, const PieceKey *key, const uint8_t *piece, size_t size
) noexcept nogil:
    cdef int64_t begin
    if slot.low != key.low or slot.high != key.high:
        return False
    if slot.high >> 56 != 0xFF:
        return True
    begin = table.ends[slot.index - 1] if slot.index else 0
    return memcmp(table.data + begin, piece, size) == 0


cdef inline void add_piece(PieceTable *table, const PieceKey *key, const uint8_t *piece, size_t size) noexcept nogil:
    """Count one piece; room for it has been made."""
    cdef:
        uint64_t at = key.hashed & table.mask
        int64_t begin
        PieceSlot *slot
    while True:
        slot = &table.slots[at]
        if slot.high == 0:
            break
        if is_piece(table, slot, key, piece, size):
            slot.count += 1
            return
        at = (at + 1) & table.mask
    slot.low = key.low
    slot.high = key.high
    slot.count = 1
    slot.index = table.n_pieces
    begin = table.ends[table.n_pieces - 1] if table.n_pieces else 0
    memcpy(table.data + begin, piece, size)
    table.ends[table.n_pieces] = begin + <int64_t>size
    table.n_pieces += 1


cdef int count_text(PieceTable *table, const SplitTables *tables, const uint8_t *text, Py_ssize_t size) except -1 nogil:
    """Split UTF-8 text and count its pieces."""
    cdef:
        Span spans[BATCH]
        PieceKey keys[BATCH]
        Py_ssize_t i, n, position = 0, checked = 0
        size_t n_bytes
    while position < size:
        n = find_pieces(tables, text, size, &position, spans, BATCH)
        n_bytes = 0
        for i in range(n):
            make_key(&keys[i], text + spans[i].start, spans[i].end - spans[i].start, text + size, table.seed)
            prefetch(&table.slots[keys[i].hashed & table.mask])
            n_bytes += spans[i].end - spans[i].start
        if make_room(table, n, n_bytes) < 0:
            with gil:
                raise MemoryError("not enough memory for the distinct pieces of the text")
        for i in range(n):
            add_piece(table, &keys[i], text + spans[i].start, spans[i].end - spans[i].start)
        if n < BATCH or position - checked > BYTES_BETWEEN_CHECKS:
            checked = position
            with gil:
                PyErr_CheckSignals()
    return 0


@cython.final
cdef class PieceCounter:
    """The distinct pieces of all texts added, in order of first appearance, and how often each has occurred.

    >>> counter = PieceCounter()
    >>> counter.add_pieces([b"to", b"be", b"to"])
    >>> counter.data(), counter.lengths(), counter.counts()
    (b'tobe', array('q', [2, 2]), array('q', [2, 1]))
    """

    def __cinit__(self):
        self.table.seed = int.from_bytes(os.urandom(8), "little")
        if grow_table(&self.table, FIRST_SLOTS) < 0:
            raise MemoryError

    def __dealloc__(self):
        free(self.table.slots)
        free(self.table.ends)
        free(self.table.data)

    def __len__(self):
        """The number of distinct pieces."""
        return self.table.n_pieces

    def add_text(self, str text not None, Splitter splitter not None):
        """Split a text and count its pieces; the bytes of the text in UTF-8, which include those that are in no piece.

        Lone surrogates count as U+FFFD. Other threads run, and signals are handled, meanwhile.
        """
        cdef:
            const uint8_t *data
            Py_ssize_t size
            bytes encoded
        if text.isascii():
            data = <const uint8_t *>PyUnicode_AsUTF8AndSize(text, &size)
        else:
            # Not by PyUnicode_AsUTF8AndSize, which would keep its copy for as long as the caller keeps the text.
            encoded = utf8(text)
            data = <const uint8_t *><const char *>encoded
            size = len(encoded)
        self.enter()
        try:
            with nogil:
                count_text(&self.table, &splitter.tables, data, size)
        finally:
            self.running = False
        return size

    def add_pieces(self, pieces):
        """Count pieces, an iterable of bytes, that something else has split. Empty ones do not count."""
        cdef:
            bytes piece
            PieceKey key
            const uint8_t *data
            Py_ssize_t size
        self.enter()
        try:
            for piece in pieces:
                data = <const uint8_t *><const char *>piece
                size = len(piece)
                if size == 0:
                    continue
                make_key(&key, data, size, data + size, self.table.seed)
                if make_room(&self.table, 1, size) < 0:
                    raise MemoryError("not enough memory for the distinct pieces of the text")
                add_piece(&self.table, &key, data, size)
        finally:
            self.running = False

    cdef int enter(self) except -1:
        with cython.critical_section(self):
            if self.running:
                raise RuntimeError("this counter is in use by another thread, or by the iterable that it counts")
            self.running = True
        return 0

    def data(self):
        """The bytes of all distinct pieces, one after the other."""
        cdef size_t n
        self.enter()
        try:
            n = self.table.n_pieces
            return (<char *>self.table.data)[:self.table.ends[n - 1]] if n else b""
        finally:
            self.running = False

    def lengths(self):
        """The length of each distinct piece in bytes, as array("q")."""
        cdef:
            int64_t[::1] lengths
            size_t i
            int64_t begin = 0
        self.enter()
        try:
            result = array("q", bytes(8 * self.table.n_pieces))
            lengths = result
            for i in range(self.table.n_pieces):
                lengths[i] = self.table.ends[i] - begin
                begin = self.table.ends[i]
            return result
        finally:
            self.running = False

    def counts(self):
        """How often each distinct piece has occurred, as array("q")."""
        cdef:
            int64_t[::1] counts
            size_t i
        self.enter()
        try:
            result = array("q", bytes(8 * self.table.n_pieces))
            counts = result
            for i in range(self.table.mask + 1):
                if self.table.slots[i].high != 0:
                    counts[self.table.slots[i].index] = self.table.slots[i].count
            return result
        finally:
            self.running = False


def utf8(str text not None):
    """The bytes of a text. As with tiktoken, a lone surrogate is U+FFFD, and a pair of them is its character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
