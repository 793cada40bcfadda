"""SentencePiece's maps of characters: what the normalizers of its files (nmt_nfkc and the like, and a user's own rules)
replace, and by what.

A map is a trie of byte strings in a double array, as Darts-clone lays it out, and behind it the replacements, each with
a zero at its end. Of a text, the longest beginning that is in the trie is replaced, then the longest of the rest.
"""

import array
import struct

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE

cdef enum:
    MAX_MAP = 1 << 21           # bytes: SentencePiece's own have some 300 KB
    MAX_REPLACEMENT = 1000      # bytes
    VALUE = 0x7FFFFFFF
    LEAF = 1 << 8

cdef const char *REPLACEMENT_CHARACTER = b"\xef\xbf\xbd"
cdef const char *MARK = b"\xe2\x96\x81"


cdef inline uint32_t offset_of(uint32_t unit) noexcept nogil:
    return (unit >> 10) << ((unit & (1 << 9)) >> 6)


cdef inline uint32_t label_of(uint32_t unit) noexcept nogil:
    return unit & (<uint32_t>1 << 31 | 0xFF)


cdef struct Output:
    uint8_t *bytes
    Py_ssize_t size
    Py_ssize_t capacity


cdef bint put(Output *out, const void *data, Py_ssize_t size) noexcept nogil:
    cdef void *grown
    if out.size + size > out.capacity:
        grown = realloc(out.bytes, 2 * (out.size + size) + 64)
        if grown == NULL:
            return False
        out.bytes = <uint8_t *>grown
        out.capacity = 2 * (out.size + size) + 64
    memcpy(out.bytes + out.size, data, size)
    out.size += size
    return True


