"""Where in a text its tokens are, and where in decoded text."""

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8, PyUnicode_READ_CHAR
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cbpe._core.c.objects cimport cbpe_small_int
from cbpe._core.calls.engine cimport Engine
from cbpe._core.calls.join cimport append_checked
from cbpe._core.decoding.decode cimport FAR, ByteBuffer, DecodeSlot, append_token, reserve_bytes
from cbpe._core.encoding.places cimport Jump
from cbpe._core.vocabulary.tables cimport NONE, text_size

from cbpe._core.calls.join import refuse_no_sequence

cdef extern from "Python.h":
    void PyObject_GC_Track(PyObject *o)
    void PyObject_GC_UnTrack(PyObject *o)

cdef enum:
    BETWEEN_SIGNALS = 1 << 20   # tokens


cdef inline Py_ssize_t count_characters(const uint8_t *text, Py_ssize_t size) noexcept nogil:
    """How many characters begin in some bytes."""
    cdef Py_ssize_t i, n = 0
    for i in range(size):
        n += text[i] & 0xC0 != 0x80
    return n


cdef inline Py_ssize_t token_size(const DecodeTable *table, uint32_t token_id) noexcept nogil:
    """How many bytes of text a token has."""
    cdef const DecodeSlot *slot = table.slots + token_id
    cdef uint32_t size
    if table.marked != NULL and token_id < table.marked.n_ids and table.marked.indices[token_id] != NONE:
        return text_size(table.marked, table.marked.indices[token_id])
    if slot.size != FAR:
        return slot.size
    memcpy(&size, slot.bytes + 8, sizeof(size))
    return size


cdef void locate_ids(
    const DecodeTable *table,
    const Jumps *jumps,
    const uint8_t *text,
    const uint32_t *ids,
    Py_ssize_t stop,
    Location *location,
    int64_t *spans,
) noexcept nogil:
    cdef Py_ssize_t i, size, place = location.place, n = location.characters
    cdef const Jump *jump = jumps.items + location.n_jumps
    cdef const Jump *last = jumps.items + jumps.n
    for i in range(location.n_ids, stop):
        while jump < last and jump.start == place and not jump.special:
            if jump.stop > place:
                n += count_characters(text + place, jump.stop - place)
            else:
                n -= count_characters(text + jump.stop, place - jump.stop)
            place = jump.stop
            jump += 1
        if jump < last and jump.start == place:
            size = jump.stop - place
            jump += 1
        else:
            size = token_size(table, ids[i])
        spans[2 * i] = n - (text[place] & 0xC0 == 0x80)
        n += count_characters(text + place, size)
        spans[2 * i + 1] = n
        place += size
    location.n_ids = stop
    location.n_jumps = jump - jumps.items
    location.place = place
    location.characters = n


cdef int undo_joining(str text, str encodable, int64_t *spans, Py_ssize_t n) except -1:
    cdef Py_ssize_t i, at = 0, size = len(text), n_characters = len(encodable)
    cdef Py_ssize_t *places = <Py_ssize_t *>malloc((n_characters + 1) * sizeof(Py_ssize_t))
    if places == NULL:
        raise MemoryError
    for i in range(n_characters):
        places[i] = at
        if (
            0xD800 <= PyUnicode_READ_CHAR(text, at) < 0xDC00
            and at + 1 < size
            and 0xDC00 <= PyUnicode_READ_CHAR(text, at + 1) < 0xE000
        ):
            at += 1
        at += 1
    places[n_characters] = size
    for i in range(2 * n):
        spans[i] = places[spans[i]]
    free(places)
    return 0


cdef list to_tuples(const int64_t *spans, Py_ssize_t n):
    cdef Py_ssize_t i
    cdef list tuples = [None] * n
    cdef object start, end = 0
    # The garbage collector would go through millions of tuples of ints again and again while they are made.
    PyObject_GC_UnTrack(<PyObject *>tuples)
    for i in range(n):
        # The next token mostly begins where the last one ended.
        start = end if i and spans[2 * i] == spans[2 * i - 1] else spans[2 * i]
        end = spans[2 * i + 1]
        span = (start, end)
        PyObject_GC_UnTrack(<PyObject *>span)
        tuples[i] = span
        if i % BETWEEN_SIGNALS == 0:
            PyErr_CheckSignals()
    PyObject_GC_Track(<PyObject *>tuples)
    return tuples


def decode_with_offsets(Engine engine not None, ids):
    """The text of token ids, and for each id the number of the first character that its bytes touch."""
    refuse_no_sequence(ids)
    cdef tuple items = tuple(ids.tolist() if hasattr(ids, "tolist") else ids)
    cdef Py_ssize_t i, before, n_characters = 0
    cdef int status
    cdef bint within
    cdef list offsets = [None] * len(items)
    cdef ByteBuffer buffer
    buffer.bytes = NULL
    buffer.used = buffer.capacity = 0
    try:
        if not reserve_bytes(&buffer, 5 * len(items)):
            raise MemoryError
        for i in range(len(items)):
            if i % BETWEEN_SIGNALS == 0:
                PyErr_CheckSignals()
            before = buffer.used
            status = append_token(&engine.table, &buffer, cbpe_small_int(<PyObject *>items[i]))
            if status == 0:
                append_checked(engine, &buffer, items[i])
            elif status < 0:
                raise MemoryError
            within = buffer.bytes[before] & 0xC0 == 0x80
            offsets[i] = max(0, n_characters - within)
            n_characters += count_characters(buffer.bytes + before, buffer.used - before)
        return PyUnicode_DecodeUTF8(<const char *>buffer.bytes, buffer.used, "strict"), offsets
    finally:
        free(buffer.bytes)
