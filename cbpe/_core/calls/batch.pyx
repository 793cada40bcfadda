"""Encoding many texts, or one long text, with several threads.

The texts come apart into shares of the work: stretches between special tokens, the long ones divided where a piece is
likely to begin.
Threads take runs of shares, one after another, and encode each into a workspace of their own without the GIL.

Where a piece begins, what follows is split as if nothing came before. The border of a share is right if a piece of the
text before it ends there. The batch checks this later, and encodes again what follows a wrong border.
"""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from cbpe._core.c.atomics cimport cbpe_atomic_add, cbpe_atomic_read
from cbpe._core.c.objects cimport cbpe_raised
from cbpe._core.calls.engine cimport finish_list, refuse_special, start_list
from cbpe._core.encoding.encode cimport encode_slice
from cbpe._core.encoding.workspace cimport DONE, INTERRUPTED, MORE, RESERVED_IDS, append_id, reserve
from cbpe._core.merging.merge cimport pause
from cbpe._core.splitting.split cimport Reading, Span, SplitTables, find_pieces, start_reading
from cbpe._core.text.special cimport next_special
from cbpe._core.text.utf8 cimport Utf8, Utf8Texts, character_start, read_texts
from cbpe._core.vocabulary.tables cimport NONE

from cbpe._core.calls.parallel import checked_workers, run_in_threads, usable_cores

cdef enum:
    SMALLEST_SHARE = 1 << 15    # bytes of text that are worth another thread's attention
    LARGEST_SHARE = 1 << 20
    SHARES_PER_WORKER = 8       # the more, the better all are busy; the fewer, the less there is to put together
    LEAD = 1 << 10              # bytes that are split before a border, to learn where pieces begin
    SPANS = 64


cdef Py_ssize_t find_border(
    const SplitTables *split, const uint8_t *text, Py_ssize_t size, Py_ssize_t target, Reading *reading
) noexcept nogil:
    """Where a piece is likely to begin, at or after text[target]: `size` if no place is found, -1 if that takes long
    and is to be gone on with."""
    cdef Span spans[SPANS]
    cdef Py_ssize_t n, i
    while reading.position < size:
        n = find_pieces(split, text, size, reading, spans, SPANS)
        for i in range(n):
            if spans[i].end >= target:
                return spans[i].end
        if n == 0:
            return -1
    return size


