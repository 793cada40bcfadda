"""Reading JSON in the bytes of a file: characters that are escaped, the ends of texts, and values that are passed
over."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from cbpe._core.c.bits cimport cbpe_lowest_bit
from cbpe._core.c.loads cimport cbpe_load64

cdef enum:
    DEEPEST = 64                # levels of a value that is passed over: a bit for each


cdef uint32_t four_digits(const uint8_t *p, Py_ssize_t left) noexcept nogil:
    """The number that four hexadecimal digits write, or NO_CHARACTER."""
    cdef uint32_t number = 0
    cdef uint8_t digit
    cdef int i
    if left < 4:
        return NO_CHARACTER
    for i in range(4):
        digit = p[i] | 0x20
        if c"0" <= p[i] <= c"9":
            number = number << 4 | <uint32_t>(p[i] - c"0")
        elif c"a" <= digit <= c"f":
            number = number << 4 | <uint32_t>(digit - c"a" + 10)
        else:
            return NO_CHARACTER
    return number


cdef uint32_t escaped(const uint8_t *p, Py_ssize_t left, int *size) noexcept nogil:
    cdef uint32_t first, second
    size[0] = 2
    if left < 2:
        return NO_CHARACTER
    if p[1] == c'"' or p[1] == c"\\" or p[1] == c"/":
        return p[1]
    if p[1] == c"b":
        return 8
    if p[1] == c"f":
        return 12
    if p[1] == c"n":
        return 10
    if p[1] == c"r":
        return 13
    if p[1] == c"t":
        return 9
    if p[1] != c"u":
        return NO_CHARACTER
    size[0] = 6
    first = four_digits(p + 2, left - 2)
    if not 0xD800 <= first < 0xE000:
        return first
    size[0] = 12
    if first >= 0xDC00 or left < 12 or p[6] != c"\\" or p[7] != c"u":
        return NO_CHARACTER
    second = four_digits(p + 8, left - 8)
    if not 0xDC00 <= second < 0xE000:
        return NO_CHARACTER
    return 0x10000 + ((first - 0xD800) << 10 | (second - 0xDC00))


cdef inline uint64_t zero_bytes(uint64_t word) noexcept nogil:
    """The high bit of each byte that is 0, up to the first of them; of those after it, nothing is known."""
    return (word - <uint64_t>0x0101010101010101) & ~word & <uint64_t>0x8080808080808080


cdef const uint8_t *plain_end(const uint8_t *p, const uint8_t *end) noexcept nogil:
    cdef uint64_t word, found
    while end - p >= 8:
        word = cbpe_load64(p)
        # A quote is 0x22, a backslash 0x5C, and of control characters the three highest bits are 0.
        found = (
            zero_bytes(word ^ <uint64_t>0x2222222222222222)
            | zero_bytes(word ^ <uint64_t>0x5C5C5C5C5C5C5C5C)
            | zero_bytes(word & <uint64_t>0xE0E0E0E0E0E0E0E0)
        )
        if found:
            return p + (cbpe_lowest_bit(found) >> 3)
        p += 8
    while p < end and p[0] >= 0x20 and p[0] != c'"' and p[0] != c"\\":
        p += 1
    return p


cdef bint skip_text(Cursor *c) noexcept nogil:
    """Go behind the last quote of a text, of which the cursor is behind the first."""
    cdef int size
    while True:
        c.at = plain_end(c.at, c.end)
        if c.at == c.end or c.at[0] < 0x20:
            return False
        if c.at[0] == c'"':
            c.at += 1
            return True
        if escaped(c.at, c.end - c.at, &size) == NO_CHARACTER:
            return False
        c.at += size


cdef inline bint skip_digits(Cursor *c) noexcept nogil:
    """Go behind one digit or more."""
    cdef const uint8_t *start = c.at
    while c.at < c.end and c"0" <= c.at[0] <= c"9":
        c.at += 1
    return c.at > start


cdef bint skip_number(Cursor *c) noexcept nogil:
    cdef const uint8_t *start
    if c.at < c.end and c.at[0] == c"-":
        c.at += 1
    start = c.at
    if not skip_digits(c) or (start[0] == c"0" and c.at - start > 1):
        return False
    if c.at < c.end and c.at[0] == c".":
        c.at += 1
        if not skip_digits(c):
            return False
    if c.at < c.end and c.at[0] | 0x20 == c"e":
        c.at += 1
        if c.at < c.end and (c.at[0] == c"+" or c.at[0] == c"-"):
            c.at += 1
        return skip_digits(c)
    return True


cdef bint skip_word(Cursor *c, const char *word, Py_ssize_t size) noexcept nogil:
    if c.end - c.at < size or memcmp(c.at, word, size):
        return False
    c.at += size
    return True


cdef bint skip_simple(Cursor *c, uint8_t first) noexcept nogil:
    """Go behind a value that is no object and no array, and begins with this byte."""
    if first == c'"':
        c.at += 1
        return skip_text(c)
    if first == c"t":
        return skip_word(c, b"true", 4)
    if first == c"f":
        return skip_word(c, b"false", 5)
    if first == c"n":
        return skip_word(c, b"null", 4)
    return skip_number(c)


cdef inline bint skip_key(Cursor *c) noexcept nogil:
    return take(c, c'"') and skip_text(c) and take(c, c":")


cdef bint skip_valid(Cursor *c) noexcept nogil:
    cdef uint64_t objects = 0           # bit i: whether the level that is i further out is an object; else an array
    cdef int depth = 0
    cdef uint8_t first
    while True:
        first = after_space(c)
        if first == c"{" or first == c"[":
            c.at += 1
            if not take(c, c"}" if first == c"{" else c"]"):
                if depth == DEEPEST or (first == c"{" and not skip_key(c)):
                    return False
                depth += 1
                objects = objects << 1 | <uint64_t>(first == c"{")
                continue
        elif not skip_simple(c, first):
            return False
        while depth > 0 and not take(c, c","):          # after a value: as many levels end as do
            if not take(c, c"}" if objects & 1 else c"]"):
                return False
            depth -= 1
            objects >>= 1
        if depth == 0:
            return True
        if objects & 1 and not skip_key(c):
            return False
