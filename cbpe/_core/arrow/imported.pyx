"""A column that another library lent by Arrow's C data interface: taken out of its capsules, checked as far as its
structs tell, and given back.

What the structs say is believed only where nothing tells more: how long the buffers are that have no length with them.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from cbpe._core.arrow.interface cimport ArrowArray, ArrowArrayStream, ArrowSchema

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cdef enum:
    LONGEST_MESSAGE = 1000      # characters of another library's message that are shown

# Of types that are written as letters; and of those that go on with a unit, a size or a zone of time.
cdef dict TYPES = {
    b"n": "null", b"b": "bool", b"c": "int8", b"C": "uint8", b"s": "int16", b"S": "uint16", b"i": "int32",
    b"I": "uint32", b"l": "int64", b"L": "uint64", b"e": "float16", b"f": "float32", b"g": "float64", b"z": "binary",
    b"Z": "large_binary", b"vz": "binary_view", b"u": "string", b"U": "large_string", b"vu": "string_view",
    b"+l": "list", b"+L": "large_list", b"+vl": "list_view", b"+vL": "large_list_view", b"+s": "struct",
    b"+m": "map", b"+r": "run_end_encoded", b"tdD": "date32", b"tdm": "date64",
}
cdef tuple TYPES_BY_BEGINNING = (
    (b"ts", "timestamp"), (b"tt", "time"), (b"tD", "duration"), (b"ti", "interval"), (b"d:", "decimal"),
    (b"w:", "fixed_size_binary"), (b"+w:", "fixed_size_list"), (b"+u", "union"),
)


@cython.final
cdef class OwnedSchema:
    cdef ArrowSchema schema

    def __dealloc__(self):
        if self.schema.release != NULL:
            self.schema.release(&self.schema)


@cython.final
cdef class OwnedArray:
    cdef ArrowArray array

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)


@cython.final
cdef class OwnedStream:
    cdef ArrowArrayStream stream

    def __dealloc__(self):
        if self.stream.release != NULL:
            self.stream.release(&self.stream)

    cdef int check(self, int status) except -1:
        """OSError if a call of the stream failed."""
        cdef const char *message = NULL
        if status == 0:
            return 0
        if self.stream.get_last_error != NULL:
            message = self.stream.get_last_error(&self.stream)
        told = "without a word" if message == NULL else (<bytes>message).decode("utf-8", "replace")[:LONGEST_MESSAGE]
        raise OSError(status, f"the Arrow stream that gives the column failed: {told}")


cdef void *opened(capsule, const char *name) except NULL:
    """The struct in a capsule."""
    if not PyCapsule_IsValid(capsule, name):
        raise TypeError(f"Arrow's protocol wants a capsule named {name.decode()}, not {type(capsule).__name__}")
    return PyCapsule_GetPointer(capsule, name)


cdef OwnedSchema take_schema(capsule):
    cdef ArrowSchema *found = <ArrowSchema *>opened(capsule, b"arrow_schema")
    cdef OwnedSchema owner = OwnedSchema()
    owner.schema = found[0]
    found.release = NULL
    return owner


cdef OwnedArray take_array(capsule):
    cdef ArrowArray *found = <ArrowArray *>opened(capsule, b"arrow_array")
    cdef OwnedArray owner = OwnedArray()
    owner.array = found[0]
    found.release = NULL
    return owner


cdef OwnedStream take_stream(capsule):
    cdef ArrowArrayStream *found = <ArrowArrayStream *>opened(capsule, b"arrow_array_stream")
    cdef OwnedStream owner = OwnedStream()
    owner.stream = found[0]
    found.release = NULL
    if owner.stream.release == NULL or owner.stream.get_schema == NULL or owner.stream.get_next == NULL:
        raise ValueError("the Arrow stream that gives the column was consumed before: ask for a new one")
    return owner


@cython.final
cdef class ImportedColumn:
    def __dealloc__(self):
        free(self.chunks)

    cdef int take(self, column) except -1:
        cdef OwnedStream stream
        cdef OwnedSchema schema
        cdef OwnedArray array
        cdef int status
        self.owned_arrays = []
        if not hasattr(column, "__arrow_c_stream__"):
            pair = column.__arrow_c_array__()
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError(f"__arrow_c_array__ of {type(column).__name__} gave no pair of capsules")
            schema, array = take_schema(pair[0]), take_array(pair[1])
            self.take_type(schema)
            return self.add(array)
        stream, schema = take_stream(column.__arrow_c_stream__()), OwnedSchema()
        with nogil:
            status = stream.stream.get_schema(&stream.stream, &schema.schema)
        stream.check(status)
        self.take_type(schema)
        while True:
            array = OwnedArray()
            with nogil:     # what makes the rows may take long, and may need the GIL in another thread
                status = stream.stream.get_next(&stream.stream, &array.array)
            if status != 0:
                memset(&array.array, 0, sizeof(ArrowArray))
            stream.check(status)
            if array.array.release == NULL:
                return 0
            self.add(array)
            PyErr_CheckSignals()

    cdef int take_type(self, owner) except -1:
        cdef const ArrowSchema *schema = &(<OwnedSchema>owner).schema
        if schema.release == NULL or schema.format == NULL:
            raise ValueError("the type of the Arrow column was released before, or there is none")
        if schema.format == b"+s":
            if schema.n_children != 1 or schema.children == NULL or schema.children[0] == NULL:
                raise TypeError(f"a table of {schema.n_children} columns was given: pass one column, as table['text']")
            schema = schema.children[0]
            if schema.format == NULL:
                raise ValueError("the only column of the Arrow table has no type")
        self.owned_schema = owner
        self.schema = schema
        return 0

    cdef int add(self, array) except -1:
        cdef const ArrowArray *given = &(<OwnedArray>array).array
        cdef Chunk chunk
        cdef void *grown
        cdef int64_t row
        chunk = self.whole(given)
        if (<OwnedSchema>self.owned_schema).schema.format == b"+s":
            self.check_parts(given, 1, 1)
            for row in range(given.offset, given.offset + given.length if given.buffers[0] != NULL else 0):
                if not is_there(given.buffers[0], row):
                    raise ValueError(f"row {self.n_rows + row - given.offset} of the Arrow table is null as a whole")
            chunk = self.whole(given.children[0])
            if chunk.length < given.offset + given.length:
                raise ValueError(f"a column of {chunk.length} rows is too short for its Arrow table")
            chunk.start += given.offset
            chunk.length = given.length
        if chunk.length > PY_SSIZE_T_MAX - self.n_rows:
            raise ValueError(f"the Arrow column has more than {PY_SSIZE_T_MAX} rows")
        grown = realloc(self.chunks, (len(self.owned_arrays) + 1) * sizeof(Chunk))
        if grown == NULL:
            raise MemoryError
        self.chunks = <Chunk *>grown
        self.owned_arrays.append(array)
        self.chunks[self.n_chunks] = chunk
        self.n_chunks += 1
        self.n_rows += chunk.length
        return 0

    cdef Chunk whole(self, const ArrowArray *array) except *:
        if array.release == NULL:
            raise ValueError("an array of the Arrow column was released before: ask for a new one")
        if array.length < 0 or array.offset < 0 or array.offset > INT64_MAX - array.length:
            raise ValueError(f"an array of the Arrow column has {array.length} rows from row {array.offset} on")
        if array.null_count < -1 or array.null_count > array.length:
            raise ValueError(f"an array of the Arrow column has {array.null_count} nulls in {array.length} rows")
        return Chunk(array, array.offset, array.length)

    cdef int check_parts(self, const ArrowArray *array, int64_t n_buffers, int64_t n_children) except -1:
        cdef int64_t i
        if array.n_buffers != n_buffers or array.n_children != n_children:
            raise ValueError(
                f"an array of the Arrow column has {array.n_buffers} buffers and {array.n_children} children; of its "
                f"type it would be {n_buffers} and {n_children}"
            )
        if (n_buffers > 0 and array.buffers == NULL) or (n_children > 0 and array.children == NULL):
            raise ValueError("an array of the Arrow column has no buffers or children where its type has some")
        for i in range(n_children):
            if array.children[i] == NULL:
                raise ValueError("an array of the Arrow column lacks a child")
        if n_buffers > 0 and array.buffers[0] == NULL and array.null_count > 0:
            raise ValueError(f"an array of the Arrow column has {array.null_count} nulls and does not say which")
        return 0


cdef ImportedColumn import_column(column):
    cdef ImportedColumn result
    if not hasattr(column, "__arrow_c_stream__") and not hasattr(column, "__arrow_c_array__"):
        raise TypeError(
            f"{type(column).__name__} is no Arrow column: it has neither __arrow_c_stream__ nor __arrow_c_array__. "
            "Columns of pyarrow, polars, pandas and others have; pyarrow.array(texts) makes one of a list"
        )
    result = ImportedColumn()
    result.take(column)
    return result


cdef str type_name(bytes kind):
    for beginning, name in TYPES_BY_BEGINNING:
        if kind.startswith(beginning):
            return name
    return TYPES.get(kind) or repr(kind[:40].decode("ascii", "replace"))
