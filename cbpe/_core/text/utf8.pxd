"""UTF-8: reading its characters, and the UTF-8 form of a text, which is Python's own where it has one, or ours for the
time of a call."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

from cbpe._core.c.utf8 cimport cbpe_write_utf8


cdef enum:
    # Stands for a byte that is not part of valid UTF-8, so that reading stays inside of the text and of tables by
    # code point, whatever the bytes are.
    REPLACEMENT_CHARACTER = 0xFFFD


cdef inline int character_size(uint8_t lead) noexcept nogil:
    """The bytes of the character that begins with this byte; 0 if none does. (C0, C1 and what is above F4 begin none
    either, and are taken for a character's first byte all the same.)"""
    return 1 if lead < 0x80 else 0 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


cdef inline uint32_t read_character(const uint8_t *text, Py_ssize_t left, int *size) noexcept nogil:
    """The character that begins at text[0], and its size: from one to `left` bytes, whatever they are."""
    cdef uint32_t lead = text[0]
    if lead < 0xE0:
        if lead >= 0xC0 and left >= 2:
            size[0] = 2
            return (lead & 0x1F) << 6 | (text[1] & 0x3F)
    elif lead < 0xF0:
        if left >= 3:
            size[0] = 3
            return (lead & 0x0F) << 12 | (text[1] & 0x3F) << 6 | (text[2] & 0x3F)
    elif left >= 4:
        size[0] = 4
        return (lead & 0x07) << 18 | (text[1] & 0x3F) << 12 | (text[2] & 0x3F) << 6 | (text[3] & 0x3F)
    size[0] = 1
    return lead if lead < 0x80 else REPLACEMENT_CHARACTER


cdef inline bint is_of_three(uint8_t lead) noexcept nogil:
    return lead & 0xF0 == 0xE0


cdef inline uint32_t three_bytes(const uint8_t *text) noexcept nogil:
    """The character that text begins with, which is of three bytes."""
    return (text[0] & <uint32_t>0x0F) << 12 | (text[1] & <uint32_t>0x3F) << 6 | (text[2] & <uint32_t>0x3F)


cdef inline Py_ssize_t character_start(const uint8_t *text, Py_ssize_t size, Py_ssize_t at) noexcept nogil:
    """The start of the character that text[at] is in; `size` for a place after the text."""
    if at >= size:
        return size
    while at > 0 and text[at] & 0xC0 == 0x80:
        at -= 1
    return at


cdef struct Utf8:
    const uint8_t *bytes
    Py_ssize_t size
    uint8_t *owned          # to be freed; NULL if the bytes belong to the str


# The UTF-8 forms of several texts, which it frees as far as they are owned. The rest belongs to `owners`, which it
# keeps.
cdef class Utf8Texts:
    cdef Utf8 *forms
    cdef Py_ssize_t n
    cdef Py_ssize_t capacity
    cdef Py_ssize_t n_bytes     # of all texts
    cdef list owners

    # Take room for n texts, of which there are none yet.
    cdef int take_room(self, Py_ssize_t n) except -1

# A str, or what a str or bytes of a subclass holds, whatever the methods of that class do. TypeError for anything else.
cdef str exact_text(text)
cdef bytes exact_bytes(data)

# The text itself, as an exact str; with every lone surrogate replaced, as tiktoken does, if UTF-8 cannot hold it. Its
# UTF-8 form then belongs to it. TypeError for what is no str.
cdef str encodable(text)

# The UTF-8 form that belongs to a text that is encodable.
cdef Utf8 utf8_of(str text) except *

# An encodable text and its UTF-8 form, which is the caller's if it is `owned`: a long text that is not ASCII is
# converted faster by ours, and keeps nothing. `last` is where the last such text is noted; one that comes twice keeps
# its UTF-8 form, as Python has it.
cdef str read_utf8(text, cbpe_write_utf8 write, void **last, Utf8 *utf8)

# The same for every text of an iterable.
cdef Utf8Texts read_texts(texts, cbpe_write_utf8 write, void **last)

# How many bytes the characters from start to end of a text have in UTF-8: those of the str, by its kind (1, 2 or 4
# bytes a character).
cdef Py_ssize_t size_of_part(int kind, const void *data, Py_ssize_t start, Py_ssize_t end) noexcept nogil

# The same for parts of one text, [(start, end)] in characters, which begin one after another. The text is without
# surrogates.
cdef Utf8Texts read_parts(str text, list spans, cbpe_write_utf8 write, void **last)

# The UTF-8 form of a space and a text after it, which the caller frees; False, and nothing is made, where the text has
# a lone surrogate.
cdef bint read_after_space(str text, cbpe_write_utf8 write, Utf8 *utf8) except -1
