"""Token ids, as Python hands them over, to the bytes that they stand for."""

cimport cython
from cpython.buffer cimport (
    Py_buffer, PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
)
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from cpython.list cimport PyList_GET_ITEM
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cbpe._core.c.atomics cimport cbpe_atomic_add, cbpe_atomic_read
from cbpe._core.c.objects cimport CBPE_HAS_GIL, cbpe_small_int
from cbpe._core.decoding.decode cimport append_bytes, append_token, reserve_bytes
from cbpe._core.text.special cimport SpecialTables
from cbpe._core.vocabulary.tables cimport NONE

from cbpe._core.calls.parallel import checked_workers, run_in_threads


class IdOutOfRangeError(KeyError, OverflowError):
    """An id that no vocabulary can have, which tiktoken calls an overflow: it is negative, or 2**32 or more."""


INTEGERS = frozenset(b"bBhHiIlLqQnN"[i : i + 1] for i in range(12))      # formats of buffers

cdef enum:
    RUN = 1 << 16               # ids that are worth another thread's attention
    BETWEEN_SIGNALS = 1 << 22   # ids between two looks at the signals


@cython.final
cdef class IdArray:
    """Ids that stand in memory as numbers of the machine, such as numpy's arrays, and are read from there: a list of
    them would take ten times as much. TypeError for what is no row of integers, or any exception of the owner's."""

    cdef object owner
    cdef Py_buffer view
    cdef Py_ssize_t n
    cdef bint is_signed

    def __cinit__(self, owner):
        PyObject_GetBuffer(owner, &self.view, PyBUF_STRIDES | PyBUF_FORMAT)
        kind = (self.view.format if self.view.format != NULL else b"B").lstrip(b"@=")
        if self.view.ndim != 1 or kind not in INTEGERS:
            raise TypeError
        self.owner = owner
        self.n = self.view.shape[0]
        self.is_signed = kind.islower()

    def __dealloc__(self):
        PyBuffer_Release(&self.view)

    def __len__(self):
        return self.n

    cdef inline Py_ssize_t get(self, Py_ssize_t i) noexcept nogil:
        """Id number i; -1 for one that is far too large. The numbers may stand at any address."""
        cdef const char *at = <const char *>self.view.buf + i * self.view.strides[0]
        cdef int64_t value = 0
        cdef uint32_t four
        cdef uint16_t two
        if self.view.itemsize == 4:
            memcpy(&four, at, sizeof(four))
            value = <int32_t>four if self.is_signed else <int64_t>four
        elif self.view.itemsize == 8:
            memcpy(&value, at, sizeof(value))
        elif self.view.itemsize == 2:
            memcpy(&two, at, sizeof(two))
            value = <int16_t>two if self.is_signed else <int64_t>two
        else:
            value = <int8_t>at[0] if self.is_signed else <int64_t><uint8_t>at[0]
        return value if value >= 0 else -1


cdef object as_ids(ids):
    """The ids as an IdArray or a list: the one given, or a new one."""
    if type(ids) is list and CBPE_HAS_GIL:
        return ids
    refuse_no_sequence(ids)
    if PyObject_CheckBuffer(ids) and not hasattr(ids, "mask"):      # of numpy.ma: tolist has None for what is masked
        try:
            return IdArray(ids)
        except Exception:
            pass                # its tolist, or its items, say what it holds
    listed = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if type(listed) is not list:
        raise TypeError(f"token ids are a sequence of int, not {type(ids).__name__}")
    return listed


def refuse_no_sequence(ids):
    """TypeError for what gives no ids one after another."""
    if isinstance(ids, int):
        raise TypeError(f"token ids are a sequence of int, not one {type(ids).__name__}: put it in a list")
    if not can_be_read(ids) and not hasattr(ids, "tolist"):
        raise TypeError(f"token ids are a sequence of int, not {type(ids).__name__}")


cdef bint can_be_read(sequence) except -1:
    """Whether it gives its items one after another: not as chance orders them, and not the keys of others."""
    if isinstance(sequence, (set, frozenset, dict)):
        return False
    return hasattr(sequence, "__iter__") or hasattr(sequence, "__getitem__")


def as_ids_of(ids):
    """as_ids, as a function of Python's."""
    return as_ids(ids)


def each_of_batch(function, sequences, *more):
    """What a function makes of each sequence of token ids, and of what else it takes: list. Its errors say which
    sequence they are of."""
    results = []
    if not can_be_read(sequences):
        raise TypeError(f"a batch is a sequence of lists of token ids, not {type(sequences).__name__}")
    for i, ids in enumerate(sequences):
        try:
            results.append(function(ids, *more))
        except (KeyError, TypeError) as error:
            raise of_batch(error, i) from None
    return results


