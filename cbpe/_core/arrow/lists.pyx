"""A column of lists of token ids that another library lent, nothing of which is copied."""

cimport cython
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from cbpe._core.arrow.imported cimport Chunk, import_column, integer_at, is_there, type_name
from cbpe._core.arrow.interface cimport ArrowSchema

INTEGERS = frozenset((b"c", b"C", b"s", b"S", b"i", b"I", b"l", b"L"))
FIXED = b"+w:"                  # and how many items each list has


cdef bint find_list(const Lists *lists, int64_t row, int64_t *start, int64_t *stop) noexcept nogil:
    cdef int64_t at = lists.start + row
    if lists.places == NULL:
        if lists.size > 0 and at >= lists.n_items // lists.size:
            return False
        start[0] = at * lists.size
        stop[0] = start[0] + lists.size
    else:
        start[0] = integer_at(lists.places, lists.kind, at)
        stop[0] = integer_at(lists.places, lists.kind, at + 1)
        if start[0] < 0 or stop[0] < start[0] or stop[0] > lists.n_items:
            return False
    if not is_there(lists.validity, at):
        stop[0] = start[0]
    return True


cdef int64_t fixed_size(bytes kind) except -2:
    """How many items each list of a type has; -1 where the lists are of any size. TypeError for another type."""
    if kind in (b"+l", b"+L"):
        return -1
    if kind.startswith(FIXED) and kind[len(FIXED):].isdigit() and len(kind) < 20:
        return int(kind[len(FIXED):])
    shown = repr(kind[:40].decode("ascii", "replace")) if kind.startswith(FIXED) else type_name(kind)
    raise TypeError(f"the column is {shown}, and holds no lists of token ids: cast it to list<int32>")


@cython.final
cdef class IdColumn:
    def __dealloc__(self):
        free(self.chunks)

    def __len__(self):
        return self.n_rows

    cdef int read_chunk(self, Py_ssize_t number) except -1:
        cdef Chunk chunk = self.column.chunks[number], child
        cdef bytes kind = self.column.schema.format
        cdef int64_t size = fixed_size(kind)
        cdef Lists *lists = self.chunks + number
        self.column.check_parts(chunk.array, 1 if size >= 0 else 2, 1)
        child = self.column.whole(chunk.array.children[0])
        self.column.check_parts(child.array, 2, 0)
        if child.length > 0 and child.array.buffers[1] == NULL:
            raise ValueError("an array of the Arrow column has ids and does not say where")
        if size < 0 and chunk.length > 0 and chunk.array.buffers[1] == NULL:
            raise ValueError("an array of the Arrow column has rows and does not say where their ids are")
        lists.n_rows = chunk.length
        lists.start = chunk.start
        lists.validity = chunk.array.buffers[0]
        lists.places = chunk.array.buffers[1] if size < 0 else NULL
        lists.kind = c"l" if kind == b"+L" else c"i"
        lists.size = max(size, 0)
        lists.items = child.array.buffers[1]
        lists.item_validity = child.array.buffers[0]
        lists.item_kind = self.column.schema.children[0].format[0]
        lists.item_start = child.start
        lists.n_items = child.length
        return 0

    def rows(self):
        """The ids of each row, or None where it is null: an iterator of list[int] | None."""
        cdef int64_t row, start = 0, stop = 0, i, n = 0
        cdef Py_ssize_t k
        cdef Lists *lists
        for k in range(self.n_chunks):
            lists = self.chunks + k
            for row in range(lists.n_rows):
                refuse_wrong_row(lists, row, n, &start, &stop)
                n += 1
                if is_there(lists.validity, lists.start + row):
                    yield [id_at(lists, i) for i in range(start, stop)]
                else:
                    yield None


cdef int refuse_wrong_row(const Lists *lists, int64_t row, int64_t number, int64_t *start, int64_t *stop) except -1:
    """ValueError for a row that lies outside of the items, or has a null among them; otherwise, where it is."""
    cdef int64_t i
    if not find_list(lists, row, start, stop):
        raise ValueError(f"row {number} of the column lies outside of its ids: the Arrow array is damaged")
    for i in range(start[0], stop[0]):
        if not is_there(lists.item_validity, lists.item_start + i):
            raise ValueError(f"row {number} of the column has a null where an id should be")
    return 0


cdef object id_at(const Lists *lists, int64_t i):
    """An id as an int."""
    cdef int64_t value = integer_at(lists.items, lists.item_kind, lists.item_start + i)
    return value + 2**64 if value < 0 and lists.item_kind == c"L" else value


cdef IdColumn read_id_column(column):
    cdef ImportedColumn imported = import_column(column)
    cdef IdColumn result = IdColumn()
    cdef const ArrowSchema *schema = imported.schema
    cdef bytes item
    cdef Py_ssize_t i
    fixed_size(schema.format)       # or it is refused
    if schema.n_children != 1 or schema.children == NULL or schema.children[0] == NULL:
        raise ValueError("the Arrow column is of lists, and does not say of what")
    item = schema.children[0].format if schema.children[0].format != NULL else b"nothing"
    if item not in INTEGERS or schema.children[0].dictionary != NULL:
        shown = "dictionary" if item in INTEGERS else type_name(item)
        raise TypeError(f"the lists of the column hold {shown}, and no token ids: cast it to list<int32>")
    result.column = imported
    result.n_chunks = imported.n_chunks
    result.n_rows = imported.n_rows
    result.chunks = <Lists *>calloc(imported.n_chunks + 1, sizeof(Lists))
    if result.chunks == NULL:
        raise MemoryError
    for i in range(imported.n_chunks):
        result.read_chunk(i)
    return result


def id_column(column):
    """The column of ids that an object exports."""
    return read_id_column(column)
