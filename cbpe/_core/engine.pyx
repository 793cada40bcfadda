"""Encoder: encoding and decoding for Python, over the compiled tables of one model.

An Engine is all that encoding reads (immutable) and the workspaces that it writes to (each used by one call at a time),
so that any number of threads may use one. An Encoder is the handle that Python classes derive from: training or loading
gives it another Engine.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.list cimport PyList_GET_ITEM, PyList_New
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8, PyUnicode_FromObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc

import os

from cbpe._core.cut cimport CutTables, free_cut_tables
from cbpe._core.decode cimport (
    ByteBuffer, DecodeTable, append_bytes, append_token, close_decode_table, open_decode_table, reserve_bytes
)
from cbpe._core.encode cimport (
    DONE, MORE, NO_MEMORY, EncodeStatus, Workspace, append_id, encode_piece, encode_slice, free_workspace,
    new_workspace, reserve, tidy_workspace
)
from cbpe._core.special cimport SpecialTables, SpecialTokens, find_special
from cbpe._core.split cimport SplitTables, Splitter
from cbpe._core.vocab cimport Vocabulary
from cbpe._core.walk cimport WalkTables, free_walk_tables

cdef extern from "objects.h":
    Py_ssize_t cbpe_small_int(PyObject *o)
    const bint CBPE_HAS_GIL

cdef extern from "bits.h" nogil:
    void cbpe_want_large_pages(void *p, size_t n)
    void *cbpe_atomic_swap(void **place, void *p)
    bint cbpe_atomic_put(void **place, void *p)

cdef extern from "Python.h":
    void Py_INCREF(PyObject *o)
    void Py_DECREF(PyObject *o)
    void PyList_SET_ITEM(PyObject *list, Py_ssize_t i, PyObject *item)
    PyObject *PyLong_FromUnsignedLong(unsigned long value)
    PyObject **PySequence_Fast_ITEMS(object o)

cdef enum:
    IDLE = 16                   # workspaces kept for the next call
    WITH_GIL = 4096             # bytes of text that are not worth giving up the GIL for
    RESERVED_IDS = 1 << 26      # room taken at once for a long text: what is not written to takes no memory

DEFAULT_CACHE_BYTES = 64 << 20


cdef str encodable(text):
    """The text itself; with every lone surrogate replaced, as tiktoken does, if UTF-8 cannot hold it."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    text = PyUnicode_FromObject(text)       # an exact str of a subclass, such as numpy's
    try:
        PyUnicode_AsUTF8AndSize(text, NULL)
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@cython.final
cdef class TokenBuffer:
    """Owns uint32 token ids and shows them through the buffer protocol."""

    cdef uint32_t *ids
    cdef Py_ssize_t n
    cdef Py_ssize_t shape[1]

    def __dealloc__(self):
        free(self.ids)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        self.shape[0] = self.n
        buffer.buf = self.ids
        buffer.obj = self
        buffer.len = self.n * sizeof(uint32_t)
        buffer.itemsize = sizeof(uint32_t)
        buffer.readonly = 0
        buffer.ndim = 1
        buffer.format = b"I"
        buffer.shape = self.shape
        buffer.strides = NULL
        buffer.suboffsets = NULL
        buffer.internal = NULL