@cython.final
@cython.no_gc_clear     # __dealloc__ needs the engine
cdef class Batch:
    """The texts of one call, on their way to token ids: an iterable of str, or the UTF-8 forms of texts.

    workers: how many threads, or None for all cores. share_bytes: how long shares of a long text are; None: whatever
    serves the threads best. What is refused (see Engine.encode_text) is so before anything is encoded.
    """

    def __cinit__(
        self,
        Engine engine not None,
        texts,
        SpecialTokens allowed,
        SpecialTokens forbidden,
        workers=None,
        share_bytes=None,
    ):
        cdef Py_ssize_t i
        self.n_workers = checked_workers(workers)
        if isinstance(texts, (str, bytes)):
            raise TypeError(f"a batch is several texts, not one {type(texts).__name__}: put it in a list")
        self.engine = engine
        self.allowed = allowed
        if isinstance(texts, Utf8Texts):
            self.texts = texts
        else:
            self.texts = read_texts(texts, engine.instructions.write_utf8, &engine.last_text)
        for i in range(self.texts.n if forbidden is not None else 0):
            refuse_special(&self.texts.forms[i], forbidden)
        if engine.split == NULL:
            self.n_workers = 1      # the splitter is Python's: threads would only wait for each other
        self.share_bytes = share_bytes or max(
            SMALLEST_SHARE, min(LARGEST_SHARE, self.texts.n_bytes // (self.n_workers * SHARES_PER_WORKER))
        )
        self.first_shares = <Py_ssize_t *>malloc((self.texts.n + 1) * sizeof(Py_ssize_t))
        if self.first_shares == NULL:
            raise MemoryError
        for i in range(self.texts.n):
            self.first_shares[i] = self.n_shares
            self.take_apart(i)
            PyErr_CheckSignals()
        self.first_shares[self.texts.n] = self.n_shares
        self.make_runs()
        # More threads than cores would each fill a cache, and have the processor's own hold less of it.
        self.n_workers = max(1, min(self.n_workers, self.n_runs, usable_cores()))
        self.works = <Workspace **>calloc(self.n_workers, sizeof(Workspace *))
        if self.works == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.works != NULL:
            for i in range(self.n_workers):
                if self.works[i] != NULL:
                    self.engine.release(self.works[i])
        free(self.works)
        free(self.shares)
        free(self.first_shares)
        free(self.runs)

    # ---- Taking the texts apart

    cdef int take_apart(self, Py_ssize_t number) except -1:
        cdef Py_ssize_t start = 0, at
        cdef Utf8 utf8 = self.texts.forms[number]
        cdef uint32_t which
        while self.allowed is not None:
            at = next_special(&self.allowed.tables, utf8.bytes, utf8.size, start, &which)
            if at < 0:
                break
            self.add_stretch(number, utf8.bytes + start, at - start, self.allowed.tables.ids[which])
            start = at + self.allowed.tables.offsets[which + 1] - self.allowed.tables.offsets[which]
            PyErr_CheckSignals()
        return self.add_stretch(number, utf8.bytes + start, utf8.size - start, NONE)

    cdef int add_stretch(self, Py_ssize_t number, const uint8_t *text, Py_ssize_t size, uint32_t special) except -1:
        cdef Py_ssize_t start = 0, stop, target
        cdef Reading reading
        while True:
            stop = size
            # What is left is not cut off for less than half a share.
            if self.n_workers > 1 and size - start > self.share_bytes + self.share_bytes // 2:
                target = start + self.share_bytes
                start_reading(&reading, character_start(text, size, max(start, target - LEAD)))
                stop = -1
                while stop < 0:
                    with nogil:
                        stop = find_border(self.engine.split, text, size, target, &reading)
                    PyErr_CheckSignals()
            self.add_share(Share(text, size, start, stop, special if stop == size else NONE, number, 0, 0, 0, 0))
            start = stop
            if start == size:
                return 0

    cdef int add_share(self, Share share) except -1:
        cdef Py_ssize_t capacity
        cdef void *grown
        if self.n_shares == self.shares_capacity:
            capacity = 2 * self.shares_capacity + self.texts.n + 1
            grown = realloc(self.shares, capacity * sizeof(Share))
            if grown == NULL:
                raise MemoryError
            self.shares = <Share *>grown
            self.shares_capacity = capacity
        self.shares[self.n_shares] = share
        self.n_shares += 1
        return 0

    cdef int make_runs(self) except -1:
        """Put the shares together to runs that are worth a thread's attention."""
        cdef Py_ssize_t i, n_bytes = 0
        self.runs = <Py_ssize_t *>malloc((self.n_shares + 1) * sizeof(Py_ssize_t))
        if self.runs == NULL:
            raise MemoryError
        self.runs[0] = 0
        for i in range(self.n_shares):
            # A special token, or a text, costs something even if it is short.
            n_bytes += self.shares[i].stop - self.shares[i].start + 16
            if n_bytes >= self.share_bytes or i == self.n_shares - 1:
                self.n_runs += 1
                self.runs[self.n_runs] = i + 1
                n_bytes = 0
        return 0

    # ---- Encoding

    def encode(self):
        """Encode all texts; where the ids of each begin, as a memoryview of int64[len(texts) + 1]."""
        cdef Py_ssize_t i, k, n = 0
        cdef bytearray offsets
        cdef int64_t *where
        self.encode_all()
        offsets = bytearray(sizeof(int64_t) * (self.texts.n + 1))
        where = <int64_t *>PyByteArray_AS_STRING(offsets)
        for i in range(self.texts.n):
            for k in range(self.first_shares[i], self.first_shares[i + 1]):
                n += self.shares[k].n_ids
            where[i + 1] = n
        return memoryview(offsets).cast("q")

    cdef int encode_all(self) except -1:
        run_in_threads(self.work, self.n_workers, self.stop)
        return self.check_borders()

    def stop(self):
        cbpe_atomic_add(&self.stopped, 1)

    def work(self):
        """Encode runs until none is left: what each thread does."""
        cdef int number = <int>cbpe_atomic_add(&self.n_started, 1) - 1
        cdef Workspace *work = self.engine.acquire()
        cdef Py_ssize_t run
        cdef EncodeStatus status
        self.works[number] = work
        work.counting = self.counting
        work.room.stopped = &self.stopped
        if self.results is None and not self.counting and not reserve(
            work, min(self.texts.n_bytes // self.n_workers, RESERVED_IDS)
        ):
            raise MemoryError
        while True:
            run = cbpe_atomic_add(&self.n_taken, 1) - 1
            if run >= self.n_runs or cbpe_atomic_read(&self.stopped):
                return
            if self.engine.split == NULL:
                self.encode_run_by_python(run, work)
            else:
                with nogil:
                    status = self.encode_run(run, work, number)
                if status == INTERRUPTED:
                    cbpe_raised()
                    return      # another thread raised
                self.engine.check(status, work)
            if self.results is not None:
                self.list_run(run, work)

    cdef EncodeStatus encode_run(self, Py_ssize_t run, Workspace *work, int number) noexcept nogil:
        cdef Py_ssize_t i
        cdef EncodeStatus status = DONE
        for i in range(self.runs[run], self.runs[run + 1]):
            self.shares[i].worker = number
            status = self.encode_share(&self.shares[i], work)
            if status != DONE:
                break
        # Python's handlers of signals have their turn after each run.
        return INTERRUPTED if status == DONE and pause(&work.room) < 0 else status

    cdef EncodeStatus encode_share(self, Share *share, Workspace *work) noexcept nogil:
        cdef EncodeStatus status
        cdef Py_ssize_t before = work.n_ids + work.n_counted
        cdef Reading reading
        share.first = work.n_ids
        start_reading(&reading, share.start)
        while True:
            status = encode_slice(
                &self.engine.vocabulary.tables, self.engine.split, work, share.text, share.size, share.stop, &reading,
                NULL
            )
            if status != MORE:
                break
            if pause(&work.room) < 0:
                return INTERRUPTED
        share.ended = reading.position
        if status == DONE and share.special != NONE:
            status = append_id(work, share.special)
        share.n_ids = work.n_ids + work.n_counted - before
        return status

    cdef int encode_run_by_python(self, Py_ssize_t run, Workspace *work) except -1:
        cdef Py_ssize_t i, before
        cdef Share *share
        for i in range(self.runs[run], self.runs[run + 1]):
            share = &self.shares[i]
            share.first = work.n_ids
            before = work.n_ids + work.n_counted
            self.engine.encode_by_python(work, share.text, 0, share.size)
            if share.special != NONE:
                self.engine.check(append_id(work, share.special), work)
            share.n_ids = work.n_ids + work.n_counted - before
            share.ended = share.size
        return 0

    cdef int check_borders(self) except -1:
        """Encode again what comes after a border where no piece ended."""
        cdef Py_ssize_t i
        cdef EncodeStatus status
        cdef Share *share
        for i in range(1, self.n_shares):
            share = &self.shares[i]
            if share.start == 0 or self.shares[i - 1].ended == share.start:
                continue
            share.start = self.shares[i - 1].ended
            share.worker = 0
            with nogil:
                status = self.encode_share(share, self.works[0])
            self.engine.check(status, self.works[0])
        return 0

    # ---- What comes of it

    def count(self):
        """The number of all ids."""
        self.counting = True
        offsets = self.encode()
        return offsets[len(offsets) - 1]

    def lists(self):
        """The ids of each text: list[list[int]]."""
        cdef Py_ssize_t i
        self.results = [None] * self.texts.n
        self.encode()
        for i in range(self.texts.n):
            if self.results[i] is None:
                self.results[i] = self.list_text(i)
        return self.results

    cdef int list_run(self, Py_ssize_t run, Workspace *work) except -1:
        """Make the lists of the texts that are all in this run, while other threads encode."""
        cdef Py_ssize_t start = self.runs[run], stop = self.runs[run + 1], number
        cdef bint all_listed = True
        for number in range(self.shares[start].number, self.shares[stop - 1].number + 1):
            if self.first_shares[number] >= start and self.first_shares[number + 1] <= stop:
                self.results[number] = self.list_text(number)
            else:
                all_listed = False
        if all_listed:
            work.n_ids = self.shares[start].first
        return 0

    cdef list list_text(self, Py_ssize_t number):
        cdef Py_ssize_t i, n = 0
        cdef const Share *share
        for i in range(self.first_shares[number], self.first_shares[number + 1]):
            n += self.shares[i].n_ids
        cdef list result = start_list(n)
        n = 0
        for i in range(self.first_shares[number], self.first_shares[number + 1]):
            share = &self.shares[i]
            self.engine.put_ints(<PyObject *>result, n, self.works[share.worker].ids + share.first, share.n_ids)
            n += share.n_ids
        return finish_list(result)

    cdef bint in_order(self):
        """Whether all ids stand in the first workspace, in the order of the texts."""
        cdef Py_ssize_t i, n = 0
        for i in range(self.n_shares):
            if self.shares[i].worker != 0 or self.shares[i].first != n:
                return False
            n += self.shares[i].n_ids
        return self.works[0] != NULL and self.works[0].n_ids == n

    cdef uint32_t *gather(self) except NULL:
        """All ids in the order of the texts. The caller frees them."""
        cdef Py_ssize_t i, n = 0
        cdef const Share *share
        cdef uint32_t *ids
        for i in range(self.n_shares):
            n += self.shares[i].n_ids
        ids = <uint32_t *>malloc((n + 1) * sizeof(uint32_t))
        if ids == NULL:
            raise MemoryError
        with nogil:
            n = 0
            for i in range(self.n_shares):
                share = &self.shares[i]
                if share.n_ids:     # a workspace without any may have no array
                    memcpy(ids + n, self.works[share.worker].ids + share.first, share.n_ids * sizeof(uint32_t))
                    n += share.n_ids
        return ids

    cdef uint32_t *take_ids(self) except NULL:
        """The same; where one workspace has them all in this order, the memory of its ids, which it loses."""
        cdef Workspace *work = self.works[0]
        cdef uint32_t *ids
        if not self.in_order():
            return self.gather()
        ids = <uint32_t *>realloc(work.ids, (work.n_ids + 1) * sizeof(uint32_t))
        if ids == NULL:
            raise MemoryError
        work.ids = NULL
        work.n_ids = work.capacity = 0
        return ids
