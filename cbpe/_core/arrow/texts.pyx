"""A column of texts that another library lent: where the UTF-8 of each row is, nothing of which is copied.

Offsets have to rise, views to lie within their buffers, and each row that is not null to be UTF-8. How long the buffer
is that offsets point to, Arrow's structs do not say.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from cbpe._core.arrow.imported cimport import_column, integer_at, is_there, type_name
from cbpe._core.arrow.interface cimport ArrowArray
from cbpe._core.c.instructions cimport choose_instructions
from cbpe._core.c.utf8 cimport cbpe_valid_size
from cbpe._core.text.utf8 cimport Utf8

cdef enum:
    INLINE = 12                 # bytes of a text that stand in its view
    VIEW = 16                   # bytes of a view
    BETWEEN_SIGNALS = 1 << 24   # bytes, with some for each row
    A_ROW = 16

# How a type says where its texts are.
cdef enum Layout:
    SMALL
    LARGE
    VIEWS

# What is wrong with a row.
cdef enum Fault:
    FINE
    OFFSETS
    PLACE
    ENCODING

cdef const uint8_t *NOTHING = b""

LAYOUTS = {b"u": SMALL, b"U": LARGE, b"vu": VIEWS}
INDICES = frozenset((b"c", b"C", b"s", b"S", b"i", b"I", b"l", b"L"))


cdef int64_t first_that_falls(const Chunk *chunk, char kind) noexcept nogil:
    """The first row whose offsets are negative or fall; the number of rows where none do."""
    cdef int64_t row, start, stop
    if chunk.length == 0:
        return 0
    start = integer_at(chunk.array.buffers[1], kind, chunk.start)
    if start < 0:
        return 0
    for row in range(chunk.length):
        stop = integer_at(chunk.array.buffers[1], kind, chunk.start + row + 1)
        if stop < start:
            return row
        start = stop
    return chunk.length


cdef Fault read_by_offsets(const Chunk *chunk, char kind, int64_t row, Utf8 *text) noexcept nogil:
    cdef int64_t at = chunk.start + row
    cdef int64_t start = integer_at(chunk.array.buffers[1], kind, at)
    cdef int64_t stop = integer_at(chunk.array.buffers[1], kind, at + 1)
    if not is_there(chunk.array.buffers[0], at):
        text.bytes = NULL
    elif stop > start:
        if chunk.array.buffers[2] == NULL:
            return PLACE
        text.bytes = <const uint8_t *>chunk.array.buffers[2] + start
        text.size = stop - start
    return FINE


cdef Fault read_view(const Chunk *chunk, int64_t row, Utf8 *text) noexcept nogil:
    cdef const ArrowArray *array = chunk.array
    cdef const void *sizes = array.buffers[array.n_buffers - 1]
    cdef int64_t at = chunk.start + row
    cdef const uint8_t *view = <const uint8_t *>array.buffers[1] + at * VIEW
    cdef int32_t parts[4]       # the size, four bytes of the text, the buffer, the place in it
    if not is_there(array.buffers[0], at):
        text.bytes = NULL
        return FINE
    memcpy(parts, view, VIEW)
    if parts[0] < 0:
        return OFFSETS
    text.size = parts[0]
    if parts[0] <= INLINE:
        text.bytes = view + 4
        return FINE
    if parts[2] < 0 or parts[2] >= array.n_buffers - 3 or sizes == NULL or array.buffers[2 + parts[2]] == NULL:
        return PLACE
    if parts[3] < 0 or <int64_t>parts[3] + parts[0] > integer_at(sizes, c"l", parts[2]):
        return PLACE
    text.bytes = <const uint8_t *>array.buffers[2 + parts[2]] + parts[3]
    return FINE


cdef Fault read_rows(
    const Chunk *chunk, Layout layout, cbpe_valid_size valid_size, int64_t *row, Utf8 *texts
) noexcept nogil:
    """Read rows from number row[0] on, some megabytes of them, and move it to the first that is not read."""
    cdef Py_ssize_t n_bytes = 0
    cdef Utf8 *text
    cdef Fault fault = FINE
    while row[0] < chunk.length and n_bytes < BETWEEN_SIGNALS:
        text = texts + row[0]
        text.bytes = NOTHING
        if layout == VIEWS:
            fault = read_view(chunk, row[0], text)
        else:
            fault = read_by_offsets(chunk, c"l" if layout == LARGE else c"i", row[0], text)
        if fault == FINE and valid_size(text.bytes, text.size) < text.size:
            fault = ENCODING
        if fault != FINE:
            break
        n_bytes += text.size + A_ROW
        row[0] += 1
    return fault


cdef int refuse(Fault fault, const Utf8 *text, cbpe_valid_size valid_size, str row) except -1:
    cdef Py_ssize_t at
    if fault == ENCODING:
        at = valid_size(text.bytes, text.size)
        raise ValueError(
            f"{row} of the column is no UTF-8: byte {at} of it is 0x{text.bytes[at]:02x}. Arrow's texts are UTF-8; "
            "decode the bytes as what they are before the column is made"
        )
    if fault == OFFSETS:
        raise ValueError(f"{row} of the column has a negative size or place: the Arrow array is damaged")
    raise ValueError(f"{row} of the column lies outside of its buffers: the Arrow array is damaged")


cdef int read_texts_of(
    ImportedColumn column, const Chunk *chunk, Layout layout, cbpe_valid_size valid_size, Utf8Texts texts, str name
) except -1:
    """Read all rows of a chunk; `name` is what a row is called."""
    cdef const ArrowArray *array = chunk.array
    cdef int64_t row = 0, wrong
    cdef char kind = c"l" if layout == LARGE else c"i"
    cdef Fault fault
    cdef Utf8 *first = texts.forms + texts.n
    column.check_parts(array, max(array.n_buffers, 3) if layout == VIEWS else 3, 0)
    if chunk.length > 0 and array.buffers[1] == NULL:
        raise ValueError("an array of the Arrow column has rows and does not say where their texts are")
    if layout != VIEWS:
        with nogil:
            wrong = first_that_falls(chunk, kind)   # before anything is read from where they point
        if wrong < chunk.length:
            refuse(OFFSETS, NULL, valid_size, f"{name} {texts.n + wrong}")
    while row < chunk.length:
        with nogil:
            fault = read_rows(chunk, layout, valid_size, &row, first)
        if fault != FINE:
            refuse(fault, first + row, valid_size, f"{name} {texts.n + row}")
        PyErr_CheckSignals()
    texts.n += chunk.length
    return 0


cdef Layout layout_of(bytes kind) except *:
    """How texts of a type stand in memory. TypeError for a type that has no texts."""
    if kind not in LAYOUTS:
        raise TypeError(f"the column is {type_name(kind)}, and holds no texts: cast it to texts (utf8) to encode it")
    return <Layout><int>LAYOUTS[kind]


@cython.final
cdef class TextColumn:
    def __dealloc__(self):
        free(self.validity)

    def __len__(self):
        return self.texts.n

    cdef int read_chunk(self, ImportedColumn column, const Chunk *chunk, const ArrowSchema *schema) except -1:
        cdef bytes kind = schema.format
        cdef Utf8Texts values
        cdef Chunk entries
        if schema.dictionary != NULL:
            if chunk.array.dictionary == NULL or schema.dictionary.format == NULL or kind not in INDICES:
                raise ValueError("the Arrow column is of a dictionary, and an array has none")
            entries = column.whole(chunk.array.dictionary)
            values = Utf8Texts()
            values.take_room(entries.length)
            kind = schema.dictionary.format
            read_texts_of(column, &entries, layout_of(kind), self.valid_size, values, "entry")
            return pick_entries(column, chunk, schema.format[0], values, self.texts)
        if kind == b"n":
            self.texts.n += chunk.length        # of which none is there
            return 0
        return read_texts_of(column, chunk, layout_of(kind), self.valid_size, self.texts, "row")

    cdef int note_nulls(self) except -1:
        """Note which rows are null, and give them an empty text."""
        cdef Py_ssize_t row, n = self.texts.n
        cdef Utf8 *text
        with nogil:
            for row in range(n):
                text = self.texts.forms + row
                self.texts.n_bytes += text.size
                self.n_nulls += text.bytes == NULL
        if self.n_nulls == 0:
            return 0
        self.validity = <uint8_t *>malloc((n >> 3) + 1)
        if self.validity == NULL:
            raise MemoryError
        memset(self.validity, 0, (n >> 3) + 1)
        with nogil:
            for row in range(n):
                text = self.texts.forms + row
                if text.bytes == NULL:
                    text.bytes = NOTHING
                else:
                    self.validity[row >> 3] |= <uint8_t>(1 << (row & 7))
        return 0

    def as_strings(self):
        """The texts, "" where a row is null: list[str]."""
        cdef Py_ssize_t row
        cdef Utf8 *text
        result = []
        for row in range(self.texts.n):
            text = self.texts.forms + row
            result.append((<const char *>text.bytes)[:text.size].decode())
        return result


cdef int pick_entries(
    ImportedColumn column, const Chunk *chunk, char kind, Utf8Texts entries, Utf8Texts texts
) except -1:
    """Read the rows of a chunk, each of which says by its number which of some entries it is."""
    cdef int64_t row, found = 0
    cdef Utf8 *text
    cdef bint is_wrong = False
    column.check_parts(chunk.array, 2, 0)
    if chunk.length > 0 and chunk.array.buffers[1] == NULL:
        raise ValueError("an array of the Arrow column has rows and does not say which entries they are")
    with nogil:
        for row in range(chunk.length):
            text = texts.forms + texts.n + row
            if not is_there(chunk.array.buffers[0], chunk.start + row):
                continue                        # its bytes are NULL
            found = integer_at(chunk.array.buffers[1], kind, chunk.start + row)
            if found < 0 or found >= entries.n:
                is_wrong = True
                break
            text[0] = entries.forms[found]
    if is_wrong:
        raise ValueError(
            f"row {texts.n + row} of the column is entry {found} of a dictionary with {entries.n}: the Arrow array is "
            "damaged"
        )
    texts.n += chunk.length
    return 0


cdef TextColumn read_text_column(column, cbpe_valid_size valid_size):
    cdef ImportedColumn imported = import_column(column)
    cdef TextColumn result = TextColumn()
    cdef Py_ssize_t i
    result.valid_size = valid_size
    result.texts = Utf8Texts()
    result.texts.owners.append(imported)
    if imported.n_chunks == 0 and imported.schema.dictionary == NULL and imported.schema.format != b"n":
        layout_of(imported.schema.format)       # or it is refused
    result.texts.take_room(imported.n_rows)
    for i in range(imported.n_chunks):
        result.read_chunk(imported, imported.chunks + i, imported.schema)
    result.note_nulls()
    return result


def text_column(column):
    """The column of texts that an object exports."""
    return read_text_column(column, choose_instructions(None).valid_size)
