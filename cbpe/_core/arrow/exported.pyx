"""A column made here, which other libraries take by Arrow's C data interface without copying it.

An array may be exported several times, and released by any thread at any time, also when Python has ended. So what is
released holds no Python object: all arrays of a column own its memory together, and count how many they are.
"""

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.pycapsule cimport PyCapsule_Destructor, PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from cbpe._core.arrow.interface cimport NULLABLE, ArrowArray, ArrowSchema
from cbpe._core.c.atomics cimport cbpe_atomic_add

NAMES = {
    b"u": "utf8", b"U": "large_utf8", b"l": "int64", b"+l": "list", b"+L": "large_list", b"i": "int32", b"I": "uint32"
}


# What one exported array owns besides its share of the column: an array may be moved away from its parent, and lives
# on.
cdef struct ArrayBlock:
    Shared *shared
    const void *buffers[3]
    ArrowArray child
    ArrowArray *children[1]


cdef struct SchemaBlock:
    ArrowSchema child
    ArrowSchema *children[1]


cdef void let_go(Shared *shared) noexcept nogil:
    if shared != NULL and cbpe_atomic_add(&shared.n_owners, -1) == 0:
        free(shared.validity)
        free(shared.places)
        free(shared.values)
        free(shared)


cdef void release_array(ArrowArray *array) noexcept nogil:
    cdef ArrayBlock *block = <ArrayBlock *>array.private_data
    if array.n_children == 1 and block.child.release != NULL:
        block.child.release(&block.child)
    let_go(block.shared)
    free(block)
    array.release = NULL


cdef void release_schema(ArrowSchema *schema) noexcept nogil:
    cdef SchemaBlock *block = <SchemaBlock *>schema.private_data
    if schema.n_children == 1 and block.child.release != NULL:
        block.child.release(&block.child)
    free(block)
    schema.release = NULL


cdef bint fill_schema(ArrowSchema *schema, const char *kind, const char *name, const char *item_kind) noexcept nogil:
    """Make a schema; False, and nothing is made, where there is no memory."""
    cdef SchemaBlock *block = <SchemaBlock *>calloc(1, sizeof(SchemaBlock))
    if block == NULL:
        return False
    schema.format = kind
    schema.name = name
    schema.metadata = NULL
    schema.flags = NULLABLE
    schema.n_children = 0
    schema.children = NULL
    schema.dictionary = NULL
    schema.release = release_schema
    schema.private_data = block
    if item_kind != NULL:
        if not fill_schema(&block.child, item_kind, b"item", NULL):
            free(block)
            schema.release = NULL
            return False
        block.children[0] = &block.child
        schema.children = block.children
        schema.n_children = 1
    return True


cdef bint fill_array(ArrowArray *array, Shared *shared, int64_t length, int64_t n_nulls) noexcept nogil:
    """Make an array without buffers or children; False, and nothing is made, where there is no memory."""
    cdef ArrayBlock *block = <ArrayBlock *>calloc(1, sizeof(ArrayBlock))
    if block == NULL:
        return False
    block.shared = shared
    cbpe_atomic_add(&shared.n_owners, 1)
    array.length = length
    array.null_count = n_nulls
    array.offset = 0
    array.n_buffers = 0
    array.n_children = 0
    array.buffers = block.buffers
    array.children = NULL
    array.dictionary = NULL
    array.release = release_array
    array.private_data = block
    return True


cdef void add_buffer(ArrowArray *array, const void *buffer) noexcept nogil:
    array.buffers[array.n_buffers] = buffer
    array.n_buffers += 1


cdef bint add_items(ArrowArray *array, Shared *shared, int64_t n_items) noexcept nogil:
    """Give an array the values as the items of its lists; False where there is no memory."""
    cdef ArrayBlock *block = <ArrayBlock *>array.private_data
    if not fill_array(&block.child, shared, n_items, 0):
        return False
    add_buffer(&block.child, NULL)
    add_buffer(&block.child, shared.values)
    block.children[0] = &block.child
    array.children = block.children
    array.n_children = 1
    return True


