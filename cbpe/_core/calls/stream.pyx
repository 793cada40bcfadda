"""StreamDecoder: token ids to text, one id at a time. What is UTF-8 is for CPython's own incremental decoder to say."""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove

import codecs

from cbpe._core.c.objects cimport cbpe_small_int
from cbpe._core.calls.engine cimport Engine
from cbpe._core.calls.join cimport join_tokens
from cbpe._core.calls.join import without_ids
from cbpe._core.decoding.decode cimport FAR, ByteBuffer, DecodeSlot, reserve_bytes

cdef extern from "Python.h":
    str PyUnicode_DecodeUTF8Stateful(const char *s, Py_ssize_t size, const char *errors, Py_ssize_t *consumed)

cdef enum:
    MOST_HELD = 3               # bytes of a character that another one has to follow
    ROOM = 32                   # for these and a token that stands in its slot


@cython.final
cdef class StreamDecoder:
    """Decodes token ids as they come, to text in whole characters: what Tokenizer.stream_decoder returns.

    All that push, extend and flush return, one after another, is what decode makes of all ids together, with the same
    `errors`. For one thread at a time.
    """

    cdef Engine engine
    cdef bytes errors
    cdef frozenset skipped      # ids that are left out of the text
    cdef uint8_t held[4]        # the beginning of a character that is still coming
    cdef Py_ssize_t n_held

    def __cinit__(self, Engine engine not None, str errors not None, frozenset skipped not None):
        codecs.lookup_error(errors)
        self.engine = engine
        self.errors = errors.encode()
        self.skipped = skipped

    def __repr__(self):
        held = f": the beginning of a character held back, {self.n_held} bytes" if self.n_held else ""
        return f"<StreamDecoder{held}>"

    def __reduce__(self):
        raise TypeError("a StreamDecoder is of one stream, and is not pickled: tok.stream_decoder() makes another")

    def push(self, token):
        """Decode one more token id: the text that is whole now, which may be empty, and more than this token's.

        Raises KeyError for an id that is not in the vocabulary, TypeError for what is no int, and with errors="strict"
        UnicodeDecodeError as soon as bytes are no UTF-8, whatever follows. The decoder is then as it was before.

        >>> stream.push(15339)
        'hello'
        """
        cdef Py_ssize_t token_id = cbpe_small_int(<PyObject *>token)
        cdef const DecodeSlot *slot
        cdef uint8_t joined[ROOM]
        if self.skipped or <size_t>token_id >= <size_t>self.engine.table.n_slots:
            return self.extend((token,))
        slot = self.engine.table.slots + token_id
        if slot.size == 0 or slot.size == FAR:
            return self.extend((token,))
        if self.n_held == 0:
            return self.whole(slot.bytes, slot.size)
        memcpy(joined, self.held, sizeof(self.held))
        memcpy(joined + self.n_held, slot, sizeof(DecodeSlot))
        return self.whole(joined, self.n_held + slot.size)

    def extend(self, ids):
        """Decode several more token ids, as push does with each; if anything is raised, none of them counts.

        >>> stream.extend([15339, 1917])
        'hello world'
        """
        cdef ByteBuffer buffer
        if self.skipped:
            ids = without_ids(ids, self.skipped)
        buffer = join_tokens(self.engine, ids)
        try:
            if not reserve_bytes(&buffer, self.n_held):
                raise MemoryError
            memmove(buffer.bytes + self.n_held, buffer.bytes, buffer.used)
            memcpy(buffer.bytes, self.held, self.n_held)
            return self.whole(buffer.bytes, self.n_held + buffer.used)
        finally:
            free(buffer.bytes)

    def flush(self):
        """The text of what is held back, which no more ids follow: "" unless a character is cut off there. After that
        the decoder is as new.

        Raises UnicodeDecodeError for such a character with errors="strict".
        """
        cdef Py_ssize_t n = self.n_held
        text = PyUnicode_DecodeUTF8Stateful(<const char *>self.held, n, <const char *>self.errors, NULL)
        self.n_held = 0
        return text

    cdef str whole(self, const uint8_t *utf8, Py_ssize_t size):
        """The text of bytes that begin with what is held back; what they end with may be held back in turn."""
        cdef Py_ssize_t consumed = 0
        cdef str text = PyUnicode_DecodeUTF8Stateful(<const char *>utf8, size, <const char *>self.errors, &consumed)
        if not 0 <= size - consumed <= MOST_HELD:
            raise ValueError("the error handler replaced the bytes that it was given, which a stream cannot follow")
        self.n_held = size - consumed
        memcpy(self.held, utf8 + consumed, self.n_held)
        return text
