"""Counts the distinct pieces of texts: what training needs to know of a text, and usually a small part of its size."""

import os
from array import array

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT64_MAX, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp

from cbpe._core.c.atomics cimport cbpe_atomic_load, cbpe_atomic_swap
from cbpe._core.counting.pieces cimport (
    BATCH, PieceTable, add_pieces, all_bytes, clear_table, close_table, copy_table, keep_most_frequent, open_table,
    piece_start, read_counts
)
from cbpe._core.splitting.split cimport Reading, Span, SplitTables, Splitter, find_pieces, find_sure_pieces
from cbpe._core.splitting.split cimport start_reading

cdef extern from *:
    """
    #if defined(__GLIBC__)
    #include <malloc.h>
    #define CBPE_GIVE_BACK_FREE_MEMORY() malloc_trim(0)
    #else
    #define CBPE_GIVE_BACK_FREE_MEMORY() ((void)0)
    #endif
    """
    void CBPE_GIVE_BACK_FREE_MEMORY() nogil

cdef enum:
    BYTES_BETWEEN_CHECKS = 1 << 22      # of text, some tens of milliseconds


cdef int out_of_memory() except -1 nogil:
    with gil:
        raise MemoryError("not enough memory for the distinct pieces of the text")


cdef int check_signals() except -1 nogil:
    with gil:
        PyErr_CheckSignals()
    return 0


cdef inline int check_stopped(PieceCounter counter) except -1 nogil:
    if cbpe_atomic_load(&counter.stopped) != NULL:
        with gil:
            raise RuntimeError("this counter was told to stop")
    return 0


cdef int check_total(const PieceTable *table, int64_t more) except -1 nogil:
    if more > INT64_MAX - table.total:
        with gil:
            raise OverflowError("there would be more than 2^63 - 1 pieces, repetitions included")
    return 0


cdef int count_text(
    PieceCounter counter, const SplitTables *tables, const uint8_t *text, Py_ssize_t stop, Py_ssize_t size
) except -1 nogil:
    """Split UTF-8 text and count the pieces of text[:stop]. If there is more, up to text[:size], then stop is a place
    where a piece ends for certain, as found by find_border."""
    cdef:
        Span spans[BATCH]
        Py_ssize_t n, checked = 0
        Reading reading
        bint undecided
    start_reading(&reading, 0)
    while reading.position < stop:
        check_stopped(counter)
        if stop == size:
            n = find_pieces(tables, text, size, &reading, spans, BATCH)
        else:
            n = find_sure_pieces(tables, text, size, &reading, spans, BATCH, &undecided)
        check_total(&counter.table, n)
        if add_pieces(&counter.table, text, spans, n, NULL, text + size) < 0:
            out_of_memory()
        # A batch that is not full comes at the end, or where the pattern or a piece takes long.
        if reading.position < stop and (n < BATCH or reading.position - checked > BYTES_BETWEEN_CHECKS):
            checked = reading.position
            check_signals()
    return 0


cdef int count_texts(
    PieceCounter counter, const SplitTables *tables, const uint8_t *data, Py_ssize_t size,
    const int64_t *ends, Py_ssize_t n
) except -1 nogil:
    cdef Py_ssize_t i, start = 0, checked = 0
    for i in range(n):
        count_text(counter, tables, data + start, ends[i] - start, (ends[i] if i < n - 1 else size) - start)
        start = ends[i]
        if start - checked > BYTES_BETWEEN_CHECKS:
            checked = start
            check_signals()
    return 0


cdef int add_table(PieceCounter counter, const PieceTable *other, const int64_t *counts) except -1 nogil:
    """Count the pieces of another table, in its order."""
    cdef:
        Span spans[BATCH]
        size_t first = 0, i, n
        Py_ssize_t begin = 0, checked = 0
    check_total(&counter.table, other.total)
    while first < other.n_pieces:
        check_stopped(counter)
        n = BATCH if other.n_pieces - first > BATCH else other.n_pieces - first
        for i in range(n):
            spans[i].start = begin
            begin = spans[i].end = other.ends[first + i]
        if add_pieces(&counter.table, other.data, spans, n, counts + first, other.data + all_bytes(other)) < 0:
            out_of_memory()
        first += n
        if begin - checked > BYTES_BETWEEN_CHECKS:
            checked = begin
            check_signals()
    return 0


