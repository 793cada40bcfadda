"""Columns of Arrow's made by hand from its C structs: honest ones, and such as a faulty library might make."""

import ctypes
import struct

NAMES = {name: ctypes.c_char_p(name) for name in (b"arrow_schema", b"arrow_array", b"arrow_array_stream")}
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE = {kind: ctypes.CFUNCTYPE(None, ctypes.POINTER(kind)) for kind in (Schema, Array, Stream)}
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))

Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", GET_SCHEMA),
    ("get_next", GET_NEXT),
    ("get_last_error", LAST_ERROR),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


def numbers(code, *values):
    return struct.pack(f"<{len(values)}{code}", *values)


class Column:
    """An array of a type, with what its structs are to say. `released` counts the calls of each struct's release.

    buffers: bytes or None. fields: what else is to stand in the array ("length", "offset", "null_count", "n_buffers").
    null: the names of fields that are to be NULL.
    """

    def __init__(self, kind, buffers, children=(), dictionary=None, null=(), **fields):
        self.kind, self.children, self.inner = kind, children, dictionary
        self.released = []
        self.kept = [ctypes.create_string_buffer(data, len(data)) for data in buffers if data is not None]
        places = iter(self.kept)
        found = [None if data is None else ctypes.addressof(next(places)) for data in buffers]
        self.buffers = (ctypes.c_void_p * max(1, len(found)))(*found)
        self.schema = Schema(format=kind, name=b"", n_children=len(children))
        self.array = Array(n_buffers=len(buffers), n_children=len(children), buffers=self.buffers)
        for struct_, name in ((self.schema, "schema"), (self.array, "array")):
            callback = RELEASE[type(struct_)](self.releaser(name))
            self.kept.append(callback)
            struct_.release = ctypes.cast(callback, ctypes.c_void_p)
            if children:
                parts = [ctypes.pointer(getattr(child, name)) for child in children]
                struct_.children = (ctypes.POINTER(type(struct_)) * len(parts))(*parts)
            if dictionary is not None:
                struct_.dictionary = ctypes.pointer(getattr(dictionary, name))
        for field, value in fields.items():
            setattr(self.array, field, value)
        for field in null:
            setattr(self.array, field, None)

    def releaser(self, name):
        def release(pointer):
            self.released.append(name)
            pointer.contents.release = None

        return release

    def __arrow_c_array__(self, requested_schema=None):
        places = (self.schema, b"arrow_schema"), (self.array, b"arrow_array")
        return tuple(new_capsule(ctypes.addressof(place), NAMES[name], None) for place, name in places)


def texts(values, **fields):
    """A column of utf8 that says what is true, but for the fields."""
    data = b"".join(value or b"" for value in values)
    ends = [0]
    for value in values:
        ends.append(ends[-1] + len(value or b""))
    validity = None
    if None in values:
        bits = [
            sum((value is not None) << i for i, value in enumerate(values[k : k + 8])) for k in range(0, len(values), 8)
        ]
        validity = bytes(bits)
        fields = {"null_count": values.count(None), **fields}
    return Column(b"u", [validity, numbers("i", *ends), data], **{"length": len(values), **fields})


class Chunks:
    """A stream of columns, all of one type; None: it fails there, with an error and this message."""

    def __init__(self, columns, message=b"the disk is on fire"):
        self.columns, self.waiting = columns, list(columns)
        self.message = ctypes.c_char_p(message)
        self.released = []
        self.stream = Stream(
            get_schema=GET_SCHEMA(self.get_schema),
            get_next=GET_NEXT(self.get_next),
            get_last_error=LAST_ERROR(self.error),
        )
        self.callback = RELEASE[Stream](self.release)
        self.stream.release = ctypes.cast(self.callback, ctypes.c_void_p)

    def get_schema(self, stream, out):
        ctypes.memmove(out, ctypes.addressof(self.columns[0].schema), ctypes.sizeof(Schema))
        return 0

    def get_next(self, stream, out):
        if not self.waiting:
            out.contents.release = None
            return 0
        column = self.waiting.pop(0)
        if column is None:
            return 5
        ctypes.memmove(out, ctypes.addressof(column.array), ctypes.sizeof(Array))
        return 0

    def error(self, stream):
        return ctypes.cast(self.message, ctypes.c_void_p).value

    def release(self, pointer):
        self.released.append("stream")
        pointer.contents.release = None

    def __arrow_c_stream__(self, requested_schema=None):
        return new_capsule(ctypes.addressof(self.stream), NAMES[b"arrow_array_stream"], None)