@cython.final
cdef class Engine:
    """What one model needs to encode and decode. cache_bytes bounds the memory of the caches of pieces of all threads
    together."""

    cdef readonly Vocabulary vocabulary
    cdef readonly object splitter
    cdef readonly SpecialTokens special_tokens
    cdef readonly Py_ssize_t cache_bytes
    cdef const SplitTables *split       # NULL: the splitter is not native
    cdef DecodeTable table
    cdef void *idle[IDLE]
    cdef WalkTables *walk
    cdef CutTables *cuts
    cdef int64_t budget
    cdef uint64_t seed
    cdef PyObject **ints                # id -> its int object, made when first wanted
    cdef Py_ssize_t n_ints

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
        self.cache_bytes = self.budget = cache_bytes
        self.seed = int.from_bytes(os.urandom(8), "little")
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
            if self.idle[i] != NULL:
                work = <Workspace *>cbpe_atomic_swap(&self.idle[i], NULL)
                if work != NULL:
                    return work
        work = new_workspace(&self.budget, self.seed, &self.walk, &self.cuts)
        if work == NULL:
            raise MemoryError
        return work

    cdef void release(self, Workspace *work) noexcept:
        cdef int i
        tidy_workspace(work)
        for i in range(IDLE):
            if self.idle[i] == NULL and cbpe_atomic_put(&self.idle[i], work):
                return
        free_workspace(work)

    cdef int check(self, EncodeStatus status, Workspace *work) except -1:
        if status == NO_MEMORY:
            raise MemoryError("no memory for the tokens of this text")
        raise KeyError(f"the byte 0x{work.byte:02x} has no token in this vocabulary")

    cdef int encode_plain(self, Workspace *work, const uint8_t *text, Py_ssize_t size) except -1:
        """Append the ids of text in which nothing is special."""
        cdef Py_ssize_t position = 0
        cdef EncodeStatus status
        cdef bytes piece
        cdef const uint8_t *data
        if self.split == NULL:
            for found in self.splitter.split((<const char *>text)[:size].decode()):
                piece = found.encode()
                data = <const uint8_t *>PyBytes_AS_STRING(piece)
                status = encode_piece(&self.vocabulary.tables, work, data, PyBytes_GET_SIZE(piece))
                if status != DONE:
                    self.check(status, work)
            return 0
        while True:
            if size <= WITH_GIL:
                status = encode_slice(&self.vocabulary.tables, self.split, work, text, size, &position)
            else:
                with nogil:
                    status = encode_slice(&self.vocabulary.tables, self.split, work, text, size, &position)
            if status == DONE:
                return 0
            if status != MORE:
                self.check(status, work)
            PyErr_CheckSignals()

    cdef int encode_text(self, Workspace *work, str text, SpecialTokens allowed) except -1:
        """Append the ids of text; `allowed` (or None) are the special tokens that count as such."""
        cdef Py_ssize_t size, start = 0, at
        cdef const uint8_t *utf8 = <const uint8_t *>PyUnicode_AsUTF8AndSize(text, &size)
        cdef uint32_t which
        cdef EncodeStatus status
        if size > WITH_GIL and not work.counting and not reserve(work, min(size, RESERVED_IDS)):
            self.check(NO_MEMORY, work)
        while allowed is not None:
            at = find_special(&allowed.tables, utf8, size, start, &which)
            if at < 0:
                break
            self.encode_plain(work, utf8 + start, at - start)
            status = append_id(work, allowed.tables.ids[which])
            if status != DONE:
                self.check(status, work)
            start = at + allowed.tables.offsets[which + 1] - allowed.tables.offsets[which]
        return self.encode_plain(work, utf8 + start, size - start)

    cdef Workspace *encoded(self, text, SpecialTokens allowed, SpecialTokens forbidden, bint counting) except NULL:
        """A workspace that holds the ids of text, or their number. The caller releases it."""
        cdef Workspace *work
        text = encodable(text)
        if forbidden is not None:
            refuse_special(text, forbidden)
        work = self.acquire()
        try:
            work.counting = counting
            self.encode_text(work, text, allowed)
        except BaseException:
            self.release(work)
            raise
        return work

    cdef PyObject *new_int(self, uint32_t token_id) except NULL:
        """A new reference to the int object of an id that has none yet."""
        cdef PyObject *value = PyLong_FromUnsignedLong(token_id)
        if token_id < self.n_ints:
            Py_INCREF(value)
            if not cbpe_atomic_put(<void **>&self.ints[token_id], value):
                Py_DECREF(value)
        return value

    cdef list to_list(self, const uint32_t *ids, Py_ssize_t n):
        cdef list result = PyList_New(n)
        cdef Py_ssize_t i
        cdef PyObject *value
        if n:
            cbpe_want_large_pages(PySequence_Fast_ITEMS(result), n * sizeof(PyObject *))
        for i in range(n):
            value = self.ints[ids[i]] if ids[i] < self.n_ints else NULL
            if value == NULL:
                value = self.new_int(ids[i])
            else:
                Py_INCREF(value)
            PyList_SET_ITEM(<PyObject *>result, i, value)
        return result