@cython.final
cdef class PieceCounter:
    """The distinct pieces of all texts added, in order of first appearance, and how often each has occurred.

    Any number of threads may read it at a time, or one thread may add to it: RuntimeError otherwise. After an exception
    in a method that adds, some of what it was given may be counted.

    >>> counter = PieceCounter()
    >>> counter.add_pieces([b"to", b"be", b"to"])
    >>> counter.data(), counter.lengths(), counter.counts()
    (b'tobe', array('q', [2, 2]), array('q', [2, 1]))
    """

    def __cinit__(self):
        if open_table(&self.table, int.from_bytes(os.urandom(8), "little")) < 0:
            raise MemoryError

    def __dealloc__(self):
        close_table(&self.table)

    def __len__(self):
        """The number of distinct pieces."""
        return self.table.n_pieces

    @property
    def total(self):
        """How many pieces were counted, repetitions included."""
        return self.table.total

    @property
    def word_bytes(self):
        """The bytes of all distinct pieces together."""
        return all_bytes(&self.table)

    def add_texts(self, const uint8_t[::1] data not None, const int64_t[::1] ends not None, Splitter splitter not None):
        """Split texts, each on its own, and count their pieces: text i is data[ends[i - 1]:ends[i]], in UTF-8.

        What is in data after the last end shows how the last text goes on: then that text is only part of one, which
        ends where Splitter.last_border says, and one more character has to be there. Other threads run meanwhile, and
        the main thread handles signals.
        """
        cdef Py_ssize_t n = ends.shape[0], size = data.shape[0], i
        cdef int64_t start = 0
        for i in range(n):
            if not start <= ends[i] <= size:
                raise ValueError(f"text {i} ends at {ends[i]}, which is not from {start} to {size}")
            start = ends[i]
        if start == 0:
            return
        self.enter()
        try:
            with nogil:
                count_texts(self, &splitter.tables, &data[0], size, &ends[0], n)
        finally:
            self.leave()

    def add_pieces(self, pieces):
        """Count pieces, an iterable of bytes, that something else has split. Empty ones do not count."""
        cdef:
            bytes piece
            Span span
            const uint8_t *data
        self.enter()
        try:
            for piece in pieces:
                data = <const uint8_t *><const char *>piece
                span = Span(0, len(piece))
                if span.end == 0:
                    continue
                check_total(&self.table, 1)
                if add_pieces(&self.table, data, &span, 1, NULL, data + span.end) < 0:
                    out_of_memory()
        finally:
            self.leave()

    def add_counts(
        self, const uint8_t[::1] data not None, const int64_t[::1] lengths not None, const int64_t[::1] counts not None
    ):
        """Count pieces that have been counted before, in the form of data(), lengths() and counts().

        Raises ValueError for a length or count below 1, or lengths that do not add up to the data, and OverflowError
        for more than 2^63 - 1 occurrences together; then nothing is counted.
        """
        cdef:
            PieceTable other
            int64_t total = 0, begin = 0
            int64_t[::1] ends = array("q", bytes(8 * lengths.shape[0]))
            Py_ssize_t i, n = lengths.shape[0]
        if counts.shape[0] != n:
            raise ValueError(f"there are {n} lengths and {counts.shape[0]} counts; each piece needs one of both")
        for i in range(n):
            if lengths[i] < 1 or lengths[i] > data.shape[0] - begin:
                raise ValueError(f"piece {i} of length {lengths[i]} does not lie inside {data.shape[0]} bytes of data")
            if counts[i] < 1:
                raise ValueError(f"piece {i} has the count {counts[i]}; counts must be at least 1")
            if counts[i] > INT64_MAX - total:
                raise OverflowError("there would be more than 2^63 - 1 pieces, repetitions included")
            begin += lengths[i]
            total += counts[i]
            ends[i] = begin
        if begin != data.shape[0]:
            raise ValueError(f"the lengths add up to {begin} bytes, but data holds {data.shape[0]}")
        if n == 0:
            return
        other.n_pieces = n
        other.ends = &ends[0]
        other.data = <uint8_t *>&data[0]
        other.total = total
        self.enter()
        try:
            with nogil:
                add_table(self, &other, &counts[0])
        finally:
            self.leave()

    def add_new(
        self, const uint8_t[::1] data not None, const int64_t[::1] lengths not None, const int64_t[::1] counts not None
    ):
        """As add_counts -> array("q"): the numbers of those pieces that had not occurred before, from the first to the
        last. Nothing else may add to the counter meanwhile."""
        cdef:
            Py_ssize_t i, n = lengths.shape[0]
            size_t known = self.table.n_pieces, at = known
            int64_t begin = 0, start
            int64_t[::1] new
        self.add_counts(data, lengths, counts)
        result = array("q", bytes(8 * (self.table.n_pieces - known)))
        new = result
        self.enter(reading=True)
        try:
            # The new pieces stand in the table in the order in which they came.
            for i in range(n):
                if at == self.table.n_pieces:
                    break
                start = piece_start(&self.table, at)
                if (
                    self.table.ends[at] - start == lengths[i]
                    and memcmp(self.table.data + start, &data[begin], <size_t>lengths[i]) == 0
                ):
                    new[at - known] = i
                    at += 1
                begin += lengths[i]
        finally:
            self.leave()
        return result

    def merge(self, PieceCounter other not None):
        """Count what another counter has counted, as if its texts had followed those of this one."""
        cdef int64_t *counts
        if other is self:
            raise ValueError("a counter cannot be merged with itself")
        self.enter()
        try:
            other.enter(reading=True)
            try:
                counts = <int64_t *>malloc((other.table.n_pieces + 1) * sizeof(int64_t))
                if counts == NULL:
                    out_of_memory()
                try:
                    with nogil:
                        read_counts(&other.table, counts)
                        add_table(self, &other.table, counts)
                finally:
                    free(counts)
            finally:
                other.leave()
        finally:
            self.leave()

    def drop_rarest(self, size_t most):
        """Keep the `most` most frequent pieces, of equally frequent ones those that appeared first. -> (pieces dropped,
        their occurrences)"""
        cdef:
            int64_t *counts
            size_t n_pieces
            int64_t total
        self.enter()
        try:
            n_pieces, total = self.table.n_pieces, self.table.total
            if n_pieces > most:
                counts = <int64_t *>malloc(n_pieces * sizeof(int64_t))
                if counts == NULL:
                    out_of_memory()
                with nogil:
                    read_counts(&self.table, counts)
                    keep_most_frequent(&self.table, most, counts)
                free(counts)
            return n_pieces - self.table.n_pieces, total - self.table.total
        finally:
            self.leave()

    def copy(self):
        """The same pieces and counts once more."""
        cdef PieceCounter other = PieceCounter()
        cdef int problem
        self.enter(reading=True)
        try:
            with nogil:
                problem = copy_table(&other.table, &self.table)
        finally:
            self.leave()
        if problem:
            out_of_memory()
        return other

    def clear(self):
        """Forget all pieces; the memory is kept for others."""
        self.enter()
        clear_table(&self.table)
        self.leave()

    def stop(self):
        """Let counting that goes on in another thread end soon, by RuntimeError. For good: the counter is of no use
        then."""
        cbpe_atomic_swap(&self.stopped, <void *>self)

    cdef int enter(self, bint reading=False) except -1:
        with cython.critical_section(self):
            if self.users and not (reading and self.users > 0):
                raise RuntimeError("this counter is in use by another thread, or by the iterable that it counts")
            self.users += 1 if reading else -1
        return 0

    cdef int leave(self) except -1:
        with cython.critical_section(self):
            self.users -= 1 if self.users > 0 else -1
        return 0

    def data(self):
        """The bytes of all distinct pieces, one after the other."""
        self.enter(reading=True)
        try:
            return (<char *>self.table.data)[:all_bytes(&self.table)] if self.table.n_pieces else b""
        finally:
            self.leave()

    def lengths(self):
        """The length of each distinct piece in bytes, as array("q")."""
        cdef:
            int64_t[::1] lengths
            size_t i
        self.enter(reading=True)
        try:
            result = array("q", bytes(8 * self.table.n_pieces))
            lengths = result
            for i in range(self.table.n_pieces):
                lengths[i] = self.table.ends[i] - piece_start(&self.table, i)
            return result
        finally:
            self.leave()

    def counts(self):
        """How often each distinct piece has occurred, as array("q")."""
        cdef int64_t[::1] counts
        self.enter(reading=True)
        try:
            result = array("q", bytes(8 * self.table.n_pieces))
            counts = result
            if self.table.n_pieces:
                read_counts(&self.table, &counts[0])
            return result
        finally:
            self.leave()


def give_back_free_memory():
    """Let the system have what malloc (glibc's) keeps for threads that are no more."""
    with nogil:
        CBPE_GIVE_BACK_FREE_MEMORY()
