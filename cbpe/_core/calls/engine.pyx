"""An Engine: all that encoding and decoding with one model reads, which never changes, and the workspaces that encoding
writes to, each used by one call at a time. Any number of threads may use one."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.list cimport PyList_GET_SIZE, PyList_New
from libc.stdlib cimport calloc, free

import os

from cbpe._core.c.allocation cimport cbpe_want_large_pages
from cbpe._core.c.atomics cimport cbpe_atomic_load, cbpe_atomic_put
from cbpe._core.c.instructions cimport choose_instructions
from cbpe._core.c.loads cimport cbpe_prefetch
from cbpe._core.c.objects cimport cbpe_put_into, cbpe_raised, cbpe_take_from
from cbpe._core.decoding.decode cimport close_decode_table, open_decode_table
from cbpe._core.encoding.cache cimport fit_share
from cbpe._core.encoding.encode cimport encode_slice
from cbpe._core.encoding.pieces cimport encode_span
from cbpe._core.encoding.places cimport note_special
from cbpe._core.encoding.workspace cimport (
    DONE, MORE, NO_MEMORY, NO_TOKEN, RESERVED_IDS, SLICE, append_id, free_workspace, new_workspace, reserve,
    tidy_workspace
)
from cbpe._core.merging.cuts cimport free_cut_tables
from cbpe._core.merging.walk cimport free_walk_tables
from cbpe._core.splitting.split cimport Span, Splitter, start_reading
from cbpe._core.text.special cimport SEARCHED, SpecialTables, find_special, next_special

cdef extern from "Python.h":
    void Py_INCREF(PyObject *o)
    void Py_DECREF(PyObject *o)
    void PyList_SET_ITEM(PyObject *list, Py_ssize_t i, PyObject *item)
    PyObject *PyLong_FromUnsignedLong(unsigned long value)
    PyObject **PySequence_Fast_ITEMS(object o)
    void PyObject_GC_Track(PyObject *o)
    void PyObject_GC_UnTrack(PyObject *o)

cdef enum:
    WITH_GIL = 4096             # bytes of text that are not worth giving up the GIL for
    WORTH_PAGES = 1 << 18       # items of a list that fill a large page: fewer never do
    BETWEEN_SIGNALS = 1 << 24   # ids that become ints without a look at the signals
    AHEAD = 24                  # ids whose ints are fetched before they are needed
    WORTH_FETCHING = 1 << 10    # ids: the ints of a shorter list are soon there
    SPACE = 0x20

DEFAULT_CACHE_BYTES = 64 << 20


cdef list start_list(Py_ssize_t n):
    cdef list result = PyList_New(n)
    if n > BETWEEN_SIGNALS:
        PyObject_GC_UnTrack(<PyObject *>result)
    return result


cdef list finish_list(list result):
    if PyList_GET_SIZE(result) > BETWEEN_SIGNALS:
        PyObject_GC_Track(<PyObject *>result)
    return result


cdef inline void fetch_ints(PyObject **ints, Py_ssize_t n_ints, const uint32_t *ids) noexcept nogil:
    """Have the ints of the ids that come next on their way to the processor: first where they stand, some ids later the
    ints themselves. They lie all over the memory, and to wait for each took longer than all else in making a list."""
    if ids[2 * AHEAD] < n_ints:
        cbpe_prefetch(ints + ids[2 * AHEAD])
    if ids[AHEAD] < n_ints:
        cbpe_prefetch(cbpe_atomic_load(<void **>&ints[ids[AHEAD]]))


cdef inline Py_ssize_t utf8_distance(str text, bint is_ascii, Py_ssize_t start, Py_ssize_t stop) except? -1:
    """The bytes of UTF-8 from one character to another; negative if that comes before."""
    if is_ascii or start == stop:
        return stop - start
    return len(text[start:stop].encode()) if start < stop else -len(text[stop:start].encode())


cdef inline void put_space(Progress *progress) noexcept nogil:
    """Put a space before the stretch that comes next, if it gets one. What stood there belongs to the special token
    before it, which is found and not read again."""
    cdef Py_ssize_t start = progress.reading.position
    if (
        start == progress.end
        or progress.spaces == SPACE_BEFORE_OTHERS and progress.spaced[start] == SPACE
        or progress.spaces == SPACE_BEFORE_FIRST and start > 1
    ):
        return
    progress.spaced[start - 1] = SPACE
    start_reading(&progress.reading, start - 1)


@cython.final
cdef class Engine:
    """What one model needs to encode and decode. cache_bytes bounds the memory of the caches of pieces of all threads
    together."""

    def __cinit__(
        self,
        Vocabulary vocabulary not None,
        splitter,
        SpecialTokens special_tokens not None,
        Py_ssize_t cache_bytes=DEFAULT_CACHE_BYTES,
    ):
        if cache_bytes < 0:
            raise ValueError(f"cache_bytes must not be negative: {cache_bytes}")
        self.vocabulary = vocabulary
        self.splitter = splitter
        self.special_tokens = special_tokens
        self.cache_bytes = self.budget.total = self.budget.left = cache_bytes
        self.seed = int.from_bytes(os.urandom(8), "little")
        self.instructions = choose_instructions(None)
        self.tells_places = True
        self.split = &(<Splitter>splitter).tables if isinstance(splitter, Splitter) else NULL
        open_decode_table(&self.table, &vocabulary.tables, &special_tokens.tables)
        self.n_ints = self.table.n_slots
        self.ints = <PyObject **>calloc(self.n_ints, sizeof(PyObject *))
        if self.ints == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(IDLE):
            free_workspace(<Workspace *>self.idle[i])
        if self.ints != NULL:
            for i in range(self.n_ints):
                if self.ints[i] != NULL:
                    Py_DECREF(self.ints[i])
        free(self.ints)
        free_walk_tables(self.walk)
        free_cut_tables(self.cuts)
        close_decode_table(&self.table)

    cdef Workspace *acquire(self) except NULL:
        cdef int i
        cdef Workspace *work
        for i in range(IDLE):
            if cbpe_atomic_load(&self.idle[i]) != NULL:
                work = <Workspace *>cbpe_take_from(&self.idle[i])
                if work != NULL:
                    fit_share(&work.cache)
                    return work
        work = new_workspace(&self.budget, self.seed, &self.walk, &self.cuts, self.instructions.cache_loops)
        if work == NULL:
            raise MemoryError
        return work

    cdef void release(self, Workspace *work) noexcept:
        cdef int i
        tidy_workspace(work)
        for i in range(IDLE):
            if cbpe_atomic_load(&self.idle[i]) == NULL and cbpe_put_into(&self.idle[i], work):
                return
        free_workspace(work)

    cdef int check(self, EncodeStatus status, Workspace *work) except -1:
        if status == DONE:
            return 0
        if status == NO_MEMORY:
            raise MemoryError("no memory for the tokens of this text")
        if status == NO_TOKEN:
            self.refuse_byte(work.byte, "")
        cbpe_raised()
        raise RuntimeError("encoding was stopped")

    cdef int refuse_byte(self, uint8_t byte, str place) except -1:
        where = " at its place in a word" if self.table.marked != NULL else ""
        raise KeyError(
            f"the byte 0x{byte:02x} has no token in this vocabulary{where}{place}: leave such text out, or take a "
            "tokenizer that has a token for each byte"
        )

    cdef int encode_by_python(
        self, Workspace *work, const uint8_t *text, Py_ssize_t start, Py_ssize_t stop
    ) except -1:
        cdef str stretch = (<const char *>text)[start:stop].decode()
        cdef Py_ssize_t first, last, known = 0      # in characters; the span's end is where character `known` begins
        cdef bint is_ascii = len(stretch) == stop - start
        cdef Span span
        span.end = start
        for first, last in self.splitter.spans(stretch):
            if not 0 <= first <= last <= len(stretch):
                raise ValueError(f"the splitter has a piece from {first} to {last} in {len(stretch)} characters")
            span.start = span.end + utf8_distance(stretch, is_ascii, known, first)
            span.end = span.start + utf8_distance(stretch, is_ascii, first, last)
            known = last
            self.check(encode_span(&self.vocabulary.tables, work, text, &span), work)
        return 0

    cdef EncodeStatus encode_stretches(
        self, Workspace *work, const uint8_t *text, Py_ssize_t size, const SpecialTables *allowed, Progress *progress
    ) noexcept nogil:
        cdef Py_ssize_t slice_end = progress.reading.position + SLICE
        cdef Py_ssize_t at
        cdef EncodeStatus status
        while True:
            if progress.end < 0:
                at = find_special(allowed, text, size, &progress.searched, SEARCHED, &progress.special)
                if at < 0 and progress.searched < size:
                    return MORE
                progress.end = size if at < 0 else at
                if progress.spaced != NULL:
                    put_space(progress)
            status = encode_slice(
                &self.vocabulary.tables, self.split, work, text, progress.end, progress.end, &progress.reading, NULL
            )
            if status != DONE or progress.end == size:
                return status
            status = append_id(work, allowed.ids[progress.special])
            if status != DONE:
                return status
            if work.counting:
                work.n_counted += work.n_ids
                work.n_ids = 0
            progress.searched = (
                progress.end + allowed.offsets[progress.special + 1] - allowed.offsets[progress.special]
            )
            if work.jumps != NULL and not note_special(work.jumps, progress.end, progress.searched):
                return NO_MEMORY
            start_reading(&progress.reading, progress.searched)
            progress.end = -1
            if progress.searched > slice_end:
                return MORE

    cdef int encode_text(
        self, Workspace *work, const Utf8 *text, SpecialTokens allowed, Spaces spaces=NO_SPACES
    ) except -1:
        cdef Py_ssize_t size = text.size, start = 0, at
        cdef const uint8_t *utf8 = text.bytes
        cdef const SpecialTables *special = NULL if allowed is None else &allowed.tables
        cdef Progress progress
        cdef uint32_t which
        cdef EncodeStatus status
        if self.split == NULL:
            while allowed is not None:
                at = next_special(special, utf8, size, start, &which)
                if at < 0:
                    break
                self.encode_by_python(work, utf8, start, at)
                self.check(append_id(work, special.ids[which]), work)
                start = at + special.offsets[which + 1] - special.offsets[which]
                if work.jumps != NULL and not note_special(work.jumps, at, start):
                    self.check(NO_MEMORY, work)
            return self.encode_by_python(work, utf8, start, size)
        if size > WITH_GIL and not work.counting and not reserve(work, min(size, RESERVED_IDS)):
            self.check(NO_MEMORY, work)
        progress.spaces = spaces
        progress.spaced = text.owned if spaces != NO_SPACES else NULL
        progress.searched = spaces != NO_SPACES
        start_reading(&progress.reading, progress.searched)
        progress.end = size if special == NULL else -1
        while True:
            if size <= WITH_GIL:
                status = self.encode_stretches(work, utf8, size, special, &progress)
            else:
                with nogil:
                    status = self.encode_stretches(work, utf8, size, special, &progress)
            if status == DONE:
                return 0
            if status == NO_TOKEN:
                place = first_place((<const char *>utf8)[spaces != NO_SPACES : size], work.byte, self.tells_places)
                self.refuse_byte(work.byte, place)
            if status != MORE:
                self.check(status, work)
            PyErr_CheckSignals()

    cdef PyObject *new_int(self, uint32_t token_id) except NULL:
        cdef PyObject *value = PyLong_FromUnsignedLong(token_id)
        if token_id < self.n_ints:
            Py_INCREF(value)
            if not cbpe_atomic_put(<void **>&self.ints[token_id], value):
                Py_DECREF(value)
        return value

    cdef list to_list(self, const uint32_t *ids, Py_ssize_t n):
        cdef list result = start_list(n)
        self.put_ints(<PyObject *>result, 0, ids, n)
        return finish_list(result)

    cdef int put_ints(self, PyObject *target, Py_ssize_t at, const uint32_t *ids, Py_ssize_t n) except -1:
        cdef Py_ssize_t i, start = 0, stop, last
        cdef PyObject *value
        if n >= WORTH_PAGES:
            cbpe_want_large_pages(PySequence_Fast_ITEMS(<object>target) + at, n * sizeof(PyObject *))
        while start < n:
            stop = min(n, start + BETWEEN_SIGNALS)
            last = stop - 2 * AHEAD if n >= WORTH_FETCHING else start
            for i in range(start, stop):
                if i < last:
                    fetch_ints(self.ints, self.n_ints, ids + i)
                value = NULL
                if ids[i] < self.n_ints:
                    value = <PyObject *>cbpe_atomic_load(<void **>&self.ints[ids[i]])
                if value == NULL:
                    value = self.new_int(ids[i])
                else:
                    Py_INCREF(value)
                PyList_SET_ITEM(target, at + i, value)
            if stop < n:
                PyErr_CheckSignals()
            start = stop
        return 0


cdef str first_place(bytes text, uint8_t byte, bint counts):
    """Where a text, as it is encoded, has a byte first: " (the text has it first in 'x', at character 2)". counts:
    whether it is the text that was given, and so its characters."""
    cdef Py_ssize_t at = text.find(byte)
    if at < 0:      # it is of a space that was put in
        return ""
    while at > 0 and text[at] & 0xC0 == 0x80:
        at -= 1
    character = text[at : at + 4].decode("utf-8", "ignore")[:1]
    if not counts:
        return f" (the text has it in {character!r}, as it is encoded)"
    return f" (the text has it first in {character!r}, at character {len(text[:at].decode()):,})"


cdef int refuse_special(const Utf8 *text, SpecialTokens forbidden) except -1:
    cdef Py_ssize_t at
    cdef uint32_t which
    cdef const SpecialTables *s = &forbidden.tables
    at = next_special(s, text.bytes, text.size, 0, &which)
    if at < 0:
        return 0
    token = (<const char *>s.bytes)[s.offsets[which] : s.offsets[which + 1]].decode()
    before = (<const char *>text.bytes)[:at].decode()
    advice = forbidden.advice.get(token)
    if advice is None:
        advice = (
            f"To encode it as the special token, pass allowed_special={{{token!r}}}, or 'all' for all of them; to "
            "encode it as ordinary text, pass allowed_special='none', or a set and a disallowed_special without it."
        )
    raise ValueError(
        f"the text holds the special token {token!r} (at character {len(before):,}), which is not allowed there. "
        f"{advice}"
    )