cdef int refuse_special(str text, SpecialTokens forbidden) except -1:
    """Raise ValueError if the text holds a special token that is forbidden there."""
    cdef Py_ssize_t size, at
    cdef const char *utf8 = PyUnicode_AsUTF8AndSize(text, &size)
    cdef uint32_t which
    cdef const SpecialTables *s = &forbidden.tables
    at = find_special(s, <const uint8_t *>utf8, size, 0, &which)
    if at < 0:
        return 0
    token = (<const char *>s.bytes)[s.offsets[which] : s.offsets[which + 1]].decode()
    raise ValueError(
        f"the text holds the special token {token!r} (at byte {at}), which is not allowed there. To encode it as the "
        f"special token, pass allowed_special={{{token!r}}} or allowed_special='all'; to encode it as ordinary text, "
        "pass disallowed_special=() (for minbpe's classes: allowed_special='none')."
    )


cdef class Encoder:
    """Encodes and decodes with one Engine. The base of Tokenizer, which says what its methods promise."""

    cdef Engine engine

    def _install(
        self,
        Vocabulary vocabulary not None,
        splitter,
        dict special_tokens not None,
        Py_ssize_t cache_bytes=DEFAULT_CACHE_BYTES,
    ):
        """Use these tables from now on. Calls in progress go on with the earlier ones."""
        self.engine = Engine(vocabulary, splitter, SpecialTokens(special_tokens), cache_bytes)

    cdef Engine installed(self):
        if self.engine is None:
            raise RuntimeError(f"this {type(self).__name__} has no vocabulary: its __init__ has not been called")
        return self.engine

    @property
    def _vocabulary(self):
        return self.installed().vocabulary

    @property
    def _splitter(self):
        return self.installed().splitter

    @property
    def _special(self):
        return self.installed().special_tokens

    def encode_ordinary(self, text):
        """Encode text in which no special token counts as such: str -> list[int].

        >>> enc.encode_ordinary("hello world")
        [15339, 1917]
        """
        return self._encode(text, None, None)

    def _encode(self, text, SpecialTokens allowed, SpecialTokens forbidden):
        cdef Engine engine = self.installed()
        cdef Workspace *work = engine.encoded(text, allowed, forbidden, False)
        try:
            return engine.to_list(work.ids, work.n_ids)
        finally:
            engine.release(work)

    def _encode_single_piece(self, text_or_bytes):
        """Encode a str or bytes as one piece, whatever the split pattern says, without special tokens: list[int]."""
        cdef Engine engine = self.installed()
        cdef bytes piece
        cdef Workspace *work
        cdef EncodeStatus status
        cdef Py_ssize_t size
        cdef const uint8_t *start
        piece = text_or_bytes if isinstance(text_or_bytes, bytes) else encodable(text_or_bytes).encode()
        start, size = <const uint8_t *>PyBytes_AS_STRING(piece), PyBytes_GET_SIZE(piece)
        work = engine.acquire()
        try:
            with nogil:
                status = encode_piece(&engine.vocabulary.tables, work, start, size)
            if status != DONE:
                engine.check(status, work)
            return engine.to_list(work.ids, work.n_ids)
        finally:
            engine.release(work)

    def _count(self, text, SpecialTokens allowed, SpecialTokens forbidden):
        cdef Engine engine = self.installed()
        cdef Workspace *work = engine.encoded(text, allowed, forbidden, True)
        cdef Py_ssize_t n = work.n_counted + work.n_ids
        engine.release(work)
        return n

    def _encode_buffer(self, text, SpecialTokens allowed, SpecialTokens forbidden):
        """The ids as an object that owns them and shows them as a buffer of uint32[n]."""
        cdef Engine engine = self.installed()
        cdef TokenBuffer buffer = TokenBuffer()
        cdef Workspace *work = engine.encoded(text, allowed, forbidden, False)
        try:
            buffer.ids = <uint32_t *>realloc(work.ids, (work.n_ids + 1) * sizeof(uint32_t))
            if buffer.ids == NULL:
                raise MemoryError
            buffer.n = work.n_ids
            work.ids = NULL
            work.capacity = 0
            return buffer
        finally:
            engine.release(work)

    def decode_bytes(self, ids):
        """Decode token ids to bytes. Raises KeyError for an id that is not in the vocabulary, TypeError for what is no
        int.

        >>> enc.decode_bytes([15339, 1917])
        b'hello world'
        """
        cdef ByteBuffer buffer = join_tokens(self.installed(), ids)
        try:
            return PyBytes_FromStringAndSize(<const char *>buffer.bytes, buffer.used)
        finally:
            free(buffer.bytes)

    def decode(self, ids, str errors not None="replace"):
        """Decode token ids to text; `errors` says what becomes of bytes that are no UTF-8, as for bytes.decode.

        Raises KeyError for an id that is not in the vocabulary, TypeError for what is no int.

        >>> enc.decode([15339, 1917])
        'hello world'
        """
        cdef bytes handler = errors.encode()
        cdef ByteBuffer buffer = join_tokens(self.installed(), ids)
        try:
            return PyUnicode_DecodeUTF8(<const char *>buffer.bytes, buffer.used, handler)
        finally:
            free(buffer.bytes)


