"""The table from a token's bytes to its index; words.pxd says how it is laid out."""

from libc.string cimport memcmp, memcpy, memset

from cbpe._core.c.allocation cimport cbpe_give_back, cbpe_take_zeroed
from cbpe._core.c.hashing cimport cbpe_hash
from cbpe._core.c.loads cimport cbpe_prefetch

cdef enum:
    AHEAD = 16                  # tokens whose slots are fetched before they are filled


cdef struct Word:
    WordSlot slot
    uint64_t hashed


cdef inline void read_word(const VocabTables *v, const uint8_t *bytes, uint64_t size, Word *word) noexcept nogil:
    """What the slot of a token with these bytes holds but for the token's number. 16 bytes more may be read."""
    cdef uint64_t low = 0, high = 0
    if size > SHORT_WORD:
        word.hashed = cbpe_hash(bytes, <size_t>size, v.words_seed)
    else:
        low = cbpe_load64(bytes) & cbpe_key_masks[size][0]
        high = cbpe_load64(bytes + 8) & cbpe_key_masks[size][1]
        word.hashed = word_hash(v, low, high | size << 56)
    if size > NEAR_WORD:
        word.slot.low = word.hashed
        word.slot.high = <uint32_t>FAR_WORD << 24 | <uint32_t>(size & 0xFFFFFF)
    else:
        word.slot.low = low
        word.slot.high = <uint32_t>high | <uint32_t>size << 24


cdef uint32_t find_word(const VocabTables *v, const uint8_t *bytes, Py_ssize_t size) noexcept nogil:
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
        read_word(v, copy, size, &word)
    else:
        read_word(v, bytes, size, &word)
    at = word.hashed & v.words_mask
    while True:
        slot = v.words + at
        if slot.number == 0:
            return NONE
        if slot.low == word.slot.low and slot.high == word.slot.high:
            index = slot.number - 1
            if (
                v.offsets[index + 1] - v.offsets[index] == <size_t>size
                and memcmp(v.bytes + v.offsets[index], bytes, <size_t>size) == 0
            ):
                return index
        at = (at + 1) & v.words_mask


cdef int fill_words(VocabTables *v, uint64_t seed) except -1:
    cdef int bits = 4
    cdef uint32_t index, ahead
    cdef uint64_t at
    cdef Word coming[AHEAD]
    cdef Word *word
    while <uint64_t>1 << bits < <uint64_t>v.n_tokens * 2:
        bits += 1
    v.words = <WordSlot *>cbpe_take_zeroed(sizeof(WordSlot) << bits)
    if v.words == NULL:
        raise MemoryError
    v.words_mask = (<uint64_t>1 << bits) - 1
    v.words_seed = seed
    with nogil:
        for ahead in range(v.n_tokens + AHEAD):
            word = &coming[ahead % AHEAD]
            if ahead >= AHEAD:
                index = ahead - AHEAD
                if v.ids[index] != NONE:
                    at = word.hashed & v.words_mask
                    while v.words[at].number != 0:
                        at = (at + 1) & v.words_mask
                    v.words[at] = word.slot
                    v.words[at].number = index + 1
            if ahead < v.n_tokens:
                read_word(v, v.bytes + v.offsets[ahead], v.offsets[ahead + 1] - v.offsets[ahead], word)
                cbpe_prefetch(v.words + (word.hashed & v.words_mask))
    return 0


cdef void free_words(VocabTables *v) noexcept nogil:
    cbpe_give_back(v.words)