cdef class Charsmap:
    """A map of characters, b"" for one that replaces nothing, and texts that stay as they are wherever they are met.
    removes_spaces: whether spaces at the ends of a text are left out, and of several in a row all but one. ValueError
    for bytes that are no map, or whose parts point out of it."""

    cdef bytes units
    cdef bytes texts
    cdef uint32_t n_units
    cdef frozenset whole
    cdef dict sizes             # first byte of such texts -> their sizes, the largest first
    cdef uint8_t first_bytes[256]
    cdef bint removes_spaces

    def __init__(self, bytes data not None, whole=(), bint removes_spaces=False):
        cdef bytes text
        self.units = self.texts = b""
        self.whole = frozenset(text.encode() for text in whole)
        self.sizes = {}
        for i in range(256):
            self.first_bytes[i] = 0
        for text in sorted(self.whole, key=len, reverse=True):
            self.first_bytes[<uint8_t>text[0]] = 1
            self.sizes.setdefault(text[0], {})[len(text)] = None
        self.removes_spaces = removes_spaces
        if len(data) > MAX_MAP:
            raise ValueError(f"a map of characters of {len(data):,} bytes is too large: it may have {MAX_MAP:,}")
        if data:
            size = struct.unpack_from("<I", data)[0] if len(data) > 4 else 0
            if size == 0 or size % 4 or size > len(data) - 4 or data[len(data) - 1]:
                problem = f"it has {len(data):,} bytes, and its trie should have {size:,}"
                raise ValueError(f"a map of characters is damaged: {problem}")
            self.units = array.array("I", struct.unpack_from(f"<{size // 4}I", data, 4)).tobytes()
            self.texts = data[4 + size:]
            self.check()
        self.n_units = <uint32_t>(len(self.units) // sizeof(uint32_t))

    cdef int check(self) except -1:
        """ValueError if the trie points out of the map, or to what is no text."""
        cdef const uint32_t *units = <const uint32_t *>PyBytes_AS_STRING(self.units)
        cdef uint32_t n = <uint32_t>(PyBytes_GET_SIZE(self.units) // sizeof(uint32_t)), at, node, label, n_waiting = 1
        cdef uint8_t *seen = <uint8_t *>calloc(n, 1)
        cdef uint32_t *waiting = <uint32_t *>calloc(n, sizeof(uint32_t))
        values = set()
        try:
            if seen == NULL or waiting == NULL:
                raise MemoryError
            waiting[0] = offset_of(units[0])
            if waiting[0] >= n:
                raise ValueError("a map of characters is damaged: its trie points out of it")
            seen[waiting[0]] = 1
            while n_waiting:
                n_waiting -= 1
                at = waiting[n_waiting]
                for label in range(1, 256):
                    node = at ^ label
                    if node >= n or label_of(units[node]) != label:
                        continue
                    node ^= offset_of(units[node])
                    if node >= n:
                        raise ValueError("a map of characters is damaged: its trie points out of it")
                    if units[at ^ label] & LEAF:
                        values.add(units[node] & VALUE)
                    if not seen[node]:
                        seen[node] = 1
                        waiting[n_waiting] = node
                        n_waiting += 1
        finally:
            free(seen)
            free(waiting)
        for value in values:
            end = self.texts.find(b"\0", value)
            if end < 0 or end - value > MAX_REPLACEMENT:
                problem = f"it has no text of up to {MAX_REPLACEMENT} bytes there"
                raise ValueError(f"a map of characters is damaged: {problem}")
            try:
                self.texts[value:end].decode()
            except UnicodeDecodeError:
                raise ValueError("a map of characters is damaged: it replaces something by what is no text") from None
        return 0

    cdef Py_ssize_t find_whole(self, const uint8_t *text, Py_ssize_t size):
        """The size of the longest of the texts that stay as they are at the beginning of a text, or 0."""
        cdef Py_ssize_t one
        for one in self.sizes[text[0]]:
            if one <= size and (<const char *>text)[:one] in self.whole:
                return one
        return 0

    cdef Py_ssize_t next_part(self, const uint8_t *text, Py_ssize_t size, const uint8_t **made, Py_ssize_t *n_made):
        """How much of the beginning of a text is replaced at once, and by what."""
        cdef const uint32_t *units = <const uint32_t *>PyBytes_AS_STRING(self.units)
        cdef const uint8_t *texts = <const uint8_t *>PyBytes_AS_STRING(self.texts)
        cdef uint32_t node, value = 0
        cdef Py_ssize_t i, found = 0
        if self.first_bytes[text[0]]:
            found = self.find_whole(text, size)
            if found:
                made[0], n_made[0] = text, found
                return found
        if self.n_units:
            node = offset_of(units[0])
            for i in range(size):
                node ^= text[i]
                if text[i] == 0 or node >= self.n_units or label_of(units[node]) != text[i]:
                    break
                value = units[node] if units[node] & LEAF else 0
                node ^= offset_of(units[node])
                if value:
                    made[0] = texts + (units[node] & VALUE)
                    found = i + 1
        if found:
            n_made[0] = 0
            while made[0][n_made[0]]:
                n_made[0] += 1
            return found
        if text[0] & 0xC0 == 0x80:      # the rest of a character whose beginning was replaced
            made[0], n_made[0] = <const uint8_t *>REPLACEMENT_CHARACTER, 3
            return 1
        found = 1
        while found < size and text[found] & 0xC0 == 0x80:
            found += 1
        made[0], n_made[0] = text, found
        return found

    def normalized(self, str text not None):
        """A text with all replaced that is in the map."""
        cdef bytes data = text.encode("utf-8", "replace")
        cdef const uint8_t *rest = <const uint8_t *>PyBytes_AS_STRING(data)
        cdef const uint8_t *end = rest + PyBytes_GET_SIZE(data)
        cdef const uint8_t *made = NULL
        cdef Py_ssize_t n = 0
        cdef bint after_space = self.removes_spaces, done = True
        cdef Output out
        out.bytes, out.size, out.capacity = NULL, 0, 0
        try:
            while rest < end and done:
                rest += self.next_part(rest, end - rest, &made, &n)
                while after_space and n and made[0] == 0x20:
                    made += 1
                    n -= 1
                if n:
                    done = put(&out, made, n)
                    after_space = self.removes_spaces and made[n - 1] == 0x20
            if not done:
                raise MemoryError
            while self.removes_spaces and out.size:
                if out.bytes[out.size - 1] == 0x20:
                    out.size -= 1
                elif out.size >= 3 and memcmp(out.bytes + out.size - 3, MARK, 3) == 0:
                    out.size -= 3
                else:
                    break
            return (<char *>out.bytes)[:out.size].decode() if out.size else ""
        finally:
            free(out.bytes)
