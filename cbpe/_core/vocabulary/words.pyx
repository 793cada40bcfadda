"""The table from a token's bytes to its index; words.pxd says how it is laid out."""

from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from cbpe._core.c.allocation cimport cbpe_give_back, cbpe_take_zeroed
from cbpe._core.c.hashing cimport cbpe_hash
from cbpe._core.c.loads cimport cbpe_prefetch

cdef enum:
    AHEAD = 16                  # tokens whose slots are fetched before they are filled


cdef struct Word:
    WordSlot slot
    uint64_t hashed


cdef inline void read_word(const WordTable *words, const uint8_t *bytes, uint64_t size, Word *word) noexcept nogil:
    """What the slot of a token with these bytes holds but for the token's number. 16 bytes more may be read."""
    cdef uint64_t low = 0, high = 0
    if size > SHORT_WORD:
        word.hashed = cbpe_hash(bytes, <size_t>size, words.seed)
    else:
        low = cbpe_load64(bytes) & cbpe_key_masks[size][0]
        high = cbpe_load64(bytes + 8) & cbpe_key_masks[size][1]
        word.hashed = word_hash(words, low, high | size << 56)
    if size > NEAR_WORD:
        word.slot.low = word.hashed
        word.slot.high = <uint32_t>FAR_WORD << 24 | <uint32_t>(size & 0xFFFFFF)
    else:
        word.slot.low = low
        word.slot.high = <uint32_t>high | <uint32_t>size << 24


cdef uint32_t find_word(
    const VocabTables *v, const WordTable *words, const uint8_t *bytes, Py_ssize_t size
) noexcept nogil:
    cdef Word word
    cdef const WordSlot *slot
    cdef uint64_t at
    cdef uint32_t index
    cdef uint8_t copy[2 * SHORT_WORD + 2]
    if size == 0:
        return NONE
    if size <= SHORT_WORD:
        memset(copy, 0, sizeof(copy))
        memcpy(copy, bytes, <size_t>size)
        read_word(words, copy, size, &word)
    else:
        read_word(words, bytes, size, &word)
    at = word.hashed & words.mask
    while True:
        slot = words.slots + at
        if slot.number == 0:
            return NONE
        if slot.low == word.slot.low and slot.high == word.slot.high:
            index = slot.number - 1
            if (
                v.offsets[index + 1] - v.offsets[index] == <size_t>size
                and memcmp(v.bytes + v.offsets[index], bytes, <size_t>size) == 0
            ):
                return index
        at = (at + 1) & words.mask


cdef void fill_words(const VocabTables *v, WordTable *words) noexcept nogil:
    cdef uint32_t index, ahead
    cdef uint64_t at
    cdef Word coming[AHEAD]
    cdef Word *word
    for ahead in range(v.n_tokens + AHEAD):
        word = &coming[ahead % AHEAD]
        if ahead >= AHEAD:
            index = ahead - AHEAD
            if v.ids[index] != NONE:
                at = word.hashed & words.mask
                while words.slots[at].number != 0:
                    at = (at + 1) & words.mask
                words.slots[at] = word.slot
                words.slots[at].number = index + 1
        if ahead < v.n_tokens:
            read_word(words, v.bytes + v.offsets[ahead], v.offsets[ahead + 1] - v.offsets[ahead], word)
            cbpe_prefetch(words.slots + (word.hashed & words.mask))


cdef WordTable *new_words(const VocabTables *v, uint64_t seed) noexcept nogil:
    cdef WordTable *words = <WordTable *>calloc(1, sizeof(WordTable))
    cdef int bits = 4
    if words == NULL:
        return NULL
    while <uint64_t>1 << bits < <uint64_t>v.n_tokens * 2:
        bits += 1
    words.slots = <WordSlot *>cbpe_take_zeroed(sizeof(WordSlot) << bits)
    if words.slots == NULL:
        free(words)
        return NULL
    words.mask = (<uint64_t>1 << bits) - 1
    words.seed = seed
    fill_words(v, words)
    return words


cdef void free_words(WordTable *words) noexcept nogil:
    if words != NULL:
        cbpe_give_back(words.slots)
        free(words)