cdef list as_list(ids):
    """The ids as a list: the one given, or a new one. What has a tolist, such as an array, knows the fastest way."""
    if type(ids) is list and CBPE_HAS_GIL:
        return ids
    listed = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if type(listed) is not list:
        raise TypeError(f"token ids are a sequence of int, not {type(ids).__name__}")
    return listed


cdef ByteBuffer join_tokens(Engine engine, ids) except *:
    """The bytes of all ids one after another. The caller frees them."""
    cdef ByteBuffer buffer
    cdef list items = as_list(ids)
    cdef Py_ssize_t i, token_id
    cdef int status
    buffer.bytes = NULL
    buffer.used = buffer.capacity = 0
    try:
        if not reserve_bytes(&buffer, 5 * len(items)):
            raise MemoryError
        i = 0
        while i < len(items):       # the list may be changed by the __index__ of one of its items
            token_id = cbpe_small_int(<PyObject *>PyList_GET_ITEM(items, i))
            status = append_token(&engine.table, &buffer, token_id)     # 0 for the -1 of an item that is no small int
            if status == 0:
                append_checked(engine, &buffer, items[i])
            elif status < 0:
                raise MemoryError
            i += 1
    except BaseException:
        free(buffer.bytes)
        raise
    return buffer


cdef int append_checked(Engine engine, ByteBuffer *buffer, item) except -1:
    """Append the token of an id that is no small int or is beyond the table. KeyError or TypeError if it is no id."""
    cdef Py_ssize_t i
    cdef const SpecialTables *s = &engine.special_tokens.tables
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise TypeError(f"a token id is an int, not {type(item).__name__}: {item!r}")
    token_id = PyNumber_Index(item)
    cdef int status = append_token(&engine.table, buffer, token_id) if 0 <= token_id < engine.table.n_slots else 0
    if status > 0:
        return 0
    # Special tokens far above the vocabulary are not in the table; of two with one id the later one counts, as there.
    for i in range(<Py_ssize_t>s.n - 1, -1, -1):
        if status == 0 and s.ids[i] == token_id:
            status = append_bytes(buffer, s.bytes + s.offsets[i], s.offsets[i + 1] - s.offsets[i])
    if status < 0:
        raise MemoryError
    if status == 0:
        raise KeyError(f"token id {token_id} is not in the vocabulary")
    return 0
