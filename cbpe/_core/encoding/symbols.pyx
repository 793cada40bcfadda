"""Symbols to ids; symbols.pxd says what there is."""

from cbpe._core.vocabulary.tables cimport BEGIN, END, NONE


cdef Py_ssize_t id_bytes(
    const VocabTables *v, uint32_t *ids, Py_ssize_t n, uint8_t *missing
) noexcept nogil:
    """Turn n symbols into ids, those without one into the ids of their bytes: there is room for as many as all have
    bytes. Returns how many they are, or -1, and the first byte that has none."""
    cdef Py_ssize_t i, k, written = 0
    cdef uint32_t symbol, at
    for i in range(n):
        written += 1
        if v.ids[ids[i]] == NONE and is_marked(v):
            # A character that has a token elsewhere in a piece, or none: bytes do not stand for it.
            at = v.offsets[ids[i]]
            missing[0] = v.bytes[at]
            if missing[0] == BEGIN:
                missing[0] = v.bytes[at + 1] if v.offsets[ids[i] + 1] > at + 1 else v.bytes[v.offsets[ids[i + 1]]]
            return -1
        if v.ids[ids[i]] == NONE:
            for at in range(v.offsets[ids[i]], v.offsets[ids[i] + 1]):
                missing[0] = v.bytes[at]
                if v.ids[missing[0]] == NONE:
                    return -1
            written += v.offsets[ids[i] + 1] - v.offsets[ids[i]] - 1
    # From the end on: the ids of a symbol are never fewer than one, so none is written over before it is read.
    k = written
    for i in range(n - 1, -1, -1):
        symbol = ids[i]
        if v.ids[symbol] != NONE:
            k -= 1
            ids[k] = v.ids[symbol]
            continue
        for at in range(v.offsets[symbol + 1], v.offsets[symbol], -1):
            k -= 1
            ids[k] = v.ids[v.bytes[at - 1]]
    return written


cdef bint begins_unknown(const VocabTables *v, uint32_t symbol) noexcept nogil:
    """Whether a symbol without an id is a character, or its first bytes."""
    if v.begins and symbol == BEGIN or v.ends and symbol == END:
        return False    # beside a character that is unknown as well
    return not v.characters or v.bytes[v.offsets[symbol]] & 0xC0 != 0x80


cdef Py_ssize_t id_unknown(const VocabTables *v, uint32_t *ids, Py_ssize_t n) noexcept nogil:
    """Turn n symbols into ids, a character without one into the unknown token. Returns how many they are."""
    cdef Py_ssize_t i, written = 0
    cdef bint after_unknown = False
    for i in range(n):
        if v.ids[ids[i]] != NONE:
            ids[written] = v.ids[ids[i]]
            written += 1
            after_unknown = False
        elif begins_unknown(v, ids[i]) and not (after_unknown and v.fuses_unknown):
            ids[written] = v.unknown
            written += 1
            after_unknown = True
    return written


cdef Py_ssize_t put_ids(const VocabTables *v, uint32_t *symbols, Py_ssize_t n, uint8_t *missing) noexcept nogil:
    cdef Py_ssize_t i, rest
    for i in range(n):
        if v.ids[symbols[i]] == NONE:
            if v.unknown != NONE:
                return i + id_unknown(v, symbols + i, n - i)
            rest = id_bytes(v, symbols + i, n - i, missing)
            return rest if rest < 0 else i + rest
        symbols[i] = v.ids[symbols[i]]
    return n
