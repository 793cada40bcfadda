"""The UTF-8 form of a text: Python's own, where it has one, or ours for the time of a call.

Python keeps the UTF-8 form of a str that is not ASCII as long as the str itself, and makes it slowly. That is of use
for a text that is encoded again and again, and a waste for all others.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_FromObject, PyUnicode_READ_CHAR
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from cbpe._core.c.allocation cimport cbpe_want_large_pages
from cbpe._core.c.atomics cimport cbpe_atomic_swap
from cbpe._core.c.instructions cimport Instructions, choose_instructions
from cbpe._core.c.utf8 cimport CBPE_UTF8_SLACK

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX
    bint PyUnicode_IS_ASCII(object text)
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)

cdef enum:
    LONG_TEXT = 4096            # characters that are worth a conversion of our own
    WITHOUT_GIL = 1 << 16       # characters for which others may run meanwhile
    PART = 1 << 20              # characters in which lone surrogates are replaced at once


cdef str exact_text(text):
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    return PyUnicode_FromObject(text)       # an exact str of a subclass, such as numpy's


cdef bytes exact_bytes(data):
    if type(data) is bytes:
        return data
    if not isinstance(data, bytes):
        raise TypeError(f"what should be bytes is {type(data).__name__}")
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef str encodable(text):
    text = exact_text(text)
    try:
        PyUnicode_AsUTF8AndSize(text, NULL)
    except UnicodeEncodeError:
        return without_surrogates(text)
    return text


cdef str without_surrogates(str text):
    """The text with the halves of characters joined and lone ones replaced; a part at a time, for there are signals to
    look at."""
    cdef Py_ssize_t start = 0, stop
    cdef list parts = []
    while start < len(text):
        stop = min(start + PART, <Py_ssize_t>len(text))
        while stop < len(text) and 0xD800 <= PyUnicode_READ_CHAR(text, stop - 1) < 0xDC00:
            stop += 1           # the two halves of a character stay together
        parts.append(text[start:stop].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
        start = stop
        PyErr_CheckSignals()
    return "".join(parts)


cdef Utf8 utf8_of(str text) except *:
    cdef Utf8 utf8
    utf8.bytes = <const uint8_t *>PyUnicode_AsUTF8AndSize(text, &utf8.size)
    utf8.owned = NULL
    return utf8


cdef bint convert(str text, cbpe_write_utf8 write, Utf8 *utf8, Py_ssize_t n_spaces=0) except -1:
    """Make the UTF-8 form of a text that is not ASCII, with spaces before it; False, and nothing is made, where there
    is a lone surrogate."""
    cdef Py_ssize_t n = len(text), size
    cdef int width = PyUnicode_KIND(text)
    cdef const void *characters = <const void *>PyUnicode_DATA(text)
    # No character takes more bytes than this; memory is taken for those alone that are written.
    cdef Py_ssize_t most = 2 if width == 1 else 3 if width == 2 else 4
    cdef uint8_t *out = NULL
    cdef uint8_t *shrunk
    if n <= (PY_SSIZE_T_MAX - n_spaces - CBPE_UTF8_SLACK) // most:
        most = n * most + n_spaces + CBPE_UTF8_SLACK
        out = <uint8_t *>malloc(most)
    if out == NULL:
        raise MemoryError("no memory for the UTF-8 form of this text")
    cbpe_want_large_pages(out, most)
    memset(out, c" ", n_spaces)
    if n < WITHOUT_GIL:
        size = write(characters, width, n, out + n_spaces)
    else:
        with nogil:
            size = write(characters, width, n, out + n_spaces)
    if size < 0:
        free(out)
        return False
    size += n_spaces
    shrunk = <uint8_t *>realloc(out, max(size, 1))
    utf8.owned = shrunk if shrunk != NULL else out
    utf8.bytes = utf8.owned
    utf8.size = size
    return True


cdef str read_utf8(text, cbpe_write_utf8 write, void **last, Utf8 *utf8):
    cdef str exact
    if type(text) is str and PyUnicode_IS_ASCII(text):
        utf8.bytes = <const uint8_t *>PyUnicode_DATA(text)
        utf8.size = len(<str>text)
        utf8.owned = NULL
        return <str>text
    exact = exact_text(text)
    if (
        len(exact) >= LONG_TEXT
        and not PyUnicode_IS_ASCII(exact)    # which an instance of a subclass may be
        and cbpe_atomic_swap(last, <void *>exact) != <void *>exact
        and convert(exact, write, utf8)
    ):
        return exact
    exact = encodable(exact)
    utf8[0] = utf8_of(exact)
    return exact


@cython.final
cdef class Utf8Texts:
    def __cinit__(self):
        self.owners = []

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n):
            free(self.forms[i].owned)
        free(self.forms)

    cdef int take_room(self, Py_ssize_t n) except -1:
        if n <= PY_SSIZE_T_MAX // <Py_ssize_t>sizeof(Utf8) - 1:
            self.forms = <Utf8 *>calloc(n + 1, sizeof(Utf8))
        if self.forms == NULL:
            raise MemoryError(f"no memory for the places of {n} texts")
        self.capacity = n
        return 0


cdef Utf8Texts read_texts(texts, cbpe_write_utf8 write, void **last):
    cdef Utf8Texts result = Utf8Texts()
    cdef Py_ssize_t i
    result.owners = list(texts)
    result.take_room(len(result.owners))
    for i in range(result.capacity):
        result.owners[i] = read_utf8(result.owners[i], write, last, &result.forms[i])
        result.n += 1
        result.n_bytes += result.forms[i].size
        PyErr_CheckSignals()
    return result


ctypedef fused Character:
    uint8_t
    uint16_t
    uint32_t


cdef Py_ssize_t bytes_of(const Character *text, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t i, n = end - start
    for i in range(start, end):
        n += (text[i] >= 0x80) + (<uint32_t>text[i] >= 0x800) + (<uint32_t>text[i] >= 0x10000)
    return n


cdef Py_ssize_t size_of_part(int kind, const void *data, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    if kind == 1:
        return bytes_of[uint8_t](<const uint8_t *>data, start, end)
    if kind == 2:
        return bytes_of[uint16_t](<const uint16_t *>data, start, end)
    return bytes_of[uint32_t](<const uint32_t *>data, start, end)


cdef Utf8Texts read_parts(str text, list spans, cbpe_write_utf8 write, void **last):
    cdef Utf8Texts result = Utf8Texts()
    cdef Py_ssize_t i, start, end, first, place = 0, byte = 0
    cdef Utf8 whole
    cdef Utf8 *form
    cdef str covered
    result.take_room(len(spans))
    if not spans:
        return result
    first, end = spans[0]
    if first < 0:
        raise IndexError("part 0 is not within the text")
    start, end = spans[len(spans) - 1]
    covered = text[first:end]
    result.owners.append(read_utf8(covered, write, last, &whole))
    result.forms[0].owned = whole.owned  # which it frees with the rest
    result.n = 1
    if result.owners[0] is not covered:
        raise ValueError("a text with surrogates is not read in parts")
    for i in range(result.capacity):
        start, end = spans[i]
        start, end = start - first, end - first
        if not place <= start <= end <= len(covered):
            raise IndexError(f"part {i} is not behind the one before it, or not within the text")
        byte += size_of_part(PyUnicode_KIND(covered), PyUnicode_DATA(covered), place, start)
        place = start
        form = &result.forms[i]
        form.bytes = whole.bytes + byte
        form.size = size_of_part(PyUnicode_KIND(covered), PyUnicode_DATA(covered), start, end)
        result.n = i + 1
        result.n_bytes += form.size
    return result


cdef bint read_after_space(str text, cbpe_write_utf8 write, Utf8 *utf8) except -1:
    if not PyUnicode_IS_ASCII(text):
        return convert(text, write, utf8, 1)
    utf8.size = len(text) + 1
    utf8.owned = <uint8_t *>malloc(utf8.size)
    if utf8.owned == NULL:
        raise MemoryError("no memory for the UTF-8 form of this text")
    utf8.owned[0] = c" "
    memcpy(utf8.owned + 1, PyUnicode_DATA(text), utf8.size - 1)
    utf8.bytes = utf8.owned
    return True


cdef bint any_half(const Character *text, Py_ssize_t size) noexcept nogil:
    cdef uint32_t found = 0
    cdef Py_ssize_t i
    for i in range(size):
        found |= text[i] >> 11 == 0x1B
    return found != 0


def holds_surrogates(str text not None):
    """Whether a text holds halves of surrogate pairs, which UTF-8 does not."""
    cdef int kind = PyUnicode_KIND(text)
    if kind == 1:
        return False
    if kind == 2:
        return any_half[uint16_t](<const uint16_t *>PyUnicode_DATA(text), len(text))
    return any_half[uint32_t](<const uint32_t *>PyUnicode_DATA(text), len(text))


def to_utf8(str text not None, str instructions not None):
    """The UTF-8 form of a text as we make it, with the instructions of this name (see instruction_sets); None if it has
    a lone surrogate. For tests."""
    cdef Utf8 utf8
    if not convert(text, choose_instructions(instructions).write_utf8, &utf8):
        return None
    try:
        return (<const char *>utf8.bytes)[:utf8.size]
    finally:
        free(utf8.owned)


def count_valid(bytes text not None, str instructions=None):
    """How many bytes are whole characters of UTF-8, up to the first that is part of none. `instructions` as in
    Splitter, which change nothing."""
    cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(text)
    cdef Py_ssize_t n = len(text)
    cdef Instructions chosen = choose_instructions(instructions)
    with nogil:
        n = chosen.valid_size(data, n)
    return n


def utf8(str text not None):
    """The bytes of a text. As with tiktoken, a lone surrogate is U+FFFD, and a pair of them is its character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
