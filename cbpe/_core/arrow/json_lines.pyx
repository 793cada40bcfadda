"""The texts in a field of JSON Lines, as a column: they are read from the bytes of the lines, where a JSON library
would make an object of each.

A line is taken if it is an object of valid JSON, in UTF-8, with a text in the field, and written as nearly all are: no
key of it has an escape sequence, no text half of a surrogate pair, and nothing lies deeper than 64 levels. At any other
line reading stops: what is wrong with it, or in it, a JSON library tells. So no error is found here.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy

from cbpe._core.arrow.exported cimport ArrowColumn, new_column
from cbpe._core.c.instructions cimport choose_instructions
from cbpe._core.c.utf8 cimport cbpe_valid_size
from cbpe._core.text.json_text cimport (
    NO_CHARACTER, Cursor, after_space, escaped, plain_end, skip_valid, take, write_character
)

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cdef enum:
    FEWEST = 64                 # rows, or bytes, that there is room for

# What a line is.
cdef enum Line:
    A_TEXT
    BLANK
    ANOTHER
    OUT_OF_MEMORY


cdef Py_ssize_t unescape(Cursor *c, uint8_t *into) noexcept nogil:
    """Write the UTF-8 of a text, which takes no more bytes than it does, and go behind its last quote: its size, or -1
    where it is not valid. That it is UTF-8 is known. The cursor is behind its first quote."""
    cdef uint8_t *out = into
    cdef const uint8_t *stop
    cdef uint32_t character
    cdef int size
    while True:
        stop = plain_end(c.at, c.end)
        memcpy(out, c.at, stop - c.at)
        out += stop - c.at
        c.at = stop
        if c.at == c.end or c.at[0] < 0x20:
            return -1
        if c.at[0] == c'"':
            c.at += 1
            return out - into
        character = escaped(c.at, c.end - c.at, &size)
        if character == NO_CHARACTER:
            return -1
        out += write_character(character, out)
        c.at += size


@cython.final
cdef class FieldOfLines:
    """Texts, one after another. field: the name of theirs. For one thread at a time."""

    cdef bytes field
    cdef cbpe_valid_size valid_size
    cdef uint8_t *bytes
    cdef Py_ssize_t used, capacity      # bytes
    cdef Py_ssize_t usual               # what the last column had, and some more
    cdef int64_t *ends
    cdef Py_ssize_t n, most             # rows
    cdef Py_ssize_t n_lines
    cdef bytes lines                    # that are being read
    cdef Py_ssize_t valid               # bytes of them that are known to be UTF-8

    def __cinit__(self, str field not None):
        self.field = field.encode("utf-8", "surrogatepass")
        self.valid_size = choose_instructions(None).valid_size

    def __dealloc__(self):
        free(self.bytes)
        free(self.ends)

    @property
    def lines_read(self):
        """How many lines were read by now, but for those that were not taken."""
        return self.n_lines

    @property
    def n_bytes(self):
        """How much the texts have by now."""
        return self.used

    cdef bint make_room(self, Py_ssize_t size) noexcept nogil:
        """Have room for more bytes, and for one row more; False where there is no memory."""
        cdef Py_ssize_t capacity
        cdef void *grown
        if self.bytes == NULL or self.capacity - self.used < size:
            if size > PY_SSIZE_T_MAX // 2 - self.used:
                return False
            capacity = max(self.used + size, 2 * self.capacity, self.usual, <Py_ssize_t>FEWEST)
            grown = realloc(self.bytes, capacity)
            if grown == NULL:
                return False
            self.bytes, self.capacity = <uint8_t *>grown, capacity
        if self.n == self.most:
            if self.most > PY_SSIZE_T_MAX // 4 // <Py_ssize_t>sizeof(int64_t):
                return False
            capacity = max(2 * self.most, <Py_ssize_t>FEWEST)
            grown = realloc(self.ends, capacity * sizeof(int64_t))
            if grown == NULL:
                return False
            self.ends, self.most = <int64_t *>grown, capacity
        return True

    cdef void end_row(self, Py_ssize_t size) noexcept nogil:
        self.used += size
        self.ends[self.n] = self.used
        self.n += 1

    cdef Line read_line(self, Cursor *c, const uint8_t *key, Py_ssize_t key_size) noexcept nogil:
        """Read one line. Of a field that is there twice, the last text counts."""
        cdef Py_ssize_t size = -1
        cdef const uint8_t *start
        cdef bint is_field
        if after_space(c) == 0 and c.at == c.end:
            return BLANK
        if not take(c, c"{"):
            return ANOTHER
        while take(c, c'"'):
            start = c.at
            c.at = plain_end(c.at, c.end)
            if c.at == c.end or c.at[0] != c'"':
                return ANOTHER
            is_field = c.at - start == key_size and memcmp(start, key, key_size) == 0
            c.at += 1
            if not take(c, c":"):
                return ANOTHER
            if not is_field:
                if not skip_valid(c):
                    return ANOTHER
            elif not take(c, c'"'):
                return ANOTHER
            elif not self.make_room(c.end - c.at):
                return OUT_OF_MEMORY
            else:
                size = unescape(c, self.bytes + self.used)
                if size < 0:
                    return ANOTHER
            if take(c, c","):
                continue
            if not take(c, c"}") or size < 0:
                return ANOTHER
            after_space(c)
            if c.at < c.end:
                return ANOTHER
            self.end_row(size)
            return A_TEXT
        return ANOTHER

    cdef Line read_lines(
        self, const uint8_t *data, Py_ssize_t size, const uint8_t **at, const uint8_t *key, Py_ssize_t key_size
    ) noexcept nogil:
        """Read lines up to the end, or to one that is not taken, which `at` then points to."""
        cdef const uint8_t *end = data + size
        cdef const uint8_t *line_end
        cdef Cursor c
        cdef Line line
        while at[0] < end:
            line_end = <const uint8_t *>memchr(at[0], c"\n", end - at[0])
            if line_end == NULL:
                line_end = end
            if line_end > data + self.valid:
                # Behind what is no UTF-8 there may be more: it is looked for from this line on, if from none before.
                if self.valid < at[0] - data:
                    self.valid = at[0] - data + self.valid_size(at[0], end - at[0])
                if line_end > data + self.valid:
                    return ANOTHER
            c.at, c.end = at[0], line_end
            line = self.read_line(&c, key, key_size)
            if line != A_TEXT and line != BLANK:
                return line
            self.n_lines += 1
            at[0] = line_end + (line_end < end)
        return A_TEXT

    def read(self, bytes lines not None, Py_ssize_t start):
        """Read whole lines from there on: where reading stopped, which is the end, or the start of a line that is not
        taken."""
        cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(lines)
        cdef const uint8_t *at = data + start
        cdef const uint8_t *key = <const uint8_t *>PyBytes_AS_STRING(self.field)
        cdef Py_ssize_t size = PyBytes_GET_SIZE(lines), key_size = PyBytes_GET_SIZE(self.field)
        cdef Line line
        if not 0 <= start <= size:
            raise ValueError(f"{start} is no place in {size} bytes")
        if self.lines is not lines:
            self.lines, self.valid = lines, -1
        with nogil:
            line = self.read_lines(data, size, &at, key, key_size)
        if at == data + size:
            self.lines = None
        if line == OUT_OF_MEMORY:
            raise MemoryError
        return at - data

    def add(self, bytes text not None):
        """Add a text in UTF-8, as of a line that was not taken."""
        cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
        if not self.make_room(size):
            raise MemoryError
        memcpy(self.bytes + self.used, PyBytes_AS_STRING(text), size)
        self.end_row(size)

    def take(self):
        """The texts as an ArrowColumn, and none are left."""
        cdef ArrowColumn column = new_column(self.n)
        cdef void *values
        if not self.make_room(0):
            raise MemoryError
        column.kind = b"U" if column.put_ends(self.ends) else b"u"
        values = realloc(self.bytes, max(self.used, 1))
        column.take_values(values if values != NULL else self.bytes)
        self.bytes = NULL
        self.usual = self.used + (self.used >> 3)
        self.used = self.capacity = self.n = 0
        return column
