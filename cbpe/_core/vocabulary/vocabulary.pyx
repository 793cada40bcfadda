"""Vocabulary: the tokens and merges of a byte-level BPE model, as immutable tables that encoding and decoding read
without the GIL.

It also has a packed form, bytes that hold exactly what a vocabulary is; pack() describes the layout.
"""

import os
import struct
import sys
import zlib

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, Py_buffer, PyBuffer_Release, PyObject_GetBuffer
)
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from cbpe._core.c.allocation cimport cbpe_give_back, cbpe_take_zeroed
from cbpe._core.text.utf8 cimport exact_bytes
from cbpe._core.vocabulary.tables cimport NONE, add_pair, find_pair
from cbpe._core.vocabulary.words cimport fill_words, find_word, free_words


MAGIC = b"\x89cbpe\r\n\x1a"         # bytes that no text file starts with, and that a mangled transfer changes
PACKED_VERSION = 1
# Magic, version, flags, number of merges and of unmerged tokens, bytes of these, runs of ids, 0, CRC-32 of all else.
HEADER = struct.Struct("<8sIIIIIIII")
CHECKED = HEADER.size - 4               # bytes of the header before the checksum
WHOLE_PIECES = 1
PACKED_HEADER_BYTES = HEADER.size


cdef enum:
    BYTE_PAIRS = 1 << 16


cdef uint64_t random_bits() except? 0:
    return int.from_bytes(os.urandom(8), "little")


cdef int allocate_pairs(VocabTables *v, uint32_t n) except -1:
    cdef int bits = 4, filter_bits
    while <uint64_t>1 << bits < <uint64_t>n * 2:
        bits += 1
    filter_bits = bits + 2 if bits > 4 else 6
    v.pairs = <uint64_t *>cbpe_take_zeroed(sizeof(uint64_t) << bits)
    v.pair_filter = <uint64_t *>cbpe_take_zeroed((<size_t>1 << filter_bits) >> 3)
    v.byte_pairs = <uint32_t *>malloc(BYTE_PAIRS * sizeof(uint32_t))
    if v.pairs == NULL or v.pair_filter == NULL or v.byte_pairs == NULL:
        raise MemoryError
    memset(v.byte_pairs, 0xFF, BYTE_PAIRS * sizeof(uint32_t))
    v.pairs_seed = random_bits() | 1
    v.pairs_mask = (<uint64_t>1 << bits) - 1
    v.filter_shift = 64 - filter_bits
    return 0


cdef void free_pairs(VocabTables *v) noexcept nogil:
    cbpe_give_back(v.pairs)
    cbpe_give_back(v.pair_filter)
    free(v.byte_pairs)


cdef int fill_pairs(VocabTables *v) except -1:
    cdef uint32_t i
    allocate_pairs(v, v.n_symbols - 256)
    for i in range(v.n_symbols - 256):
        if find_pair(v, v.left[i], v.right[i]) != NONE:
            raise ValueError(
                f"the pair of tokens {v.ids[v.left[i]]} and {v.ids[v.right[i]]} is merged twice, "
                f"to {v.ids[find_pair(v, v.left[i], v.right[i])]} and to {v.ids[256 + i]}"
            )
        add_pair(v, v.left[i], v.right[i], 256 + i)
    return 0


cdef int fill_indices(VocabTables *v) except -1:
    """Build the table from ids to indices; refuse an id that two tokens have, and gaps that would make the table
    absurd."""
    cdef uint32_t index, token_id, largest = 0
    for index in range(v.n_tokens):
        if v.ids[index] != NONE and v.ids[index] > largest:
            largest = v.ids[index]
    if largest >= 4 * <uint64_t>v.n_tokens + (1 << 20):
        raise ValueError(
            f"token id {largest} is too large for a vocabulary of {v.n_tokens} tokens: number them without such gaps"
        )
    v.n_ids = largest + 1
    v.indices = <uint32_t *>malloc(v.n_ids * sizeof(uint32_t))
    if v.indices == NULL:
        raise MemoryError
    for token_id in range(v.n_ids):
        v.indices[token_id] = NONE
    for index in range(v.n_tokens):
        token_id = v.ids[index]
        if token_id == NONE:
            continue
        if v.indices[token_id] != NONE:
            raise ValueError(f"token id {token_id} is given to two tokens")
        v.indices[token_id] = index
    return 0


