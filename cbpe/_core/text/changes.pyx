"""Changes to all of a text, character by character, as normalizers make them: lower case, and one space for each run of
white space."""

from cpython.unicode cimport PyUnicode_GET_LENGTH
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    str PyUnicode_FromKindAndData(int kind, const void *data, Py_ssize_t size)

ctypedef fused Character:
    uint8_t
    uint16_t
    uint32_t


cdef bint put_lowercase(
    const Character *text, Py_ssize_t size, Character *out, const uint32_t *table, uint32_t n_known
) noexcept nogil:
    """Write a text in lower case, one character for each; False where one has no such form."""
    cdef Py_ssize_t i
    cdef uint32_t lower
    for i in range(size):
        if <uint32_t>text[i] >= n_known:
            out[i] = text[i]
            continue
        lower = table[text[i]]
        if lower == 0 and text[i] != 0:
            return False
        out[i] = <Character>lower
    return True


def lowercase(str text not None, bytes table not None):
    """A text with each character replaced by its lower case, or None where one has several. table: uint32 for each
    character up to some, whose lower case takes no more bytes than itself; 0 for one with several."""
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef const void *data = PyUnicode_DATA(text)
    cdef const uint32_t *lower = <const uint32_t *><const char *>table
    cdef uint32_t n_known = <uint32_t>(len(table) // sizeof(uint32_t))
    cdef bint done
    cdef void *out = malloc(<size_t>size * kind + 1)
    if out == NULL:
        raise MemoryError
    try:
        with nogil:
            if kind == 1:
                done = put_lowercase[uint8_t](<const uint8_t *>data, size, <uint8_t *>out, lower, n_known)
            elif kind == 2:
                done = put_lowercase[uint16_t](<const uint16_t *>data, size, <uint16_t *>out, lower, n_known)
            else:
                done = put_lowercase[uint32_t](<const uint32_t *>data, size, <uint32_t *>out, lower, n_known)
        return PyUnicode_FromKindAndData(kind, out, size) if done else None
    finally:
        free(out)


cdef inline bint is_space(uint32_t character) noexcept nogil:
    """Whether a character is White_Space to Unicode."""
    if character <= 0x20:
        return character == 0x20 or 9 <= character <= 13
    if character < 0x1680:
        return character == 0x85 or character == 0xA0
    return (
        0x2000 <= character <= 0x200A
        or character in (0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
    )


cdef Py_ssize_t put_single_spaces(const Character *text, Py_ssize_t size, Character *out) noexcept nogil:
    """Write a text with one space for each run of white space. Returns its size."""
    cdef Py_ssize_t i, n = 0
    cdef bint before = False, space
    for i in range(size):
        space = is_space(text[i])
        out[n] = 0x20 if space else text[i]
        n += not (space and before)
        before = space
    return n


cdef Py_ssize_t first_change(const Character *text, Py_ssize_t size) noexcept nogil:
    """Where a text first has white space that is no single space; its size if nowhere."""
    cdef Py_ssize_t i
    for i in range(size):
        if is_space(text[i]) and (text[i] != 0x20 or i + 1 < size and is_space(text[i + 1])):
            return i
    return size


def with_single_spaces(str text not None):
    """A text with one space for each run of white space."""
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(text), n
    cdef int kind = PyUnicode_KIND(text)
    cdef const void *data = PyUnicode_DATA(text)
    cdef void *out
    with nogil:
        if kind == 1:
            n = first_change[uint8_t](<const uint8_t *>data, size)
        elif kind == 2:
            n = first_change[uint16_t](<const uint16_t *>data, size)
        else:
            n = first_change[uint32_t](<const uint32_t *>data, size)
    if n == size:
        return text
    out = malloc(<size_t>size * kind + 1)
    if out == NULL:
        raise MemoryError
    try:
        with nogil:
            if kind == 1:
                n = put_single_spaces[uint8_t](<const uint8_t *>data, size, <uint8_t *>out)
            elif kind == 2:
                n = put_single_spaces[uint16_t](<const uint16_t *>data, size, <uint16_t *>out)
            else:
                n = put_single_spaces[uint32_t](<const uint32_t *>data, size, <uint32_t *>out)
        return PyUnicode_FromKindAndData(kind, out, n)
    finally:
        free(out)