cdef void forget_schema(object capsule) noexcept:
    cdef ArrowSchema *schema = <ArrowSchema *>PyCapsule_GetPointer(capsule, b"arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void forget_array(object capsule) noexcept:
    cdef ArrowArray *array = <ArrowArray *>PyCapsule_GetPointer(capsule, b"arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


cdef object capsule_of(void *place, const char *name, PyCapsule_Destructor forget):
    """A capsule of a new struct, which is all zeros; MemoryError where there is none."""
    if place == NULL:
        raise MemoryError
    try:
        return PyCapsule_New(place, name, forget)
    except BaseException:
        free(place)
        raise


@cython.final
cdef class ArrowColumn:
    """A column of token ids (a list in each row), of texts or of numbers of tokens.

    pyarrow.array, polars.Series, pandas.Series.from_arrow and nanoarrow.Array take it without copying. It may be handed
    out any number of times, and does not change.
    """

    def __cinit__(self):
        self.shared = <Shared *>calloc(1, sizeof(Shared))
        if self.shared == NULL:
            raise MemoryError
        self.shared.n_owners = 1
        self.kind = b"u"

    def __init__(self):
        raise TypeError("columns are made by encode_arrow, decode_arrow and count_arrow of a tokenizer")

    def __reduce__(self):
        raise TypeError(
            "a column of cbpe's is not pickled or copied: take it as another library's first, as pyarrow.array(column)"
        )

    def __dealloc__(self):
        let_go(self.shared)

    def __len__(self):
        return self.n_rows

    def __repr__(self):
        name = NAMES[self.kind]
        if self.item_kind != NULL:
            name += f"<{NAMES[self.item_kind]}>"
        rows = "row" if self.n_rows == 1 else "rows"
        return f"<ArrowColumn of {name}: {self.n_rows} {rows}, {self.n_nulls} of them null>"

    def __iter__(self):
        return iter(self.to_pylist())

    def to_pylist(self):
        """The rows as a list: an int, a str or a list of ints each, and None where a row is null."""
        cdef int64_t i
        cdef list rows
        if not self.n_rows:
            return []
        if self.shared.places == NULL:
            rows = lent(self, self.shared.values, self.n_rows * <int64_t>sizeof(int64_t)).cast("q").tolist()
        else:
            places, values = memory_of(self)
            ends = places.cast("q" if bytes(self.kind) in (b"U", b"+L") else "i").tolist()
            if self.item_kind == NULL:
                rows = [str(values[ends[i] : ends[i + 1]], "utf-8") for i in range(self.n_rows)]
            else:
                ids = values.cast(bytes(self.item_kind).decode())  # "i" or "I", as in Arrow
                rows = [ids[ends[i] : ends[i + 1]].tolist() for i in range(self.n_rows)]
        if self.shared.validity != NULL:
            for i in range(self.n_rows):
                if not (<const uint8_t *>self.shared.validity)[i >> 3] >> (i & 7) & 1:
                    rows[i] = None
        return rows

    def __array__(self, dtype=None, copy=None):
        """The rows as a NumPy array, a copy: int64 of numbers none of which is null, else of the objects of to_pylist.
        So do numpy.asarray and pandas.Series take it."""
        import numpy

        if copy is False:
            raise ValueError("an array of this column is a copy: leave copy=False out")
        rows = self.to_pylist()
        if bytes(self.kind) == b"l" and not self.n_nulls:
            made = numpy.array(rows, numpy.int64)
        else:
            made = numpy.empty(len(rows), object)
            for i, row in enumerate(rows):
                made[i] = row
        return made if dtype is None else made.astype(dtype)

    @property
    def null_count(self):
        """How many rows are null."""
        return self.n_nulls

    def __arrow_c_schema__(self):
        """The type of the column, as Arrow's libraries exchange it."""
        cdef ArrowSchema *schema = <ArrowSchema *>calloc(1, sizeof(ArrowSchema))
        capsule = capsule_of(schema, b"arrow_schema", forget_schema)
        if not fill_schema(schema, self.kind, b"", self.item_kind):
            raise MemoryError
        return capsule

    def __arrow_c_array__(self, requested_schema=None):
        """The type and the rows, as Arrow's libraries exchange them. Another type is not made, whatever is
        requested."""
        cdef ArrowArray *array = <ArrowArray *>calloc(1, sizeof(ArrowArray))
        capsule = capsule_of(array, b"arrow_array", forget_array)
        if not fill_array(array, self.shared, self.n_rows, self.n_nulls):
            raise MemoryError
        add_buffer(array, self.shared.validity)
        if self.shared.places != NULL:
            add_buffer(array, self.shared.places)
        if self.item_kind == NULL:
            add_buffer(array, self.shared.values)
        elif not add_items(array, self.shared, self.n_items):
            raise MemoryError
        return self.__arrow_c_schema__(), capsule

    cdef int take_values(self, void *values) except -1:
        free(self.shared.values)
        self.shared.values = values
        if values == NULL:
            raise MemoryError
        return 0

    cdef int copy_validity(self, const uint8_t *validity, Py_ssize_t n_nulls) except -1:
        cdef Py_ssize_t size = (self.n_rows >> 3) + 1
        self.n_nulls = n_nulls
        if validity == NULL:
            return 0
        self.shared.validity = malloc(size)
        if self.shared.validity == NULL:
            raise MemoryError
        memcpy(self.shared.validity, validity, size)
        return 0

    cdef bint put_ends(self, const int64_t *ends) except -1:
        cdef int64_t i, n = self.n_rows
        cdef bint is_large = n > 0 and ends[n - 1] > INT32_MAX
        cdef int64_t *large
        cdef int32_t *small
        self.shared.places = calloc(n + 1, sizeof(int64_t) if is_large else sizeof(int32_t))
        if self.shared.places == NULL:
            raise MemoryError
        if is_large:
            large = <int64_t *>self.shared.places
            memcpy(large + 1, ends, n * sizeof(int64_t))
        else:
            small = <int32_t *>self.shared.places
            for i in range(n):
                small[i + 1] = <int32_t>ends[i]
        return is_large


@cython.final
cdef class Lent:
    """A part of the memory of a column, as a buffer of bytes that cannot be written."""

    cdef ArrowColumn column
    cdef void *start
    cdef Py_ssize_t size

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.start, self.size, True, flags)


cdef object lent(ArrowColumn column, void *start, Py_ssize_t size):
    cdef Lent part = Lent()
    part.column, part.start, part.size = column, start, size
    return memoryview(part)


def memory_of(ArrowColumn column not None):
    """The memory of a column of lists or texts, as it lies: where rows begin and the last one ends (rows + 1 numbers of
    4 or 8 bytes each), and the items of the lists or the UTF-8 of the texts."""
    cdef bint is_large = bytes(column.kind) in (b"U", b"+L")
    cdef Py_ssize_t width = sizeof(int64_t) if is_large else sizeof(int32_t)
    cdef void *places = column.shared.places
    cdef int64_t size
    if places == NULL:
        raise ValueError("the rows of this column are numbers")
    if column.item_kind != NULL:
        size = column.n_items * <int64_t>sizeof(int32_t)
    elif is_large:
        size = (<int64_t *>places)[column.n_rows]
    else:
        size = (<int32_t *>places)[column.n_rows]
    return lent(column, places, (column.n_rows + 1) * width), lent(column, column.shared.values, size)


cdef ArrowColumn new_column(int64_t n_rows):
    cdef ArrowColumn column = ArrowColumn.__new__(ArrowColumn)
    column.n_rows = n_rows
    return column
