"""Columns of Arrow's in and out: texts to token ids or to their numbers, and token ids to texts."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from cbpe._core.arrow.exported cimport ArrowColumn, new_column
from cbpe._core.arrow.imported cimport integer_at, is_there
from cbpe._core.arrow.lists cimport IdColumn, Lists, find_list, read_id_column
from cbpe._core.arrow.texts cimport TextColumn, read_text_column
from cbpe._core.calls.batch cimport Batch, Share
from cbpe._core.calls.engine cimport Engine
from cbpe._core.calls.join cimport append_checked
from cbpe._core.decoding.decode cimport ByteBuffer, append_token, reserve_bytes
from cbpe._core.text.special cimport SpecialTokens

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cdef enum:
    BETWEEN_SIGNALS = 1 << 22   # ids, with some for each row
    A_ROW = 16


# ---- Encoding


@cython.final
cdef class Around:
    """The ids before each text and behind it, in one array, of which `n_before` stand before."""

    cdef uint32_t *ids
    cdef Py_ssize_t n_before
    cdef Py_ssize_t n

    def __cinit__(self, before, after):
        cdef Py_ssize_t i
        ids = [*before, *after]
        self.n_before = len(before)
        self.n = len(ids)
        self.ids = <uint32_t *>malloc((self.n + 1) * sizeof(uint32_t))
        if self.ids == NULL:
            raise MemoryError
        for i in range(self.n):
            self.ids[i] = ids[i]

    def __dealloc__(self):
        free(self.ids)


cdef inline void copy(uint32_t *out, int64_t *n, const uint32_t *ids, int64_t n_ids) noexcept nogil:
    if n_ids:                   # there may be no array where there are no ids
        memcpy(out + n[0], ids, n_ids * sizeof(uint32_t))
        n[0] += n_ids


cdef int gather_around(Batch batch, const uint8_t *validity, Around around, uint32_t *out) except -1:
    """All ids in the order of the texts, with those around each text that is not null."""
    cdef Py_ssize_t row, i
    cdef int64_t n = 0
    cdef bint there
    cdef const Share *share
    with nogil:
        for row in range(batch.texts.n):
            there = is_there(validity, row)
            if there:
                copy(out, &n, around.ids, around.n_before)
            for i in range(batch.first_shares[row], batch.first_shares[row + 1]):
                share = &batch.shares[i]
                copy(out, &n, batch.works[share.worker].ids + share.first if share.n_ids else NULL, share.n_ids)
            if there:
                copy(out, &n, around.ids + around.n_before, around.n - around.n_before)
    return 0


cdef int64_t *counts_of(Batch batch, const uint8_t *validity, int64_t more) except NULL:
    """How many ids each text has, with `more` where it is not null. The caller frees them."""
    cdef Py_ssize_t row, i
    cdef int64_t *counts = <int64_t *>malloc((batch.texts.n + 1) * sizeof(int64_t))
    if counts == NULL:
        raise MemoryError
    with nogil:
        for row in range(batch.texts.n):
            counts[row] = more if is_there(validity, row) else 0
            for i in range(batch.first_shares[row], batch.first_shares[row + 1]):
                counts[row] += batch.shares[i].n_ids
    return counts


cdef int add_up(int64_t *counts, Py_ssize_t n) except -1:
    """Make ends of counts."""
    cdef Py_ssize_t i
    for i in range(1, n):
        counts[i] += counts[i - 1]
    if n > 0 and counts[n - 1] > PY_SSIZE_T_MAX // <Py_ssize_t>sizeof(uint32_t) - 1:
        raise MemoryError
    return 0


cdef ArrowColumn lists_column(TextColumn texts, const int64_t *ends, str dtype):
    """A column of lists, whose ids are still to be given it."""
    cdef ArrowColumn column = new_column(texts.texts.n)
    column.copy_validity(texts.validity, texts.n_nulls)
    column.kind = b"+L" if column.put_ends(ends) else b"+l"
    column.item_kind = b"I" if dtype == "uint32" else b"i"
    column.n_items = ends[texts.texts.n - 1] if texts.texts.n > 0 else 0
    return column


def encode_column(
    Engine engine not None, column, SpecialTokens allowed, SpecialTokens forbidden, workers, tuple around, str dtype
):
    """The ids of each text of a column, with others before and behind: an ArrowColumn."""
    cdef TextColumn texts = read_text_column(column, engine.instructions.valid_size)
    cdef Around template = Around(*around)
    cdef Batch batch = Batch(engine, texts.texts, allowed, forbidden, workers)
    cdef ArrowColumn result
    cdef int64_t *ends = NULL
    batch.encode_all()
    try:
        ends = counts_of(batch, texts.validity, template.n)
        add_up(ends, texts.texts.n)
        result = lists_column(texts, ends, dtype)
    finally:
        free(ends)
    if template.n == 0:
        result.take_values(batch.take_ids())
    else:
        result.take_values(malloc((result.n_items + 1) * sizeof(uint32_t)))
        gather_around(batch, texts.validity, template, <uint32_t *>result.shared.values)
    return result


def count_column(
    Engine engine not None, column, SpecialTokens allowed, SpecialTokens forbidden, workers, Py_ssize_t more
):
    """How many ids each text of a column has, and `more`: an ArrowColumn of int64."""
    cdef TextColumn texts = read_text_column(column, engine.instructions.valid_size)
    cdef Batch batch = Batch(engine, texts.texts, allowed, forbidden, workers)
    cdef ArrowColumn result = new_column(texts.texts.n)
    batch.counting = True
    batch.encode_all()
    result.kind = b"l"
    result.copy_validity(texts.validity, texts.n_nulls)
    result.take_values(counts_of(batch, texts.validity, more))
    return result


def flat_column(TextColumn texts not None, tokens, offsets, tuple around, str dtype):
    """The same of ids that are known: text i of the column has tokens[offsets[i]:offsets[i + 1]], buffers of uint32 and
    int64."""
    cdef Around template = Around(*around)
    cdef ArrowColumn result
    cdef Py_buffer ids, places
    cdef int64_t *ends = NULL
    PyObject_GetBuffer(tokens, &ids, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(offsets, &places, PyBUF_SIMPLE)
        try:
            ends = ends_around(texts, &ids, &places, template.n)
            result = lists_column(texts, ends, dtype)
            result.take_values(malloc((result.n_items + 1) * sizeof(uint32_t)))
            put_around(texts, <const uint32_t *>ids.buf, <const int64_t *>places.buf, template, result)
        finally:
            PyBuffer_Release(&places)
    finally:
        PyBuffer_Release(&ids)
        free(ends)
    return result


cdef int64_t *ends_around(TextColumn texts, Py_buffer *ids, Py_buffer *places, int64_t more) except NULL:
    """Where the ids of each text end, with `more` for each that is not null. The caller frees them."""
    cdef Py_ssize_t row
    cdef int64_t size, n_ids = ids.len // <Py_ssize_t>sizeof(uint32_t)
    cdef const int64_t *given = <const int64_t *>places.buf
    cdef int64_t *ends
    if places.len != (texts.texts.n + 1) * <Py_ssize_t>sizeof(int64_t):
        raise ValueError("there are not as many places as rows")
    ends = <int64_t *>malloc((texts.texts.n + 1) * sizeof(int64_t))
    if ends == NULL:
        raise MemoryError
    try:
        for row in range(texts.texts.n):
            size = given[row + 1] - given[row]
            if given[row] < 0 or size < 0 or given[row + 1] > n_ids:
                raise ValueError("there are not as many ids as places say")
            ends[row] = size + (more if is_there(texts.validity, row) else 0)
        add_up(ends, texts.texts.n)
    except BaseException:
        free(ends)
        raise
    return ends


cdef void put_around(
    TextColumn texts, const uint32_t *ids, const int64_t *places, Around around, ArrowColumn result
) noexcept nogil:
    cdef uint32_t *out = <uint32_t *>result.shared.values
    cdef Py_ssize_t row
    cdef int64_t n = 0
    for row in range(texts.texts.n):
        if is_there(texts.validity, row):
            copy(out, &n, around.ids, around.n_before)
        copy(out, &n, ids + places[row], places[row + 1] - places[row])
        if is_there(texts.validity, row):
            copy(out, &n, around.ids + around.n_before, around.n - around.n_before)


def numbers_column(TextColumn texts not None, numbers):
    """A number for each text of a column that is not null: an ArrowColumn of int64."""
    cdef ArrowColumn result = new_column(texts.texts.n)
    cdef Py_ssize_t row
    cdef int64_t number
    result.kind = b"l"
    result.copy_validity(texts.validity, texts.n_nulls)
    result.take_values(malloc((texts.texts.n + 1) * sizeof(int64_t)))
    for row, number in zip(range(texts.texts.n), numbers, strict=True):
        (<int64_t *>result.shared.values)[row] = number if is_there(texts.validity, row) else 0
    return result


# ---- Decoding


@cython.final
cdef class Texts:
    """The texts of a column that is being made, one after another."""

    cdef ByteBuffer buffer
    cdef int64_t *ends
    cdef uint8_t *validity
    cdef Py_ssize_t n
    cdef Py_ssize_t n_nulls

    def __cinit__(self, Py_ssize_t n_rows):
        self.ends = <int64_t *>malloc((n_rows + 1) * sizeof(int64_t))
        self.validity = <uint8_t *>malloc((n_rows >> 3) + 1)
        if self.ends == NULL or self.validity == NULL or not reserve_bytes(&self.buffer, 0):
            raise MemoryError
        memset(self.validity, 0, (n_rows >> 3) + 1)

    def __dealloc__(self):
        free(self.buffer.bytes)
        free(self.ends)
        free(self.validity)

    cdef void end_row(self, bint there) noexcept nogil:
        if there:
            self.validity[self.n >> 3] |= <uint8_t>(1 << (self.n & 7))
        else:
            self.n_nulls += 1
        self.ends[self.n] = self.buffer.used
        self.n += 1

    cdef int append(self, bytes text) except -1:
        cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
        if not reserve_bytes(&self.buffer, size):
            raise MemoryError
        memcpy(self.buffer.bytes + self.buffer.used, PyBytes_AS_STRING(text), size)
        self.buffer.used += size
        return 0

    cdef ArrowColumn column(self):
        cdef ArrowColumn result = new_column(self.n)
        result.copy_validity(self.validity if self.n_nulls else NULL, self.n_nulls)
        result.kind = b"U" if result.put_ends(self.ends) else b"u"
        result.take_values(self.buffer.bytes)
        self.buffer.bytes = NULL
        return result


cdef enum Stop:
    ALL_DONE
    PAUSE
    WRONG_ROW
    NULL_ID
    UNKNOWN_ID
    NO_UTF8
    OUT_OF_MEMORY


# How far a chunk is decoded.
cdef struct Position:
    int64_t row
    int64_t item                # of the row, where decoding goes on
    Py_ssize_t start            # of the row's text


# The ids that are left out of the texts.
@cython.final
cdef class LeftOut:
    cdef frozenset ids
    cdef uint8_t *marks         # one for each slot of the table; NULL where nothing is left out
    cdef Py_ssize_t n_marks

    def __cinit__(self, Engine engine not None, frozenset ids not None):
        self.ids = ids
        if not ids:
            return
        self.n_marks = engine.table.n_slots
        self.marks = <uint8_t *>calloc(self.n_marks + 1, 1)
        if self.marks == NULL:
            raise MemoryError
        for token in ids:
            if token < self.n_marks:
                self.marks[<Py_ssize_t>token] = 1

    def __dealloc__(self):
        free(self.marks)


cdef Stop decode_rows(
    Engine engine, const Lists *lists, Texts texts, LeftOut left_out, Position *position
) noexcept nogil:
    """Decode rows up to the end of the chunk, or to what needs a look; a row that ended goes to its end there."""
    cdef int64_t start = 0, stop = 0, i, token, budget = BETWEEN_SIGNALS
    cdef Py_ssize_t size
    cdef int status
    while position.row < lists.n_rows:
        if not find_list(lists, position.row, &start, &stop):
            return WRONG_ROW
        if position.item == 0:
            position.start = texts.buffer.used
        for i in range(start + position.item, stop):
            if not is_there(lists.item_validity, lists.item_start + i):
                return NULL_ID
            token = integer_at(lists.items, lists.item_kind, lists.item_start + i)
            position.item += 1
            if left_out.marks != NULL and 0 <= token < left_out.n_marks and left_out.marks[token]:
                continue
            status = append_token(
                &engine.table, &texts.buffer, <Py_ssize_t>token if 0 <= token < engine.table.n_slots else -1
            )
            if status <= 0:
                return UNKNOWN_ID if status == 0 else OUT_OF_MEMORY
        budget -= stop - start + A_ROW
        size = texts.buffer.used - position.start
        if engine.instructions.valid_size(texts.buffer.bytes + position.start, size) < size:
            return NO_UTF8
        end_row(lists, texts, position)
        if budget < 0:
            return PAUSE
    return ALL_DONE


cdef void end_row(const Lists *lists, Texts texts, Position *position) noexcept nogil:
    texts.end_row(is_there(lists.validity, lists.start + position.row))
    position.row += 1
    position.item = 0


cdef int look_at(
    Engine engine, const Lists *lists, Texts texts, LeftOut left_out, Position *position, Stop why, str errors
) except -1:
    """Do what stopped decode_rows, or raise."""
    cdef int64_t start = 0, stop = 0
    cdef bytes text
    PyErr_CheckSignals()
    if why == WRONG_ROW:
        raise ValueError(f"row {texts.n} of the column lies outside of its ids: the Arrow array is damaged")
    if why == NULL_ID:
        raise ValueError(f"row {texts.n} of the column has a null where an id should be")
    if why == OUT_OF_MEMORY:
        raise MemoryError
    if why == UNKNOWN_ID:
        find_list(lists, position.row, &start, &stop)
        append_unknown(engine, lists, texts, left_out, lists.item_start + start + position.item - 1)
    elif why == NO_UTF8:
        text = (<const char *>texts.buffer.bytes)[position.start:texts.buffer.used]
        texts.buffer.used = position.start
        texts.append(mended(text, errors, texts.n))
        end_row(lists, texts, position)
    return 0


cdef int append_unknown(Engine engine, const Lists *lists, Texts texts, LeftOut left_out, int64_t at) except -1:
    """Append the token of an id that is not in the table. KeyError, which names the row, where there is none."""
    cdef object token = integer_at(lists.items, lists.item_kind, at)
    if token < 0 and lists.item_kind == c"L":
        token += 2**64
    if token in left_out.ids:
        return 0
    try:
        append_checked(engine, &texts.buffer, token)
    except KeyError as error:
        raise type(error)(f"row {texts.n} of the column: {error.args[0]}") from None
    return 0


cdef bytes mended(bytes text, str errors, Py_ssize_t row):
    """The UTF-8 of what bytes that are no UTF-8 become."""
    try:
        decoded = text.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        error.reason += f" (row {row} of the column)"
        raise
    return encoded(decoded, errors, row)


cdef bytes encoded(str text, str errors, Py_ssize_t row):
    """The UTF-8 of a text. ValueError where it has a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"row {row} of the column is no UTF-8, and Arrow's texts cannot hold what errors={errors!r} makes of it: "
            "take 'replace' or 'strict'"
        ) from None


def decode_column(Engine engine not None, column, str errors not None, frozenset skipped not None):
    """The text of each list of ids in a column, without those that are skipped: an ArrowColumn."""
    cdef LeftOut left_out = LeftOut(engine, skipped)
    cdef IdColumn ids = read_id_column(column)
    cdef Texts texts = Texts(ids.n_rows)
    cdef Position position
    cdef Py_ssize_t k
    cdef Stop why
    for k in range(ids.n_chunks):
        position = Position(0, 0, 0)
        why = PAUSE
        while why != ALL_DONE:
            with nogil:
                why = decode_rows(engine, ids.chunks + k, texts, left_out, &position)
            look_at(engine, ids.chunks + k, texts, left_out, &position, why, errors)
    return texts.column()


def strings_column(strings, Py_ssize_t n, str errors not None):
    """A column of n texts, which were decoded with these errors, and some of which may be None: an ArrowColumn."""
    cdef Texts texts = Texts(n)
    cdef Py_ssize_t row
    for row, string in zip(range(n), strings, strict=True):
        if string is not None:
            texts.append(encoded(string, errors, row))
        texts.end_row(string is not None)
    return texts.column()
