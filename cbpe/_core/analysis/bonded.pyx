"""Which characters the merges of a vocabulary over characters join: text is cut by that (splitting/bonds.pyx)."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from cbpe._core.splitting.bonds cimport Bonds
from cbpe._core.text.utf8 cimport character_size, character_start, read_character
from cbpe._core.vocabulary.tables cimport NONE, VocabTables
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

cdef enum:
    SEEN = 1 << 16              # pairs that are remembered, so that most are listed once


cdef uint32_t first_character(const VocabTables *v, uint32_t symbol) noexcept nogil:
    cdef int size
    return read_character(v.bytes + v.offsets[symbol], v.offsets[symbol + 1] - v.offsets[symbol], &size)


cdef uint32_t last_character(const VocabTables *v, uint32_t symbol) noexcept nogil:
    cdef const uint8_t *token = v.bytes + v.offsets[symbol]
    cdef Py_ssize_t n = v.offsets[symbol + 1] - v.offsets[symbol], start = character_start(token, n, n - 1)
    cdef int size
    return read_character(token + start, n - start, &size)


cdef bytes pairs_of_merges(const VocabTables *v):
    """The pairs of characters that merges join: uint64[], some of them more than once."""
    cdef uint32_t i, n_merges = v.n_symbols - 256
    cdef uint64_t pair, slot
    cdef Py_ssize_t n = 0
    cdef uint64_t *seen = <uint64_t *>malloc(SEEN * sizeof(uint64_t))
    cdef uint64_t *pairs = <uint64_t *>malloc((<size_t>n_merges + 1) * sizeof(uint64_t))
    try:
        if seen == NULL or pairs == NULL:
            raise MemoryError
        memset(seen, 0xFF, SEEN * sizeof(uint64_t))
        for i in range(v.n_spellings, n_merges):
            pair = <uint64_t>last_character(v, v.left[i]) << 32 | first_character(v, v.right[i])
            slot = (pair * <uint64_t>0x9E3779B97F4A7C15) >> 48
            if seen[slot] == pair:
                continue
            seen[slot] = pairs[n] = pair
            n += 1
        return PyBytes_FromStringAndSize(<char *>pairs, n * sizeof(uint64_t))
    finally:
        free(seen)
        free(pairs)


cdef bytes known_characters(const VocabTables *v):
    """The characters that have a token: uint32[]."""
    cdef uint32_t symbol, lead
    cdef Py_ssize_t n = 0
    cdef uint32_t *known = <uint32_t *>malloc((256 + <size_t>v.n_spellings + 1) * sizeof(uint32_t))
    try:
        if known == NULL:
            raise MemoryError
        for symbol in range(256 + v.n_spellings):
            lead = v.bytes[v.offsets[symbol]]
            if v.ids[symbol] != NONE and v.offsets[symbol + 1] - v.offsets[symbol] == <uint32_t>character_size(lead):
                known[n] = first_character(v, symbol)
                n += 1
        return PyBytes_FromStringAndSize(<char *>known, n * sizeof(uint32_t))
    finally:
        free(known)


def bonds_of(Vocabulary vocabulary not None, bint split_at_spaces):
    """The Bonds of a vocabulary over characters. split_at_spaces: each space begins a piece, whatever merges there are.

    What merges that spell characters join is within a character. Characters without a token become byte tokens, or
    unknown tokens, each on its own; but where several in a row are one unknown token, these have bonds as well.
    """
    cdef const VocabTables *v = &vocabulary.tables
    if not v.characters:
        raise ValueError("a vocabulary over bytes has no bonds of characters")
    return Bonds(pairs_of_merges(v), split_at_spaces, known_characters(v) if v.fuses_unknown else None)