cdef object of_batch(error, Py_ssize_t i):
    """An error about an id, with the number of the sequence that has it."""
    if type(error) not in (KeyError, TypeError, IdOutOfRangeError):
        return error
    return type(error)(f"{error.args[0] if error.args else ''} (sequence {i} of the batch, counted from 0)")


def without_ids(ids, frozenset dropped not None):
    """The ids that are not among some, as a list. What is no id stays in it, for who decodes them to refuse."""
    ids = as_ids(ids)
    if type(ids) is IdArray:
        owner = (<IdArray>ids).owner
        ids = owner.tolist() if hasattr(owner, "tolist") else list(owner)
    return [item for item in ids if not is_among(item, dropped)]


cdef bint is_among(item, frozenset ids) except -1:
    if type(item) is int:
        return item in ids
    return hasattr(item, "__index__") and not isinstance(item, bool) and PyNumber_Index(item) in ids


cdef ByteBuffer join_tokens(Engine engine, ids) except *:
    cdef ByteBuffer buffer
    ids = as_ids(ids)
    buffer.bytes = NULL
    buffer.used = buffer.capacity = 0
    try:
        if not reserve_bytes(&buffer, 5 * len(ids)):
            raise MemoryError
        if type(ids) is list:
            join_list(engine, <list>ids, &buffer)
        else:
            join_array(engine, <IdArray>ids, &buffer)
    except BaseException:
        free(buffer.bytes)
        raise
    return buffer


cdef int join_list(Engine engine, list items, ByteBuffer *buffer) except -1:
    cdef Py_ssize_t i = 0, stop, token_id
    cdef int status
    while i < len(items):
        stop = min(<Py_ssize_t>len(items), i + BETWEEN_SIGNALS)
        while i < stop:
            token_id = cbpe_small_int(<PyObject *>PyList_GET_ITEM(items, i))
            status = append_token(&engine.table, buffer, token_id)      # 0 for the -1 of an item that is no small int
            if status == 0:
                append_checked(engine, buffer, items[i])
                stop = min(stop, <Py_ssize_t>len(items))    # the item's __index__ may have changed the list
            elif status < 0:
                raise MemoryError
            i += 1
        PyErr_CheckSignals()
    return 0


cdef int join_array(Engine engine, IdArray ids, ByteBuffer *buffer) except -1:
    cdef Py_ssize_t i = 0, stop
    cdef int status
    while i < ids.n:
        stop = min(ids.n, i + BETWEEN_SIGNALS)
        status = 1
        with nogil:
            while i < stop and status > 0:
                status = append_token(&engine.table, buffer, ids.get(i))
                i += 1
        if status < 0:
            raise MemoryError
        if status == 0:
            append_checked(engine, buffer, ids.owner[i - 1])
        PyErr_CheckSignals()
    return 0


cdef int append_checked(Engine engine, ByteBuffer *buffer, item) except -1:
    """Append the token of an id that is no small int or is beyond the table. KeyError or TypeError if it is no id."""
    cdef Py_ssize_t i
    cdef const SpecialTables *s = &engine.special_tokens.tables
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        from cbpe._core.text.shown import shown      # messages alone take it

        several = hasattr(item, "__len__") and not isinstance(item, (str, bytes))
        takes = "decode_batch takes the ids of several texts, and extend of a stream decoder several ids"
        way = f"; {takes}" if several else ""
        raise TypeError(f"a token id is an int, not {type(item).__name__}: {shown(item)}{way}")
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
        from cbpe._core.text.shown import shown      # messages alone take it

        error = KeyError if 0 <= token_id < 1 << 32 else IdOutOfRangeError
        raise error(f"token id {shown(token_id)} is not in the vocabulary")
    return 0


cdef object spelled(const ByteBuffer *buffer, Py_ssize_t start, Py_ssize_t stop, char *errors):
    """Some of the bytes: as bytes, or as text where `errors` says what becomes of bytes that are no UTF-8."""
    if errors == NULL:
        return PyBytes_FromStringAndSize(<const char *>buffer.bytes + start, stop - start)
    return PyUnicode_DecodeUTF8(<const char *>buffer.bytes + start, stop - start, errors)


