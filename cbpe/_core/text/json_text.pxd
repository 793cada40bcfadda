"""What other compiled modules may use of reading JSON in the bytes of a file. A reader gives up where it finds what it
does not take: what that is, a JSON library tells."""

from libc.stdint cimport uint8_t, uint32_t


cdef enum:
    NO_CHARACTER = 0x110000

# A place in JSON.
cdef struct Cursor:
    const uint8_t *at
    const uint8_t *end


cdef inline uint8_t after_space(Cursor *c) noexcept nogil:
    """The next byte that is no white space, where the cursor then is; 0 at the end."""
    while c.at < c.end and (c.at[0] == c" " or c.at[0] == c"\n" or c.at[0] == c"\r" or c.at[0] == c"\t"):
        c.at += 1
    return c.at[0] if c.at < c.end else 0


cdef inline bint take(Cursor *c, uint8_t expected) noexcept nogil:
    """Whether this byte is next, behind white space. The cursor is behind it then."""
    if after_space(c) != expected:
        return False
    c.at += 1
    return True


cdef inline int write_character(uint32_t character, uint8_t *into) noexcept nogil:
    """Write the UTF-8 of a character: its size."""
    if character < 0x80:
        into[0] = <uint8_t>character
        return 1
    if character < 0x800:
        into[0] = <uint8_t>(0xC0 | character >> 6)
        into[1] = <uint8_t>(0x80 | character & 0x3F)
        return 2
    if character < 0x10000:
        into[0] = <uint8_t>(0xE0 | character >> 12)
        into[1] = <uint8_t>(0x80 | character >> 6 & 0x3F)
        into[2] = <uint8_t>(0x80 | character & 0x3F)
        return 3
    into[0] = <uint8_t>(0xF0 | character >> 18)
    into[1] = <uint8_t>(0x80 | character >> 12 & 0x3F)
    into[2] = <uint8_t>(0x80 | character >> 6 & 0x3F)
    into[3] = <uint8_t>(0x80 | character & 0x3F)
    return 4


# The character of an escape sequence, and the sequence's size; NO_CHARACTER where there is none, or half of a pair.
cdef uint32_t escaped(const uint8_t *p, Py_ssize_t left, int *size) noexcept nogil

# The first byte of a text that is not as it stands: a quote, a backslash or a control character; or the end.
cdef const uint8_t *plain_end(const uint8_t *p, const uint8_t *end) noexcept nogil

# Go behind any value, if there is a valid one; but for its UTF-8.
cdef bint skip_valid(Cursor *c) noexcept nogil