cdef int order_merges(VocabTables *v, uint32_t *order) except -1:
    """List the merges (symbol - 256), each after the merges that it is made of. Refuses merges that are made of
    themselves."""
    cdef uint32_t n = v.n_symbols - 256
    cdef uint32_t i, part, done = 0
    if v.monotone:
        for i in range(n):
            order[i] = i
        return 0
    cdef bytearray state = bytearray(n)     # 0: not seen, 1: waits for its parts, 2: done
    for start in range(n):
        stack = [start]
        while stack:
            i = stack[len(stack) - 1]
            waits = [part - 256 for part in (v.left[i], v.right[i]) if part >= 256 and state[part - 256] != 2]
            if state[i] == 2 or not waits:
                if state[i] != 2:
                    state[i] = 2
                    order[done] = i
                    done += 1
                stack.pop()
                continue
            if state[i] == 1 or any(state[part] == 1 for part in waits):
                raise ValueError(f"the merge to token {v.ids[256 + i]} is made of itself")
            state[i] = 1
            stack.extend(waits)
    return 0


cdef int fill_bytes(VocabTables *v, list extras, uint64_t most) except -1:
    """Spell out every token: the bytes, then each merge from its two parts, then the tokens that no merge makes."""
    cdef uint32_t n_merges = v.n_symbols - 256
    cdef uint32_t index, i, k, first, second
    cdef uint64_t total = 256
    cdef bytes extra
    cdef uint8_t *to
    cdef uint64_t *sizes = <uint64_t *>malloc(v.n_tokens * sizeof(uint64_t))
    cdef uint32_t *order = <uint32_t *>malloc((n_merges + <size_t>1) * sizeof(uint32_t))
    v.offsets = <uint32_t *>malloc((v.n_tokens + <size_t>1) * sizeof(uint32_t))
    try:
        if sizes == NULL or order == NULL or v.offsets == NULL:
            raise MemoryError
        order_merges(v, order)
        for index in range(256):
            sizes[index] = 1
        for k in range(n_merges):
            i = order[k]
            sizes[256 + i] = sizes[v.left[i]] + sizes[v.right[i]]
            total += sizes[256 + i]
            if total > most:
                break
        for i, extra in enumerate(extras):
            sizes[v.n_symbols + i] = PyBytes_GET_SIZE(extra)
            total += sizes[v.n_symbols + i]
        if total > most:
            raise ValueError(f"the vocabulary's tokens have more than {most} bytes together")
        total = 0
        for index in range(v.n_tokens):
            v.offsets[index] = <uint32_t>total
            total += sizes[index]
            v.longest = max(v.longest, <uint32_t>sizes[index])
        v.offsets[v.n_tokens] = <uint32_t>total
        # The short copies below take 16 bytes whatever they need, which may overlap: what is too much, a later token
        # writes over.
        v.bytes = <uint8_t *>malloc(total + 32)
        if v.bytes == NULL:
            raise MemoryError
        for index in range(256):
            v.bytes[index] = <uint8_t>index
        for k in range(n_merges):
            i = order[k]
            first, second = v.left[i], v.right[i]
            to = v.bytes + v.offsets[256 + i]
            if v.monotone and sizes[first] <= 16 and sizes[second] <= 16:
                memmove(to, v.bytes + v.offsets[first], 16)
                memmove(to + sizes[first], v.bytes + v.offsets[second], 16)
            else:
                memcpy(to, v.bytes + v.offsets[first], sizes[first])
                memcpy(to + sizes[first], v.bytes + v.offsets[second], sizes[second])
        for i, extra in enumerate(extras):
            memcpy(v.bytes + v.offsets[v.n_symbols + i], PyBytes_AS_STRING(extra), PyBytes_GET_SIZE(extra))
    finally:
        free(sizes)
        free(order)
    return 0


