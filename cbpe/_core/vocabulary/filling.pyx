"""The tables of a vocabulary, filled and checked, one by one: Vocabulary says in which order."""

import os

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, Py_buffer, PyBuffer_Release, PyObject_GetBuffer
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from cbpe._core.c.allocation cimport cbpe_give_back, cbpe_take_zeroed
from cbpe._core.text.utf8 cimport character_size
from cbpe._core.vocabulary.tables cimport BEGIN, END, NONE, add_pair, find_pair, stay_apart, text_size

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


cdef int fill_pairs(VocabTables *v, bint merges_happen) except -1:
    cdef uint32_t i
    allocate_pairs(v, v.n_symbols - 256)
    merges_happen = merges_happen or not v.whole_pieces
    v.looks_up = v.whole_pieces and v.n_tokens > v.n_symbols or not (merges_happen or v.monotone)
    for i in range(v.n_symbols - 256):
        if find_pair(v, v.left[i], v.right[i]) != NONE:
            raise ValueError(
                f"the pair of tokens {v.ids[v.left[i]]} and {v.ids[v.right[i]]} is merged twice, "
                f"to {v.ids[find_pair(v, v.left[i], v.right[i])]} and to {v.ids[256 + i]}"
            )
        # The table has the merges before this one, and no other counts.
        if not (merges_happen or v.looks_up):
            v.looks_up = not stay_apart(v, v.left[i], v.right[i], NONE)
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


cdef inline bint is_spelling(const VocabTables *v, uint32_t symbol) noexcept nogil:
    """Whether the bytes of a symbol are a character of several bytes, or the first bytes of one."""
    cdef const uint8_t *token = v.bytes + v.offsets[symbol]
    cdef uint32_t size = v.offsets[symbol + 1] - v.offsets[symbol], i
    for i in range(1, size):
        if token[i] & 0xC0 != 0x80:
            return False
    return <int>size <= character_size(token[0]) and token[0] >= 0xC0


cdef inline bint is_whole(const VocabTables *v, uint32_t symbol) noexcept nogil:
    """Whether a symbol is made of whole characters, given that it begins and ends with bytes of the same one or with
    whole ones."""
    cdef uint8_t lead = v.bytes[v.offsets[symbol]]
    return lead < 0x80 or symbol >= 256 and not (
        symbol < 256 + v.n_spellings and v.offsets[symbol + 1] - v.offsets[symbol] < <uint32_t>character_size(lead)
    )


cdef int check_characters(VocabTables *v) except -1:
    """Find the merges that spell characters. ValueError unless they come first, and all others are of characters."""
    cdef uint32_t i, symbol
    while v.n_spellings < v.n_symbols - 256 and is_spelling(v, 256 + v.n_spellings):
        v.n_spellings += 1
    for i in range(v.n_symbols - 256):
        symbol = 256 + i
        if i < v.n_spellings:
            if v.left[i] >= symbol or v.right[i] >= 256:
                raise ValueError(f"merge {i} spells a character, but not byte by byte")
        elif not is_whole(v, v.left[i]) or not is_whole(v, v.right[i]):
            raise ValueError(f"merge {i} is not of characters, in a vocabulary over characters")
        if (v.ids[symbol] == NONE) == is_whole(v, symbol):
            problem = "has no id" if v.ids[symbol] == NONE else f"has the id {v.ids[symbol]}, and is no character"
            raise ValueError(f"what merge {i} makes {problem}")
    return 0


cdef inline bint is_mark(const VocabTables *v, uint32_t number) noexcept nogil:
    """Whether a merge joins BEGIN or END to something."""
    return v.begins and v.left[number] == BEGIN or v.ends and v.right[number] == END


cdef int check_marked(VocabTables *v) except -1:
    cdef uint32_t i, n = v.n_symbols - 256
    while v.n_spellings < n and (is_mark(v, v.n_spellings) or v.characters and is_spelling(v, 256 + v.n_spellings)):
        v.n_spellings += 1
    if not v.monotone:
        for i in range(v.n_spellings):
            if v.left[i] >= 256 + i or v.right[i] >= 256 + i:
                raise ValueError(f"merge {i} spells or marks a character, and is made of a later merge")
    for i in range(v.n_spellings, n):
        if is_mark(v, i):
            raise ValueError(f"merge {i} marks where a piece begins or ends, and comes behind merges of tokens")
        if NONE in (v.ids[256 + i], v.ids[v.left[i]], v.ids[v.right[i]]):
            raise ValueError(f"merge {i} is of what has no id, or makes it")
    return 0


cdef int fill_shown(VocabTables *v, bytes prefix, bytes suffix, uint64_t most) except -1:
    cdef uint32_t index, size, inner
    cdef uint64_t total = 0, n_prefix = PyBytes_GET_SIZE(prefix), n_suffix = PyBytes_GET_SIZE(suffix)
    cdef const uint8_t *token
    cdef uint8_t *to
    cdef bint begun, ended
    if not (v.begins or v.ends):
        v.shown, v.shown_offsets = v.bytes, v.offsets
        return 0
    if v.offsets[v.n_tokens] + v.n_tokens * (n_prefix + n_suffix) > most:
        raise ValueError(f"the vocabulary's tokens have more than {most} bytes together")
    v.shown_offsets = <uint32_t *>malloc((v.n_tokens + <size_t>1) * sizeof(uint32_t))
    v.shown = <uint8_t *>malloc(v.offsets[v.n_tokens] + v.n_tokens * (n_prefix + n_suffix))
    if v.shown == NULL or v.shown_offsets == NULL:
        raise MemoryError
    for index in range(v.n_tokens):
        token = v.bytes + v.offsets[index]
        size = v.offsets[index + 1] - v.offsets[index]
        begun = v.begins and index >= 256 and token[0] == BEGIN
        ended = v.ends and index >= 256 and token[size - 1] == END
        inner = text_size(v, index)
        v.shown_offsets[index] = <uint32_t>total
        to = v.shown + total
        if v.begins and not begun:
            memcpy(to, PyBytes_AS_STRING(prefix), n_prefix)
            to += n_prefix
        memcpy(to, token + begun, inner)
        to += inner
        if ended:
            memcpy(to, PyBytes_AS_STRING(suffix), n_suffix)
            to += n_suffix
        total = to - v.shown
    v.shown_offsets[v.n_tokens] = <uint32_t>total
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
