"""What other compiled modules may use of joining tokens."""

from cbpe._core.calls.engine cimport Engine
from cbpe._core.decoding.decode cimport ByteBuffer


# Append the token of an id, which may be any object, in the slow way. Raises as join_tokens does.
cdef int append_checked(Engine engine, ByteBuffer *buffer, item) except -1


# The bytes of all ids, one after another. The caller frees them. KeyError for an id that is not in the vocabulary,
# TypeError for what is no int.
cdef ByteBuffer join_tokens(Engine engine, ids) except *