@cython.final
cdef class JoinBatch:
    """Sequences of ids on their way to bytes or text. Threads take runs of them, read the ids, join their tokens
    without the GIL, and make the objects."""

    cdef Engine engine
    cdef list sequences
    cdef list results
    cdef list runs              # run i is sequences[runs[i]:runs[i + 1]]
    cdef bytes errors
    cdef int64_t n_taken
    cdef int64_t stopped

    def __cinit__(self, Engine engine, sequences, errors, skipped):
        cdef Py_ssize_t i, n = 0
        self.engine = engine
        if skipped is None:
            self.sequences = each_of_batch(as_ids_of, sequences)
        else:
            self.sequences = each_of_batch(without_ids, sequences, skipped)
        self.results = [None] * len(self.sequences)
        self.errors = errors.encode() if errors is not None else None
        self.runs = [0]
        for i in range(len(self.sequences)):
            n += len(self.sequences[i]) + 8
            if n >= RUN or i == len(self.sequences) - 1:
                self.runs.append(i + 1)
                n = 0

    def stop(self):
        cbpe_atomic_add(&self.stopped, 1)

    def work(self):
        cdef Py_ssize_t run
        while True:
            run = cbpe_atomic_add(&self.n_taken, 1) - 1
            if run >= len(self.runs) - 1 or cbpe_atomic_read(&self.stopped):
                return
            PyErr_CheckSignals()        # of which only the main thread learns
            self.join_run(self.runs[run], self.runs[run + 1])

    cdef int join_run(self, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef Py_ssize_t i, k, n = 0, room = 0, at = 0
        cdef char *errors = NULL if self.errors is None else <char *>self.errors
        cdef ByteBuffer buffer
        cdef uint32_t *values = NULL
        cdef Py_ssize_t *ends = <Py_ssize_t *>malloc(2 * (stop - start) * sizeof(Py_ssize_t))
        cdef Py_ssize_t *byte_ends = ends + (stop - start)
        buffer.bytes = NULL
        buffer.used = buffer.capacity = 0
        for i in range(start, stop):
            room += len(self.sequences[i])
        values = <uint32_t *>malloc((room + 1) * sizeof(uint32_t))
        try:
            if ends == NULL or values == NULL or not reserve_bytes(&buffer, 5 * room):
                raise MemoryError
            for i in range(start, stop):
                n += read_ids(self.engine, self.sequences[i], values + n, room - n)
                ends[i - start] = n
            with nogil:
                k = join_values(self.engine, values, ends, stop - start, &buffer, byte_ends)
            if k < 0:
                raise MemoryError
            for i in range(start, stop):
                if byte_ends[i - start] < 0:
                    sequence = self.sequences[i]
                    owner = (<IdArray>sequence).owner if type(sequence) is IdArray else sequence
                    try:
                        self.results[i] = join_alone(self.engine, owner, errors)
                    except (KeyError, TypeError) as error:
                        raise of_batch(error, i) from None
                else:
                    self.results[i] = spelled(&buffer, at, byte_ends[i - start], errors)
                    at = byte_ends[i - start]
        finally:
            free(values)
            free(ends)
            free(buffer.bytes)
        return 0


cdef Py_ssize_t read_ids(Engine engine, ids, uint32_t *values, Py_ssize_t room) except -1:
    """Read at most `room` ids, which are as many as there were before, and return how many there are. What is not in
    the table becomes one that is not, either."""
    cdef Py_ssize_t i, n = min(<Py_ssize_t>len(ids), room), token_id
    if type(ids) is list:
        for i in range(n):
            values[i] = <uint32_t>cbpe_small_int(<PyObject *>PyList_GET_ITEM(ids, i))
        return n
    for i in range(n):
        token_id = (<IdArray>ids).get(i)
        values[i] = <uint32_t>token_id if token_id < engine.table.n_slots else NONE
    return n


cdef int join_values(
    Engine engine,
    const uint32_t *values,
    const Py_ssize_t *ends,
    Py_ssize_t n,
    ByteBuffer *buffer,
    Py_ssize_t *byte_ends,
) noexcept nogil:
    """Append the tokens of n sequences of ids, and tell where the bytes of each end: -1 for a sequence that holds
    something else than ids in the table. -1 where there is no memory."""
    cdef Py_ssize_t i, k = 0, before
    cdef int status
    for i in range(n):
        before = buffer.used
        byte_ends[i] = 0
        while k < ends[i]:
            status = append_token(&engine.table, buffer, values[k])
            if status < 0:
                return -1
            if status == 0:
                byte_ends[i] = -1
            k += 1
        if byte_ends[i] < 0:
            buffer.used = before
        else:
            byte_ends[i] = buffer.used
    return 0


cdef object join_alone(Engine engine, ids, char *errors):
    cdef ByteBuffer buffer = join_tokens(engine, ids)
    try:
        return spelled(&buffer, 0, buffer.used, errors)
    finally:
        free(buffer.bytes)


def join_batch(Engine engine not None, sequences, errors, num_threads, skipped=None):
    """Several sequences of token ids to bytes, or to text where `errors` is no None: a list of as many. skipped: a
    frozenset of ids that are left out, or None."""
    cdef JoinBatch batch
    workers = checked_workers(num_threads, "num_threads")
    batch = JoinBatch(engine, sequences, errors, skipped)
    run_in_threads(batch.work, max(1, min(workers, len(batch.runs) - 1)), batch.stop)
    return batch.results