cdef uint32_t *copy_ids(object values, Py_ssize_t n) except? NULL:
    # Not a typed memoryview: a module that has one imports collections.abc, which takes longer than any of ours.
    cdef Py_buffer view
    cdef uint32_t *copy = NULL
    PyObject_GetBuffer(values, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
    try:
        form = <bytes>view.format if view.format != NULL else b"B"
        if view.ndim != 1 or view.itemsize != sizeof(uint32_t) or not form.endswith((b"I", b"L")):
            raise ValueError(f"a buffer of uint32[{n}] has items of the format {form.decode()!r}")
        if view.len != n * <Py_ssize_t>sizeof(uint32_t):
            raise ValueError(f"a buffer of {n} items has {view.len // <Py_ssize_t>sizeof(uint32_t)}")
        copy = <uint32_t *>malloc(<size_t>(n + 1) * sizeof(uint32_t))
        if copy == NULL:
            raise MemoryError
        memcpy(copy, view.buf, <size_t>n * sizeof(uint32_t))
    finally:
        PyBuffer_Release(&view)
    return copy


cdef checksum(header, body):
    return zlib.crc32(body, zlib.crc32(header[:CHECKED]))


def read_numbers(data):
    """Little-endian numbers of four bytes each as uint32[n]."""
    if sys.byteorder == "little":
        return memoryview(bytearray(data)).cast("I")
    # Here alone: importing it takes as long as some of our modules.
    import array

    numbers = array.array("I", bytes(data))
    numbers.byteswap()
    return numbers


cdef class Vocabulary:
    """The tokens and merges of one model.

    left, right: buffers of uint32[n_merges], the symbols that each merge joins, in the order in which merges apply; a
    symbol is a byte's value or 256 + the number of a merge. ids: buffer of uint32, the ids of the 256 bytes (0xFFFFFFFF
    for a byte without a token), of the merges and of the unmerged tokens. unmerged: list of bytes, tokens that no merge
    makes. whole_pieces: whether a piece that is a token is that token before any merge applies (tiktoken's semantics),
    which is the only way in which an unmerged token can come up. max_bytes: the most that all tokens together may have.

    Raises ValueError for a merge of an unknown symbol, made of itself, or given twice, for an id given twice, and for
    sizes beyond the limits (2**21 - 1 tokens, 2**28 bytes of tokens).
    """

    def __cinit__(self, left, right, ids, unmerged=(), bint whole_pieces=False, uint64_t max_bytes=MAX_BYTES):
        cdef VocabTables *v = &self.tables
        cdef uint32_t i
        cdef list extras = list(unmerged)
        n_merges = len(left)
        if len(right) != n_merges:
            raise ValueError(f"{n_merges} left parts and {len(right)} right parts are no merges")
        if 256 + n_merges + len(extras) >= MAX_TOKENS:
            raise ValueError(f"{256 + n_merges + len(extras)} tokens are too many: the limit is {MAX_TOKENS - 1}")
        if len(ids) != 256 + n_merges + len(extras):
            raise ValueError(f"{len(ids)} ids do not fit {256 + n_merges + len(extras)} tokens")
        for extra in extras:
            if not isinstance(extra, bytes) or not extra:
                from cbpe._core.text.shown import shown      # messages alone take it

                raise ValueError(f"a token is bytes and not empty, not {shown(extra)}")
        v.n_symbols = 256 + n_merges
        v.n_tokens = v.n_symbols + len(extras)
        v.whole_pieces = whole_pieces
        v.left = copy_ids(left, n_merges)
        v.right = copy_ids(right, n_merges)
        v.ids = copy_ids(ids, v.n_tokens)
        v.monotone = True
        for i in range(v.n_symbols - 256):
            if v.left[i] >= v.n_symbols or v.right[i] >= v.n_symbols:
                raise ValueError(
                    f"merge {i} is made of the symbols {v.left[i]} and {v.right[i]}, but there are only {v.n_symbols}"
                )
            if v.left[i] >= 256 + i or v.right[i] >= 256 + i:
                v.monotone = False
        for i in range(256, v.n_tokens):
            if v.ids[i] == NONE:
                raise ValueError(f"token id {v.ids[i]} is too large")
        fill_indices(v)
        fill_bytes(v, extras, min(max_bytes, <uint64_t>MAX_BYTES))
        fill_pairs(v)
        fill_words(v, random_bits())

    def __dealloc__(self):
        free(self.tables.left)
        free(self.tables.right)
        free(self.tables.ids)
        free(self.tables.indices)
        free(self.tables.offsets)
        free(self.tables.bytes)
        free_pairs(&self.tables)
        free_words(&self.tables)

    @property
    def whole_pieces(self):
        """Whether a piece that is a token is that token before any merge applies."""
        return bool(self.tables.whole_pieces)

    @property
    def monotone(self):
        """Whether every merge is made of bytes and earlier merges."""
        return bool(self.tables.monotone)

    @property
    def n_merges(self):
        """The number of merges."""
        return self.tables.n_symbols - 256

    @property
    def max_id(self):
        """The largest id of a token."""
        return self.tables.n_ids - 1

    def __len__(self):
        cdef uint32_t i
        cdef Py_ssize_t n = self.tables.n_tokens
        for i in range(256):
            n -= self.tables.ids[i] == NONE
        return n

    def __contains__(self, token_id):
        token_id = PyNumber_Index(token_id)     # an exact int, which tells the truth
        return 0 <= token_id < self.tables.n_ids and self.tables.indices[<uint32_t>token_id] != NONE

    def find(self, token):
        """The id of the token with these bytes, or None. Of two tokens with the same bytes, that of the earlier
        merge."""
        cdef bytes exact = exact_bytes(token)
        cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(exact)
        cdef uint32_t index = find_word(&self.tables, data, PyBytes_GET_SIZE(exact))
        return None if index == NONE else self.tables.ids[index]

    cdef bytes spell(self, uint32_t index):
        cdef VocabTables *v = &self.tables
        return PyBytes_FromStringAndSize(<char *>v.bytes + v.offsets[index], v.offsets[index + 1] - v.offsets[index])

    def tokens(self):
        """All tokens by rising id: dict[int, bytes]."""
        cdef uint32_t token_id
        return {
            token_id: self.spell(self.tables.indices[token_id])
            for token_id in range(self.tables.n_ids)
            if self.tables.indices[token_id] != NONE
        }

    def merges(self):
        """All merges in the order in which they apply: dict[(left id, right id), id].

        Raises ValueError where one is made of a byte that has no token, and so no id.
        """
        cdef VocabTables *v = &self.tables
        cdef uint32_t i, part
        for i in range(v.n_symbols - 256):
            part = v.left[i] if v.ids[v.left[i]] == NONE else v.right[i]
            if v.ids[part] == NONE:
                raise ValueError(f"token {v.ids[256 + i]} is merged from the byte 0x{part:02x}, which has no token")
        return {(v.ids[v.left[i]], v.ids[v.right[i]]): v.ids[256 + i] for i in range(v.n_symbols - 256)}

    def merge_parts(self):
        """All merges in the order in which they apply: list of (left, right, id), where a part is a token's id, or
        -1 - b for the byte b if that has no token."""
        cdef VocabTables *v = &self.tables
        cdef uint32_t i
        parts = [<int64_t>v.ids[i] if v.ids[i] != NONE else -1 - <int64_t>i for i in range(v.n_symbols)]
        return [(parts[v.left[i]], parts[v.right[i]], parts[256 + i]) for i in range(v.n_symbols - 256)]

    def unmerged(self):
        """The tokens that no merge makes, by rising id: dict[int, bytes]. No text but themselves as a whole piece can
        produce them."""
        cdef VocabTables *v = &self.tables
        cdef uint32_t index
        found = {v.ids[index]: self.spell(index) for index in range(v.n_symbols, v.n_tokens)}
        return dict(sorted(found.items()))

    def pack(self):
        """The vocabulary as bytes, the same for the same vocabulary on every machine.

        Little-endian: a header of 40 bytes (magic, format version, flags, number of merges, number of unmerged tokens,
        bytes of these, number of runs of ids, 0, CRC-32 of all before and after it), then uint32[merges] left symbols,
        uint32[merges] right symbols, the ids of all tokens as runs of consecutive ids, uint32[runs] first ids and
        uint32[runs] counts, uint32[unmerged] lengths, and the unmerged tokens' bytes.
        """
        import array

        cdef VocabTables *v = &self.tables
        cdef uint32_t i
        firsts, counts = array.array("I"), array.array("I")
        for i in range(v.n_tokens):
            if i and v.ids[i] == <uint64_t>v.ids[i - 1] + 1 and v.ids[i] != NONE:
                counts[len(counts) - 1] += 1
            else:
                firsts.append(v.ids[i])
                counts.append(1)
        extras = [self.spell(i) for i in range(v.n_symbols, v.n_tokens)]
        parts = [
            array.array("I", [v.left[i] for i in range(v.n_symbols - 256)]),
            array.array("I", [v.right[i] for i in range(v.n_symbols - 256)]),
            firsts,
            counts,
            array.array("I", map(len, extras)),
        ]
        if struct.pack("=I", 1) != struct.pack("<I", 1):
            for part in parts:
                part.byteswap()
        body = b"".join([*(part.tobytes() for part in parts), *extras])
        sizes = (v.n_symbols - 256, len(extras), sum(map(len, extras)), len(firsts))
        header = HEADER.pack(MAGIC, PACKED_VERSION, WHOLE_PIECES if v.whole_pieces else 0, *sizes, 0, 0)
        return header[:CHECKED] + struct.pack("<I", checksum(header, body)) + body

    @staticmethod
    def unpack(data, max_bytes=MAX_BYTES):
        """The vocabulary that pack() made these bytes of. Raises ValueError for anything else, and for tokens of more
        than max_bytes together, before memory is taken for it."""
        data = memoryview(data).cast("B")
        if len(data) < HEADER.size:
            raise ValueError(f"a packed vocabulary of {len(data)} bytes is cut short: it has at least {HEADER.size}")
        magic, version, flags, n_merges, n_unmerged, n_bytes, n_runs, zero, expected = HEADER.unpack_from(data)
        if magic != MAGIC:
            raise ValueError(f"this is no packed vocabulary: it starts with {bytes(data[:8])!r}, not {MAGIC!r}")
        if version != PACKED_VERSION or flags & ~WHOLE_PIECES or zero:
            raise ValueError(
                f"a packed vocabulary of version {version}, flags {flags} needs a newer cbpe: "
                f"this one reads version {PACKED_VERSION}"
            )
        if max(n_merges, n_unmerged) >= MAX_TOKENS or n_bytes > MAX_BYTES or n_runs > 256 + n_merges + n_unmerged:
            raise ValueError(
                f"a packed vocabulary of {n_merges} merges, {n_unmerged} unmerged tokens of {n_bytes} bytes and "
                f"{n_runs} runs of ids is beyond the limits"
            )
        size = HEADER.size + 8 * n_merges + 8 * n_runs + 4 * n_unmerged + n_bytes
        if len(data) != size:
            raise ValueError(f"this packed vocabulary should have {size} bytes and has {len(data)}")
        if checksum(data, data[HEADER.size:]) != expected:
            raise ValueError("this packed vocabulary is damaged: its checksum is wrong")

        cdef Py_ssize_t position = HEADER.size
        arrays = []
        for n in (n_merges, n_merges, n_runs, n_runs, n_unmerged):
            arrays.append(read_numbers(data[position : position + 4 * n]))
            position += 4 * n
        left, right, firsts, counts, lengths = arrays
        if sum(counts) != 256 + n_merges + n_unmerged or sum(lengths) != n_bytes:
            raise ValueError("the sizes in this packed vocabulary contradict each other")
        cdef bytearray ids = bytearray(4 * (256 + n_merges + n_unmerged))
        cdef uint32_t *id_of = <uint32_t *>PyByteArray_AS_STRING(ids)
        cdef uint32_t start, stop, k = 0
        for first, count in zip(firsts, counts):
            if first + count > <uint64_t>NONE + 1:
                raise ValueError(f"token id {first + count - 1} is too large")
            start, stop = first, k + count
            while k < stop:
                id_of[k] = start
                start += 1
                k += 1
        unmerged = []
        for length in lengths:
            unmerged.append(bytes(data[position : position + length]))
            position += length
        return Vocabulary(
            left,
            right,
            memoryview(ids).cast("I"),
            unmerged,
            whole_pieces=bool(flags & WHOLE_PIECES),
            max_bytes=max_bytes,
        )
